"""Named parameters, or a list of items, and the domain they are encoded in. Names and units exist only here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.domain import Arms, Box, Column, Domain, Grid
from prefopt.errors import DomainError
from prefopt.parameters import (
    MOST_LEVELS,
    Categorical,
    Float,
    Int,
    Parameter,
    parameter_from,
    parameter_from_optuna,
)

__all__ = ["MOST_POINTS", "Categorical", "Float", "Int", "Items", "Points", "Space", "as_space"]

#: An all-discrete space of at most this many combinations becomes a ``Grid`` by itself.
MOST_POINTS = 2500

FloatArray = NDArray[np.float64]


class Space:
    """Named parameters that encode to a ``Grid`` (small and all discrete) or a ``Box``.

    On a grid a choice of k > 2 categories is coded by k columns, so that all choices are equally far apart;
    a ``Box`` marks the column as a category instead.

    Args:
        parameters: ``Float``, ``Int``, ``Categorical``.
        constraints: functions from a dict of parameters to whether it is allowed. They are code and are
            not kept in ``to_json``: give them again when a study is loaded.

    Raises:
        DomainError: no parameter, two of one name, or constraints that forbid everything.

    >>> space = Space([Float("dose", 0, 1, step=0.5), Int("cups", 1, 2)])
    >>> space.domain.size, space.decode(space.encode({"dose": 0.5, "cups": 2}))
    (6, {'dose': 0.5, 'cups': 2})
    """

    def __init__(
        self, parameters: Iterable[Parameter], constraints: Sequence[Callable[[dict[str, Any]], bool]] = ()
    ) -> None:
        self.parameters = tuple(parameters)
        self.constraints = tuple(constraints)
        for p in self.parameters:
            if not isinstance(p, Float | Int | Categorical):
                raise DomainError(f"a space is made of Float, Int and Categorical, got {p!r}")
        names = [p.name for p in self.parameters]
        if not names:
            raise DomainError("a space needs at least one parameter")
        for name in names:
            if names.count(name) > 1:
                raise DomainError(f"two parameters are called {name!r}; names must differ")

    def __repr__(self) -> str:
        return f"Space({list(self.parameters)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(repr(self))

    @staticmethod
    def arms(items: Sequence[Any], *, features: ArrayLike | None = None) -> Items:
        """A plain list of options: names, paths, numbers or dicts."""
        return Items(items, features=features)

    @staticmethod
    def from_dict(tables: Mapping[str, Mapping[str, Any]]) -> Space:
        """A space from tables such as ``{"dose": {"type": "float", "low": 0, "high": 1}}``."""
        for name, table in tables.items():
            if not isinstance(table, Mapping):
                raise DomainError(
                    f"parameter {name!r}: expected a table with type, low, high or choices, got {table!r}"
                )
        return Space([parameter_from(dict(table), name) for name, table in tables.items()])

    @staticmethod
    def from_optuna(distributions: Mapping[str, Any]) -> Space:
        """A space from a dict of Optuna distributions."""
        return Space([parameter_from_optuna(name, d) for name, d in distributions.items()])

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Space:
        """The space that ``to_json`` wrote."""
        if "items" in record:
            return Items(record["items"], features=record.get("features"))
        if "points" in record:
            axes = record.get("axes")
            return Points(Grid(np.array(record["points"]), axes and tuple(np.array(a) for a in axes)))
        return Space([parameter_from(dict(p)) for p in record["parameters"]])

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; constraints are left out."""
        return {"parameters": [p.to_json() for p in self.parameters]}

    @cached_property
    def domain(self) -> Domain:
        """Where options live: a ``Grid`` or a ``Box``."""
        return self._grid if self._combinations else Box([column_of(p) for p in self.parameters], self._row_rules)

    @cached_property
    def _combinations(self) -> list[tuple[int, ...]]:
        """Index tuples of every allowed combination of a small all-discrete space, else []."""
        sizes = [len(p.values) for p in self.parameters]
        if 0 in sizes or np.prod([float(n) for n in sizes]) > MOST_POINTS:
            return []
        every = list(itertools.product(*(range(n) for n in sizes)))
        kept = [c for c in every if self._allowed(self._params(c))]
        if not kept:
            raise DomainError("the constraints forbid every combination of the parameters; relax them")
        return kept

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {c: i for i, c in enumerate(self._combinations)}

    @cached_property
    def _grid(self) -> Grid:
        codes = [codes_of(p) for p in self.parameters]
        if not self.constraints and all(c.shape[1] == 1 for c in codes):
            return Grid.product(*(c[:, 0] for c in codes))
        rows = [np.concatenate([c[i] for c, i in zip(codes, which, strict=True)]) for which in self._combinations]
        return Grid(np.array(rows))

    @cached_property
    def _row_rules(self) -> list[Callable[[FloatArray], NDArray[np.bool_]]]:
        if not self.constraints:
            return []
        return [lambda rows: np.array([self._allowed(self.decode(row)) for row in rows], dtype=bool)]

    def _params(self, which: tuple[int, ...]) -> dict[str, Any]:
        return {p.name: p.values[i] for p, i in zip(self.parameters, which, strict=True)}

    def _allowed(self, params: dict[str, Any]) -> bool:
        return all(rule(params) for rule in self.constraints)

    def encode(self, params: Any) -> Any:
        """The option of a dict of parameters: an index of the grid, or a float64 row (d,) of the box.

        Raises:
            DomainError: a parameter missing, unknown or out of range, or a combination that is not allowed.
        """
        if not isinstance(params, Mapping):
            raise DomainError(f"expected a dict with {', '.join(p.name for p in self.parameters)}, got {params!r}")
        names = [p.name for p in self.parameters]
        for name in params:
            if name not in names:
                raise DomainError(f"unknown parameter {name!r}; this space has {', '.join(names)}")
        for name in names:
            if name not in params:
                raise DomainError(f"parameter {name!r} is missing from {dict(params)!r}")
        checked = {p.name: p.check(params[p.name]) for p in self.parameters}
        if not self._allowed(checked):
            raise DomainError(f"the constraints forbid {checked!r}")
        units = [p.to_unit(checked[p.name]) for p in self.parameters]
        if not self._combinations:
            return np.array(units)
        return self._numbers[tuple(p.units.index(u) for p, u in zip(self.parameters, units, strict=True))]

    def decode(self, option: Any) -> Any:
        """The dict of parameters of an option, in plain Python values."""
        if self._combinations:
            return self._params(self._combinations[int(option)])
        row = np.asarray(option, dtype=np.float64).reshape(-1)
        if len(row) != len(self.parameters):
            raise DomainError(f"expected {len(self.parameters)} coordinates, got {len(row)}")
        return {p.name: p.from_unit(float(u)) for p, u in zip(self.parameters, row, strict=True)}


