"""What every named parameter can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any

from prefopt.domain import Column
from prefopt.errors import DomainError

#: A range with at most this many values becomes levels of a ``Box`` column, and a space with at most this many
#: points a ``Grid``; beyond it numbers are treated as continuous and rounded when decoded.
MOST_VALUES = 2500


class Parameter(ABC):
    """One named parameter. ``unit`` maps a value to [0, 1], ``at`` maps back; values of a finite one have an index."""

    name: str

    @property
    @abstractmethod
    def count(self) -> int | None:
        """Number of distinct values, None if continuous."""

    @abstractmethod
    def check(self, value: Any) -> Any:
        """``value`` as a plain Python value of this parameter; raises DomainError if it is none."""

    @abstractmethod
    def unit(self, value: Any) -> float:
        """Where a checked value lies in [0, 1]."""

    @abstractmethod
    def at(self, unit: float) -> Any:
        """The value at ``unit`` in [0, 1], the nearest one if there are finitely many."""

    @abstractmethod
    def value(self, index: int) -> Any:
        """The value with this index, for a finite parameter."""

    @abstractmethod
    def index(self, value: Any) -> int:
        """The index of a checked value, for a finite parameter."""

    @abstractmethod
    def column(self) -> Column:
        """The column of a ``Box`` that holds this parameter."""

    def to_json(self) -> dict[str, Any]:
        """A JSON-able table with the name, the type and every field that is not at its default."""
        fields = {k: v for k, v in asdict(self).items() if v is not None and v is not False}  # type: ignore[call-overload]
        return {"type": type(self).__name__.lower(), **fields}

    def _fail(self, message: str) -> DomainError:
        return DomainError(f"parameter {self.name!r}: {message}")

    def _check_name(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise DomainError(f"a parameter's name is a non-empty string, got {self.name!r}")
