"""Fixtures of several folders: where a study may be kept, and a browser to look at it."""

import itertools
import os
import re
import shutil

import pytest

from tests import postgres

_numbers = itertools.count()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Set where the tests must not be skipped.
NEEDED = os.environ.get("PREFOPT_TESTS_NEED", "").split()


def pytest_collection_modifyitems(items):
    """Long tests come first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of this test run."""
    if postgres.programs() is None:
        if "postgresql" in NEEDED:
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


@pytest.fixture(scope="session")
def chromium():
    """A headless browser of the system; without one, tests are skipped unless they are needed."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None and "chromium" not in NEEDED:
        pytest.skip("no chromium on this computer (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page that fails the test if a script fails or the content policy blocks something."""
    problems = []
    context = chromium.new_context(viewport={"width": 1100, "height": 800})
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if re.search("Content Security|Refused", m.text) else None)
    yield page
    context.close()
    assert problems == []
