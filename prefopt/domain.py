"""What can be chosen: a list of arms, a grid of points, or the unit cube. Names and units live in ``Space``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.errors import DomainError
from prefopt.finite import SAME, Arms, FloatArray, Grid, check_likely
from prefopt.linear import Linear, read_constraint
from prefopt.polytope import Polytope, find_polytope

#: Attempts to find random points that constraints allow, and how many of them ignore that some are linear.
TRIES, PLAIN_TRIES = 100, 10

Constraint = Callable[[FloatArray], NDArray[np.bool_]] | Linear | str

__all__ = ["SAME", "Arms", "Box", "Column", "Constraint", "Domain", "FloatArray", "Grid", "is_finite"]


@dataclass(frozen=True)
class Column:
    """One coordinate of a ``Box``: continuous, restricted to ascending ``levels``, or a category.

    A category of k choices is coded by k evenly spaced levels in [0, 1]; only whether two codes are
    equal has a meaning, which kernels respect. ``likely`` (low, high) is where somebody expects the best option;
    None is anywhere.
    """

    kind: Literal["continuous", "levels", "category"] = "continuous"
    levels: tuple[float, ...] = ()
    likely: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("continuous", "levels", "category"):
            raise DomainError(f"unknown kind of column {self.kind!r}; expected continuous, levels or category")
        if (self.kind == "continuous") != (not self.levels):
            raise DomainError(f"a {self.kind} column came with levels={self.levels}; only the others have levels")
        if any(not 0 <= v <= 1 for v in self.levels) or any(np.diff(self.levels) <= 0):
            raise DomainError(f"levels must ascend within [0, 1], got {self.levels}")
        if self.likely is not None:
            check_likely(self.likely)
            if self.kind == "category":
                raise DomainError(f"a category has no order, so likely={self.likely} means nothing; leave it out")

    def snap(self, values: FloatArray) -> FloatArray:
        """The nearest allowed values; shape unchanged."""
        if not self.levels:
            return np.clip(values, 0.0, 1.0)
        levels = np.array(self.levels)
        nearest: FloatArray = levels[np.argmin(np.abs(values[..., None] - levels), axis=-1)]
        return nearest


@dataclass(frozen=True)
class Box:
    """The unit cube, column by column, minus what ``constraints`` forbid. An option is a float64 row (d,).

    Args:
        columns: one ``Column`` per coordinate; an int d means d continuous ones.
        constraints: linear ones of the columns x0, x1, ... as text or ``Linear``, or functions from rows (n, d) in the
            unit cube to booleans (n,), true where allowed; a study can store only the former.

    >>> Box(2).contains([0.3, 1.0]), Box(2, ["x0 + x1 <= 1"]).contains([0.3, 1.0])
    (True, False)
    """

    columns: tuple[Column, ...]
    constraints: tuple[Any, ...] = field(default=(), compare=False)

    def __init__(self, columns: int | Sequence[Column], constraints: Sequence[Constraint] = ()) -> None:
        made = tuple(Column() for _ in range(columns)) if isinstance(columns, int) else tuple(columns)
        if not made:
            raise DomainError("Box needs at least one column, got none")
        if not all(isinstance(column, Column) for column in made):
            raise DomainError(f"Box needs a number of columns or a list of Column, got {columns!r}")
        object.__setattr__(self, "columns", made)
        expected = "a function from rows (n, d) to booleans (n,)"
        object.__setattr__(self, "constraints", tuple(read_constraint(c, expected) for c in constraints))
        for constraint in self.constraints:
            if isinstance(constraint, Linear):
                names = tuple(f"x{j}" for j, column in enumerate(made) if column.kind != "category")
                constraint.check_names(names, "the box")

    @property
    def dim(self) -> int:
        """Number of columns, d."""
        return len(self.columns)

    @cached_property
    def continuous(self) -> NDArray[np.bool_]:
        """Which columns are continuous, shape (d,)."""
        return np.array([c.kind == "continuous" for c in self.columns])

    def feasible(self, points: FloatArray) -> NDArray[np.bool_]:
        """Which of the rows (n, d) every constraint allows, shape (n,)."""
        allowed = np.ones(len(points), dtype=bool)
        for constraint in self.constraints:
            linear = isinstance(constraint, Linear)
            given = {f"x{j}": column for j, column in enumerate(points.T)} if linear else points
            said = np.asarray(constraint(given), dtype=bool)
            if said.shape != allowed.shape:
                raise DomainError(
                    f"a constraint got rows of shape {points.shape} and must return booleans of shape "
                    f"({len(points)},), got shape {said.shape}"
                )
            allowed &= said
        return allowed

    def contains(self, point: ArrayLike) -> bool:
        """Whether ``point`` (d,) is in the cube, on the levels, and allowed."""
        row = np.asarray(point, dtype=np.float64).reshape(1, -1)
        if row.shape[1] != self.dim or not np.all(np.isfinite(row)):
            return False
        return bool(np.allclose(self.project(row), row, rtol=0, atol=1e-9) and self.feasible(row)[0])

    def project(self, points: FloatArray) -> FloatArray:
        """Clip the rows (n, d) to the cube and snap them to their columns' levels; constraints are not repaired."""
        return np.stack([c.snap(points[:, j]) for j, c in enumerate(self.columns)], axis=1)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` uniform allowed rows (n, d), by rejection.

        Where linear constraints leave too little of the cube for that, they are nearly uniform, from random walks.

        Raises:
            DomainError: linear constraints that exclude each other, or others that allow fewer than one in about ten
                thousand uniform points.
        """
        kept = np.empty((0, self.dim))
        for attempt in range(TRIES):
            draw = rng.random((max(128, n), self.dim))
            for j, column in enumerate(self.columns):
                if column.levels:
                    draw[:, j] = rng.choice(np.array(column.levels), size=len(draw))
            if attempt >= PLAIN_TRIES and self.linear:
                draw = self._within_linear(draw, rng)
            kept = np.concatenate([kept, draw[self.feasible(draw)]])
            if len(kept) >= n:
                return kept[:n]
        raise DomainError(
            f"only {len(kept)} of {TRIES} x {max(128, n)} random points satisfy the constraints; relax them"
        )

    @property
    def linear(self) -> tuple[Linear, ...]:
        """The linear ones among the constraints."""
        return tuple(c for c in self.constraints if isinstance(c, Linear))

    @cached_property
    def polytope(self) -> Polytope:
        """What the linear constraints leave of the cube, levels not regarded.

        Raises:
            DomainError: nothing.
        """
        found = find_polytope(self.dim, self.linear)
        if found is None:
            raise DomainError(f"no point of the unit cube satisfies {' and '.join(map(str, self.linear))}; relax one")
        return found

    def _within_linear(self, draw: FloatArray, rng: np.random.Generator) -> FloatArray:
        """``draw`` with the columns of linear constraints drawn anew where these hold, to the nearest levels."""
        named = {int(name[1:]) for constraint in self.linear for name, _ in constraint.weights}
        columns = sorted(named)
        inside = self.project(self.polytope.sample(len(draw), rng))
        draw[:, columns] = inside[:, columns]
        return draw


Domain = Arms | Grid | Box


def is_finite(domain: Any) -> bool:
    """Whether options are indices (``Arms``, ``Grid``) rather than rows of the unit cube."""
    return isinstance(domain, Arms | Grid)
