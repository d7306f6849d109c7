"""Who competes: our policies by name, anything with ask, tell and recommend, and the peers.

A *maker* is called once a run: ``maker(domain, m=2, budget=80, seed=7)`` returns a player. To try a variant::

    from tournament_parts.methods import METHODS, policy, unit_cube
    METHODS["mine"] = policy("kernel-self-sparring", noise=0.25)
    METHODS["other"] = unit_cube(lambda dim, seed, m, budget: Other(dim, seed))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from prefopt.answer import Answer
from prefopt.domain import Box, Domain
from prefopt.errors import SettingError, did_you_mean
from prefopt.policies import POLICIES, make_policy
from prefopt.seeding import stream
from tournament_parts.peer import PEERS, Peer


class Player(Protocol):
    """One run of a method. If it has ``cpu`` (seconds used so far, by another process), that counts as its time."""

    def ask(self) -> Any:
        """The next slate: rows (m, d) of the unit cube, or indices (m,) of a list."""

    def tell(self, slate: Any, answer: Answer) -> None:
        """Learn from the answer to ``slate``."""

    def recommend(self) -> Any:
        """The best option as far as known: a row (d,) or an index."""


Maker = Callable[..., Player]


class PolicyPlayer:
    """A prefopt policy with its random streams: one per question, as in a study."""

    def __init__(self, policy: Any, seed: int) -> None:
        self.policy, self.seed, self.asked = policy, seed, 0
        policy.init(stream(seed, 0))

    def ask(self) -> Any:
        """The next slate."""
        return self.policy.ask(stream(self.seed, 1, self.asked))

    def tell(self, slate: Any, answer: Answer) -> None:
        """Learn."""
        self.policy.tell(slate, answer, stream(self.seed, 2, self.asked))
        self.asked += 1

    def recommend(self) -> Any:
        """The policy's best option."""
        return self.policy.best()


def policy(name: str, **settings: Any) -> Maker:
    """A maker of the policy called ``name`` in ``prefopt.policies``, with these settings."""

    def make(domain: Domain, *, m: int, budget: int, seed: int) -> PolicyPlayer:
        known = {"feedback": "winner"} if m > 2 and POLICIES[name].takes_feedback else {}
        return PolicyPlayer(make_policy(name, domain, slate_size=m, horizon=budget, **{**known, **settings}), seed)

    return make


class CubePlayer:
    """Anything with ``ask() -> rows (m, d)``, ``tell(position of the winner)`` and ``recommend() -> row (d,)``."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def ask(self) -> Any:
        """The next slate."""
        return self.inner.ask()

    def tell(self, slate: Any, answer: Answer) -> None:
        """Learn who won."""
        self.inner.tell(answer.order[0])

    def recommend(self) -> Any:
        """The best row."""
        return self.inner.recommend()


def unit_cube(make_inner: Callable[[int, int, int, int], Any]) -> Maker:
    """A maker of a player on boxes from ``make_inner(dim, seed, m, budget)``."""

    def make(domain: Domain, *, m: int, budget: int, seed: int) -> CubePlayer:
        if not isinstance(domain, Box):
            raise SettingError(f"this method needs a box, got {domain!r}")
        return CubePlayer(make_inner(domain.dim, seed, m, budget))

    return make


def peer(name: str) -> Maker:
    """A maker of a peer's player, in its own process."""

    def make(domain: Domain, *, m: int, budget: int, seed: int) -> Peer:
        if not isinstance(domain, Box) or not domain.continuous.all() or m != 2:
            raise SettingError(f"{name} is compared on pairs of points with real parameters only")
        return Peer(name, domain.dim, budget, seed)

    return make


#: By name: every policy that plays on boxes, with its defaults, and the peers.
METHODS: dict[str, Maker] = {
    **{name: policy(name) for name, entry in POLICIES.items() if "box" in entry.domains},
    **{name: peer(name) for name in PEERS},
}


def can_play(name: str, domain: Domain, m: int) -> bool:
    """Whether the method called ``name`` takes this domain and slates of m; of methods of your own that is assumed."""
    if name in PEERS:
        return m == 2 and isinstance(domain, Box) and bool(domain.continuous.all())
    entry = POLICIES.get(name)
    if entry is None:
        return True
    kinds = {"box"} if isinstance(domain, Box) else {"grid", "arms"}
    return bool(kinds & set(entry.domains)) and (m == 2 or entry.slates != "2")


def find_method(name: str) -> Maker:
    """The maker called ``name``.

    Raises:
        SettingError: no such method.
    """
    if name in METHODS:
        return METHODS[name]
    if name in POLICIES:
        return policy(name)
    raise SettingError(
        f"unknown method {name!r}; expected one of {', '.join(METHODS)} or a policy's name"
        f"{did_you_mean(name, [*METHODS, *POLICIES])}"
    )
