"""The first questions of a utility policy: mirrored pairs in the inner part of where the best option is expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from prefopt.domain import Box, FloatArray, Grid

#: How much of the cube the first questions span.
INNER = 0.6


def likely_of(domain: Grid | Box) -> list[tuple[float, float] | None]:
    """Where the best option is expected, of every column: (low, high), or None of a category."""
    if isinstance(domain, Grid):
        return list(domain.likely or [(0.0, 1.0)] * domain.dim)
    return [None if c.kind == "category" else (c.likely or (0.0, 1.0)) for c in domain.columns]


def first_slates(
    domain: Grid | Box,
    count: int,
    m: int,
    rng: np.random.Generator,
    likely: Sequence[tuple[float, float] | None] | None = None,
) -> FloatArray:
    """``count`` slates of m distinct points in the inner part of the domain, (count, m, d).

    Points come from a Latin hypercube of the ``likely`` region (low, high) of every column, or of [0, 1]; in a pair,
    the second one is the first mirrored at the centre of that.
    """
    half = (m + 1) // 2
    seed = np.random.default_rng(rng.integers(2**63))
    drawn = 0.5 + INNER * (qmc.LatinHypercube(domain.dim, seed=seed).random(max(1, count) * half) - 0.5)
    mirrored = np.stack([drawn, 1 - drawn], axis=1).reshape(-1, 2 * half, domain.dim)[:count, :m]
    if likely is not None:
        low, high = np.array([(0.0, 1.0) if end is None else end for end in likely]).T
        mirrored = low + (high - low) * mirrored
    return np.array([_allowed(domain, rows, rng) for rows in mirrored]).reshape(count, m, domain.dim)


def _allowed(domain: Grid | Box, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Distinct options of the domain near ``rows`` (m, d); random ones where these are forbidden or equal."""
    if isinstance(domain, Grid):
        taken: list[int] = []
        for row in rows:
            away = ((domain.points - row) ** 2).sum(axis=1)
            away[taken] += 1e6
            taken.append(int(np.argmin(away)))
        return np.asarray(domain.points[taken])
    rows = domain.project(rows)
    bad = ~domain.feasible(rows)
    bad |= [any(np.array_equal(row, other) for other in rows[:i]) for i, row in enumerate(rows)]
    if bad.any():
        rows[bad] = domain.sample(int(bad.sum()), rng)
    return rows
