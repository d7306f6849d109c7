"""Which options an acquisition looks at: all of a grid; of a box, points everywhere and near the good ones."""

from __future__ import annotations

import numpy as np

from prefopt.domain import Box, FloatArray, Grid
from prefopt.models.utility.average import Beliefs
from prefopt.models.utility.comparisons import IntArray

#: Of a box: uniform points, points near the champion and the best ones shown, and how many of these.
EVERYWHERE, NEAR, SHOWN = 256, 64, 5
#: Median spread of the points near good ones, in units of the cube.
SPREAD = 0.1
#: The best candidates of a box are improved by rounds of so many small moves, of these spreads.
MOVES, SPREADS = 48, (0.08, 0.08 * 0.4)


def candidates(
    domain: Grid | Box,
    utility: Beliefs,
    champion: FloatArray,
    shown: FloatArray,
    rng: np.random.Generator,
    everywhere: int = EVERYWHERE,
    near: int = NEAR,
) -> FloatArray:
    """Rows (n, d) of the domain, ``champion`` (d,) first, then (on a box) the best ones of ``shown``.

    ``everywhere``, ``near``: how many uniform points of a box there are, and points near the good ones.
    """
    if isinstance(domain, Grid):
        rest = np.any(domain.points != champion, axis=1)
        return np.vstack([champion, domain.points[rest]])
    best = shown[np.argsort(-utility.mean(shown), kind="stable")[:SHOWN]]
    good = np.vstack([champion, best])
    return np.vstack([good, domain.sample(everywhere, rng), around(domain, good, near, SPREAD, rng)])


def hopeful(utility: Beliefs, Z: FloatArray, first: int, size: int) -> IntArray:
    """At most ``size`` rows of Z (n, d): the ``first`` ones, then by mean + sd of the difference to row 0."""
    mean, sd = utility.difference(Z, np.broadcast_to(Z[0], Z.shape))
    rest = first + np.argsort(-(mean + sd)[first:], kind="stable")
    return np.concatenate([np.arange(first), rest])[:size]


def around(domain: Box, good: FloatArray, size: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """At most ``size`` allowed rows (n, d) near those of ``good``; a category changes once in a while."""
    scale = spread * np.exp(0.7 * rng.standard_normal((size, 1)))
    start = good[rng.integers(len(good), size=size)]
    rows = start + scale * rng.standard_normal((size, domain.dim))
    for j, column in enumerate(domain.columns):
        if column.kind == "category":
            other = rng.choice(np.array(column.levels), size=size)
            rows[:, j] = np.where(rng.random(size) < 1 / domain.dim, other, start[:, j])
    rows = domain.project(rows)
    return rows[domain.feasible(rows)]
