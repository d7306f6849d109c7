"""A study as tables, files and tensors."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prefopt.domain import Arms
from prefopt.errors import MissingDependency, StudyError
from prefopt.study.csv_files import OwnAnswer
from prefopt.study.events import SCHEMA_VERSION, Event
from prefopt.study.fold import State
from prefopt.study.said import Lesson

if TYPE_CHECKING:
    import torch

#: Columns of ``history``, in order. Option columns hold candidate ids, ``params`` what they are.
COLUMNS = (
    "event", "question", "status", "rater", "asked", "answered", "seconds", "shown", "slate", "answer", "named",
    "below", "reason", "infeasible", "wins", "repeat_of", "fallback", "note", "params", "again", "lapsed", "excluded",
    "validation",
)  # fmt: skip


def history(state: State) -> list[dict[str, Any]]:
    """One record per question and per comparison made elsewhere, in order of the log; keys are ``COLUMNS``.

    ``again`` is the question that this one secretly repeats; ``lapsed`` the one it stands for, whose rater let the time
    pass; ``below`` whether the options that a ranking leaves out are worse; ``excluded`` why an answer does not count,
    alone or with its rater; ``validation`` the kind of rival in a blind validation round.
    """
    rows = [_question_row(state, asked) for asked in state.questions.values()]
    loose = [x for x in state.said.values() if x.question is None]
    rows += [_lesson_row(state, lesson) for lesson in loose]
    return sorted(rows, key=lambda row: row["event"])


def _question_row(state: State, asked: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    payload = asked.event.payload
    row |= {"event": asked.event.number, "question": asked.number, "status": asked.status, "rater": asked.event.rater}
    row |= {"asked": time_of(asked.event), "shown": list(asked.shown), "slate": list(asked.slate)}
    row |= {"repeat_of": payload.get("repeat_of"), "fallback": payload.get("fallback", False)}
    row |= {"again": asked.again, "lapsed": payload.get("lapsed"), "excluded": "", "validation": state.rival(asked)}
    row |= {"note": payload.get("note", ""), "params": [state.options.params(i) for i in asked.shown]}
    if asked.lesson is not None and asked.lesson.active:
        row |= _answer_cells(state, asked.lesson)
    return row


def _lesson_row(state: State, lesson: Lesson) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    status = ("automatic" if lesson.event.kind == "auto" else "added") if lesson.active else "undone"
    row |= {"event": lesson.event.number, "question": lesson.event.payload.get("query"), "status": status}
    row |= {"shown": [], "slate": list(lesson.slate), "fallback": False, "note": ""}
    row |= {"params": [state.options.params(i) for i in lesson.slate]}
    return row | _answer_cells(state, lesson)


def _answer_cells(state: State, lesson: Lesson) -> dict[str, Any]:
    answer, event = lesson.answer, lesson.event
    cells: dict[str, Any] = {"answered": time_of(event), "seconds": event.seconds, "rater": event.rater}
    cells |= {"answer": answer.kind, "named": [lesson.slate[p] for p in answer.order], "reason": answer.reason}
    cells |= {"below": answer.below}
    cells |= {"infeasible": list(lesson.infeasible), "excluded": state.why_excluded(lesson)}
    return cells | {"wins": [list(row) for row in answer.matrix] or None}


def time_of(event: Event) -> str:
    """When, in UTC."""
    return datetime.fromtimestamp(event.time, UTC).isoformat(timespec="milliseconds")


def to_frame(rows: list[dict[str, Any]]) -> Any:
    """``rows`` of ``history`` as a pandas DataFrame.

    Raises:
        MissingDependency: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingDependency("pandas", "frame", "to_frame()") from error
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def write(state: State, events: list[Event], path: str | Path) -> None:
    """Write a ``.csv`` (the history, lists as JSON) or a ``.json`` (everything).

    Raises:
        StudyError: another ending, no path at all, or a file that cannot be written.
    """
    if not isinstance(path, str | PathLike):
        raise StudyError(f"export needs the path of a .csv or .json file to write, got {path!r}")
    path = Path(path)
    try:
        _write(state, events, path)
    except OSError as error:
        raise StudyError(
            f"cannot write {str(path)!r}: {error.strerror or error}; give a file in a folder that is there and writable"
        ) from error


def _write(state: State, events: list[Event], path: Path) -> None:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows({key: _cell(value) for key, value in row.items()} for row in history(state))
    elif path.suffix == ".json":
        path.write_text(json.dumps(everything(state, events), indent=1, default=_plain), encoding="utf-8")
    else:
        raise StudyError(f"export writes .csv or .json, got {str(path)!r}")


def everything(state: State, events: list[Event]) -> dict[str, Any]:
    """The study, its candidates, its history and its log, JSON-able."""
    record = state.record
    names = ("name", "seed", "strategy", "settings", "query_size", "budget", "question", "version", "created")
    return {
        "format": SCHEMA_VERSION,
        "study": {name: getattr(record, name) for name in names} | {"space": state.space.to_json()},
        "candidates": [
            {"id": i, "params": state.options.params(i)} | ({"own_id": state.names[i]} if i in state.names else {})
            for i in state.seen_ids()
        ],
        "history": history(state),
        "raters": [{"id": r.id, "status": r.status, "reason": r.reason} for r in state.everybody()],
        "conduct": state.conduct.to_json(),
        "events": [vars(_public(event)) for event in events],
    }


def _public(event: Event) -> Event:
    """``event`` without a rater's name and the fingerprint of the token."""
    if event.kind != "rater":
        return event
    return replace(event, payload={k: v for k, v in event.payload.items() if k not in ("name", "token")})


def own_answers(state: State) -> list[tuple[Lesson, OwnAnswer]]:
    """Everything that was said and counts, about own ids."""
    return [
        (x, OwnAnswer(tuple(map(state.own_id, x.slate)), x.answer, x.event.rater, x.event.seconds))
        for x in state.lessons()
    ]


def points(state: State) -> torch.Tensor:
    """The candidates seen, in the unit cube (one-hot for arms), float64 (n, d)."""
    import torch

    ids, domain = state.seen_ids(), state.space.domain
    if isinstance(domain, Arms):
        return torch.eye(domain.size, dtype=torch.float64)[ids]
    rows = domain.points[ids] if state.options.finite else np.array([state.options.option(i) for i in ids])
    return torch.tensor(rows.reshape(len(ids), domain.dim), dtype=torch.float64)


def comparisons(state: State) -> torch.Tensor:
    """Rows [winner, loser] of ``points``, int64 (m, 2): every pair in which one side won more than half."""
    import torch

    row = {number: i for i, number in enumerate(state.seen_ids())}
    pairs = [
        [row[lesson.slate[j]], row[lesson.slate[k]]]
        for lesson in state.lessons()
        for j, k in np.argwhere(lesson.answer.wins > lesson.answer.wins.T)
    ]
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)


def _cell(value: Any) -> Any:
    return json.dumps(value, default=_plain) if isinstance(value, list | dict) else value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
