"""How an SQLite file is opened so that several processes can write it without ever seeing "locked"."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from prefopt.errors import NoStudyError

#: How long SQLite itself waits for another writer, in milliseconds.
BUSY_MS = 30_000


def check_file(engine: sa.Engine) -> None:
    """Raise NoStudyError if the file is not there: opening it would make an empty one."""
    name = engine.url.database
    if name and name != ":memory:" and not name.startswith("file:") and not Path(name).is_file():
        what = "is a folder" if Path(name).is_dir() else "there is no such file"
        raise NoStudyError(f"storage {name!r}: expected the file of a study, {what}; create_study makes one")


def prepare_sqlite(engine: sa.Engine, *, wal: bool) -> None:
    """Write-ahead log, patience with other writers, and transactions that take the write lock at once.

    A transaction that first reads and then writes fails in SQLite when another process wrote in between;
    ``BEGIN IMMEDIATE`` takes the lock before the read. Connections with the execution option ``write`` get it.
    """

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # BEGIN is ours to say, not the driver's
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # an answer survives a power cut
        if wal:
            _switch_to_wal(connection)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def wipe(engine: sa.Engine) -> None:
    """Write the file anew, so that nothing that was replaced is left in unused pages or in the write-ahead log."""
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.execute("VACUUM")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _switch_to_wal(connection: Any) -> None:
    """The switch needs the file for itself and does not wait for others, so wait here."""
    end = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = wal")
            return
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
