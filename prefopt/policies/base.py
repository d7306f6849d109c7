"""What a policy is, and the base of those on finite domains, whose rules are functions of a NamedTuple of arrays.

The rules run as plain Python for a person. For a simulation the same functions are compiled together with
the environment into one loop (``prefopt.simulation.driver``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.domain import Arms, Domain, Grid
from prefopt.errors import AnswerError, HorizonError, SettingError
from prefopt.jit import jitable
from prefopt.policies.checks import check_settings

#: Marks a function of a policy: plain Python when called from Python, compiled when called from a compiled loop.
rule = jitable

Slate = NDArray[Any]


@runtime_checkable
class Policy(Protocol):
    """One algorithm. ``ask`` changes nothing; ``tell`` is the only change; randomness is always an argument.

    Every policy takes ``domain`` first, and the keywords ``slate_size`` and ``horizon`` (ignored where the
    algorithm does not need it); its own hyper-parameters are further keywords, all JSON-able.
    """

    domain: Domain
    slate_size: int

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything."""

    def ask(self, rng: np.random.Generator, pending: Sequence[Slate] = ()) -> Slate:
        """The next slate: int64 (m,) on a finite domain, float64 (m, d) on a box.

        ``pending`` are slates that were asked and not answered yet.
        """

    def tell(self, slate: Slate, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from the answer to ``slate``."""

    def best(self) -> Any:
        """The option to recommend now: an int on a finite domain, a row (d,) on a box."""

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters, JSON-able: ``type(policy)(domain, **settings)`` is the same policy."""


class Rules(NamedTuple):
    """The three functions of a finite policy, each marked with ``@rule``.

    ask(state, rng, slate) -> m: write the m options into the buffer ``slate`` (int64, (max_slate,)).
    tell(state, slate, m, wins, rng) -> None: learn from ``wins[:m, :m]`` (float64 buffer).
    best(state) -> int: the recommended option.
    """

    ask: Callable[..., int]
    tell: Callable[..., None]
    best: Callable[..., int]


@dataclass(kw_only=True)
class FinitePolicy:
    """Base of the policies on ``Arms`` and ``Grid``: holds the state, calls the rules.

    A subclass is a dataclass whose fields are its hyper-parameters; it sets ``rules`` and defines ``start``.
    Fields of the state whose names begin with ``scratch`` are working space: their content means nothing.
    """

    domain: Arms | Grid = field(kw_only=False)
    slate_size: int = 2
    horizon: int | None = None

    rules: ClassVar[Rules]
    #: Algorithms that compare exactly two options say so here.
    pairs_only: ClassVar[bool] = False
    #: Rules that numba cannot compile (they call a solver, say) run as plain Python in simulations.
    compilable: ClassVar[bool] = True

    state: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Arms | Grid):
            raise SettingError(f"{type(self).__name__} needs a finite domain (Arms or Grid), got {self.domain!r}")
        check_settings(self)
        self.check()
        if self.pairs_only and self.slate_size != 2:
            raise SettingError(
                f"{type(self).__name__} compares two options at a time, got slate_size={self.slate_size}"
            )

    def check(self) -> None:
        """Raise ``SettingError`` if a hyper-parameter is out of range."""

    def need_horizon(self, name: str, otherwise: str = "") -> None:
        """Raise ``HorizonError`` if the number of rounds is not known; ``otherwise`` says how to do without."""
        if self.horizon is None:
            raise HorizonError(f"{name} needs the number of rounds it will play: pass horizon=...{otherwise}")

    def start(self, rng: np.random.Generator) -> Any:
        """The state (a NamedTuple of arrays and constants) before the first question."""
        raise NotImplementedError

    @property
    def max_slate(self) -> int:
        """The longest slate that ``ask`` may return."""
        return self.slate_size

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.name != "domain"}

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything; ``rng`` serves the algorithms that start with a random order."""
        self.state = self.start(rng)

    def ask(self, rng: np.random.Generator, pending: Sequence[Slate] = ()) -> Slate:
        """The next slate, int64 (m,); changes nothing. Raises SettingError before ``init``."""
        if self.state is None:
            raise SettingError("ask before init: call policy.init(rng) first")
        buffer = np.zeros(self.max_slate, dtype=np.int64)
        size = self.rules.ask(self.state, rng, buffer)
        return buffer[:size]

    def tell(self, slate: Slate, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from ``answer`` to ``slate`` (int64, (m,)); a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, or the slate names an unknown one.
            SettingError: before ``init``.
        """
        if self.state is None:
            raise SettingError("tell before init: call policy.init(rng) first")
        options = np.asarray(slate, dtype=np.int64)
        if answer.size != len(options):
            raise AnswerError(f"the slate has {len(options)} options, the answer is about {answer.size}")
        if options.min() < 0 or options.max() >= self.domain.size:
            raise AnswerError(f"slate {options.tolist()} names an option outside 0 .. {self.domain.size - 1}")
        if answer.kind != "skip":
            self.rules.tell(self.state, options, len(options), answer.wins, rng)

    def best(self) -> int:
        """The index of the recommended option."""
        return int(self.rules.best(self.state))
