"""The conformance suite that every policy passes; run it on your own with ``check_policy(YourPolicy)``."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import Arms, Domain, Grid, is_finite
from prefopt.environments.base import FiniteEnvironment
from prefopt.policies import get_entry, make_policy
from prefopt.seeding import stream
from prefopt.simulation import simulate

__all__ = ["check_policy"]

Maker = Callable[..., Any]


def check_policy(
    policy: str | Maker,
    domain: Domain | None = None,
    *,
    regret: str | None = None,
    horizon: int = 2000,
    learns: bool = True,
    compiled: bool = True,
    **settings: Any,
) -> None:
    """Raise AssertionError, saying what is wrong, unless ``policy`` behaves as every policy must.

    ``ask`` may change no attribute, except what begins with "scratch" and what the class lists in ``memo``, a tuple of
    the names of attributes that hold what is computed once and follows from the others.

    Args:
        policy: a name in ``POLICIES``, or a callable ``policy(domain, slate_size=, horizon=, **settings)``.
        domain: what it plays on; six arms by default.
        regret: the regret that must fall; by default the one its entry aims at.
        horizon: rounds of the check that it learns.
        learns: whether to make that check.
        compiled: whether to compare compiled and uncompiled runs (finite policies with ``rules``).
        settings: hyper-parameters.

    >>> check_policy("random", learns=False, compiled=False)
    """
    make = _maker(policy, {"horizon": horizon, **settings})
    chosen = domain or Arms(6)
    _check_settings(make, chosen)
    _check_asks(make, chosen)
    _check_replay(make, chosen)
    for K in (1, 2) if is_finite(chosen) else ():
        _play(make(Grid(chosen.points[:K]) if isinstance(chosen, Grid) else Arms(K)), 12, 5)
    target = regret or (get_entry(policy).regret if isinstance(policy, str) else "strong-sum")
    if not isinstance(chosen, Arms):
        return
    if compiled and hasattr(make(chosen), "rules"):
        _check_compiled(policy, {"horizon": horizon, **settings})
    if learns and target:
        _check_learns(policy, target, horizon, {"horizon": horizon, **settings})


def _maker(policy: str | Maker, settings: dict[str, Any]) -> Maker:
    if isinstance(policy, str):
        return lambda domain, **more: make_policy(policy, domain, **{**settings, **more})
    return lambda domain, **more: policy(domain, **{**settings, **more})


def _answer(question: int, slate: Any) -> Answer:
    """Answers of every kind in turn; finite options of lower index tend to win."""
    m, kind = len(slate), question % 7
    if m == 1:
        return Answer.alone()
    if kind == 3:
        return Answer.tie(m)
    if kind == 4:
        return Answer.skip("no idea", m)
    if kind == 5:
        return Answer.pairs(np.zeros((m, m)))
    if kind == 6:
        return Answer.best(m - 1, m)
    return Answer.ranking([int(j) for j in np.argsort(np.asarray(slate).reshape(m, -1)[:, 0], kind="stable")], m)


def _play(policy: Any, rounds: int, seed: int) -> list[tuple[int, Any, Answer]]:
    """Ask and tell; returns the log."""
    log = []
    policy.init(stream(seed, 0))
    for t in range(rounds):
        slate = policy.ask(stream(seed, t, 0))
        _check_slate(policy, slate)
        answer = _answer(t, slate)
        policy.tell(slate, answer, stream(seed, t, 1))
        log.append((t, slate, answer))
    policy.best()
    return log


def _check_slate(policy: Any, slate: Any) -> None:
    if is_finite(policy.domain):
        assert slate.dtype == np.int64 and slate.ndim == 1, f"slate {slate!r} is not int64 (m,)"
        assert slate.min() >= 0 and slate.max() < policy.domain.size, f"slate {slate} leaves the domain"
        limit = getattr(policy, "max_slate", policy.slate_size)
        assert 1 <= len(slate) <= limit, f"{len(slate)} options, at most {limit} allowed"
    else:
        assert slate.shape == (policy.slate_size, policy.domain.dim), f"slate of shape {slate.shape}"
        assert all(policy.domain.contains(row) for row in slate), f"slate {slate} leaves the domain"


def _content(policy: Any) -> dict[str, Any]:
    """What the policy remembers by dotted name: no working space, and nothing that it only computes once."""
    spared = {"domain", *getattr(policy, "memo", ())}
    kept: dict[str, Any] = {}
    for name, value in vars(policy).items():
        if name not in spared:
            _flatten(name, value, kept, {id(policy)})
    return kept


def _flatten(name: str, value: Any, kept: dict[str, Any], seen: set[int]) -> None:
    """Put ``value``, and what is inside of it, into ``kept`` in a form that later changes do not reach."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        kept[name] = value.dtype, value.shape, value.tobytes()
    elif hasattr(value, "detach"):  # a tensor
        _flatten(name, np.asarray(value.detach()), kept, seen)
    elif isinstance(value, np.random.Generator):
        kept[name] = repr(value.bit_generator.state)
    elif isinstance(value, type) or inspect.isroutine(value) or id(value) in seen:
        kept[name] = id(value)
    elif (inside := _inside(value)) is None:
        kept[name] = repr(value)
    else:
        kept[name] = type(value), len(inside)
        for key, part in inside.items():
            if not str(key).startswith("scratch"):
                _flatten(f"{name}.{key}", part, kept, seen | {id(value)})


