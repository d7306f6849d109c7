"""A study served on a free port of this computer, and a browser to look at it."""

import os
import re
import secrets
import shutil
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from prefopt import create_study

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Set where the tests must not be skipped.
NEEDED = os.environ.get("PREFOPT_TESTS_NEED", "").split()


@contextmanager
def served(study, **settings):
    """The application of ``study`` on a free port: origin, admin token, desk."""
    import uvicorn

    from prefopt.web.app import create_app
    from prefopt.web.desk import Desk

    admin = secrets.token_urlsafe(24)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        desk = Desk(study, **settings)
        app = create_app(desk, admin, origin)
        server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        end = time.monotonic() + 20
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield SimpleNamespace(origin=origin, admin=admin, desk=desk, study=study, app=app)
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def serve():
    """``with serve(study, ...) as server:``."""
    return served


@pytest.fixture
def make_study(tmp_path):
    """A study in a file of its own."""

    def make(space=("tea", "coffee", "cocoa", "water", "milk"), **keywords):
        return create_study(list(space) if isinstance(space, tuple) else space, storage=tmp_path / "study.db", **{
            "seed": 5, "strategy": "random" if isinstance(space, tuple) else None, **keywords
        })  # fmt: skip

    return make


@pytest.fixture
def client():
    """Requests with a token: ``client(server, token).get(path)``."""
    import httpx

    made = []

    def make(server, token=None):
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        made.append(httpx.Client(base_url=server.origin, headers=headers, timeout=30))
        return made[-1]

    yield make
    for one in made:
        one.close()


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
