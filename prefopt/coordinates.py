"""A bare ``Grid`` or ``Box`` used as a space: parameters are called x0, x1, ... and lie in [0, 1]."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from prefopt.domain import SAME, Box, Column, FloatArray, Grid
from prefopt.errors import DomainError
from prefopt.items import check_index
from prefopt.linear import Linear, constraints_to_json


class Coordinates:
    """Names the columns of ``domain`` x0, x1, ...

    >>> Coordinates(Grid.regular(2, 3)).decode(5)
    {'x0': 1.0, 'x1': 1.0}
    """

    def __init__(self, domain: Grid | Box) -> None:
        self.domain = domain
        self.names = tuple(f"x{j}" for j in range(domain.dim))

    def __repr__(self) -> str:
        return f"Coordinates of a {type(self.domain).__name__} in {self.domain.dim} columns"

    def encode(self, params: dict[str, Any]) -> int | FloatArray:
        """The row index in a grid, or the row (d,) of a box.

        Raises:
            DomainError: other names than x0, x1, ..., not numbers, or outside of the domain.
        """
        if not isinstance(params, dict) or set(params) != set(self.names):
            raise DomainError(f"expected numbers for {', '.join(self.names)}, got {params!r}")
        try:
            row = np.array([params[name] for name in self.names], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DomainError(f"expected numbers in [0, 1], got {params!r}") from error
        if isinstance(self.domain, Box):
            if not self.domain.contains(row):
                raise DomainError(f"{params} is outside of the box, or its constraints forbid it")
            snapped: FloatArray = self.domain.project(row[None, :])[0]
            return snapped
        near = np.all(np.abs(self.domain.points - row) < SAME, axis=1)
        if not near.any():
            raise DomainError(f"{params} is not a point of the grid of {self.domain.size}")
        return int(np.argmax(near))

    def decode(self, option: Any) -> dict[str, float]:
        """The coordinates of an option."""
        if isinstance(self.domain, Box):
            row = np.asarray(option, dtype=np.float64)
            if row.shape != (self.domain.dim,):
                raise DomainError(f"expected a row of {self.domain.dim} numbers, got shape {row.shape}")
        else:
            row = self.domain.points[check_index(option, self.domain.size)]
        return {name: float(x) for name, x in zip(self.names, row, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; ``Space.from_json`` reads it back.

        Raises:
            DomainError: a box with a function as a constraint, which cannot be written down.
        """
        if isinstance(self.domain, Box):
            columns = [
                {"kind": c.kind, "levels": list(c.levels)} | ({"likely": list(c.likely)} if c.likely else {})
                for c in self.domain.columns
            ]
            record: dict[str, Any] = {"kind": "box", "columns": columns}
            if self.domain.constraints:
                record["constraints"] = constraints_to_json(self.domain.constraints)
            return record
        likely = self.domain.likely
        known = {} if likely is None else {"likely": [None if entry is None else list(entry) for entry in likely]}
        if self.domain.axes is not None:
            return {"kind": "grid", "axes": [axis.tolist() for axis in self.domain.axes], **known}
        return {"kind": "grid", "points": self.domain.points.tolist(), **known}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Coordinates:
        """What ``to_json`` wrote."""
        if record["kind"] == "box":
            columns = [Column(c["kind"], tuple(c["levels"]), _pair(c.get("likely"))) for c in record["columns"]]
            return cls(Box(columns, [Linear.from_json(c) for c in record.get("constraints", ())]))
        grid = Grid.product(*record["axes"]) if "axes" in record else Grid(record["points"])
        if "likely" not in record:
            return cls(grid)
        return cls(replace(grid, likely=tuple(_pair(entry) for entry in record["likely"])))


def _pair(likely: Any) -> tuple[float, float] | None:
    return None if likely is None else (float(likely[0]), float(likely[1]))
