"""Where posterior paths peak on a ``Box``: Sobol points and good tried points, climbed together, levels snapped."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from prefopt.domain import Box, FloatArray
from prefopt.models.maximise import Objective, best_climbs

#: Spread of the points tried around good ones, in units of the cube.
NEAR = 0.05


class Functions(Protocol):
    """Several smooth functions on a box, such as ``Paths``."""

    def values(self, points: FloatArray) -> FloatArray:
        """Every function at every row of ``points`` (n, d), shape (m, n)."""

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Function ``which[i]`` at row i of ``points`` (n, d): values (n,), gradients (n, d), 0 for categories."""


def raw_points(box: Box, size: int, good: FloatArray, rng: np.random.Generator) -> FloatArray:
    """About ``size`` allowed rows: scrambled Sobol points, then ``good`` (g, d) and four neighbours of each.

    Raises:
        DomainError: the constraints allow fewer than one in about ten thousand points.
    """
    points = np.concatenate([sobol_points(box, size, np.random.default_rng(rng.integers(2**63))), good])
    points = np.concatenate([points[box.feasible(points)], near(box, good, 4, NEAR, rng)])
    if len(points) < size // 8:
        points = np.concatenate([box.sample(size // 8, rng), points])
    return points


def sobol_points(box: Box, size: int, rng: np.random.Generator) -> FloatArray:
    """At least ``size`` scrambled Sobol points on the levels of ``box``, (n, d); constraints are not regarded."""
    power = max(3, int(np.ceil(np.log2(size))))
    points = np.asarray(qmc.Sobol(box.dim, scramble=True, seed=rng).random_base2(power), dtype=np.float64)
    for j, column in enumerate(box.columns):
        if column.levels:
            levels = np.array(column.levels)
            points[:, j] = levels[np.minimum((points[:, j] * len(levels)).astype(int), len(levels) - 1)]
    return points


def near(box: Box, good: FloatArray, each: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """Up to ``each`` allowed rows around each row of ``good`` (g, d), on their levels; categories stay."""
    around = np.repeat(good, each, axis=0) + spread * rng.standard_normal((each * len(good), box.dim))
    for j, column in enumerate(box.columns):
        if column.kind == "category":
            around[:, j] = np.repeat(good[:, j], each)
    points = box.project(around)
    return points[box.feasible(points)]


def peaks(paths: Functions, box: Box, raw: FloatArray, *, restarts: int, finish: int) -> tuple[FloatArray, FloatArray]:
    """The highest points found of every path, all allowed and on their levels.

    Args:
        paths: m functions.
        box: the domain.
        raw: allowed rows (n, d) to start from.
        restarts: rows of ``raw`` that are climbed from, for each path.
        finish: how many of them are climbed to the top.

    Returns:
        Points (m, finish + n, d), climbed ones first and then ``raw``, each part best first, and their values.
    """
    values = paths.values(raw)
    order = np.argsort(-values, axis=1, kind="stable")
    start = raw[order[:, : min(restarts, len(raw))]]
    finish = min(finish, start.shape[1])
    objective = _allowed(paths, box)
    numeric = np.array([c.kind == "continuous" or (c.kind == "levels" and len(c.levels) > 1) for c in box.columns])
    top, height = (
        best_climbs(objective, start, numeric, finish=finish) if numeric.any() else (start[:, :finish], np.zeros(0))
    )
    if not box.continuous.all():
        top, height = _snap(objective, box, top)
    points = np.concatenate([top, raw[order]], axis=1)
    return points, np.concatenate([height, np.take_along_axis(values, order, axis=1)], axis=1)


def _allowed(paths: Functions, box: Box) -> Objective:
    """The paths, minus infinity where the nearest point on the levels is forbidden: a step there fails."""
    if not box.constraints:
        return paths.value_and_gradient

    def objective(points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        value, gradient = paths.value_and_gradient(points, which)
        value[~box.feasible(box.project(points))] = -np.inf
        return value, gradient

    return objective


def _snap(objective: Objective, box: Box, top: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move levels to the best neighbour and categories to the best choice, column by column; climb the rest again."""
    m, r, d = top.shape
    which = np.repeat(np.arange(m), r)
    x = box.project(top.reshape(-1, d))
    value = objective(x, which)[0]
    for _ in range(2):
        for j, column in enumerate(box.columns):
            for move in _moves(column.levels, column.kind == "category", x[:, j]):
                other = x.copy()
                other[:, j] = move
                found = objective(other, which)[0]
                found[~box.feasible(other)] = -np.inf
                better = found > value
                x[better], value[better] = other[better], found[better]
    order = np.argsort(-value.reshape(m, r), axis=1, kind="stable")
    x = np.take_along_axis(x.reshape(m, r, d), order[:, :, None], axis=1)
    if box.continuous.any():
        return best_climbs(objective, x, box.continuous, finish=r, first=0)
    return x, np.take_along_axis(value.reshape(m, r), order, axis=1)


def _moves(levels: tuple[float, ...], category: bool, now: FloatArray) -> list[FloatArray | float]:
    """Values worth trying in a column: every choice of a category, the level below and the one above."""
    if category:
        return list(levels)
    if len(levels) < 2:
        return []
    ladder = np.array(levels)
    at = np.argmin(np.abs(now[:, None] - ladder), axis=1)
    return [ladder[np.maximum(at - 1, 0)], ladder[np.minimum(at + 1, len(ladder) - 1)]]
