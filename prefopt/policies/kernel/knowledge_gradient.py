"""The knowledge gradient: how much better the best option is expected to be after one more answer.

Frazier, Powell, Dayanik 2009, eq. 4.1, of answers that are choices: E max_x E[f(x) | answer] - max_x E f(x). Where no
single answer can change which option is best, as is common on a grid, that is zero for every slate, and EUBO chooses.
A slate is found like qEUBO's: the best pair, extended greedily, and options exchanged one at a time, on a box with
points near them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefopt.domain import Box, FloatArray
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.comparisons import IntArray
from prefopt.policies.kernel.candidates import MOVES, SPREADS, around, hopeful
from prefopt.policies.kernel.eubo import considered, eubo_pair
from prefopt.policies.kernel.look_ahead import LookAhead, Looked, hopeful_first, mirrored
from prefopt.policies.kernel.qeubo import distinct, qeubo_slate
from prefopt.policies.kernel.rival import apart
from prefopt.policies.kernel.utility_policy import UtilityPolicy

#: Candidates of a box: uniform points, and points near the champion and the best ones shown.
EVERYWHERE, NEAR = 192, 128
#: One option of the first pair is among so many best ones, by mean and by mean + sd of the difference to the champion.
LEADING = 8
#: At most so many candidates are looked at, and so many of these are tried as a further option of a slate, the most
#: hopeful ones.
LOOKED, POOL = 400, 96
#: All pairs of so many options are compared; of more, those with a leading one.
ALL = 64
#: Values below this share of the largest standard deviation are rounding.
LEAST = 1e-6


@dataclass(kw_only=True)
class KnowledgeGradient(UtilityPolicy):
    """The slate whose answer is expected to raise the largest posterior mean most. Settings: ``UtilityPolicy``'s.

    Both priors of ``flat`` count as far as they are probable, in questions and in what is recommended.
    """

    averages: ClassVar[bool] = True

    def choose_by(self, beliefs: Averaged, rng: np.random.Generator) -> FloatArray:
        """The slate (m, d)."""
        Z, kept = considered(self, beliefs, rng, EVERYWHERE, NEAR)
        Z = distinct(Z)
        if len(Z) > LOOKED:
            Z = Z[hopeful(beliefs, Z, max(1, kept), LOOKED)]
        m = min(self.slate_size, len(Z))
        if m < self.slate_size:
            return Z[np.arange(self.slate_size) % m]
        normal = mirrored(m, rng)
        ahead = LookAhead.of(beliefs, Z, self.likelihood, normal)
        mean, C = ahead.moments
        order = hopeful_first(mean, C)
        pair, value = self._pair(ahead, order, kept)
        if value <= LEAST * math.sqrt(float(np.diag(C).max())):
            return (eubo_pair if m == 2 else qeubo_slate)(self, beliefs.likeliest, rng)
        pool, slate = order[:POOL], list(pair)
        while len(slate) < m:
            slate.append(ahead.best_in(slate, len(slate), pool))
        for place in range(1 if kept else 0, m if m > 2 else 0):
            slate[place] = ahead.best_in(slate, place, np.append([slate[place]], pool))
        rows = Z[slate]
        if not isinstance(self.domain, Box):
            return rows
        looked = Looked.at(beliefs, Z[pool])
        for spread in SPREADS:
            near = self._near(rows, 1 if kept else 0, spread, rng)
            ahead = LookAhead.of(beliefs, np.vstack([rows, *near]), self.likelihood, normal, looked)
            rows = moved(ahead, rows, near)
        return rows

    def _pair(self, ahead: LookAhead, order: IntArray, kept: int) -> tuple[list[int], float]:
        """The best pair that may be asked about, and its value; if ``kept`` > 0, the first is below it."""
        mean = ahead.moments[0]
        n = len(mean)
        leading = np.unique(np.concatenate([np.argsort(-mean)[:LEADING], order[:LEADING]]))
        first = np.arange(kept) if kept else np.arange(n) if n <= ALL else leading
        pair, highest = [0, 1], -math.inf
        for a in first:
            rest = np.delete(np.arange(n), a)
            value = ahead.value(np.column_stack([np.full(n - 1, a), rest]))
            best = int(np.argmax(value))
            if value[best] > highest:
                pair, highest = [int(a), int(rest[best])], float(value[best])
        return pair, highest

    def _near(self, slate: FloatArray, fixed: int, spread: float, rng: np.random.Generator) -> list[FloatArray]:
        """Points near each option of ``slate`` (m, d) from number ``fixed`` on, all distinct."""
        near: list[FloatArray] = []
        for row in slate[fixed:]:
            near.append(apart(distinct(around(self.box, row[None], MOVES, spread, rng)), np.vstack([slate, *near])))
        return near


def moved(ahead: LookAhead, slate: FloatArray, near: Sequence[FloatArray]) -> FloatArray:
    """``slate`` (m, d) with its last options moved in turn to the best of the points ``near`` each of them.

    ``ahead``: of the slate and then all these points.
    """
    m, Z = len(slate), np.vstack([slate, *near])
    chosen, begin = list(range(m)), m
    for place, rows in enumerate(near, m - len(near)):
        chosen[place] = ahead.best_in(chosen, place, np.array([place, *range(begin, begin + len(rows))]))
        begin += len(rows)
    return Z[chosen]
