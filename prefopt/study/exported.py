"""What counts of the history of another study, read from the CSV that ``Study.export`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefopt.errors import AnswerError, PrefoptError, StudyError
from prefopt.kinds import is_whole
from prefopt.study.csv_files import OwnAnswer, answer_of, columns_of, parsed_cell, read_answers, table_rows

#: By these columns a history is known.
HISTORY = ("status", "answered", "rater", "seconds", "shown", "slate", "answer", "named", "params", "excluded")
#: Rows with an answer in force.
IN_FORCE = ("answered", "skipped", "added")


def read_said(path: str | Path) -> list[OwnAnswer]:
    """Answers from a CSV of either kind: about designs with own ids (``read_answers``), or a history.

    Raises:
        StudyError: names file, line and column.
    """
    return read_history(path) if set(HISTORY) <= set(columns_of(path)) else read_answers(path)


def read_history(path: str | Path) -> list[OwnAnswer]:
    """The answers of a history in the order in which they were given, without those that do not count or validate.

    Raises:
        StudyError: names file, line and column.
    """
    made = []
    for where, row in table_rows(path, HISTORY):
        if row["status"] in IN_FORCE and not row["excluded"] and not row.get("validation"):
            try:
                made.append(_said(row, where))
            except (PrefoptError, ValueError) as error:
                raise StudyError(f"{where}: {error}") from error
    return sorted(made, key=lambda said: said.made)


def _said(row: Mapping[str, str], where: str) -> OwnAnswer:
    slate, shown, named, out = (_ids(row, column) for column in ("slate", "shown", "named", "infeasible"))
    params = _list(row, "params")
    known = dict(zip(shown or slate, params, strict=False))  # an added comparison was not shown
    ids = [i for i in dict.fromkeys(slate) if row["answer"] == "skip" or i not in out]
    for column, wanted in (("params", [i for i in ids if i not in known]), ("named", set(named) - set(ids))):
        if wanted:
            raise AnswerError(f"column {column} does not fit the options {ids}: {row[column]!r}")
    answer = answer_of(row, ids, named, _list(row, "wins"))
    seconds = parsed_cell(row, "seconds", float, "a number") if row["seconds"] else None
    about = tuple(map(str, ids)), answer, row["rater"] or None, seconds, where, row["answered"]
    return OwnAnswer(*about, params=tuple(known[i] for i in ids))


def _ids(row: Mapping[str, str], column: str) -> list[int]:
    found = _list(row, column)
    if not all(is_whole(i) for i in found):
        raise AnswerError(f"column {column}: expected a list of candidate ids such as [0, 1], got {row[column]!r}")
    return found


def _list(row: Mapping[str, str], column: str) -> list[Any]:
    found = parsed_cell(row, column, json.loads, "a list such as [0, 1]") if row.get(column) else []
    if not isinstance(found, list):
        raise AnswerError(f"column {column}: expected a list such as [0, 1], got {row[column]!r}")
    return found
