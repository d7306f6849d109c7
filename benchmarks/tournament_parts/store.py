"""Finished runs: one CSV file a method, one line a run, written as soon as it ends; beside it a manifest."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefopt.simulation.results import versions
from tournament_parts.peer import PEERS, installed
from tournament_parts.play import BUDGETS, COLUMNS, Row
from tournament_parts.suite import NOISES, TOP_OF_LIST, WRONG

KEY = ("problem", "seed", "noise", "m")


def line(cells: Iterable[Any]) -> str:
    """One line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def append(folder: Path, row: Row) -> None:
    """Add a row to its method's file; one write, so that several processes may do it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row['method']}.csv"
    if not path.exists():
        path.write_text(line(COLUMNS))
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, line(row[c] for c in COLUMNS).encode())
    finally:
        os.close(file)


def read(folder: Path, method: str | None = None) -> list[Row]:
    """The rows of one method, or of all; numbers are numbers, empty cells "", a run that was repeated counts once."""
    rows: dict[tuple[Any, ...], Row] = {}
    for path in sorted(folder.glob("*.csv")) if method is None else [folder / f"{method}.csv"]:
        if not path.exists():
            continue
        with path.open(newline="") as file:
            for cells in csv.DictReader(file):
                if set(cells) == set(COLUMNS) and None not in cells.values():
                    row = {name: number(cell) for name, cell in cells.items()}
                    rows[(row["method"], *(row[k] for k in KEY))] = row
    return list(rows.values())


def number(cell: str) -> Any:
    """A whole number, a number, or the text itself."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def save_manifest(folder: Path, method: str, settings: dict[str, Any]) -> None:
    """Write how the runs of ``method`` were made: versions (the peer's own, for a peer), settings, machine."""
    folder.mkdir(parents=True, exist_ok=True)
    found = installed(PEERS[method].needs) if method in PEERS else versions()
    manifest = {
        "method": method,
        "budgets": BUDGETS,
        "noise": {"wrong": WRONG, "share_of_best_options": NOISES, "at_least_in_lists": TOP_OF_LIST},
        **settings,
        "versions": found,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "threads": 1,
    }
    (folder / f"{method}.json").write_text(json.dumps(manifest, indent=1) + "\n")
