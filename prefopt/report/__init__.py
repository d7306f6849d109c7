"""A study as a page, a table and JSON, to be published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from prefopt.errors import StudyError
from prefopt.report.collect import collect
from prefopt.report.page import page
from prefopt.study.csv_files import write_rows
from prefopt.study.study import Study

__all__ = ["write_report"]

#: Columns of the table before those of the parameters.
COLUMNS = (
    "event", "question", "status", "rater", "asked", "answered", "seconds", "place", "of", "candidate", "own_id",
    "answer", "named", "infeasible", "reason", "repeat_of", "again", "lapsed", "validation", "fallback", "note",
    "excluded",
)  # fmt: skip


def write_report(study: Study, path: str | Path) -> list[Path]:
    """Write ``path`` (.html), and beside it a .csv of every appearance and a .json of everything; the files written.

    Raters appear by their pseudonyms only.

    Raises:
        StudyError: another ending, or a file that cannot be written.
        MissingDependency: matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix.lower() != ".html":
        raise StudyError(f"a report is a page, expected a name that ends in .html, got {str(path)!r}")
    found = collect(study)
    files = [path, path.with_suffix(".csv"), path.with_suffix(".json")]
    try:
        files[0].write_text(page(found), encoding="utf-8")
        files[2].write_text(json.dumps(found, indent=1, default=_plain, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    rows = [_flat(shown) for shown in found["appearances"]]
    names = list(dict.fromkeys(name for row in rows for name in row if name not in COLUMNS))
    write_rows(files[1], [*COLUMNS, *names], rows)
    return files


def _flat(shown: dict[str, Any]) -> dict[str, Any]:
    params = shown["params"] if isinstance(shown["params"], dict) else {"option": shown["params"]}
    cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
    return {key: shown[key] for key in COLUMNS} | {f"param:{name}": value for name, value in cells.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is not JSON")
