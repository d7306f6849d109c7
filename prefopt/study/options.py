"""The options of a study and their candidate ids."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from prefopt.domain import SAME, Arms, is_finite
from prefopt.errors import DomainError
from prefopt.space import Space


class Options:
    """Numbers options: by index on a finite space, in order of appearance on a box.

    In events an option is an int (finite) or a list of floats in the unit cube (box).
    """

    def __init__(self, space: Any) -> None:
        self.space = space
        self.finite = is_finite(space.domain)
        self._rows: list[list[float]] = []
        self._table = np.empty((0, 0))  # the same as an array, with room for more

    def __len__(self) -> int:
        return int(self.space.domain.size) if self.finite else len(self._rows)

    def plain(self, option: Any) -> Any:
        """``option`` as a policy or the space gives it, in the form of an event."""
        return int(option) if self.finite else [float(x) for x in np.asarray(option).reshape(-1)]

    def same(self, a: Any, b: Any) -> bool:
        """Whether two options are one; distances that a declared space can express are kept apart."""
        return bool(a == b) if self.finite else bool(np.all(np.abs(np.subtract(a, b)) < SAME))

    def find(self, option: Any) -> int | None:
        """The id of ``option``, or None if it has none yet."""
        if self.finite:
            return int(option)
        if not self._rows:
            return None
        near = (np.abs(self._table[: len(self._rows)] - np.array(option)) < SAME).all(axis=1)
        return int(np.argmax(near)) if near.any() else None

    def id_of(self, option: Any) -> int:
        """The id of ``option``; a new point of a box gets the next number."""
        known = self.find(option)
        if known is None:
            row = [float(x) for x in option]
            if len(self._rows) == len(self._table):
                room = np.empty((2 * len(self._table) + 64, len(row)))
                room[: len(self._rows)] = self._table.reshape(-1, len(row))
                self._table = room
            self._table[len(self._rows)] = row
            self._rows.append(row)
            return len(self._rows) - 1
        return known

    def option(self, number: int) -> Any:
        """The option with id ``number``, as in events."""
        return number if self.finite else self._rows[number]

    def params(self, number: int) -> Any:
        """The parameters of candidate ``number``, or the item of a list of arms."""
        return self.decode(self.option(number))

    def encode(self, params: Any) -> Any:
        """The option that ``params`` describe, checked; raises DomainError if outside of the space."""
        return self.plain(self.space.encode(params))

    def decode(self, option: Any) -> Any:
        """What an option means in the space."""
        return self.space.decode(option if self.finite else np.array(option))

    def extends(self, params: Any) -> bool:
        """Whether ``params`` would be a new arm of a list of arms."""
        return isinstance(self.space.domain, Arms) and not self._lists(params)

    def add_arm(self, item: Any) -> int:
        """Append ``item`` to the list of arms, unless it is there; its id.

        Raises:
            DomainError: the space is not a list of arms.
        """
        if not isinstance(self.space.domain, Arms):
            raise DomainError(f"only a list of arms takes new items, got {item!r} for {self.space!r}")
        if not self._lists(item):
            self.space = Space.arms([*self.space.items, item])
        return int(self.space.encode(item))

    def _lists(self, item: Any) -> bool:
        with suppress(DomainError):
            self.space.encode(item)
            return True
        return False
