"""Thompson sampling of independent Beta posteriors: the arm with the largest draw, by the exact law, quickly.

A Beta(a, b) draw is X / (X + Y) of two gamma draws (Marsaglia & Tsang 2000, shapes of at least 1). A pair of
proposals is accepted together, with the product of their chances, which needs one uniform instead of two; the
constants of the proposals are kept and change only when an arm learns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.base import rule

FloatArray = NDArray[np.float64]


def posteriors(*shape: int) -> FloatArray:
    """Constants of Beta(1, 1) for an array of arms, (*shape, 4)."""
    constants = np.zeros((*shape, 4))
    flat = constants.reshape(-1, 4)
    for i in range(len(flat)):
        set_posterior(flat, i, 1.0, 1.0)
    return constants


@rule
def set_posterior(C: FloatArray, i: int, a: float, b: float) -> None:
    """Arm i has the posterior Beta(a, b), a, b >= 1."""
    C[i, 0] = a - 1.0 / 3.0
    C[i, 1] = 1.0 / math.sqrt(9.0 * C[i, 0])
    C[i, 2] = b - 1.0 / 3.0
    C[i, 3] = 1.0 / math.sqrt(9.0 * C[i, 2])


@rule
def unlikely(u: float, x: float, v: float, d: float, y: float, w: float, e: float) -> bool:
    """Whether the pair of proposals is refused: the exact test behind the cheap one."""
    chance = 0.5 * (x * x + y * y) + d * (1.0 - v + math.log(v)) + e * (1.0 - w + math.log(w))
    return math.log(u) >= chance


@rule
def best_draw(C: FloatArray, rng: np.random.Generator) -> int:
    """The arm whose independent Beta draw is the largest."""
    arm, X, Y = 0, 0.0, 1.0
    for i in range(len(C)):
        d, c, e, f = C[i, 0], C[i, 1], C[i, 2], C[i, 3]
        while True:
            x, y = rng.standard_normal(), rng.standard_normal()
            v, w = 1.0 + c * x, 1.0 + f * y
            if v <= 0.0 or w <= 0.0:
                continue
            v, w = v * v * v, w * w * w
            u = 1.0 - rng.random()
            p, q = x * x, y * y
            if u < 1.0 - 0.0331 * (p * p + q * q) or not unlikely(u, x, v, d, y, w, e):
                break
        g, h = d * v, e * w
        if g * Y > X * h:
            arm, X, Y = i, g, h
    return arm
