"""The history of a study as a table of short lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from prefopt.frontend.content import format_value

Row = Mapping[str, Any]
#: Options are cut after so many characters.
WIDTH = 30


def history_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of a table of ``Study.history()``; automatic steps are only counted."""
    said = [row for row in rows if row["status"] != "automatic"]
    if not said:
        yield "no questions yet"
        return
    several = len({row["rater"] for row in said}) > 1
    cells = [["question", "when", f"shown{_names(said)}", "answer", "seconds", *(["rater"] if several else [])]]
    withdrawn = [row["question"] for row in said if row["status"] == "withdrawn"]
    for row in said:
        rater = [row["rater"] or ""] if several else []
        cells.append([_number(row), _when(row), _shown(row), _answer(row, withdrawn), _seconds(row), *rater])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    if len(said) < len(rows):
        yield f"({len(rows) - len(said)} steps without a person are left out; --json has them)"


def _names(rows: Sequence[Row]) -> str:
    """The parameters in the order in which ``_short`` gives their values."""
    params = rows[0]["params"][0]
    return f" ({', '.join(params)})" if isinstance(params, Mapping) else ""


def _number(row: Row) -> str:
    return "-" if row["question"] is None else str(row["question"])


def _when(row: Row) -> str:
    at = row["answered"] or row["asked"]
    return datetime.fromisoformat(at).astimezone().strftime("%m-%d %H:%M")


def _shown(row: Row) -> str:
    return "  |  ".join(_short(params) for params in row["params"])


def _short(params: Any) -> str:
    text = ", ".join(map(format_value, params.values())) if isinstance(params, Mapping) else str(params)
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def _seconds(row: Row) -> str:
    seconds = row["seconds"]
    return "" if seconds is None else f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


def _answer(row: Row, withdrawn: Sequence[int]) -> str:
    """What was said, by the numbers on the screen."""
    if row["status"] == "withdrawn":
        return "(withdrawn by an undo)"
    if row["status"] == "lapsed":
        return "(asked to somebody else meanwhile)"
    if row["status"] == "open":
        return "(taken back)" if any(number > row["question"] for number in withdrawn) else "(open)"
    places = row["shown"] or row["slate"]
    named = [str(places.index(i) + 1) for i in row["named"]]
    said = {
        "best": "".join(named),
        "worst": f"worst {''.join(named)}",
        "ranking": " > ".join(named),
        "tie": "=",
        "skip": "skipped" + (f": {row['reason']}" if row["reason"] not in ("", "skipped", None) else ""),
        "pairs": "all pairs",
    }[row["answer"]]
    marks = {"added": " (made elsewhere)", "undone": " (taken back)"}
    said += marks.get(row["status"], "")
    said += f" (does not count: {row['excluded']})" if row["excluded"] else ""
    return said + (" (repeats a question)" if row["again"] else "") + (" (validation)" if row["validation"] else "")
