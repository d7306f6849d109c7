"""A study served on a free port of this computer."""

import secrets
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from prefopt import create_study


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
