"""Named parameters with units, and what they encode to: the only place that knows names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.coordinates import Coordinates
from prefopt.domain import Arms, Box, FloatArray, Grid
from prefopt.errors import DomainError
from prefopt.items import Options, check_index
from prefopt.linear import Linear, constraints_to_json, read_constraint
from prefopt.parameters import MOST_VALUES, Categorical, Float, Int, Parameter, from_distribution, read_parameter
from prefopt.parameters.combinations import (
    Constraint,
    allowed_combinations,
    check_parameters,
    check_values,
    fits_grid,
    make_grid,
)

__all__ = ["MOST_VALUES", "Categorical", "Coordinates", "Float", "Int", "Linear", "Options", "Space", "as_space"]


class Space:
    """Named parameters, encoded to a ``Grid`` or ``Box`` and decoded from it without loss.

    If every parameter is finite and there are at most ``MOST_VALUES`` combinations, the domain is their ``Grid`` (a
    product, last parameter fastest, so models work axis by axis); otherwise a ``Box``. In a grid a category of two is
    an axis; one of k > 2 takes k columns, one per choice, so that all choices are equally far apart, and the grid is
    then no product. Everything is scaled by the declared ranges.

    Args:
        parameters: ``Float``, ``Int`` and ``Categorical``, names distinct.
        constraints: linear ones as text (``"water + 2*milk <= 250"``) or ``Linear``, or functions from a dict of
            parameters to true where allowed. A grid drops the forbidden combinations and remembers which; a box keeps
            the constraints, and of these only linear ones can be written to JSON.

    Raises:
        DomainError: no parameter, a name twice, or nothing allowed.

    >>> space = Space([Float("dose", 14, 20, step=0.5), Categorical("water", ["soft", "hard"])])
    >>> space.domain.size, space.encode({"dose": 14.5, "water": "soft"}), space.decode(25)
    (26, 2, {'dose': 20.0, 'water': 'hard'})
    """

    def __init__(self, parameters: Sequence[Parameter], constraints: Sequence[Constraint] = ()) -> None:
        self.names = check_parameters(parameters)
        self.parameters = tuple(parameters)
        self.constraints = tuple(read_constraint(c, "a function of the parameters' dict") for c in constraints)
        numbers = tuple(p.name for p in self.parameters if not isinstance(p, Categorical))
        for constraint in self.constraints:
            if isinstance(constraint, Linear):
                constraint.check_names(numbers, "the space")
        for lost in filter(None, (p.cut_short for p in self.parameters if isinstance(p, Float | Int))):
            warnings.warn(f"{lost}; change the step or high if that is not meant", stacklevel=2)
        self._kept: NDArray[np.int64] | None = None
        if self.finite and self.constraints:
            self._kept = allowed_combinations(self.parameters, self.constraints)

    def __repr__(self) -> str:
        return f"Space({', '.join(map(repr, self.parameters))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space) or self.parameters != other.parameters:
            return False
        return self._kept_list() == other._kept_list() and (self.finite or self.constraints == other.constraints)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def finite(self) -> bool:
        """Whether the domain is a ``Grid``."""
        return fits_grid(self.parameters)

    @cached_property
    def domain(self) -> Grid | Box:
        """What is searched."""
        if self.finite:
            return make_grid(self.parameters, self._kept)
        columns = [p.column() for p in self.parameters]
        if not self.constraints:
            return Box(columns)
        box = Box(columns, [*self._in_the_cube(), self._rows_allowed])
        try:
            _ = box.linear and box.polytope
        except DomainError as error:
            linear = " and ".join(str(c) for c in self.constraints if isinstance(c, Linear))
            raise DomainError(f"no values of {self!r} satisfy {linear}; relax one") from error
        return box

    def _in_the_cube(self) -> list[Linear]:
        """What linear constraints say of the columns of the box; those of logarithmic parameters are left out.

        Half a step of a parameter is granted, since values are rounded to steps. Together with these, the constraints
        themselves decide; these say where to look.
        """
        place = {p.name: (f"x{j}", p) for j, p in enumerate(self.parameters) if isinstance(p, Float | Int)}
        made = []
        for rule in (c for c in self.constraints if isinstance(c, Linear)):
            known = [(*place[name], weight) for name, weight in rule.weights]
            if not any(p.log for _, p, _ in known):
                shift = sum(weight * p.low for _, p, weight in known)
                slack = sum(abs(weight) * (0.0 if p.step is None else p.step / 2) for _, p, weight in known)
                weights = tuple((x, float(weight * (p.high - p.low))) for x, p, weight in known)
                made.append(Linear(weights, rule.low - shift - slack, rule.high - shift + slack))
        return made

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return tuple(p.count or 0 for p in self.parameters)

    def encode(self, params: Mapping[str, Any]) -> int | FloatArray:
        """The option that ``params`` describe: an index (grid) or a row (d,) of the unit cube (box).

        Raises:
            DomainError: an unknown or missing parameter, a value that is none of it, or a constraint that forbids it.
        """
        checked = check_values(self.parameters, params)
        if not self.finite:
            for constraint in self.constraints:
                if not constraint(dict(checked)):
                    name = getattr(constraint, "__name__", str(constraint))
                    raise DomainError(f"{checked} is excluded by the constraint {name}")
            return np.array([p.unit(checked[p.name]) for p in self.parameters])
        flat = int(np.ravel_multi_index([p.index(checked[p.name]) for p in self.parameters], self._counts))
        if self._kept is None:
            return flat
        found = int(np.searchsorted(self._kept, flat))
        if found == len(self._kept) or self._kept[found] != flat:
            raise DomainError(f"{checked} is excluded by a constraint of the space")
        return found

    def decode(self, option: Any) -> dict[str, Any]:
        """The parameters of an option, as plain Python values.

        Raises:
            DomainError: no such index, or a row of another length or outside of the unit cube.
        """
        if isinstance(self.domain, Grid):
            number = check_index(option, self.domain.size)
            flat = number if self._kept is None else int(self._kept[number])
            places = np.unravel_index(flat, self._counts)
            return {p.name: p.value(int(i)) for p, i in zip(self.parameters, places, strict=True)}
        row = np.asarray(option, dtype=np.float64)
        if row.shape != (len(self.parameters),) or not np.all((row >= -1e-9) & (row <= 1 + 1e-9)):
            raise DomainError(f"expected a row of {len(self.parameters)} numbers in [0, 1], got {option!r}")
        return {p.name: p.at(float(x)) for p, x in zip(self.parameters, row, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; ``Space.from_json`` reads it back exactly.

        Raises:
            DomainError: a box with a function as a constraint, which cannot be written down.
        """
        record: dict[str, Any] = {"kind": "parameters", "parameters": [p.to_json() for p in self.parameters]}
        if self.constraints and not self.finite:
            record["constraints"] = constraints_to_json(self.constraints)
        if self._kept is not None:
            record["allowed"] = self._kept_list()
        return record

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Space | Options | Coordinates:
        """The space that ``to_json`` of any kind of space wrote."""
        kind = record.get("kind")
        if kind == "options":
            return Options(record["items"], record.get("features"), record.get("bounds"))
        if kind in ("grid", "box"):
            return Coordinates.from_json(dict(record))
        if kind != "parameters":
            raise DomainError(f"unknown kind of space {kind!r}; expected parameters, options, grid or box")
        constraints = [Linear.from_json(c) for c in record.get("constraints", ())]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "parameter .* ends at")  # this was said when the space was made
            space = Space([read_parameter(table["name"], table) for table in record["parameters"]], constraints)
        if "allowed" in record:
            space._kept = np.array(record["allowed"], dtype=np.int64)
        return space

    @staticmethod
    def from_dict(spec: Mapping[str, Any], constraints: Sequence[Constraint] = ()) -> Space:
        """A space from tables by name, as in a study file.

        >>> Space.from_dict({"cups": {"type": "int", "low": 1, "high": 3}}).domain.size
        3
        """
        if not isinstance(spec, Mapping):
            raise DomainError(f"expected a table for each parameter's name, got {spec!r}")
        return Space([read_parameter(name, table) for name, table in spec.items()], constraints)

    @staticmethod
    def from_optuna(distributions: Mapping[str, Any], constraints: Sequence[Constraint] = ()) -> Space:
        """A space from Optuna distributions by name, recognised by their class names (optuna is not imported)."""
        return Space([from_distribution(name, d) for name, d in distributions.items()], constraints)

    @staticmethod
    def arms(items: Sequence[Any], features: ArrayLike | None = None, bounds: ArrayLike | None = None) -> Options:
        """A plain list of options; see ``Options``."""
        return Options(items, features, bounds)

    def _rows_allowed(self, rows: FloatArray) -> NDArray[np.bool_]:
        decoded = [self.decode(row) for row in rows]
        return np.array([all(c(dict(params)) for c in self.constraints) for params in decoded], dtype=bool)

    def _kept_list(self) -> list[int] | None:
        return None if self._kept is None else [int(i) for i in self._kept]


def as_space(obj: Any) -> Space | Options | Coordinates:
    """What users may give instead of a space.

    Args:
        obj: a space, a list of parameters or of plain options, a dict of Optuna distributions or of tables as in a
            study file, or a bare ``Arms``, ``Grid`` or ``Box``.

    Raises:
        DomainError: something else.

    >>> as_space(["tea", "coffee"]).domain
    Arms(size=2)
    """
    if isinstance(obj, Space | Options | Coordinates):
        return obj
    if isinstance(obj, Arms):
        return Options(range(obj.size))
    if isinstance(obj, Grid | Box):
        return Coordinates(obj)
    if isinstance(obj, Parameter):
        return Space([obj])
    if isinstance(obj, Mapping):
        tables = any(isinstance(value, Mapping) for value in obj.values())
        return Space.from_dict(obj) if tables else Space.from_optuna(obj)
    if isinstance(obj, list | tuple | range | np.ndarray):
        return Space(obj) if any(isinstance(entry, Parameter) for entry in obj) else Options(obj)  # type: ignore[arg-type]
    raise DomainError(
        f"{obj!r} is no space: give a Space, a list of options or parameters, or a dict of Optuna distributions"
    )
