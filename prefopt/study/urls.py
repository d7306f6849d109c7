"""Where studies are kept: a file, or the URL of a database; how it is opened, and named without its password."""

from __future__ import annotations

import re

import sqlalchemy as sa

from prefopt.errors import MissingDependency, StudyError

#: Name of a database in a URL -> the SQLAlchemy driver that opens it.
DRIVERS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
#: user:password@ of a URL, and a password among its parameters.
_SECRET = re.compile(r"(?<=://)([^:/@]*):.*@|([?&]\w*password=)[^&]*", re.IGNORECASE)


def shown(storage: object) -> str:
    """``storage`` as it may be printed: a password in it is three stars.

    >>> shown("postgresql://ann:s3cret@db.example/tea?sslpassword=x"), shown("tea.db")
    ('postgresql://ann:***@db.example/tea?sslpassword=***', 'tea.db')
    """
    return _SECRET.sub(lambda m: f"{m[2]}***" if m[2] else f"{m[1]}:***@", str(storage))


def read_url(storage: str) -> sa.URL:
    """The SQLAlchemy URL of ``storage``, a file name or a URL.

    Raises:
        StudyError: a URL that cannot be read, or of a database that prefopt does not know.
        MissingDependency: the driver of the database is not installed.
    """
    if "://" not in storage:
        return sa.URL.create("sqlite", database=storage)
    known = "expected a file name or a URL postgresql://user@host/database"
    try:
        url = sa.make_url(storage)
    except (sa.exc.ArgumentError, ValueError):
        raise StudyError(f"storage {shown(storage)!r}: {known}, got a URL that cannot be read") from None
    if "@" in (url.host or ""):
        raise StudyError(f"storage {shown(storage)!r}: write @ in a user name or password as %40, and / as %2F")
    if url.drivername not in DRIVERS:
        raise StudyError(
            f"storage {shown(storage)!r}: {known}; {url.drivername} is not supported (studies rely on transactions "
            "and unique texts that were tested with SQLite and PostgreSQL only)"
        )
    if url.get_backend_name() == "postgresql":
        _need_psycopg(storage)
    return url.set(drivername=DRIVERS[url.drivername])


def _need_psycopg(storage: str) -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingDependency("psycopg 3", "postgres", f"storage {shown(storage)!r}") from error
