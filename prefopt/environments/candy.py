"""85 sweets (FiveThirtyEight 2017, CC BY 4.0): a real finite problem with features."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prefopt.domain import Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.files import shipped_text
from prefopt.environments.person import Person, utility_environment

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Candy:
    """The table.

    Attributes:
        names: (85,).
        features: sugar and price percentile in [0, 1], (85, 2); thirty sweets share both with another one.
        win_percent: share of won pairings in percent, (85,).
    """

    names: tuple[str, ...]
    features: FloatArray
    win_percent: FloatArray

    @property
    def points(self) -> FloatArray:
        """The features and a third column that tells twins apart, (85, 3): 0, 0.1, 0.2, ... in the table's order.

        What makes twins differ is not in the table; with length-scale 0.2 neighbours among them correlate by 0.88.
        """
        rows = [tuple(row) for row in self.features.tolist()]
        twin = np.array([0.1 * rows[:i].count(row) for i, row in enumerate(rows)])
        return np.column_stack([self.features, twin])


def load_candy() -> Candy:
    """Read the table shipped with the package."""
    rows = list(csv.DictReader(shipped_text("candy85.csv").splitlines()))
    features = [[float(r["sugar_percentile"]), float(r["price_percentile"])] for r in rows]
    return Candy(tuple(r["name"] for r in rows), np.array(features), np.array([float(r["win_percent"]) for r in rows]))


def strengths(win_percent: FloatArray) -> FloatArray:
    """Bradley-Terry utilities (logits, mean 0) whose mean chance against the others is the win percentage.

    Newton's method on sum_j sigmoid(u_i - u_j) = (K - 1) w_i, after the percentages are shifted to average one half.
    """
    w = win_percent / 100
    w = w - w.mean() + 0.5
    size = len(w)
    u = np.log(w / (1 - w))
    for _ in range(100):
        P = expit(u[:, None] - u[None, :])
        gap = (P.sum(axis=1) - 0.5) - (size - 1) * w
        slope = P * (1 - P)
        hessian = np.diag(slope.sum(axis=1)) - slope + 1.0 / size
        u = u - np.linalg.solve(hessian, gap)
        if np.abs(gap).max() < 1e-12:
            break
    return np.asarray(u - u.mean())


def candy_environment(person: Person | None = None) -> FiniteEnvironment:
    """The sweets as points with a logit person whose win percentages are the published ones (up to a common shift)."""
    candy = load_candy()
    return utility_environment("candy85", Grid(candy.points), strengths(candy.win_percent), person)


@cache
def surface() -> Callable[[FloatArray], FloatArray]:
    """Minus the strengths, linear between the sweets; twins count by their mean, corners as the worst sweet."""
    from scipy.interpolate import LinearNDInterpolator

    candy = load_candy()
    points, place = np.unique(candy.features, axis=0, return_inverse=True)
    mean = np.bincount(place, strengths(candy.win_percent)) / np.bincount(place)
    corners = np.array([(a, b) for a in (0.0, 1.0) for b in (0.0, 1.0) if not (points == (a, b)).all(axis=1).any()])
    table = np.concatenate([mean, np.full(len(corners), mean.min())])
    linear = LinearNDInterpolator(np.concatenate([points, corners]), -table)
    return lambda x: np.asarray(linear(x), dtype=np.float64)


def candy_surface(x: FloatArray) -> FloatArray:
    """How bad sweets of sugar and price percentile x (n, 2) would be, interpolated (after Siivola et al. 2021)."""
    return surface()(x)
