"""Events as rows of the table ``events``."""

from __future__ import annotations

import json
import time
from typing import Any

import sqlalchemy as sa

from prefopt.study.events import Event
from prefopt.study.tables import events, studies


def read_events(connection: sa.Connection, study: int, after: int) -> list[Event]:
    """The events of a study in order, from number ``after`` + 1 on."""
    query = events.select().where(events.c.study_id == study, events.c.number > after).order_by("number")
    return [_event(row) for row in connection.execute(query).mappings()]


def take_turn(connection: sa.Connection, study: int) -> None:
    """Wait until no other process writes this study; SQLite has waited at the beginning of the transaction."""
    connection.execute(sa.select(studies.c.id).where(studies.c.id == study).with_for_update())


def insert_event(connection: sa.Connection, study: int, event: Event) -> None:
    """Write ``event`` as the next of the study, in a transaction that began with ``take_turn``."""
    mine = events.c.study_id == study
    last = connection.execute(sa.select(sa.func.max(events.c.number)).where(mine)).scalar() or 0
    row = {
        "study_id": study,
        "number": last + 1,
        "kind": event.kind,
        "payload": json.dumps(event.payload, allow_nan=False),
        "slot": event.slot or None,
        "token": event.token,
        "rater": event.rater,
        "seconds": event.seconds,
        "time": time.time(),
    }
    connection.execute(events.insert().values(row))


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
