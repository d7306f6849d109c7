"""Maximise several smooth functions on a box at once: many starts, one batch of bounded quasi-Newton steps.

Every start keeps its own curvature (d x d), while one evaluation serves the whole batch. One flat L-BFGS-B problem
over all starts has to learn all curvatures from the same few gradients, and needs two to five times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import FloatArray

#: objective(points (n, d), which (n,)) -> values (n,), gradients (n, d) of function which[i] at row i.
Objective = Callable[[FloatArray, NDArray[np.int64]], tuple[FloatArray, FloatArray]]
#: The first step, before any curvature is known, and the longest one.
FIRST, LONGEST = 0.05, 0.25
#: Share of a curvature's trace that is added to its diagonal: a step of little curvature across a steep slope leaves a
#: matrix that is singular but for rounding.
RIDGE = 1e-10


class Climb(NamedTuple):
    """Where every start has got to."""

    x: FloatArray  # (n, d)
    value: FloatArray  # (n,)
    gradient: FloatArray  # (n, d), 0 in columns that are held fixed
    curvature: FloatArray  # (n, d, d), minus the Hessian's BFGS estimate
    known: NDArray[np.bool_]  # (n,) whether curvature was ever measured
    step: FloatArray  # (n,) share of the next step to try; shrinks while steps fail

    def take(self, rows: NDArray[np.int64]) -> Climb:
        """Only these rows."""
        x, value, gradient, curvature, known, step = self
        return Climb(x[rows], value[rows], gradient[rows], curvature[rows], known[rows], step[rows])


def begin(objective: Objective, start: FloatArray, which: NDArray[np.int64], free: NDArray[np.bool_]) -> Climb:
    """Ready to climb from the rows of ``start`` (n, d) in the columns ``free`` (d,)."""
    n, d = start.shape
    value, gradient = objective(start, which)
    identity = np.broadcast_to(np.eye(d), (n, d, d)).copy()
    return Climb(start.copy(), value, gradient * free, identity, np.zeros(n, dtype=bool), np.ones(n))


def climb(
    objective: Objective, at: Climb, which: NDArray[np.int64], *, steps: int = 60, tolerance: float = 1e-5
) -> None:
    """Take up to ``steps`` projected BFGS steps in [0, 1]^d from every row, in place.

    A row rests once a step along the gradient inside the cube moves no coordinate by ``tolerance``.
    """
    live = np.arange(len(at.x))
    for _ in range(steps):
        x, g = at.x[live], at.gradient[live]
        inside = np.abs(np.clip(x + g, 0.0, 1.0) - x)
        keep = (inside.max(axis=1) > tolerance) & (at.step[live] > 1e-6)
        live, x, g, inside = live[keep], x[keep], g[keep], inside[keep]
        if not len(live):
            return
        s = np.clip(x + at.step[live, None] * _direction(at, live, g, inside > 0.0), 0.0, 1.0) - x
        value, gradient = objective(x + s, which[live])
        gradient *= at.gradient[live] != 0.0
        rises = value >= at.value[live] + 1e-4 * np.einsum("ij,ij->i", g, s)
        _learn(at, live, s, g - gradient)
        better = live[rises]
        at.x[better], at.value[better], at.gradient[better] = (x + s)[rises], value[rises], gradient[rises]
        at.step[better] = 1.0
        at.step[live[~rises]] *= 0.3


def _direction(at: Climb, live: NDArray[np.int64], g: FloatArray, open_: NDArray[np.bool_]) -> FloatArray:
    """Newton's step in the coordinates that may move, cut to ``LONGEST`` a coordinate."""
    g = np.where(open_, g, 0.0)
    matrix = np.where(open_[:, :, None] & open_[:, None, :], at.curvature[live], np.eye(g.shape[1]))
    step = np.asarray(np.linalg.solve(matrix, g[:, :, None])[:, :, 0], dtype=np.float64)
    new = ~at.known[live]
    step[new] = FIRST * g[new] / np.abs(g[new]).max(axis=1, keepdims=True)
    return np.clip(step, -LONGEST, LONGEST)


def _learn(at: Climb, live: NDArray[np.int64], s: FloatArray, y: FloatArray) -> None:
    """BFGS, from failed steps too; skipped where the function curves upwards."""
    product = np.einsum("ij,ij->i", s, y)
    good = product > 1e-10
    rows, s, y, product = live[good], s[good], y[good], product[good]
    new = rows[~at.known[rows]]
    scale = np.einsum("ij,ij->i", y, y) / product
    at.curvature[new] *= scale[~at.known[rows], None, None]
    at.known[new] = True
    along = np.einsum("ijk,ik->ij", at.curvature[rows], s)
    old = np.einsum("ij,ij->i", s, along)
    at.curvature[rows] += y[:, :, None] * y[:, None, :] / product[:, None, None]
    at.curvature[rows] -= along[:, :, None] * along[:, None, :] / old[:, None, None]
    size = np.trace(at.curvature[rows], axis1=1, axis2=2)
    at.curvature[rows] += RIDGE * size[:, None, None] * np.eye(s.shape[1])


def best_climbs(
    objective: Objective, start: FloatArray, free: NDArray[np.bool_], *, finish: int, first: int = 6
) -> tuple[FloatArray, FloatArray]:
    """Climb from ``start`` (m, r, d): a few steps from all, then to the top from the ``finish`` best of each function.

    Returns:
        Points (m, finish, d) and values (m, finish) of function j = 0 .. m-1, best first.
    """
    m, r, d = start.shape
    which = np.repeat(np.arange(m), r)
    at = begin(objective, start.reshape(-1, d), which, free)
    climb(objective, at, which, steps=first)
    leading = np.argsort(-at.value.reshape(m, r), axis=1, kind="stable")[:, :finish] + r * np.arange(m)[:, None]
    rows = leading.reshape(-1)
    at, which = at.take(rows), which[rows]
    climb(objective, at, which)
    order = np.argsort(-at.value.reshape(m, -1), axis=1, kind="stable")
    points = np.take_along_axis(at.x.reshape(m, -1, d), order[:, :, None], axis=1)
    return points, np.take_along_axis(at.value.reshape(m, -1), order, axis=1)
