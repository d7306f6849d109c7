"""Designs and answers as CSV files with own ids, read and written."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefopt.answer import Answer
from prefopt.errors import AnswerError, PrefoptError, StudyError
from prefopt.items import Options
from prefopt.parameters import Categorical
from prefopt.space import Space

#: Between ids in one cell.
SEPARATOR = ";"
#: Columns of a file of answers that prefopt writes. A file to read needs winner and loser, or options and answer.
ANSWER_COLUMNS = (
    "winner",
    "loser",
    "options",
    "answer",
    "named",
    "below",
    "wins",
    "reason",
    "rater",
    "seconds",
    "made",
)
YES = ("1", "true", "yes", "=", "tie")


@dataclass(frozen=True)
class OwnAnswer:
    """An answer about designs by their own ids.

    Attributes:
        ids: of the designs compared.
        answer: about their positions in ``ids``.
        rater: who, if known.
        seconds: how long it took, if known.
        where: file and line it was read from, for messages.
        made: when, in UTC, if known.
        params: what the designs are, if the file says it: then their ids mean nothing beyond it.
    """

    ids: tuple[str, ...]
    answer: Answer
    rater: str | None = None
    seconds: float | None = None
    where: str = field(default="", compare=False)
    made: str = field(default="", compare=False)
    params: tuple[Any, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.where + ': ' if self.where else ''}answer about {list(self.ids)}"


def read_designs(path: str | Path, space: Any) -> dict[str, Any]:
    """Own id -> parameters (or item of a list of options), from a CSV with a column ``id`` and one per parameter.

    Of a list of options, the column is ``option``; without it the id is the option.

    Raises:
        StudyError: names file, line and column.
    """
    designs: dict[str, Any] = {}
    for where, row in table_rows(path, ("id",)):
        name = row["id"].strip()
        if not name or name in designs or SEPARATOR in name:
            raise StudyError(f"{where}, column id: expected a new id without {SEPARATOR!r}, got {row['id']!r}")
        try:
            params = _params(row, space)
            space.encode(params)
        except (PrefoptError, ValueError) as error:
            raise StudyError(f"{where}, design {name!r}: {error}") from error
        designs[name] = params
    return designs


def _params(row: Mapping[str, str], space: Any) -> Any:
    if isinstance(space, Options):
        text = row.get("option", row["id"])
        for item in space.items:
            if text == (item if isinstance(item, str) else json.dumps(item)) or text == str(item):
                return item
        raise ValueError(f"{text!r} is none of the {len(space)} options of the study; add it to the list first")
    missing = [name for name in space.names if name not in row]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; expected id, {', '.join(space.names)}")
    known = {p.name: p for p in space.parameters} if isinstance(space, Space) else {}
    return {name: _value(name, row[name], known.get(name)) for name in space.names}


def _value(name: str, text: str, parameter: Any) -> Any:
    if isinstance(parameter, Categorical):
        found = [c for c in parameter.choices if text in (str(c), json.dumps(c))]
        if not found:
            raise ValueError(f"column {name}: expected one of {list(parameter.choices)}, got {text!r}")
        return found[0]
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    raise ValueError(f"column {name}: expected a number, got {text!r}")


def read_answers(path: str | Path) -> list[OwnAnswer]:
    """Answers from a CSV with columns ``winner`` and ``loser`` (and ``tie``), or with those that prefopt writes.

    Raises:
        StudyError: names file, line and column.
    """
    made = []
    for where, row in table_rows(path, ("winner", "loser"), ("options", "answer")):
        try:
            ids, answer = _general(row) if row.get("options") else _pair(row)
            seconds = parsed_cell(row, "seconds", float, "a number") if row.get("seconds") else None
        except (PrefoptError, ValueError) as error:
            raise StudyError(f"{where}: {error}") from error
        made.append(OwnAnswer(ids, answer, row.get("rater") or None, seconds, where, row.get("made") or ""))
    return made


def _pair(row: Mapping[str, str]) -> tuple[tuple[str, ...], Answer]:
    ids = row["winner"].strip(), row["loser"].strip()
    tie = (row.get("tie") or "").strip().lower()
    if tie not in ("", "0", "false", "no", *YES):
        raise AnswerError(f"column tie: expected yes or no, got {row['tie']!r}")
    if "" in ids:
        raise AnswerError(f"columns winner and loser: expected an id in each, got {list(ids)}")
    return ids, Answer.tie(2) if tie in YES else Answer.duel(0)


def _general(row: Mapping[str, str]) -> tuple[tuple[str, ...], Answer]:
    ids = tuple(word.strip() for word in row["options"].split(SEPARATOR))
    named = [word.strip() for word in (row.get("named") or "").split(SEPARATOR) if word.strip()]
    for word in named:
        if word not in ids:
            raise AnswerError(f"column named: {word!r} is none of the options {list(ids)}")
    wins = None
    if row.get("wins"):
        wins = parsed_cell(row, "wins", json.loads, "a square matrix such as [[null, 1], [0, null]]")
    return ids, answer_of(row, ids, named, wins)


def answer_of(row: Mapping[str, str], ids: Sequence[Any], named: Iterable[Any], wins: Any) -> Answer:
    """The answer that a row gives about the options ``ids``: those ``named``, in order, or the ``wins`` of pairs."""
    record: dict[str, Any] = {"kind": row["answer"], "size": len(ids), "order": [ids.index(one) for one in named]}
    record |= {"below": (row.get("below") or "").lower() in YES, "reason": row.get("reason") or ""}
    if row.get("wins"):
        record["matrix"] = wins
    return Answer.from_json(record)


def parsed_cell(row: Mapping[str, str], column: str, parse: Callable[[str], Any], expected: str) -> Any:
    """What ``parse`` makes of a cell; raises AnswerError naming the column."""
    try:
        return parse(row[column])
    except ValueError as error:
        raise AnswerError(f"column {column}: expected {expected}, got {row[column]!r}") from error


def table_rows(path: str | Path, *columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows by column, with where each is; one of the sets of ``columns`` must be there."""
    with _table(path) as reader:
        found = list(reader.fieldnames or ())
        if not any(set(wanted) <= set(found) for wanted in columns):
            expected = " or ".join(", ".join(wanted) for wanted in columns)
            raise StudyError(f"{path}: expected a first line with the columns {expected}, got {found}")
        for row in reader:
            if "" in row:
                raise StudyError(f"{path}, line {reader.line_num}: {len(found)} columns, but more cells: {row['']}")
            yield f"{path}, line {reader.line_num}", row


