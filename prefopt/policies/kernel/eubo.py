"""EUBO: Lin, Astudillo, Frazier, Bakshy 2022, "Preference exploration for efficient Bayesian optimization", eq. 4.

The pair whose better option is expected to be best: E max(f(a), f(b)), in closed form for a Gaussian posterior. On a
box the pair is then improved by moving both points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from prefopt.domain import Box, FloatArray
from prefopt.models.utility.average import Beliefs
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import EVERYWHERE, MOVES, NEAR, SPREADS, around, candidates
from prefopt.policies.kernel.rival import apart
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top

#: One option of the pair is among so many best ones, by mean and by mean + sd of the difference to the champion.
LEADING = 12
#: With ``reuse``, one option is among so many best ones shown so far.
KEPT = 64


def expected_best(mean_a: FloatArray, mean_b: FloatArray, sd: FloatArray) -> FloatArray:
    """E max(a, b) of two Gaussians, ``sd`` being the standard deviation of a - b.

    >>> float(expected_best(np.array(0.3), np.array(0.1), np.array(0.9)).round(6))
    0.567877
    """
    u = (mean_a - mean_b) / sd
    return np.asarray(mean_b + sd * (np.exp(-0.5 * u * u) / math.sqrt(2 * math.pi) + u * ndtr(u)))


@dataclass(kw_only=True)
class EUBO(UtilityPolicy):
    """The pair of largest expected utility of the better option, under a utility model with a Gaussian process."""

    pairs_only: ClassVar[bool] = True

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The pair (2, d)."""
        return eubo_pair(self, utility, rng)


def considered(
    policy: UtilityPolicy, utility: Beliefs, rng: np.random.Generator, everywhere: int = EVERYWHERE, near: int = NEAR
) -> tuple[FloatArray, int]:
    """Candidates (n, d), the champion first; with ``reuse``, so many rows of options shown come before all others.

    ``everywhere``, ``near``: as in ``candidates``.
    """
    Z = candidates(policy.domain, utility, policy.champion(utility, quick=True), policy.points, rng, everywhere, near)
    kept = top(utility, policy.shown, KEPT) if policy.reuse else policy.points[:0]
    if len(kept):
        Z = np.vstack([kept, apart(Z, kept)])
    return Z, len(kept)


def eubo_pair(policy: UtilityPolicy, utility: Utility, rng: np.random.Generator) -> FloatArray:
    """The pair (2, d) of largest E max(f(a), f(b)) that the policy may ask about."""
    Z, kept = considered(policy, utility, rng)
    pair = Z[list(best_pair(utility, Z, kept))]
    return improved(utility, policy.domain, pair, rng, move=not kept) if isinstance(policy.domain, Box) else pair


def best_pair(utility: Utility, Z: FloatArray, kept: int = 0) -> tuple[int, int]:
    """Rows of Z (n, d) that make the best pair, row 0 being the champion; if ``kept`` > 0, the first is below it."""
    if len(Z) < 2:
        return 0, 0
    (mean, V), psi = utility.mean_and_root(Z), utility.prior.features(Z)
    variance = utility.prior.variance(Z) - np.einsum("nm,nm->n", V, V)

    def sd(rows: NDArray[Any]) -> FloatArray:
        both = utility.prior.kernel(Z[rows], Z) + psi[rows] @ psi.T - V[rows] @ V.T
        return np.asarray(np.sqrt(np.maximum(variance[rows, None] + variance - 2 * both, 1e-12)))

    hopeful = mean + sd(np.array([0]))[0]
    leading = np.unique(np.concatenate([[0], np.argsort(-mean)[:LEADING], np.argsort(-hopeful)[:LEADING]]))
    leading = np.arange(kept) if kept else leading
    value = expected_best(mean[leading, None], mean, sd(leading))
    value[np.arange(len(leading)), leading] = -np.inf
    i, j = np.unravel_index(int(np.argmax(value)), value.shape)
    return int(leading[i]), int(j)


def improved(
    utility: Utility, box: Box, pair: FloatArray, rng: np.random.Generator, *, move: bool = True
) -> FloatArray:
    """``pair`` (2, d) after a few rounds of small moves of both points; unless ``move``, of the second."""
    for spread in SPREADS:
        moved = [around(box, row[None], MOVES, spread, rng) for row in pair]
        n = min(len(rows) for rows in moved)
        A, B = (np.vstack([row, rows[:n]]) for row, rows in zip(pair, moved, strict=True))
        A[1 : n // 3] = pair[0]
        B[n // 3 : 2 * n // 3] = pair[1]
        if not move:
            A[:] = pair[0]
        value = expected_best(*utility.pairs(A, B))
        value[1:][np.all(A[1:] == B[1:], axis=1)] = -np.inf
        pair = np.stack([A[int(np.argmax(value))], B[int(np.argmax(value))]])
    return pair
