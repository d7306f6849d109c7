"""The append-only log, through SQLAlchemy: SQLite by default, any SQLAlchemy URL otherwise."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from prefopt.errors import StudyError
from prefopt.study.events import SCHEMA_VERSION, Event
from prefopt.study.sqlite import prepare_sqlite
from prefopt.study.tables import events, metadata, studies

T = TypeVar("T")

#: How long a write is tried again while other processes write, in seconds.
PATIENCE = 60.0


@dataclass(frozen=True)
class StudyRecord:
    """What is fixed when a study is created (one row of the table ``studies``)."""

    id: int
    name: str
    seed: int
    space: Any
    strategy: str
    settings: dict[str, Any]
    query_size: int
    budget: int | None
    question: str
    version: str
    created: float


class Storage:
    """A database of studies; ``url`` None is memory, gone with the process (unless pickled).

    Args:
        url: ``"study.db"`` (a file), or any SQLAlchemy URL.

    Raises:
        StudyError: the URL names no database that SQLAlchemy can open.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = None if url is None else str(url) if "://" in str(url) else f"sqlite:///{url}"
        try:
            if self.url is None:
                self._engine = sa.create_engine("sqlite://", poolclass=StaticPool)
            else:
                self._engine = sa.create_engine(self.url)
        except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ImportError) as error:
            raise StudyError(f"storage {url!r}: expected a file name or an SQLAlchemy URL; {error}") from error
        if self._engine.dialect.name == "sqlite":
            prepare_sqlite(self._engine, wal=self.url is not None)
        self._writer = self._engine.execution_options(write=True)
        self._patiently(lambda: metadata.create_all(self._writer))

    def __getstate__(self) -> dict[str, Any]:
        rows = None
        if self.url is None:
            with self._engine.connect() as connection:
                tables = (studies, events)
                rows = {t.name: [dict(r) for r in connection.execute(t.select()).mappings()] for t in tables}
        return {"url": self.url, "rows": rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["url"])  # type: ignore[misc]
        for name, rows in (state["rows"] or {}).items():
            if rows:
                with self._writer.begin() as connection:
                    connection.execute(metadata.tables[name].insert(), rows)

    def close(self) -> None:
        """Give back the connections (memory keeps its own: it lives in it)."""
        if self.url is not None:
            self._engine.dispose()

    def names(self) -> list[str]:
        """The names of the studies, oldest first."""
        with self._engine.connect() as connection:
            return list(connection.execute(sa.select(studies.c.name).order_by(studies.c.id)).scalars())

    def create(self, row: dict[str, Any]) -> bool:
        """Add a study; false if one of that name is there already."""
        row = {**row, "schema_version": SCHEMA_VERSION, "created": time.time()}
        row |= {"space": json.dumps(row["space"]), "settings": json.dumps(row["settings"], sort_keys=True)}
        return self._insert(lambda connection: connection.execute(studies.insert().values(row)))

    def find(self, name: str, read_space: Callable[[Any], Any]) -> StudyRecord | None:
        """The study called ``name``, or None.

        Raises:
            StudyError: it was written by a newer prefopt.
        """
        with self._engine.connect() as connection:
            row = connection.execute(studies.select().where(studies.c.name == name)).mappings().first()
        if row is None:
            return None
        if row["schema_version"] > SCHEMA_VERSION:
            raise StudyError(
                f"study {name!r} has format {row['schema_version']} (prefopt {row['version']}), this prefopt reads "
                f"up to {SCHEMA_VERSION}: pip install -U prefopt-bo"
            )
        kept = {key: value for key, value in row.items() if key != "schema_version"}
        kept |= {"space": read_space(json.loads(row["space"])), "settings": json.loads(row["settings"])}
        return StudyRecord(**kept)

    def read(self, record: StudyRecord, after: int = 0) -> list[Event]:
        """The events of a study in order, from number ``after`` + 1 on."""
        with self._engine.connect() as connection:
            return _read(connection, record, after)

    def append(self, record: StudyRecord, event: Event) -> bool:
        """Write ``event`` as the next of the study and commit; false if its slot or token is taken."""

        def write(connection: sa.Connection) -> None:
            _insert_event(connection, record, event)

        def taken() -> bool:
            marks = [column == value for column, value in _marks(event) if value]
            query = sa.select(events.c.number).where(events.c.study_id == record.id, sa.or_(sa.false(), *marks))
            with self._engine.connect() as connection:
                return connection.execute(query).first() is not None

        while not self._insert(write):
            if taken():
                return False  # otherwise another process took the number: the next one is free
        return True

    def append_alone(self, record: StudyRecord, after: int, make: Callable[[list[Event]], Event]) -> bool:
        """Write the event that ``make`` returns for the events after ``after``, with all other writers waiting."""

        def write(connection: sa.Connection) -> None:
            _insert_event(connection, record, make(_read(connection, record, after)))

        return self._insert(write)

    def _insert(self, write: Callable[[sa.Connection], Any]) -> bool:
        def once() -> bool:
            try:
                with self._writer.begin() as connection:
                    write(connection)
            except sa.exc.IntegrityError:
                return False
            return True

        return self._patiently(once)

    def _patiently(self, action: Callable[[], T]) -> T:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return action()
            except sa.exc.OperationalError as error:
                text = str(error.orig)
                if ("locked" not in text and "busy" not in text and "exists" not in text) or time.monotonic() > end:
                    raise StudyError(f"storage {self.url!r}: {text}; nothing was written") from error
                time.sleep(random.uniform(0.01, 0.05))  # jitter, different in every process: no result depends on it


def _read(connection: sa.Connection, record: StudyRecord, after: int) -> list[Event]:
    query = events.select().where(events.c.study_id == record.id, events.c.number > after).order_by("number")
    return [_event(row) for row in connection.execute(query).mappings()]


def _insert_event(connection: sa.Connection, record: StudyRecord, event: Event) -> None:
    mine = events.c.study_id == record.id
    last = connection.execute(sa.select(sa.func.max(events.c.number)).where(mine)).scalar() or 0
    row = {
        "study_id": record.id,
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


def _marks(event: Event) -> list[tuple[Any, str | None]]:
    return [(events.c.slot, event.slot), (events.c.token, event.token)]


def _event(row: Any) -> Event:
    names = ("kind", "rater", "seconds", "token", "number", "time")
    return Event(payload=json.loads(row["payload"]), slot=row["slot"] or "", **{n: row[n] for n in names})
