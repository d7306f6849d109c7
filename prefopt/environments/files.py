"""Preference matrices and tables from CSV files, a user's own or shipped with the package."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Arms
from prefopt.environments.base import FiniteEnvironment
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


def matrix_environment(path: str | Path, *, feedback: str = "pairs") -> FiniteEnvironment:
    """A person from a CSV preference matrix: row i, column j is the chance that i beats j."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentSpecError(f"cannot read the preference matrix {path}: {error}") from error
    P = parse_matrix(text, str(path))
    return FiniteEnvironment(Path(path).stem, Arms(len(P)), P, feedback=feedback)


def shipped_text(name: str) -> str:
    """A data file of the package."""
    return (files("prefopt.environments") / "data" / name).read_text()


def shipped_matrix(name: str, *, feedback: str = "pairs") -> FiniteEnvironment:
    """One of the matrices in ``data/`` (see its README for sources)."""
    P = parse_matrix(shipped_text(f"{name}.csv"), name)
    return FiniteEnvironment(name, Arms(len(P)), P, feedback=feedback)
