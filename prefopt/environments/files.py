"""Preference matrices and tables from CSV files, a user's own or shipped with the package."""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.person import Person, preference_environment
from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]
SHIPPED = ("sushi16", "mslr5", "arxiv6")


def parse_matrix(text: str, where: str) -> FloatArray:
    """A comma-separated matrix without header.

    Raises:
        EnvironmentSpecError: a cell that is not a number, or rows of different lengths; line and column are named.
    """
    rows: list[list[float]] = []
    for line, cells in enumerate(csv.reader(text.splitlines()), start=1):
        if not cells or not any(c.strip() for c in cells):
            continue
        row = []
        for column, cell in enumerate(cells, start=1):
            try:
                row.append(float(cell))
            except ValueError as error:
                raise EnvironmentSpecError(
                    f"{where}, line {line}, column {column}: expected a probability, got {cell!r} (no header, "
                    "comma separated)"
                ) from error
        if rows and len(row) != len(rows[0]):
            raise EnvironmentSpecError(f"{where}, line {line}: {len(row)} cells, the first row has {len(rows[0])}")
        rows.append(row)
    if not rows:
        raise EnvironmentSpecError(f"{where}: no rows; expected a square matrix of probabilities")
    return np.array(rows)


def matrix_environment(
    matrix: str | Path | ArrayLike,
    *,
    feedback: str | None = None,
    person: Person | None = None,
    name: str | None = None,
) -> FiniteEnvironment:
    """A person from a preference matrix: row i, column j is the chance that i beats j.

    Args:
        matrix: an array (K, K), or the path of a CSV file without header.
        feedback: "pairs", "winner" or "ranking"; None takes the person's.
        person: lapses, ties, biases; by default none.
        name: shown in tables; by default the file's, or "matrix".

    Raises:
        EnvironmentSpecError: an unreadable file or no preference matrix (the cell is named), or a person
            that does not fit.

    >>> matrix_environment([[0.5, 0.8], [0.2, 0.5]]).best
    0
    """
    who = person or Person()
    who = who if feedback is None else replace(who, feedback=feedback)
    if not isinstance(matrix, str | Path):
        return preference_environment(name or "matrix", matrix, who)
    try:
        text = Path(matrix).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentSpecError(f"cannot read the preference matrix {matrix}: {error}") from error
    return preference_environment(name or Path(matrix).stem, parse_matrix(text, str(matrix)), who)


def shipped_text(name: str) -> str:
    """A data file of the package."""
    return (files("prefopt.environments") / "data" / name).read_text()


def shipped_matrix(name: str, person: Person | None = None) -> FiniteEnvironment:
    """One of the matrices in ``data/`` (see its README for sources)."""
    return preference_environment(name, parse_matrix(shipped_text(f"{name}.csv"), name), person)
