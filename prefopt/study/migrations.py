"""From the tables of an older prefopt to those of this one; every step and all of them in one transaction."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from prefopt.study.events import SCHEMA_VERSION
from prefopt.study.tables import metadata, studies

#: Any number, the same in every process: who holds PostgreSQL's lock of this number makes or changes the tables.
LOCK = 7_365_147


def _to_2(connection: sa.Connection) -> None:
    """Format 2 has more kinds of events; what was written before stays as it is and means the same."""


#: Format -> what makes a database of the next format of it. Tables that are new are made before any step.
STEPS: dict[int, Callable[[sa.Connection], None]] = {1: _to_2}


def oldest_format(connection: sa.Connection) -> int:
    """The smallest format among the studies of a database, that of this prefopt if there is none."""
    if any(not sa.inspect(connection).has_table(name) for name in metadata.tables):
        return 0
    return connection.execute(sa.select(sa.func.min(studies.c.schema_version))).scalar() or SCHEMA_VERSION


def bring_up_to_date(connection: sa.Connection) -> None:
    """Make the tables that are missing and take the studies of older formats to this one.

    Studies of a newer format are left alone. All processes but one wait, and then find nothing to do.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    metadata.create_all(connection)
    found = max(1, oldest_format(connection))
    for version in range(found, SCHEMA_VERSION):
        STEPS[version](connection)
        old = studies.c.schema_version == version
        connection.execute(studies.update().where(old).values(schema_version=version + 1))
