"""Which side of one half a Beta posterior draw falls on, without drawing it.

For theta ~ Beta(a, b), q = 2^-(a+b) / B(a, b) and P = P(theta > 1/2), one more win moves
P by q/a and q by (a+b)/(2a); one more loss moves P by -q/b and q by (a+b)/(2b).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.base import rule
from prefopt.policies.rules import beta_draw

FloatArray = NDArray[np.float64]


def sides(K: int) -> tuple[FloatArray, FloatArray]:
    """P and q of uniform posteriors."""
    return np.full((K, K), 0.5), np.full((K, K), 0.25)


@rule
def count_side(P: FloatArray, q: FloatArray, W: FloatArray, eta: float, a: int, b: int, wins: FloatArray) -> None:
    """Follow a duel of a and b; call it before the duel is counted in W. Where counts stop being whole, P is -1."""
    if a == b or P[a, b] < 0.0:
        return
    if eta != 1.0 or wins[0, 1] * wins[1, 0] != 0.0 or wins[0, 1] + wins[1, 0] != 1.0:
        P[a, b] = P[b, a] = -1.0
        return
    won, lost = (a, b) if wins[0, 1] > wins[1, 0] else (b, a)
    x, n = W[won, lost] + 1.0, W[won, lost] + W[lost, won] + 2.0
    P[won, lost] = min(1.0, P[won, lost] + q[a, b] / x)
    P[lost, won] = max(0.0, P[lost, won] - q[a, b] / x)
    q[a, b] = q[b, a] = q[a, b] * n / (2.0 * x)


@rule
def beta_above_half(P: FloatArray, W: FloatArray, eta: float, i: int, j: int, rng: np.random.Generator) -> bool:
    """Whether theta_ij ~ Beta(eta W_ij + 1, eta W_ji + 1) is above one half."""
    if P[i, j] >= 0.0:
        return bool(rng.random() < P[i, j])
    return beta_draw(eta * W[i, j] + 1.0, eta * W[j, i] + 1.0, rng) > 0.5