def columns_of(path: str | Path) -> list[str]:
    """The names in the first line."""
    with _table(path) as reader:
        return list(reader.fieldnames or ())


@contextmanager
def _table(path: str | Path) -> Iterator[csv.DictReader[str]]:
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, restval="", restkey="")
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            yield reader
    except OSError as error:
        raise StudyError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path}: expected a CSV file in UTF-8: {error}") from error


def write_designs(path: str | Path, designs: Mapping[str, Any]) -> None:
    """A CSV that ``read_designs`` reads."""
    first = next(iter(designs.values()), None)
    columns = list(first) if isinstance(first, Mapping) and first else ["option"]
    table = []
    for name, params in designs.items():
        cells = params if columns != ["option"] else {"option": params}
        table.append({"id": name, **{c: v if isinstance(v, str) else json.dumps(v) for c, v in cells.items()}})
    write_rows(path, ["id", *columns], table)


def answer_row(said: OwnAnswer, made: str = "") -> dict[str, Any]:
    """The cells of an answer, as ``read_answers`` reads them."""
    answer, row = said.answer, dict.fromkeys(ANSWER_COLUMNS, "")
    if answer.kind == "best" and answer.size == 2:
        row |= {"winner": said.ids[answer.order[0]], "loser": said.ids[1 - answer.order[0]]}
    row |= {"options": SEPARATOR.join(said.ids), "answer": answer.kind, "below": "yes" if answer.below else ""}
    row |= {"named": SEPARATOR.join(said.ids[p] for p in answer.order), "reason": answer.reason, "made": made}
    row |= {"wins": json.dumps(answer.matrix) if answer.matrix else "", "rater": said.rater or ""}
    return row | {"seconds": "" if said.seconds is None else repr(said.seconds)}


def write_rows(path: str | Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """A CSV file; raises StudyError if it cannot be written."""
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise StudyError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
