"""qEUBO: Astudillo, Lin, Bakshy, Frazier 2023, "qEUBO: a decision-theoretic acquisition function", section 4.

The slate whose best option is expected to be best: E max(f(x_1) .. f(x_m)). For two options that is EUBO, in closed
form. For more, the expectation is an average over joint draws, the same ones for every slate (common random numbers):
the best pair is extended greedily, and then options are exchanged one at a time. On a box this is done once more with
points near the slate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box, FloatArray
from prefopt.models.beliefs import jittered_root
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import SPREADS, around, hopeful
from prefopt.policies.kernel.eubo import best_pair, considered, eubo_pair
from prefopt.policies.kernel.utility_policy import UtilityPolicy

#: Pairs of mirrored joint draws behind an expectation, and how often every option may be exchanged.
DRAWS, EXCHANGES = 64, 2
#: Points near each option of a slate, of which a better slate is made.
NEAR = 16
#: At most so many candidates are drawn jointly: the best ones by mean + sd of the difference to the champion.
JOINT = 400


@dataclass(kw_only=True)
class QEUBO(UtilityPolicy):
    """The slate of largest expected utility of its best option, under a utility model with a Gaussian process."""

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The slate (m, d)."""
        return eubo_pair(self, utility, rng) if self.slate_size == 2 else qeubo_slate(self, utility, rng)


def qeubo_slate(policy: UtilityPolicy, utility: Utility, rng: np.random.Generator) -> FloatArray:
    """The slate (m, d) of largest E max(f(x_1) .. f(x_m)) that the policy may ask about."""
    Z, kept = considered(policy, utility, rng)
    Z = distinct(Z)
    m = min(policy.slate_size, len(Z))
    if m < policy.slate_size:
        return Z[np.arange(policy.slate_size) % m]
    slate = Z[best_slate(utility, Z, m, rng, kept)]
    if not isinstance(policy.domain, Box):
        return slate
    fixed = 1 if kept else 0
    Z = distinct(
        np.vstack([slate, *(around(policy.domain, row[None], NEAR, SPREADS[0], rng) for row in slate[fixed:])])
    )
    return Z[exchanged(joint_sample(utility, Z, rng), list(range(m)), fixed)]


def distinct(rows: FloatArray) -> FloatArray:
    """The rows (n, d) without those that came before."""
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def best_slate(utility: Utility, Z: FloatArray, m: int, rng: np.random.Generator, kept: int = 0) -> list[int]:
    """Rows of Z (n, d) that make the best slate of m <= n, row 0 being the champion; ``kept`` as in ``best_pair``."""
    if len(Z) > JOINT:
        rows = hopeful(utility, Z, max(1, kept), JOINT)
        return rows[best_slate(utility, Z[rows], m, rng, kept)].tolist()  # type: ignore[no-any-return]
    slate = list(best_pair(utility, Z, kept))[:m]
    F = joint_sample(utility, Z, rng)
    while len(slate) < m:
        slate.append(_best_addition(F, slate))
    return exchanged(F, slate, 1 if kept else 0)


def exchanged(F: FloatArray, slate: list[int], fixed: int = 0) -> list[int]:
    """``slate`` after exchanging options, from number ``fixed`` on, while that raises the mean of the largest.

    Args:
        F: draws (n, size) at n candidates.
        slate: rows of F.
        fixed: how many of the first options stay.

    >>> F = np.array([[1.0, 0.0], [0.0, 0.1], [0.0, 1.0]])
    >>> exchanged(F, [0, 1])
    [0, 2]
    """
    slate = list(slate)
    for _ in range(EXCHANGES):
        before = list(slate)
        for i in range(fixed, len(slate)):
            rest = slate[:i] + slate[i + 1 :]
            slate[i] = _best_addition(F, rest)
        if slate == before:
            break
    return slate


def _best_addition(F: FloatArray, slate: list[int]) -> int:
    """The row that adds most to the mean of the largest of ``slate``, and is not in it."""
    value = np.maximum(F, F[slate].max(axis=0)).mean(axis=1)
    value[slate] = -np.inf
    return int(np.argmax(value))


def joint_sample(utility: Utility, Z: FloatArray, rng: np.random.Generator) -> NDArray[np.float64]:
    """Mirrored joint draws of the utility at Z (n, d), (n, 2 * DRAWS)."""
    mean, covariance = utility.joint(Z)
    jitter = 1e-6 * float(np.mean(np.diag(covariance))) + 1e-9
    away = jittered_root(covariance, jitter) @ rng.standard_normal((len(Z), DRAWS))
    return mean[:, None] + np.hstack([away, -away])
