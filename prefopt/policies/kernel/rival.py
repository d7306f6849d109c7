"""What rules of the kind "champion against challenger" share: differences, ties, and the search for a challenger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from prefopt.domain import Box, FloatArray
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import MOVES, SPREADS, around, candidates
from prefopt.policies.kernel.utility_policy import UtilityPolicy

#: Points of a box that differ by no more than this in any column look the same.
APART = 0.01


def differences(utility: Utility, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean (a, b) and standard deviation (a, b) of f(A_i) - f(B_j), rows A (a, d) and B (b, d)."""
    prior, V, W = utility.prior, utility.root(A), utility.root(B)
    both = prior.covariance(A, B) - V @ W.T
    a, b = (prior.variance(Z) - np.einsum("nm,nm->n", R, R) for Z, R in ((A, V), (B, W)))
    gap = utility.mean(A)[:, None] - utility.mean(B)
    return gap, np.sqrt(np.maximum(a[:, None] + b - 2 * both, 1e-12))


def largest(values: FloatArray, rng: np.random.Generator) -> int:
    """The index of the largest of ``values`` (n,), a random one of those that are equal to rounding."""
    top = float(np.max(values))
    return int(rng.choice(np.flatnonzero(values >= top - 1e-9 * (1 + abs(top)))))


def apart(rows: FloatArray, slate: FloatArray, by: float = 0.0) -> FloatArray:
    """Those of ``rows`` (n, d) that differ from every one of ``slate`` (k, d) by more than ``by`` in some column."""
    gap = np.abs(rows[:, None, :] - slate).max(axis=2, initial=0.0)
    return rows[np.all(gap > max(by, 1e-9), axis=1)]


def filled(slate: FloatArray, rankings: Sequence[FloatArray], *, distinct: bool, by: float) -> FloatArray:
    """``slate`` (k, d) and, for each of the ``rankings`` (n, d), best first, its best option.

    Args:
        slate: what is there already.
        rankings: of the further places.
        distinct: whether that must be the best one that is not there yet, if there is any.
        by: in some column options should differ by more than this.
    """
    for ranked in rankings:
        free = ranked
        for least in (by, 0.0) if distinct and len(slate) else ():
            if len(left := apart(ranked, slate, least)):
                free = left
                break
        slate = np.vstack([slate, free[:1]])
    return slate


def rival(
    policy: UtilityPolicy,
    utility: Utility,
    slate: FloatArray,
    value: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> FloatArray:
    """The option (d,) of largest ``value`` that is not on ``slate`` (k, d); the first of that if there is no other.

    A grid is searched exactly; a box at its candidates, and by small moves of the best of them.

    Args:
        policy: its domain and the options it has shown.
        utility: what is believed.
        slate: what is on the slate already, the champion first.
        value: of rows (n, d), (n,).
        rng: of the candidates, and of ties.
    """
    Z = candidates(policy.domain, utility, slate[0], policy.shown, rng)
    by = APART if isinstance(policy.domain, Box) and len(apart(Z, slate, APART)) else 0.0
    Z = apart(Z, slate, by)
    if not len(Z):
        return np.array(slate[0])
    best: FloatArray = Z[largest(value(Z), rng)]
    for spread in SPREADS if isinstance(policy.domain, Box) else ():
        moved = apart(around(policy.box, best[None], MOVES, spread, rng), slate, by)
        Z = np.vstack([best, moved])
        best = Z[int(np.argmax(value(Z)))]
    return best
