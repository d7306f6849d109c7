"""Hills whose top lies where one asks for: anywhere, on a face or in a corner of the cube.

Test functions from the literature have their optimum in one place, and many near the centre, which flatters methods
that expect it there. Here the place is drawn with the seed, and so are shape, stretch and rotation.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from prefopt.environments.problems import Problem
from prefopt.errors import SettingError
from prefopt.seeding import stream

FloatArray = NDArray[np.float64]
#: Where the top may lie, and how the way down looks, as a function of the distance r (1 at the most distant corner).
PLACES = ("anywhere", "face", "corner")
SHAPES = ("cone", "quadratic", "bump")
#: Standard deviation of the bump; at the most distant corner it has fallen to 0.04.
WIDTH = 0.4


def top_of(place: str, dim: int, rng: np.random.Generator) -> FloatArray:
    """A uniform point (d,) of the cube; on a face one coordinate is 0 or 1, in a corner all are.

    Raises:
        SettingError: an unknown place.
    """
    top = rng.random(dim)
    if place == "face":
        top[rng.integers(dim)] = rng.integers(2)
    elif place == "corner":
        top = rng.integers(2, size=dim).astype(np.float64)
    elif place != "anywhere":
        raise SettingError(f"unknown place {place!r}; expected {', '.join(PLACES)}")
    return top


def stretched_distance(dim: int, top: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A matrix (d, d) with r(x) = |(x - top) matrix| at most 1 on the cube: a random rotation, unequal widths."""
    rotation, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    weights = np.exp(0.4 * rng.standard_normal(dim))
    # half way between the cube's axes and random ones: columns matter unequally and interact a little
    matrix = np.diag(weights) + 0.5 * weights[:, None] * rotation
    corners = np.array(list(product((0.0, 1.0), repeat=dim)))
    return np.asarray(matrix / np.linalg.norm((corners - top) @ matrix, axis=1).max())


def placed(place: str, dim: int, seed: int) -> Problem:
    """The hill drawn with ``seed``: cone, quadratic or bump (in turn), its top at the given place; depth 0 to 1.

    The distance is convex, so that it is largest in a corner of the cube: both ends of the range are exact.

    Args:
        place: "anywhere" (uniform), "face" or "corner".
        dim: number of dimensions d; 2^d corners are looked at.
        seed: draws place, shape, widths and rotation.

    Raises:
        SettingError: an unknown place, or d outside 1 .. 12.

    >>> hill = placed("corner", 3, 7)
    >>> hill.minimum, hill.maximum
    (0.0, 1.0)
    """
    if not 1 <= dim <= 12:
        raise SettingError(f"a placed hill has 1 to 12 dimensions, got {dim}")
    rng = stream(seed, PLACES.index(place) if place in PLACES else len(PLACES), dim)
    top = top_of(place, dim, rng)
    matrix = stretched_distance(dim, top, rng)
    shape = SHAPES[seed % len(SHAPES)]

    def depth(x: FloatArray) -> FloatArray:
        """0 at the top, 1 in the most distant corner."""
        r = np.linalg.norm((x - top) @ matrix, axis=1)
        if shape == "cone":
            return np.asarray(r)
        if shape == "quadratic":
            return np.asarray(r**2)
        return np.asarray(np.expm1(-0.5 * (r / WIDTH) ** 2) / np.expm1(-0.5 / WIDTH**2))

    return Problem(depth, (0.0,) * dim, (1.0,) * dim, 0.0, maximum=1.0)
