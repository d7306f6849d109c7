"""The pairwise knowledge gradient: how much better the best option is expected to be after one more answer.

The look-ahead posterior of a duel is an extended skew normal one, whose mean is known in closed form (Wu and Gardner
2026, arXiv 2601.22335). Where no single answer can change which option is best, as is
common on a grid, the value is zero for every pair, and EUBO chooses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr

from prefopt.domain import FloatArray
from prefopt.models.utility.comparisons import IntArray
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import candidates
from prefopt.policies.kernel.eubo import best_pair
from prefopt.policies.kernel.hallucination import NOISE
from prefopt.policies.kernel.rival import apart
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top

#: All pairs of so many options are looked at; of more, pairs with one of the leading ones.
ALL, LEADING = 64, 8
#: Values below this share of the largest standard deviation are rounding.
LEAST = 1e-6


def knowledge_gradient(mean: FloatArray, C: FloatArray, a: int, noise: float) -> FloatArray:
    """KG(a, b) for every b (n,), of options with joint ``mean`` (n,) and covariance ``C`` (n, n); 0 for b = a.

    ``noise``: standard deviation of the normal noise of an answer.

    >>> knowledge_gradient(np.zeros(2), np.eye(2), 0, math.sqrt(2)).round(4)  # E max of the means after the answer
    array([0.    , 0.3989])
    """
    k = C[:, [a]] - C  # covariance of f(x) with f(a) - f(b), (n, n)
    tau = np.sqrt(noise**2 + np.maximum(k[a] - np.diag(k), 0.0))
    z = (mean[a] - mean) / tau
    gain = 0.0
    for sign in (1.0, -1.0):  # a wins, b wins
        log_p = log_ndtr(sign * z)
        slope = np.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_p) / tau
        gain = gain + np.exp(log_p) * np.max(mean[:, None] + sign * slope * k, axis=0)
    value = np.asarray(gain - mean.max())
    value[a] = 0.0
    return value


@dataclass(kw_only=True)
class KnowledgeGradient(UtilityPolicy):
    """The pair whose answer is expected to raise the largest posterior mean most. Settings: ``UtilityPolicy``'s."""

    pairs_only: ClassVar[bool] = True

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The pair (2, d)."""
        Z = candidates(self.domain, utility, self.champion(utility, quick=True), self.shown, rng)
        kept = top(utility, self.shown, LEADING) if self.reuse else self.points[:0]
        if len(kept):
            Z = np.vstack([kept, *(row for z in Z if len(row := apart(z[None], kept)))])
        mean, C = utility.joint(Z)
        value = np.full((len(Z), len(Z)), -np.inf)
        for a in self._first(mean, C, len(kept)):
            value[a] = knowledge_gradient(mean, C, int(a), NOISE[self.link])
            value[a, a] = -np.inf
        if len(Z) > 1 and value.max() > LEAST * math.sqrt(float(np.diag(C).max())):
            return Z[list(np.unravel_index(int(np.argmax(value)), value.shape))]
        return Z[list(best_pair(utility, Z, len(kept)))]

    @staticmethod
    def _first(mean: FloatArray, C: FloatArray, kept: int) -> IntArray:
        """Rows that may be the first of the pair: all, the leading ones, or the ``kept`` ones."""
        if kept or len(mean) <= ALL:
            return np.arange(kept or len(mean))
        hopeful = mean + np.sqrt(np.maximum(np.diag(C) + C[0, 0] - 2 * C[0], 0.0))
        leading = [np.argsort(-score, kind="stable")[:LEADING] for score in (mean, hopeful)]
        return np.unique(np.concatenate(leading))
