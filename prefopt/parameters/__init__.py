"""Named parameters: how a number or a choice maps to the unit interval and back, exactly."""

from __future__ import annotations

from typing import Any

from prefopt.errors import DomainError
from prefopt.parameters.base import MOST_VALUES, Parameter
from prefopt.parameters.categorical import Categorical
from prefopt.parameters.floats import Float
from prefopt.parameters.ints import Int

__all__ = ["MOST_VALUES", "TYPES", "Categorical", "Float", "Int", "Parameter", "from_distribution", "read_parameter"]

#: Type names in study files and JSON.
TYPES: dict[str, type[Parameter]] = {"float": Float, "int": Int, "categorical": Categorical}


def read_parameter(name: str, table: dict[str, Any]) -> Parameter:
    """The parameter that a table such as ``{"type": "float", "low": 0, "high": 1}`` describes.

    Raises:
        DomainError: unknown type or key, or a missing one.
    """
    if not isinstance(table, dict):
        raise DomainError(f"parameter {name!r}: expected a table with type, low, high, ..., got {table!r}")
    kind, fields = table.get("type"), {k: v for k, v in table.items() if k not in ("type", "name")}
    if not isinstance(kind, str) or kind not in TYPES:
        raise DomainError(f"parameter {name!r}: type {kind!r}; expected one of {', '.join(TYPES)}")
    wanted = {"choices"} if kind == "categorical" else {"low", "high"}
    allowed = wanted if kind == "categorical" else wanted | {"log", "step", "likely"}
    for problem, keys in (("unknown", set(fields) - allowed), ("missing", wanted - set(fields))):
        if keys:
            raise DomainError(
                f"parameter {name!r}: {problem} key {min(map(str, keys))!r}; a {kind} has {', '.join(sorted(allowed))}"
            )
    return TYPES[kind](name, **fields)  # type: ignore[call-arg]


def from_distribution(name: str, distribution: Any) -> Parameter:
    """The parameter that an Optuna distribution describes, recognised by its class name (optuna is not imported)."""
    kind = type(distribution).__name__
    if kind == "FloatDistribution":
        return Float(name, distribution.low, distribution.high, distribution.log, distribution.step)
    if kind == "IntDistribution":
        return Int(name, distribution.low, distribution.high, distribution.log, distribution.step)
    if kind == "CategoricalDistribution":
        return Categorical(name, distribution.choices)
    raise DomainError(
        f"parameter {name!r}: {kind} is no Optuna distribution that is known here; expected FloatDistribution, "
        "IntDistribution or CategoricalDistribution"
    )