def _inside(value: Any) -> Mapping[Any, Any] | None:
    """The parts of a collection or object by name or number; None if it has none."""
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, list | tuple | np.ndarray):
        return dict(enumerate(value))
    return value if isinstance(value, Mapping) else getattr(value, "__dict__", None)


def _check_settings(make: Maker, domain: Domain) -> None:
    policy = make(domain)
    settings = json.loads(json.dumps(policy.settings))
    again = type(policy)(domain, **settings)
    assert again.settings == policy.settings, f"settings changed: {policy.settings} became {again.settings}"
    logs = [_play(p, 15, 3) for p in (policy, again)]
    _same_logs(*logs)


def _same_logs(one: Sequence[Any], two: Sequence[Any]) -> None:
    assert len(one) == len(two)
    for (t, a, _), (_, b, _) in zip(one, two, strict=True):
        assert np.array_equal(a, b), f"question {t}: {a} and {b} from the same seed"


def _check_asks(make: Maker, domain: Domain) -> None:
    policy = make(domain)
    _play(policy, 30, 1)
    before = _content(policy)
    first = policy.ask(stream(9, 1))
    second = policy.ask(stream(9, 1))
    assert np.array_equal(first, second), f"asked twice with the same generator: {first}, then {second}"
    after = _content(policy)
    for name in {**before, **after}:
        assert before.get(name) == after.get(name), f"ask changed {name}"


def _check_replay(make: Maker, domain: Domain) -> None:
    live, again = make(domain), make(domain)
    log = _play(live, 40, 2)
    again.init(stream(2, 0))
    for t, slate, answer in log:
        again.tell(slate, answer, stream(2, t, 1))
    assert np.array_equal(live.ask(stream(4, 4)), again.ask(stream(4, 4))), "a replayed log asks something else"
    assert np.array_equal(live.best(), again.best()), "a replayed log recommends something else"


def _person(K: int, gap: float) -> FiniteEnvironment:
    rank = np.arange(K)
    P = 0.5 + gap * np.sign(rank[None, :] - rank[:, None])
    return FiniteEnvironment(f"order-{K}", Arms(K), P, utility=1.0 - rank / K)


def _check_compiled(policy: Any, settings: dict[str, Any]) -> None:
    both = [
        simulate(policy, _person(6, 0.2), rounds=300, seed=5, settings=settings, compiled=c, record=True)
        for c in (True, False)
    ]
    assert np.array_equal(both[0].slates[0], both[1].slates[0]), "compiled and uncompiled runs ask different slates"


def _check_learns(policy: Any, regret: str, rounds: int, settings: dict[str, Any]) -> None:
    """In the last quarter of an easy problem the regret is below half of that of uniform choice."""
    kept = [3 * rounds // 4]
    rates = []
    for who, given in ((policy, settings), ("random", {})):
        run = simulate(
            who, _person(4, 0.4), rounds=rounds, repetitions=2, seed=6, regret=regret, checkpoints=kept, settings=given
        )
        rates.append(float(np.diff(run.mean())[0]) / (rounds - kept[0]))
    assert rates[0] < 0.5 * rates[1], (
        f"{regret} regret of {rates[0]:.3g} a round after round {kept[0]}; it must be below {rates[1] / 2:.3g}, "
        f"half of that of uniform choice ({rates[1]:.3g})"
    )
