"""A plain list of options: names, file paths or records, with or without features."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefopt.domain import Arms, FloatArray, Grid
from prefopt.errors import DomainError
from prefopt.kinds import is_whole


class Options:
    """A finite list of options. Without features it is ``Arms``, with features a ``Grid``.

    Args:
        items: what can be chosen: strings, numbers, file paths (kept as strings) or JSON-like dicts and lists.
        features: shape (K, d), what is known of each item; similar rows are assumed to be liked similarly.
        bounds: shape (2, d), low and high of each feature, mapped to 0 and 1. Features have no declared range of
            their own, so without bounds the smallest and largest value in the table are used; a constant column is 0.

    Raises:
        DomainError: no items, an item twice or not JSON-like, or features that do not fit.

    >>> options = Options(["tea", "coffee", "cocoa"])
    >>> options.domain, options.encode("coffee"), options.decode(2)
    (Arms(size=3), 1, 'cocoa')
    """

    def __init__(
        self, items: Sequence[Any], features: ArrayLike | None = None, bounds: ArrayLike | None = None
    ) -> None:
        if isinstance(items, str | bytes | dict) or not hasattr(items, "__iter__"):
            raise DomainError(f"expected a list of options such as ['a', 'b'], got {items!r}")
        self.items = tuple(_plain(item, f"option {i}") for i, item in enumerate(items))
        if not self.items:
            raise DomainError("expected a list of options, got an empty one; give at least one")
        self._index: dict[str, int] = {}
        for i, item in enumerate(self.items):
            first = self._index.setdefault(_key(item), i)
            if first != i:
                raise DomainError(f"options {first} and {i} are the same, {item!r}: list each once")
        self.features = None if features is None else _table(features, "features", len(self.items))
        if bounds is not None and self.features is None:
            raise DomainError("bounds are those of features, and no features came; give both or neither")
        self.bounds = None if bounds is None else _table(bounds, "bounds", 2)
        _ = self.domain  # what is wrong with the features is said here

    def __repr__(self) -> str:
        return f"Options of {len(self.items)} items"

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def domain(self) -> Arms | Grid:
        """``Arms``, or the ``Grid`` of the features scaled to the unit cube."""
        if self.features is None:
            return Arms(len(self.items))
        points = self._scaled(self.features)
        for i, j in _equal_rows(points):
            raise DomainError(
                f"options {self.items[i]!r} and {self.items[j]!r} have the same features {self.features[i].tolist()}; "
                "add a feature that tells them apart, or leave the features out"
            )
        return Grid(points)

    def encode(self, params: Any) -> int:
        """The index of an item.

        Raises:
            DomainError: it is not in the list.
        """
        found = self._index.get(_key(_plain(params, "the option")))
        if found is None:
            shown = ", ".join(map(repr, self.items[:5])) + (", ..." if len(self.items) > 5 else "")
            raise DomainError(f"{params!r} is not among the {len(self.items)} options {shown}")
        return found

    def decode(self, option: Any) -> Any:
        """The item with an index (a copy, if it can be changed).

        Raises:
            DomainError: no such index.
        """
        return copy.deepcopy(self.items[check_index(option, len(self.items))])

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; ``Space.from_json`` reads it back."""
        record: dict[str, Any] = {"kind": "options", "items": list(self.items)}
        for name in ("features", "bounds"):
            if getattr(self, name) is not None:
                record[name] = getattr(self, name).tolist()
        return record

    def _scaled(self, features: FloatArray) -> FloatArray:
        if self.bounds is None:
            low, high = features.min(axis=0), features.max(axis=0)
        else:
            low, high = self.bounds
            if len(low) != features.shape[1]:
                raise DomainError(f"bounds must have shape (2, {features.shape[1]}), got {self.bounds.shape}")
        for j in range(len(low)):
            outside = (features[:, j] < low[j]) | (features[:, j] > high[j])
            if low[j] > high[j] or outside.any():
                i = int(np.argmax(outside))
                raise DomainError(
                    f"feature {j} of option {self.items[i]!r} is {features[i, j]}, outside of its bounds "
                    f"{low[j]} to {high[j]}; bounds are the row of lows above the row of highs"
                )
        width = high - low
        scaled: FloatArray = np.clip((features - low) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        return scaled


def check_index(option: Any, size: int) -> int:
    """``option`` as an int from 0 to size - 1; raises DomainError if it is none."""
    if not is_whole(option) or not 0 <= option < size:
        raise DomainError(f"expected the index of an option, 0 to {size - 1}, got {option!r}")
    return int(option)


def _plain(item: Any, where: str) -> Any:
    """``item`` in plain Python values that survive JSON unchanged."""
    if isinstance(item, PathLike):
        return fspath(item)
    if isinstance(item, np.generic | np.ndarray):
        item = item.tolist()
    if isinstance(item, dict):
        if not all(isinstance(key, str) for key in item):
            raise DomainError(f"{where}: keys of a record are strings, got {item!r}")
        return {key: _plain(value, where) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_plain(value, where) for value in item]
    if item is not None and type(item) not in (str, bool, int, float):
        raise DomainError(f"{where} is a {type(item).__name__}; expected a name, number, path, dict or list: {item!r}")
    if isinstance(item, float) and not np.isfinite(item):
        raise DomainError(f"{where}: numbers must be finite, got {item!r}")
    return item


def _key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _table(values: ArrayLike, what: str, rows: int) -> FloatArray:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DomainError(f"{what} must be a table of numbers: {error}") from error
    if table.ndim != 2 or table.shape[0] != rows or table.shape[1] == 0:
        raise DomainError(f"{what} must have shape ({rows}, d), got {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        raise DomainError(f"{what}: row {bad[0][0]}, column {bad[0][1]} is {table[tuple(bad[0])]}; it must be finite")
    return table


def _equal_rows(points: FloatArray) -> list[tuple[int, int]]:
    """The first pair of rows that a ``Grid`` would call one point, if any."""
    first: dict[bytes, int] = {}
    for j, row in enumerate(np.round(points, 12) + 0.0):
        i = first.setdefault(row.tobytes(), j)
        if i != j:
            return [(i, j)]
    return []
