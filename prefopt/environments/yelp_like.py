"""A stand-in for the restaurants of Chen and Frazier 2017, whose data and preprocessing are not public.

Items have unit feature vectors a, a person has a random direction theta, and the utility is theta . a.
It has the form of that experiment, not its data: outputs are labelled "yelp-like".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.files import parse_matrix
from prefopt.environments.person import Person, utility_environment
from prefopt.errors import EnvironmentSpecError


def yelp_like(
    rng: np.random.Generator,
    *,
    size: int = 20,
    dim: int = 7,
    features: str | Path | Any = None,
    person: Person | None = None,
) -> FiniteEnvironment:
    """A feature-based stand-in for the Yelp restaurants: not the paper's data.

    Args:
        rng: draws the person's direction and, without ``features``, the items.
        size: number of items K, if they are drawn (N(0, I), scaled to unit length).
        dim: number of features d, if they are drawn.
        features: the items' features instead, (K, d) or the path of a CSV file without header; rows are
            scaled to unit length.
        person: link and noise; the logit link by default.

    Returns:
        An environment on ``Grid`` points (a + 1) / 2, with utilities theta . a.

    Raises:
        EnvironmentSpecError: features that are not a finite table, or a row of zeros.

    >>> yelp_like(np.random.default_rng(0)).name
    'yelp-like'
    """
    if size < 1 or dim < 1:
        raise EnvironmentSpecError(f"yelp-like: expected at least one item and one feature, got {size} and {dim}")
    rows = rng.standard_normal((size, dim)) if features is None else _table(features)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    for row in np.flatnonzero(length[:, 0] == 0)[:1]:
        raise EnvironmentSpecError(f"yelp-like: item {row} has only zero features and cannot have unit length")
    items = rows / length
    theta = rng.standard_normal(items.shape[1])
    utility = items @ (theta / np.linalg.norm(theta))
    return utility_environment("yelp-like", Grid(np.clip((items + 1) / 2, 0, 1)), utility, person or Person())


def _table(features: Any) -> NDArray[np.float64]:
    """Features from a path or an array, (K, d), finite."""
    if isinstance(features, str | Path):
        try:
            rows = parse_matrix(Path(features).read_text(), str(features))
        except (OSError, UnicodeDecodeError) as error:
            raise EnvironmentSpecError(f"cannot read the features {features}: {error}") from error
    else:
        rows = np.array(features, dtype=np.float64)
    if rows.ndim != 2 or not rows.size or not np.all(np.isfinite(rows)):
        raise EnvironmentSpecError(f"yelp-like: expected finite features (K, d), got shape {rows.shape}")
    return rows
