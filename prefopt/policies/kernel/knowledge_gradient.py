"""The knowledge gradient: how much better the best option is expected to be after one more answer.

Frazier, Powell, Dayanik 2009, eq. 4.1, of answers that are choices: E max_x E[f(x) | answer] - max_x E f(x). Where no
single answer can change which option is best, as is common on a grid, that is zero for every slate, and EUBO chooses.
A slate is found like qEUBO's: the best pair, extended greedily, and options exchanged one at a time, on a box with
points near them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prefopt.domain import Box, FloatArray
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import CLOSE, MOVES, ROUNDS, around, candidates
from prefopt.policies.kernel.eubo import eubo_pair
from prefopt.policies.kernel.look_ahead import LookAhead
from prefopt.policies.kernel.qeubo import distinct, qeubo_slate
from prefopt.policies.kernel.rival import apart
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top

#: Candidates of a box: uniform points, and points near the champion and the best ones shown.
EVERYWHERE, NEAR = 192, 128
#: One option of the first pair is among so many best ones, by mean and by mean + sd of the difference to the champion.
LEADING = 8
#: At most so many candidates are looked at, and so many of these are tried as a further option of a slate, the most
#: hopeful ones; with ``reuse``, one option is among so many best ones shown so far.
LOOKED, POOL, KEPT = 400, 96, 64
#: All pairs of so many options are compared; of more, those with a leading one.
ALL = 64
#: Values below this share of the largest standard deviation are rounding.
LEAST = 1e-6


@dataclass(kw_only=True)
class KnowledgeGradient(UtilityPolicy):
    """The slate whose answer is expected to raise the largest posterior mean most. Settings: ``UtilityPolicy``'s."""

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The slate (m, d)."""
        Z, kept = self._considered(utility, rng)
        m = min(self.slate_size, len(Z))
        if m < max(2, self.slate_size):
            return Z[np.arange(self.slate_size) % m]
        ahead = LookAhead.of(utility, Z, self.likelihood, rng, m)
        pair, value = self._pair(ahead, kept)
        if value <= LEAST * math.sqrt(float(np.diag(ahead.C).max())):
            return eubo_pair(self, utility, rng) if m == 2 else qeubo_slate(self, utility, rng)
        pool = ahead.hopeful[:POOL]
        slate = list(pair)
        while len(slate) < m:
            slate.append(ahead.best_in(slate, len(slate), pool))
        for place in range(1 if kept else 0, m if m > 2 else 0):
            slate[place] = ahead.best_in(slate, place, pool)
        rows = Z[slate]
        if not isinstance(self.domain, Box):
            return rows
        looked = Z[pool]
        for step in range(ROUNDS):
            for place in range(1 if kept else 0, m):
                rows = self._moved(utility, looked, rows, place, CLOSE * 0.4**step, rng)
        return rows

    def _considered(self, utility: Utility, rng: np.random.Generator) -> tuple[FloatArray, int]:
        """Distinct candidates (n, d), the champion first; with ``reuse``, so many options shown come before all."""
        champion = self.champion(utility, quick=True)
        Z = distinct(candidates(self.domain, utility, champion, self.points, rng, everywhere=EVERYWHERE, near=NEAR))
        kept = top(utility, self.shown, KEPT) if self.reuse else self.points[:0]
        if len(kept):
            Z = np.vstack([kept, apart(Z, kept)])
        if len(Z) > LOOKED:
            mean, sd = utility.difference(Z, np.broadcast_to(Z[0], Z.shape))
            first = max(1, len(kept))
            rest = first + np.argsort(-(mean + sd)[first:], kind="stable")
            Z = Z[np.concatenate([np.arange(first), rest])[:LOOKED]]
        return Z, len(kept)

    def _pair(self, ahead: LookAhead, kept: int) -> tuple[list[int], float]:
        """The best pair that may be asked about, and its value; if ``kept`` > 0, the first is below it."""
        n = len(ahead.mean)
        leading = np.unique(np.concatenate([np.argsort(-ahead.mean)[:LEADING], ahead.hopeful[:LEADING]]))
        first = np.arange(kept) if kept else np.arange(n) if n <= ALL else leading
        pair, highest = [0, 1], -math.inf
        for a in first:
            rest = np.delete(np.arange(n), a)
            value = ahead.value(np.column_stack([np.full(n - 1, a), rest]))
            best = int(np.argmax(value))
            if value[best] > highest:
                pair, highest = [int(a), int(rest[best])], float(value[best])
        return pair, highest

    def _moved(
        self,
        utility: Utility,
        looked: FloatArray,
        slate: FloatArray,
        place: int,
        spread: float,
        rng: np.random.Generator,
    ) -> FloatArray:
        """``slate`` (m, d) with the option at ``place`` moved to the best of some points near it."""
        near = apart(around(self.box, slate[place][None], MOVES, spread, rng), slate)
        m, Z = len(slate), np.vstack([slate, near, looked])
        ahead = LookAhead.of(utility, Z, self.likelihood, rng, m)
        best = ahead.best_in(range(m), place, np.array([place, *range(m, m + len(near))]))
        return np.vstack([slate[:place], Z[best], slate[place + 1 :]])
