"""A choice without an order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefopt.domain import Column
from prefopt.parameters.base import Parameter


@dataclass(frozen=True)
class Categorical(Parameter):
    """One of several ``choices`` without an order: strings, numbers, true/false or None.

    Raises:
        DomainError: no choice, a choice twice (1, 1.0 and True are one), or a choice of another type.

    >>> Categorical("water", ["soft", "hard"]).index("hard")
    1
    """

    name: str
    choices: tuple[Any, ...]

    def __init__(self, name: str, choices: Sequence[Any]) -> None:
        object.__setattr__(self, "name", name)
        self._check_name()
        if isinstance(choices, str | bytes) or not hasattr(choices, "__iter__"):
            raise self._fail(f"choices is a list such as ['a', 'b'], got {choices!r}")
        plain = tuple(self._plain(choice) for choice in choices)
        if not plain:
            raise self._fail("needs at least one choice, got none")
        twice = [c for i, c in enumerate(plain) if c in plain[:i]]
        if twice:
            raise self._fail(f"choice {twice[0]!r} is listed twice; list each once")
        object.__setattr__(self, "choices", plain)

    @property
    def count(self) -> int:
        """Number of choices."""
        return len(self.choices)

    def value(self, index: int) -> Any:
        """The choice with this index."""
        return self.choices[index]

    def index(self, value: Any) -> int:
        """The place of a choice in the list."""
        return self.choices.index(value)

    def check(self, value: Any) -> Any:
        """The choice that equals ``value`` and has its type; raises DomainError if there is none."""
        plain = value.item() if isinstance(value, np.generic) else value
        for choice in self.choices:
            if type(choice) is type(plain) and choice == plain:
                return choice
        raise self._fail(f"{value!r} is not a choice; expected one of {', '.join(map(repr, self.choices))}")

    def unit(self, value: Any) -> float:
        """Evenly spaced codes; only their equality has a meaning."""
        return self.index(value) / max(1, self.count - 1)

    def at(self, unit: float) -> Any:
        """The choice whose code is nearest."""
        return self.choices[min(self.count - 1, max(0, round(float(unit) * (self.count - 1))))]

    def column(self) -> Column:
        """A category column."""
        return Column("category", tuple(self.unit(choice) for choice in self.choices))

    def to_json(self) -> dict[str, Any]:
        """A JSON-able table."""
        return {"type": "categorical", "name": self.name, "choices": list(self.choices)}

    def _plain(self, choice: Any) -> Any:
        plain = choice.item() if isinstance(choice, np.generic) else choice
        if plain is not None and type(plain) not in (str, bool, int, float):
            raise self._fail(
                f"choice {choice!r} is a {type(choice).__name__}; choices are strings, numbers, true/false or None: "
                "name the choice and look it up where it is shown"
            )
        if isinstance(plain, float) and not math.isfinite(plain):
            raise self._fail(f"choice {choice!r} must be finite")
        return plain
