"""The web application of a study: pages, what raters do, what whoever runs it does."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

import prefopt
from prefopt import frontend
from prefopt.web import admin, errors
from prefopt.web.bodies import FAILURES, AnswerBody, Done, Screen, UndoBody
from prefopt.web.desk import Denied, Desk
from prefopt.web.guard import Guard
from prefopt.web.media import POLICY
from prefopt.web.turns import Turns

T = TypeVar("T")
PAGES = Path(__file__).parent / "pages"
#: What is sent as a file: address -> file, type.
FILES = {
    "/": (PAGES / "rate.html", "text/html; charset=utf-8"),
    "/admin": (PAGES / "admin.html", "text/html; charset=utf-8"),
    "/rate.js": (PAGES / "rate.js", "text/javascript; charset=utf-8"),
    "/admin.js": (PAGES / "admin.js", "text/javascript; charset=utf-8"),
    "/icon.svg": (PAGES / "icon.svg", "image/svg+xml"),
    "/call.js": (PAGES / "call.js", "text/javascript; charset=utf-8"),
    "/charts.js": (PAGES / "charts.js", "text/javascript; charset=utf-8"),
    "/page.css": (PAGES / "page.css", "text/css; charset=utf-8"),
    "/ask.js": (Path(frontend.__file__).parent / "ask.js", "text/javascript; charset=utf-8"),
    "/ask.css": (Path(frontend.__file__).parent / "ask.css", "text/css; charset=utf-8"),
}
#: An address of ``Media``.
ADDRESS = re.compile(r"[0-9a-f]{40}")

_bearer = HTTPBearer(auto_error=False, description="the part of the link after the #")


async def token_of(given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    """The token of a request: in a header, which no other site can make a browser send."""
    if given is None or not 8 <= len(given.credentials) <= 200:
        raise Denied
    return given.credentials


Token = Annotated[str, Depends(token_of)]


@dataclass
class Workers:
    """One thread for questions, one for answers, one for reading: they wait for their own kind only."""

    asking: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "prefopt-ask"))
    telling: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "prefopt-tell"))
    reading: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "prefopt-read"))

    async def run(self, pool: ThreadPoolExecutor, action: Callable[..., T], *arguments: Any) -> T:
        """``action(*arguments)`` in ``pool``."""
        return await asyncio.get_running_loop().run_in_executor(pool, partial(action, *arguments))

    def close(self) -> None:
        """Wait for what is under way."""
        for pool in (self.telling, self.asking, self.reading):
            pool.shutdown(cancel_futures=True)


def create_app(desk: Desk, admin_token: str, origin: str = "") -> FastAPI:
    """The application (ASGI).

    Args:
        desk: the study.
        admin_token: who sends this may see and change everything.
        origin: the beginning of links that are given out, as in "http://127.0.0.1:8000".
    """
    workers = Workers()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()
        desk.close()

    app = FastAPI(
        title="prefopt", version=prefopt.__version__, docs_url=None, redoc_url=None, lifespan=lifespan,
        description="A study: raters say which of a few options is better.",
    )  # fmt: skip
    app.add_middleware(Guard)
    errors.install(app)
    _add_files(app, desk)
    _add_rating(app, desk, workers)

    async def check_admin(token: Token) -> None:
        if not hmac.compare_digest(token.encode(), admin_token.encode()):
            raise Denied

    admin.add_routes(app, desk, workers.run, workers, [Depends(check_admin)], origin)
    return app


def _add_rating(app: FastAPI, desk: Desk, workers: Workers) -> None:
    screens = Turns(workers.asking, desk.screens, most=8)  # while these are written no answer can be
    answers = Turns(workers.telling, desk.answers, most=64)

    @app.get("/api/screen", responses=FAILURES, response_model_exclude_none=False)
    async def screen(token: Token) -> Screen:
        """What the rater sees now: a question, the same until it is answered, or why there is none."""
        return Screen(**await screens.take(token))

    @app.post("/api/answers", responses=FAILURES)
    async def answer(token: Token, body: AnswerBody) -> Done:
        """Keep an answer; sent again with the same id it counts once."""
        await answers.take((token, body.model_dump()))
        return Done()

    @app.post("/api/undo", responses=FAILURES)
    async def undo(token: Token, body: UndoBody) -> Done:
        """Take back the rater's last answer; its question is asked again."""
        await workers.run(workers.telling, desk.undo, token, body.question)
        return Done()


def _add_files(app: FastAPI, desk: Desk) -> None:
    def add(address: str, path: Path, media_type: str) -> None:
        @app.get(address, include_in_schema=False)
        async def file() -> Response:
            return FileResponse(path, media_type=media_type, headers={"cache-control": "no-cache"})

    for address, (path, media_type) in FILES.items():
        add(address, path, media_type)

    @app.get("/media/{name}", include_in_schema=False)
    async def medium(name: str) -> Response:
        found = desk.media.find(name) if ADDRESS.fullmatch(name) else None
        if found is None or not found.path.is_file():
            raise HTTPException(404, "there is no such picture, sound or film; load the page again")
        headers = {"content-security-policy": POLICY, "cache-control": "private, max-age=3600"}
        return FileResponse(found.path, media_type=found.media_type, headers=headers)
