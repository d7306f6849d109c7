"""The append-only log, through SQLAlchemy: an SQLite file, or PostgreSQL for several machines."""

from __future__ import annotations

import json
import random
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from prefopt.errors import NoStudyError, StudyError
from prefopt.study.events import SCHEMA_VERSION, Event
from prefopt.study.migrations import bring_up_to_date, oldest_format
from prefopt.study.rows import insert_events, marks, read_events, rewrite_event, take_turn
from prefopt.study.sqlite import check_file, prepare_sqlite, wipe
from prefopt.study.tables import events, metadata, studies
from prefopt.study.urls import read_url, shown

T = TypeVar("T")

#: How long a write is tried again while other processes write, in seconds.
PATIENCE = 60.0
#: PostgreSQL's codes of what passes: serialisation, deadlock, a lock not free, too many connections, starting up.
PASSING = ("40001", "40P01", "55P03", "53300", "57P03")


@dataclass(frozen=True)
class StudyRecord:
    """What a study was created with (one row of the table ``studies``); budget and question can be changed."""

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
        url: ``"study.db"`` (an SQLite file), or ``"postgresql://user@host/database"`` (extra ``postgres``). A password
            is best left to ``PGPASSWORD`` or ``~/.pgpass``; one in the URL is never printed nor exported.
        create: make the file or the tables if they are not there; readers say false, and leave nothing behind.

    Raises:
        StudyError: the URL names no database that prefopt knows, or one that cannot be opened.
        NoStudyError: no such file or no studies in it, and not ``create``.
        MissingDependency: the database needs a driver that is not installed.
    """

    def __init__(self, url: str | None = None, *, create: bool = True) -> None:
        self.url = None if url is None else str(url)
        self.shown = None if url is None else shown(url)
        if self.url is None:
            self._engine = sa.create_engine(
                "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
        else:
            self._engine = make_engine(read_url(self.url))
        if self._engine.dialect.name == "sqlite":
            if not create:
                check_file(self._engine)
            prepare_sqlite(self._engine, wal=self.url is not None)
        self._writer, self._turn = self._engine.execution_options(write=True), threading.RLock()
        self._reader = self._engine  # a question of a single statement needs no transaction
        if self._engine.dialect.name == "postgresql":
            self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        weakref.finalize(self, self._engine.dispose).atexit = False  # a study that is dropped gives back connections
        if not create and not self._patiently(lambda: sa.inspect(self._engine).has_table(studies.name)):
            raise NoStudyError(f"storage {self.shown!r} holds no study; create_study makes one")
        if self._read(oldest_format) < SCHEMA_VERSION:
            self._write(bring_up_to_date)

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
        query = sa.select(studies.c.name).order_by(studies.c.id)
        return self._read(lambda connection: list(connection.execute(query).scalars()))

    def create(self, row: dict[str, Any], log: Sequence[Event] = ()) -> bool:
        """Add a study whose log begins with ``log``; false if one of that name is there already.

        Raises:
            StudyError: the database refuses it for another reason.
        """
        if self._insert(lambda connection: insert_study(connection, row, log)):
            return True
        if row["name"] not in self.names():
            raise StudyError(f"storage {self.shown!r} refuses a study with the values {row}; nothing was written")
        return False

    def supersede(self, record: StudyRecord, aside: str, row: dict[str, Any], log: Sequence[Event]) -> bool:
        """Add a study that takes over the name of another, which is called ``aside`` and paused from now on.

        False, and nothing is done, if the other does not have that name any more.
        """

        def write(connection: sa.Connection) -> None:
            take_turn(connection, record.id)
            same = (studies.c.id == record.id) & (studies.c.name == record.name)
            if connection.execute(studies.update().where(same).values(name=aside)).rowcount != 1:
                raise sa.exc.IntegrityError("superseded already", None, ValueError(record.name))
            paused = Event("paused", {"on": True, "reason": f"a new version of {record.name!r} has begun"})
            insert_events(connection, record.id, [paused])
            insert_study(connection, row, log)

        return self._insert(write)

    def find(self, name: str, read_space: Callable[[Any], Any]) -> StudyRecord | None:
        """The study called ``name``, or None.

        Raises:
            StudyError: it was written by a newer prefopt.
        """
        query = studies.select().where(studies.c.name == name)
        row = self._read(lambda connection: connection.execute(query).mappings().first())
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

    def name_of(self, record: StudyRecord) -> str:
        """What the study is called now."""
        query = sa.select(studies.c.name).where(studies.c.id == record.id)
        return str(self._read(lambda connection: connection.execute(query).scalar_one()))

    def change(self, name: str, **columns: int | str) -> None:
        """Give the study ``name`` another ``budget`` or ``question``; the log stays as it is."""
        change = studies.update().where(studies.c.name == name).values(columns)
        self._insert(lambda connection: connection.execute(change))

    def read(self, record: StudyRecord, after: int = 0) -> list[Event]:
        """The events of a study in order, from number ``after`` + 1 on."""
        return self._read(lambda connection: read_events(connection, record.id, after))

    def append(self, record: StudyRecord, event: Event) -> bool:
        """Write ``event`` as the next of the study and commit; false if its slot or token is taken.

        Raises:
            StudyError: the database refuses it for another reason.
        """
        if self.append_all(record, [event]):
            return True
        taken = [column == value for column, value in marks(event) if value]
        query = sa.select(events.c.number).where(events.c.study_id == record.id, sa.or_(sa.false(), *taken))
        if self._read(lambda connection: connection.execute(query).first()) is None:
            raise StudyError(
                f"storage {self.shown!r}: study {record.name!r} is not there any more; nothing was written"
            )
        return False

    def append_all(self, record: StudyRecord, new: Sequence[Event]) -> bool:
        """Write all of ``new`` in one transaction; false, and nothing is written, if a slot or token is taken."""

        def write(connection: sa.Connection) -> None:
            take_turn(connection, record.id)
            insert_events(connection, record.id, new)

        return self._insert(write)

    def append_alone(self, record: StudyRecord, after: int, make: Callable[[list[Event]], list[Event]]) -> bool:
        """Write what ``make`` returns for the events after ``after``, with all other writers waiting."""

        def write(connection: sa.Connection) -> None:
            take_turn(connection, record.id)
            known = read_events(connection, record.id, after)
            insert_events(connection, record.id, make(known), known[-1].number if known else after)

        return self._insert(write)

    def rewrite(self, record: StudyRecord, change: Callable[[list[Event]], list[Event]]) -> None:
        """Put what ``change`` returns into the log: events with a number replace those, the others come last.

        What was there before cannot be read from the file any more.
        """

        def write(connection: sa.Connection) -> None:
            take_turn(connection, record.id)
            changed = change(read_events(connection, record.id, 0))
            for event in changed:
                if event.number:
                    rewrite_event(connection, record.id, event)
            insert_events(connection, record.id, [event for event in changed if not event.number])

        self._insert(write)
        if self._engine.dialect.name == "sqlite":
            self._patiently(lambda: wipe(self._engine))

    def _insert(self, write: Callable[[sa.Connection], Any]) -> bool:
        try:
            self._write(write)
        except sa.exc.IntegrityError:
            return False
        return True

    def _write(self, write: Callable[[sa.Connection], Any]) -> None:
        def once() -> None:
            with self._writer.begin() as connection:
                write(connection)

        with self._turn:  # a thread that waits for the database itself sleeps, and is overtaken again and again
            self._patiently(once)

    def _read(self, read: Callable[[sa.Connection], T]) -> T:
        def once() -> T:
            with self._reader.connect() as connection:
                return read(connection)

        return self._patiently(once)

    def _patiently(self, action: Callable[[], T]) -> T:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return action()
            except sa.exc.IntegrityError:
                raise
            except sa.exc.DBAPIError as error:
                if not passes(error) or time.monotonic() > end:
                    raise StudyError(
                        f"storage {self.shown!r}: expected a database of studies that can be opened, got: "
                        f"{' '.join(str(error.orig).split())}; nothing was written"
                    ) from error
                time.sleep(random.uniform(0.01, 0.05))  # jitter, different in every process: no result depends on it


def insert_study(connection: sa.Connection, row: dict[str, Any], log: Sequence[Event]) -> None:
    """Write a study and the beginning of its log."""
    row = {**row, "schema_version": SCHEMA_VERSION, "created": time.time()}
    row |= {"space": json.dumps(row["space"]), "settings": json.dumps(row["settings"], sort_keys=True)}
    made = connection.execute(studies.insert().values(row)).inserted_primary_key
    insert_events(connection, int(made[0]) if made else 0, log)


def make_engine(url: sa.URL) -> sa.Engine:
    """Connections to ``url``; those to a server are tried before use, since it may have been restarted."""
    if url.get_backend_name() == "sqlite":
        return sa.create_engine(url)
    return sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")


def passes(error: sa.exc.DBAPIError) -> bool:
    """Whether what went wrong passes by itself: another process was faster, or the server is busy."""
    text, code = str(error.orig), getattr(error.orig, "sqlstate", None)
    return code in PASSING or (code is None and ("locked" in text or "busy" in text))
