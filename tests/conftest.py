"""Fixtures of several folders: where a study may be kept."""

import itertools
import os

import pytest

from tests import postgres

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of this test run."""
    if postgres.programs() is None:
        if "postgresql" in os.environ.get("PREFOPT_TESTS_NEED", ""):
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    pytest.importorskip("psycopg")
    with postgres.server() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server):
    """The URL, password included, of an empty database on it."""
    name = f"study{next(_numbers)}"
    postgres.run(f"{postgres_server}/postgres", f"CREATE DATABASE {name}")
    yield f"{postgres_server}/{name}"
    postgres.run(f"{postgres_server}/postgres", f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    """A place for studies, on each kind of database in turn."""
    return str(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
