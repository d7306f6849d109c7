"""Finite domains: a list of arms, or a grid of points in the unit cube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.errors import DomainError
from prefopt.kinds import is_whole

FloatArray = NDArray[np.float64]
#: Points of a product grid never coincide; two points of a ``Grid`` closer than this are one point given twice.
SAME = 1e-12


def check_likely(likely: Sequence[float]) -> None:
    """Raise ``DomainError`` unless ``likely`` is a range (low, high) within [0, 1]."""
    if not (len(likely) == 2 and 0 <= likely[0] < likely[1] <= 1):
        raise DomainError(f"likely is a range (low, high) with 0 <= low < high <= 1, got {likely!r}")


@dataclass(frozen=True)
class Arms:
    """A finite list of ``size`` options about which nothing else is known. An option is its index, 0 .. size-1.

    >>> Arms(3).size
    3
    """

    size: int

    def __post_init__(self) -> None:
        if not is_whole(self.size) or self.size < 1:
            raise DomainError(f"Arms needs a whole number of at least 1 arm, got size={self.size!r}")
        object.__setattr__(self, "size", int(self.size))


@dataclass(frozen=True, eq=False)
class Grid:
    """A finite set of points in the unit cube, or arms with features scaled to it. An option is its row index.

    Args:
        points: shape (K, d), every entry in [0, 1].
        axes: per-dimension coordinates if ``points`` is their product in row-major order; models
            use it to work axis by axis. ``Grid.product`` sets it.
        likely: per dimension (low, high) where somebody expects the best option, or None where nothing can be expected,
            such as in the coordinates of a category; None for all of them is (0, 1) everywhere.

    Raises:
        DomainError: not two-dimensional, not finite, outside [0, 1], or one point twice.
    """

    points: FloatArray
    axes: tuple[FloatArray, ...] | None = None
    likely: tuple[tuple[float, float] | None, ...] | None = None

    def __post_init__(self) -> None:
        points = _numbers(self.points, "points")
        if points.ndim != 2 or 0 in points.shape:
            raise DomainError(f"Grid needs points of shape (K, d) with K, d >= 1, got shape {points.shape}")
        bad = np.argwhere(~((points >= 0) & (points <= 1)))
        if len(bad):
            row, column = bad[0]
            raise DomainError(
                f"Grid point {row}, column {column} is {points[row, column]}: every coordinate must lie in "
                "[0, 1]; scale it from the declared range first (Space does)"
            )
        order = np.lexsort(np.round(points, 11).T)
        close = np.all(np.abs(np.diff(points[order], axis=0)) < SAME, axis=1)
        if close.any():
            first = int(np.argmax(close))
            a, b = sorted((int(order[first]), int(order[first + 1])))
            raise DomainError(f"Grid points {a} and {b} are the same point {points[a]}: list each option once")
        if self.axes is not None and not np.array_equal(_mesh(self.axes), points):
            raise DomainError("points are not the row-major product of axes; use Grid.product(*axes), or axes=None")
        if self.likely is not None:
            if len(self.likely) != points.shape[1]:
                raise DomainError(f"likely has one entry a dimension, {points.shape[1]}, got {len(self.likely)}")
            for entry in filter(None, self.likely):
                check_likely(entry)
        points.setflags(write=False)
        object.__setattr__(self, "points", points)

    @classmethod
    def product(cls, *axes: ArrayLike) -> Grid:
        """The product of per-dimension coordinates, row-major (the last axis runs fastest).

        >>> Grid.product([0, 0.5, 1], [0, 1]).points[1]
        array([0., 1.])
        """
        columns = tuple(_numbers(axis, f"axis {i}").reshape(-1) for i, axis in enumerate(axes))
        return cls(_mesh(columns), columns)

    @classmethod
    def regular(cls, *sizes: int) -> Grid:
        """``linspace(0, 1, n)`` along each dimension, end points included.

        >>> Grid.regular(8, 8).size
        64
        """
        bad = [n for n in sizes if not is_whole(n) or n < 1]
        if bad:
            raise DomainError(f"sizes are whole numbers of at least 1, got {bad[0]!r} in {sizes}")
        return cls.product(*(np.linspace(0.0, 1.0, n) if n > 1 else np.zeros(1) for n in sizes))

    @property
    def size(self) -> int:
        """Number of points, K."""
        return int(self.points.shape[0])

    @property
    def dim(self) -> int:
        """Number of columns, d."""
        return int(self.points.shape[1])


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DomainError(f"Grid needs numbers, {what} has others: {error}") from error


def _mesh(axes: Sequence[FloatArray]) -> FloatArray:
    """The product of the axes, (K, d), the last axis running fastest."""
    if not axes:
        raise DomainError("a product grid needs at least one axis, got none")
    mesh: FloatArray = np.stack([m.reshape(-1) for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    return mesh
