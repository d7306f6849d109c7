"""Events as rows of the table ``events``."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from prefopt.study.events import Event
from prefopt.study.tables import events, studies

# Statements are built once: to build one takes longer than to run it.
#: The events of a study after one, in order.
LATER = (
    events.select()
    .where(events.c.study_id == sa.bindparam("study"), events.c.number > sa.bindparam("after"))
    .order_by("number")
)
#: Locks the study's row.
TURN = sa.select(studies.c.id).where(studies.c.id == sa.bindparam("study")).with_for_update()
#: The number of the last event.
LAST = sa.select(sa.func.max(events.c.number)).where(events.c.study_id == sa.bindparam("study"))
INSERT = events.insert()


def read_events(connection: sa.Connection, study: int, after: int) -> list[Event]:
    """The events of a study in order, from number ``after`` + 1 on."""
    return [_event(row) for row in connection.execute(LATER, {"study": study, "after": after}).mappings()]


def take_turn(connection: sa.Connection, study: int) -> None:
    """Wait until no other process writes this study; SQLite has waited at the beginning of the transaction."""
    connection.execute(TURN, {"study": study})


def insert_events(connection: sa.Connection, study: int, new: Sequence[Event], last: int | None = None) -> None:
    """Write ``new`` as the next of the study after number ``last``, in a transaction that began with ``take_turn``."""
    if new:
        if last is None:
            last = connection.execute(LAST, {"study": study}).scalar() or 0
        connection.execute(INSERT, [_row(study, last + i, event) for i, event in enumerate(new, start=1)])


def _row(study: int, number: int, event: Event) -> dict[str, Any]:
    return {
        "study_id": study,
        "number": number,
        "kind": event.kind,
        "payload": json.dumps(event.payload, allow_nan=False),
        "slot": event.slot or None,
        "token": event.token,
        "rater": event.rater,
        "seconds": event.seconds,
        "time": event.time or time.time(),
    }


def rewrite_event(connection: sa.Connection, study: int, event: Event) -> None:
    """Put ``event`` in the place of the one with its number."""
    values: dict[str, Any] = {
        "kind": event.kind,
        "payload": json.dumps(event.payload, allow_nan=False),
        "slot": event.slot or None,
    }
    values |= {"token": event.token, "rater": event.rater, "seconds": event.seconds}
    row = (events.c.study_id == study) & (events.c.number == event.number)
    connection.execute(events.update().where(row).values(values))


def marks(event: Event) -> list[tuple[Any, str | None]]:
    """The columns in which an event is the only one of its kind, with what it has there."""
    return [(events.c.slot, event.slot), (events.c.token, event.token)]


def _event(row: Any) -> Event:
    names = ("kind", "rater", "seconds", "token", "number", "time")
    return Event(payload=json.loads(row["payload"]), slot=row["slot"] or "", **{n: row[n] for n in names})
