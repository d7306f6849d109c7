"""Open questions, and options shown before, for algorithms whose papers know neither.

A copy of the policy is told that every open question was answered as it expects, with shares of a win, and chooses:
what is being asked is uncertain no more (as the hallucinations of Desautels, Krause and Burdick 2014, section 4).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.policies.base import FinitePolicy, Slate
from prefopt.policies.box import BoxPolicy

#: What a copy has in common with its original: it never changes.
SHARED = ("domain", "prior", "kernel", "base", "k")
#: So many choices are made in search of a question that is not open; then an option is replaced by one of so many.
TRIES, OTHERS = 4, 64


class Awaiting:
    """Defines ``ask``; a subclass defines ``choose``, ``level``, ``shown``, and what all policies have."""

    domain: Any
    reuse: bool

    def ask(self, rng: np.random.Generator, pending: Sequence[Slate] = ()) -> Slate:
        """The next slate; changes nothing.

        An open question (``pending``) is taken to be answered as expected, and is not asked twice while there is
        another. With ``reuse`` one option is one that was shown before, the best unless the policy chose such a one.
        """
        waiting = [np.asarray(slate) for slate in pending if len(slate) > 1]
        policy = self.expecting(waiting, rng) if waiting else self
        for _ in range(TRIES):
            slate = self._with_shown(policy.choose(rng))
            if not self._is_open(slate, waiting):
                return slate
        made = (new for new in self._others(slate, rng) if not self._is_open(new, waiting) and self._allowed(new))
        return next(made, slate)

    def choose(self, rng: np.random.Generator) -> Slate:
        """The next slate by the algorithm alone."""
        raise NotImplementedError

    def level(self, options: Slate) -> FloatArray:
        """How good ``options`` (n,) or (n, d) are believed to be, (n,); by default, chances to beat the others."""
        raise NotImplementedError

    def shown(self) -> Slate:
        """The options learned of so far, (q,) or (q, d)."""
        raise NotImplementedError

    def expected(self, slate: Slate) -> FloatArray:
        """The chance that each option of ``slate`` beats each other one, (m, m), zeros on the diagonal."""
        level = self.level(slate)
        chance = np.clip(0.5 + (level[:, None] - level) / 2, 0.0, 1.0)
        np.fill_diagonal(chance, 0.0)
        return np.asarray(chance)

    def expecting(self, waiting: Sequence[Slate], rng: np.random.Generator) -> Any:
        """A copy that was told what is expected of the open questions ``waiting``."""
        common = {id(value): value for value in (getattr(self, name, None) for name in SHARED)}
        made: Any = copy.deepcopy(self, common)
        for slate in waiting:
            made.tell(slate, Answer.pairs(self.expected(slate)), rng)
        return made

    def _with_shown(self, slate: Slate) -> Slate:
        """With ``reuse``: the last option gives way to the best one shown, unless one of the slate was."""
        shown = self.shown() if self.reuse else slate[:0]
        if not len(shown) or self._allowed(slate):
            return slate
        first = shown[np.argsort(-self.level(shown), kind="stable")[:1]]
        return np.concatenate([slate[:-1], first])

    def _allowed(self, slate: Slate) -> bool:
        """Whether there is no ``reuse``, or nothing was shown yet, or an option of the slate was."""
        shown = self.shown() if self.reuse else slate[:0]
        return not len(shown) or bool(self._alike(slate, shown).any())

    def _is_open(self, slate: Slate, waiting: Sequence[Slate]) -> bool:
        """Whether an open question is about the same options."""
        gaps = (self._alike(slate, other) for other in waiting)
        return any(alike.any(axis=1).all() and alike.any(axis=0).all() for alike in gaps)

    def _alike(self, one: Slate, other: Slate) -> Any:
        """Which options of two slates are the same to the policy, (m, n)."""
        gap = np.abs(one[:, None] - other[None]).reshape(len(one), len(other), -1)
        return gap.max(axis=2) <= getattr(self, "merge", 0.0)

    def _others(self, slate: Slate, rng: np.random.Generator) -> Iterator[Slate]:
        """The slate with one option replaced, the last first, without an option twice."""
        if isinstance(self, FinitePolicy):
            others: Slate = rng.permutation(self.domain.size)[:OTHERS]
        else:
            others = self.domain.sample(OTHERS, rng)
        for j in reversed(range(len(slate))):
            for other in others:
                if not self._alike(slate, other[None]).any():
                    made = slate.copy()
                    made[j] = other
                    yield made


@dataclass(kw_only=True)
class AwaitingFinite(Awaiting, FinitePolicy):
    """A finite policy whose rules choose; with ``reuse`` it runs as plain Python in simulations."""

    reuse: bool = False

    def choose(self, rng: np.random.Generator) -> Slate:
        """The next slate by the rules alone, int64 (m,)."""
        return FinitePolicy.ask(self, rng)

    def expecting(self, waiting: Sequence[Slate], rng: np.random.Generator) -> Any:
        """A copy that was told what is expected of the open questions ``waiting``. Raises SettingError before init."""
        if self.state is None:
            raise SettingError("ask before init: call policy.init(rng) first")
        return super().expecting(waiting, rng)


@dataclass(kw_only=True)
class AwaitingBox(Awaiting, BoxPolicy):
    """A policy on a box; the points tried are those learned of."""

    reuse: bool = False

    def shown(self) -> FloatArray:
        """The allowed points learned of so far, (q, d)."""
        X = self.data.X
        return np.asarray(X[self.domain.feasible(X)])
