"""The finite settings of the literature, for any number of arms K; arm 0 is the best (simulations relabel).

Six-arm utilities are those of Ailon, Karnin, Joachims 2014 as they are commonly quoted. Sui et al. 2017 use sixteen
arms; their Table 1 could not be read, so that it has the numbers below (0.8, then 0.7 down to 0.2) is assumed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]


def n_good(n: int, size: int) -> FloatArray:
    """One utility of 0.8, n - 1 of 0.7, the rest 0.2 (Ailon et al. 2014 for 6 arms; for more, assumed)."""
    u = np.full(size, 0.2)
    u[: min(n, size)] = 0.7
    u[0] = 0.8
    return u


def arithmetic_utilities(size: int) -> FloatArray:
    """0.8, then equally spaced from 0.7 to 0.2 (Ailon et al. 2014 for 6 arms; for more, assumed)."""
    return np.r_[0.8, np.linspace(0.7, 0.2, size - 1)] if size > 1 else np.array([0.8])


def geometric_utilities(size: int) -> FloatArray:
    """0.8, then geometrically spaced from 0.7 to 0.2 (Ailon et al. 2014 for 6 arms; for more, assumed)."""
    return np.r_[0.8, np.geomspace(0.7, 0.2, size - 1)] if size > 1 else np.array([0.8])


UTILITIES: dict[str, Callable[[int], FloatArray]] = {
    "1good": lambda size: n_good(1, size),
    "2good": lambda size: n_good(2, size),
    "3good": lambda size: n_good(3, size),
    "6good": lambda size: n_good(6, size),
    "arith": arithmetic_utilities,
    "geom": geometric_utilities,
}


def filled(size: int, upper: Callable[[int, int], float]) -> FloatArray:
    """The matrix whose entries above the diagonal are ``upper(i, j)``."""
    P = np.full((size, size), 0.5)
    for i in range(size):
        for j in range(i + 1, size):
            P[i, j] = upper(i, j)
            P[j, i] = 1 - P[i, j]
    return P


def total_order(p: float, size: int) -> FloatArray:
    """A better arm beats a worse one with probability p."""
    if not 0.5 < p <= 1:
        raise EnvironmentSpecError(f"total-order needs 1/2 < p <= 1, got {p}")
    return filled(size, lambda i, j: p)


def arithmetic(size: int) -> FloatArray:
    """P_ij = 1/2 + 0.05 (j - i), at most 1 (Komiyama et al. 2015)."""
    return filled(size, lambda i, j: min(1.0, 0.5 + 0.05 * (j - i)))


def cyclic(size: int) -> FloatArray:
    """Arm 0 beats all with 0.6; the others beat the next half of a cycle with 0.9 (Komiyama et al. 2015)."""
    ring = size - 1
    return filled(size, lambda i, j: 0.6 if i == 0 else (0.9 if 0 < (j - i) % ring <= ring // 2 else 0.1))


def borda_versus_condorcet(size: int) -> FloatArray:
    """Arm 0 beats all with 0.51, the others are a sure total order: the Borda winner is arm 1."""
    return filled(size, lambda i, j: 0.51 if i == 0 else 1.0)


def swirl(x: float, size: int) -> FloatArray:
    """Arm 0 beats all with 0.5 + x / 10; each other arm surely beats the next half of a cycle."""
    ring = size - 1
    return filled(size, lambda i, j: 0.5 + x / 10 if i == 0 else float(0 < (j - i) % ring <= ring // 2))


def hard_condorcet(size: int) -> FloatArray:
    """P_ij = 1/2 + j / (2K) for i < j, arms counted from 1 (Urvoy et al. 2013, section 5.2.1)."""
    return filled(size, lambda i, j: 0.5 + (j + 1) / (2 * size))


def random_matrix(size: int, rng: np.random.Generator, *, condorcet: bool) -> FloatArray:
    """Uniform preferences; either arm 0 beats all with U(1/2, 1), or the one Copeland winner is no Condorcet winner.

    Raises:
        EnvironmentSpecError: fewer than 5 arms, of which a single Copeland winner always beats all others.
    """
    if not condorcet and size < 5:
        raise EnvironmentSpecError(
            f"{size} arms without a Condorcet winner have several Copeland winners; take at least 5 arms"
        )
    while True:
        P = filled(size, lambda i, j: rng.uniform(0.5, 1) if condorcet and i == 0 else rng.random())
        scores = np.sort((P > 0.5).sum(axis=1))
        if condorcet or scores[-2] < scores[-1] < size - 1:
            return P
