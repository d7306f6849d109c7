"""Designs and comparisons as arrays, in the form that BoTorch's ``PairwiseGP`` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.errors import PrefoptError, StudyError
from prefopt.study.csv_files import OwnAnswer


def designs_of(X: Any, space: Any, *, unit: bool, ids: Sequence[str] | None) -> dict[str, Any]:
    """Own id -> parameters of the rows of ``X``; see ``StudyIncoming.import_tensors``.

    Raises:
        StudyError: another shape, not finite, or outside of the space; names the row.
    """
    points = _table(X, "X")
    names = [str(i) for i in range(len(points))] if ids is None else [str(i) for i in ids]
    if len(names) != len(points) or len(set(names)) < len(names):
        raise StudyError(f"ids must be {len(points)} distinct texts, one per row of X, got {names}")
    designs = {}
    for number, (name, row) in enumerate(zip(names, points, strict=True)):
        try:
            designs[name] = space.decode(_option(space, row)) if unit else _params(space, row)
            space.encode(designs[name])
        except PrefoptError as error:
            raise StudyError(f"X, row {number}: {error}") from error
    return designs


def duels_of(names: Sequence[str], comparisons: Any) -> list[OwnAnswer]:
    """The duels of the rows [winner, loser] of ``comparisons`` (m, 2), which are places in ``names``.

    Raises:
        StudyError: another shape, no whole numbers, a row that does not exist, or a design compared with itself.
    """
    return [_duel(names, i, pair) for i, pair in enumerate(_pairs(_array(comparisons, "comparisons", None)))]


def _table(X: Any, what: str) -> Any:
    rows = _array(X, what, np.float64)
    if rows.ndim != 2:
        raise StudyError(f"{what} has one design a row, shape (n, d), got shape {rows.shape}")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        raise StudyError(
            f"{what}, row {bad[0][0]}, column {bad[0][1]}: expected a finite number, got {rows[tuple(bad[0])]}"
        )
    return rows


def _array(values: Any, what: str, dtype: Any) -> Any:
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{what} is a table of numbers whose rows have the same length: {error}") from error


def _pairs(pairs: Any) -> Any:
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        if pairs.size == 0:
            return np.empty((0, 2), dtype=np.int64)
        raise StudyError(f"comparisons are whole numbers, shape (m, 2), got {pairs.dtype} of shape {pairs.shape}")
    return pairs


def _duel(names: Sequence[str], number: int, pair: Any) -> OwnAnswer:
    winner, loser = int(pair[0]), int(pair[1])
    if winner == loser or not all(0 <= i < len(names) for i in (winner, loser)):
        raise StudyError(
            f"comparisons, row {number}: expected two different rows of X, 0 to {len(names) - 1}, got {[winner, loser]}"
        )
    return OwnAnswer((names[winner], names[loser]), Answer.duel(0))


def _params(space: Any, row: Any) -> Any:
    if not hasattr(space, "names") or len(row) != len(space.names):
        raise StudyError(
            f"expected a value for each of {list(getattr(space, 'names', ['(no parameters)']))}, got {row.tolist()}"
        )
    return {name: int(x) if float(x).is_integer() else float(x) for name, x in zip(space.names, row, strict=True)}


def _option(space: Any, row: Any) -> Any:
    """The option at a row of the unit cube: of a finite domain the point that is there."""
    domain = space.domain
    if not hasattr(domain, "size"):
        return row
    points = domain.points if hasattr(domain, "points") else np.eye(domain.size)
    if points.shape[1] != len(row):
        raise StudyError(f"expected {points.shape[1]} numbers in [0, 1], got {row.tolist()}")
    distance = np.abs(points - row).max(axis=1)
    nearest = int(np.argmin(distance))
    if distance[nearest] > 1e-6:
        raise StudyError(f"{row.tolist()} is none of the {len(points)} options of the study")
    return nearest
