"""Random points of the unit cube under linear constraints, however little of it they leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefopt.linear import Linear

FloatArray = NDArray[np.float64]

#: A side of no more than this width is none: the constraint holds with equality.
FLAT = 1e-9
#: Steps of a walk, and as many more for each dimension.
STEPS = 50


@dataclass(frozen=True)
class Polytope:
    """All x with ``A @ x <= b``.

    Attributes:
        A: (r, d), the faces of the cube among its rows.
        b: (r,).
        centre: a point (d,) inside, off every face that the polytope does not lie in.
        reach: corners less ``centre``, (n, d); long where the polytope is long.
        span: orthonormal directions (k, d) in which it extends.
    """

    A: FloatArray
    b: FloatArray
    centre: FloatArray
    reach: FloatArray
    span: FloatArray

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` nearly uniform points (n, d): the ends of independent hit-and-run walks from the centre (Smith 1984).

        Every second step follows a random combination of the corners, so that long thin sets are walked along.
        """
        x = np.tile(self.centre, (n, 1))
        if not len(self.span):
            return x
        for step in range(STEPS * (1 + len(self.span))):
            ways = self.reach if step % 2 else self.span
            way = rng.standard_normal((n, len(ways))) @ ways @ self.span.T @ self.span  # exactly along the polytope
            way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
            room, speed = np.maximum(self.b - x @ self.A.T, 0.0), way @ self.A.T
            with np.errstate(divide="ignore"):
                ahead = np.where(speed > FLAT, room / np.where(speed > FLAT, speed, 1.0), math.inf).min(axis=1)
                behind = np.where(speed < -FLAT, room / np.where(speed < -FLAT, speed, 1.0), -math.inf).max(axis=1)
            x = np.clip(x + (behind + (ahead - behind) * rng.random(n))[:, None] * way, 0.0, 1.0)
        return x


def find_polytope(dim: int, constraints: Sequence[Linear]) -> Polytope | None:
    """The part of the unit cube that ``constraints`` on x0, x1, ... allow; None if there is none."""
    A, b = _faces(dim, constraints)
    rng = np.random.default_rng(0)
    aims = rng.standard_normal((2 * dim, dim))
    corners = [_highest(aim, A, b) for aim in (*np.eye(dim), *-np.eye(dim), *aims)]
    found = [corner for corner in corners if corner is not None]
    if len(found) < len(corners):
        return None
    for row, bound in zip(A, b, strict=True):  # a corner off every face that can be left
        if bound - row @ np.mean(found, axis=0) <= FLAT and (corner := _highest(-row, A, b)) is not None:
            found.append(corner)
    points = np.array(found)
    centre = points.mean(axis=0)
    equal = A[b - A @ centre <= FLAT]
    _, sizes, rows = np.linalg.svd(np.vstack([equal, np.zeros((1, dim))]))
    span = rows[int(np.sum(sizes > FLAT)) :]
    return Polytope(A, b, centre, points - centre, span)


def _faces(dim: int, constraints: Sequence[Linear]) -> tuple[FloatArray, FloatArray]:
    """The constraints and the cube as rows of ``A @ x <= b``, each of length one."""
    rows, bounds = [*np.eye(dim), *-np.eye(dim)], [1.0] * dim + [0.0] * dim
    for constraint in constraints:
        row = np.zeros(dim)
        for name, weight in constraint.weights:
            row[int(name[1:])] += weight
        for sign, bound in ((1.0, constraint.high), (-1.0, -constraint.low)):
            if math.isfinite(bound):
                size = float(np.linalg.norm(row)) or 1.0  # of weights that are all 0, only the bound counts
                rows.append(sign * row / size)
                bounds.append(bound / size)
    return np.array(rows), np.array(bounds)


def _highest(aim: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray | None:
    """The x with ``A @ x <= b`` of largest ``aim @ x``, None if there is no such x."""
    from scipy.optimize import linprog

    found = linprog(-aim, A_ub=A, b_ub=b, bounds=(0.0, 1.0))
    return np.clip(found.x, 0.0, 1.0) if found.success else None
