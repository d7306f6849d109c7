"""A stand-in for the sushi survey with features (Kamishima 2003, set B), which may not be passed on.

It has the form of that data, not its content: many people rank ten of a hundred kinds each, and a kind's worth is the
share of the others that a majority of those who ranked both put below it (as in Siivola et al. 2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.person import Person, utility_environment
from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]


def rankings(
    tastes: FloatArray, items: FloatArray, shown: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], FloatArray]:
    """Which kinds each person saw (n, shown), and how much they liked them then (Plackett-Luce: Gumbel noise).

    Args:
        tastes: one weight per feature and person, (n, d).
        items: features, (K, d).
        shown: kinds per person.
        rng: draws the kinds and the noise.
    """
    seen = np.argsort(rng.random((len(tastes), len(items))), axis=1)[:, :shown]
    liked = np.einsum("nd,nsd->ns", tastes, items[seen]) + rng.gumbel(size=seen.shape)
    return seen, liked


def majority_scores(seen: NDArray[np.int64], liked: FloatArray, size: int) -> FloatArray:
    """Share (K,) of the other kinds that a majority of those who ranked both put below; half for an even split.

    >>> majority_scores(np.array([[0, 1], [0, 1], [1, 2]]), np.array([[2.0, 1.0], [3.0, 1.0], [5.0, 4.0]]), 3)
    array([0.75, 0.5 , 0.25])
    """
    votes = np.zeros((size, size))
    for a in range(seen.shape[1]):
        for b in range(seen.shape[1]):
            above = liked[:, a] > liked[:, b]
            np.add.at(votes, (seen[above, a], seen[above, b]), 1.0)
    wins = (votes > votes.T) + 0.5 * (votes == votes.T)
    np.fill_diagonal(wins, 0.0)
    return np.asarray(wins.sum(axis=1) / max(1, size - 1))


def sushi_like(
    rng: np.random.Generator, *, size: int = 100, dim: int = 4, people: int = 2000, person: Person | None = None
) -> FiniteEnvironment:
    """Kinds with ``dim`` features on a grid, whose utility in [0, 1] is made from simulated rankings.

    Args:
        rng: draws features, tastes and rankings.
        size: kinds, K, at least 10.
        dim: features, such as oiliness and price.
        people: who rank ten kinds each.
        person: link and noise of who answers; the logit link by default.

    Raises:
        EnvironmentSpecError: fewer than ten kinds, or no feature or nobody.

    >>> sushi_like(np.random.default_rng(0)).domain.points.shape
    (100, 4)
    """
    if size < 10 or dim < 1 or people < 1:
        raise EnvironmentSpecError(
            f"sushi-like: expected at least 10 kinds, 1 feature and 1 person, got {size}, {dim} and {people}"
        )
    features = rng.random((size, dim))
    # what most like: a strength per feature, and a sweet spot in it; people differ by half of that
    described = np.column_stack([features, -((features - rng.random(dim)) ** 2) * 3])
    shared = 2.5 * rng.standard_normal(2 * dim)
    tastes = shared + 0.5 * np.abs(shared) * rng.standard_normal((people, 2 * dim))
    seen, liked = rankings(tastes, described, 10, rng)
    u = majority_scores(seen, liked, size)
    return utility_environment("sushi-like", Grid(features), (u - u.min()) / np.ptp(u), person)