class Items(Space):
    """A plain list of options. With ``features`` (K, d) near rows are alike, and the domain is a ``Grid``.

    Raises:
        DomainError: no item, one twice, or features that do not fit.

    >>> Space.arms(["a", "b"]).encode("b")
    1
    """

    def __init__(self, items: Sequence[Any], *, features: ArrayLike | None = None) -> None:
        if isinstance(items, str) or not isinstance(items, Sequence) or not len(items):
            raise DomainError(f"expected a list of at least one option, got {items!r}")
        self.items = tuple(items)
        self.parameters, self.constraints = (), ()
        for i, item in enumerate(self.items):
            if item in self.items[:i]:
                raise DomainError(f"option {item!r} is listed twice (places {self.items.index(item)} and {i})")
        self.features = None if features is None else self._checked(features)

    def __repr__(self) -> str:
        return f"Space.arms({list(self.items)!r})"

    def _checked(self, features: ArrayLike) -> FloatArray:
        table = np.array(features, dtype=np.float64)
        if table.ndim != 2 or len(table) != len(self.items) or not table.shape[1]:
            raise DomainError(f"features must be one row per option ({len(self.items)}), got shape {table.shape}")
        for i, j in np.argwhere(~np.isfinite(table))[:1]:
            raise DomainError(f"feature {j} of option {self.items[i]!r} is {table[i, j]}; expected a finite number")
        return table

    @cached_property
    def domain(self) -> Domain:
        """``Arms``, or a ``Grid`` of the features, each scaled by its smallest and largest value in the list."""
        if self.features is None:
            return Arms(len(self.items))
        low, span = self.features.min(axis=0), np.ptp(self.features, axis=0)
        return Grid((self.features - low) / np.where(span > 0, span, 1.0))

    def encode(self, params: Any) -> Any:
        """The index of an item; raises DomainError if it is not in the list."""
        if params not in self.items:
            raise DomainError(f"{params!r} is not one of the {len(self.items)} options of this study")
        return self.items.index(params)

    def decode(self, option: Any) -> Any:
        """The item with that index."""
        return self.items[int(option)]

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record."""
        made: dict[str, Any] = {"items": list(self.items)}
        return made if self.features is None else {**made, "features": self.features.tolist()}


class Points(Space):
    """A bare ``Grid``: options are dicts x0, x1, ... of its coordinates."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.parameters = tuple(Float(f"x{j}", 0, 1) for j in range(grid.dim))
        self.constraints = ()

    @cached_property
    def domain(self) -> Domain:
        """The grid itself."""
        return self.grid

    def encode(self, params: Any) -> Any:
        """The index of the grid point with these coordinates; raises DomainError if there is none."""
        row = [float(p.check(params.get(p.name))) for p in self.parameters] if isinstance(params, Mapping) else params
        gap = np.abs(self.grid.points - np.asarray(row, dtype=np.float64)).max(axis=1)
        if gap.min() > 1e-9:
            raise DomainError(f"{params!r} is not a point of the grid; the nearest is {self.decode(int(gap.argmin()))}")
        return int(gap.argmin())

    def decode(self, option: Any) -> Any:
        """The coordinates of a grid point."""
        return {p.name: float(x) for p, x in zip(self.parameters, self.grid.points[int(option)], strict=True)}

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record."""
        axes = self.grid.axes
        return {"points": self.grid.points.tolist(), "axes": axes and [a.tolist() for a in axes]}


def codes_of(parameter: Parameter) -> FloatArray:
    """Grid coordinates of each value, (n, 1), or (n, n) for three or more categories (all at distance 1)."""
    size = len(parameter.values)
    if isinstance(parameter, Categorical) and size > 2:
        return np.asarray(np.eye(size) / np.sqrt(2))
    return np.array(parameter.units).reshape(size, 1)


def column_of(parameter: Parameter) -> Column:
    """The box column of a parameter."""
    if isinstance(parameter, Categorical):
        return Column("category", parameter.units)
    if parameter.values and len(parameter.values) <= MOST_LEVELS:
        return Column("levels", parameter.units)
    return Column()


def as_space(given: Any) -> Space:
    """A ``Space`` from what people have: one, a domain, parameters, Optuna distributions, or a list of options.

    Raises:
        DomainError: anything else.
    """
    if isinstance(given, Space):
        return given
    if isinstance(given, Arms):
        return Items(list(range(given.size)))
    if isinstance(given, Grid):
        return Points(given)
    if isinstance(given, Box):
        if given.constraints or not given.continuous.all():
            raise DomainError(
                "a Box with levels, categories or constraints has no names; describe it with Space([...])"
            )
        return Space([Float(f"x{j}", 0, 1) for j in range(given.dim)])
    if isinstance(given, Mapping):
        tables = all(isinstance(v, Mapping) for v in given.values())
        return Space.from_dict(given) if tables else Space.from_optuna(given)
    if isinstance(given, Sequence) and given and all(isinstance(p, Float | Int | Categorical) for p in given):
        return Space(given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Items(given)
    raise DomainError(
        f"expected a Space, a list of parameters or options, a dict of Optuna distributions or a domain, got {given!r}"
    )
