"""What whoever runs a study sees and does, in the browser."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query
from fastapi.responses import Response

from prefopt.study import Study
from prefopt.web.bodies import FAILURES, Done, EraseBody, Link, Number, RaterBody, ReasonBody, RoundBody
from prefopt.web.desk import Desk
from prefopt.web.overview import overview

Run = Callable[..., Awaitable[Any]]
RaterId = Annotated[str, Query(max_length=255, description="the rater's pseudonym")]
#: File types of ``Study.export``.
EXPORTS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def add_routes(app: FastAPI, desk: Desk, run: Run, workers: Any, guards: list[Any], origin: str) -> None:
    """Add the paths below ``/api/admin`` to ``app``; each asks ``guards`` first."""
    router = APIRouter(prefix="/api/admin", dependencies=guards, responses=FAILURES)
    _add_reading(router, desk, run, workers)
    _add_raters(router, desk, run, workers, origin)
    _add_changes(router, desk, run, workers)
    _add_validation(router, desk, run, workers)
    app.include_router(router)


def _add_reading(router: APIRouter, desk: Desk, run: Run, workers: Any) -> None:
    study = desk.reading

    @router.get("/overview")
    async def see() -> dict[str, Any]:
        """The study, its raters, what it recommends and how sure it is."""
        return dict(await run(workers.reading, overview, desk))

    @router.get("/history")
    async def history(last: Annotated[int, Query(ge=1, le=10_000)] = 200) -> list[dict[str, Any]]:
        """The last questions and comparisons, the newest first."""
        return list(await run(workers.reading, last_rows, study, last))

    @router.get("/slices")
    async def slices() -> dict[str, Any]:
        """What is believed of the options along each parameter."""
        return dict(await run(workers.reading, study.slices))

    @router.get("/convergence")
    async def convergence() -> list[dict[str, Any]]:
        """What was recommended after so many answers, and how sure that was."""
        return list(await run(workers.reading, study.convergence))

    @router.get("/export.{ending}", response_class=Response)
    async def export(ending: Literal["csv", "json"]) -> Response:
        """Every question and answer as a file."""
        content = await run(workers.reading, _exported, desk, ending)
        return Response(content, media_type=EXPORTS[ending])


def last_rows(study: Study, last: int) -> list[dict[str, Any]]:
    """The newest rows of the history first, without automatic steps; ``undone`` if an answer can be restored."""
    undone = set(study.undone())
    rows = [row for row in study.history() if row["status"] != "automatic"]
    return [row | {"undone": row["question"] in undone} for row in rows[::-1][:last]]


def _exported(desk: Desk, ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"study.{ending}"
        desk.reading.export(path)
        return path.read_bytes()


def _add_raters(router: APIRouter, desk: Desk, run: Run, workers: Any, origin: str) -> None:
    study, tell = desk.telling, workers.telling

    @router.post("/raters")
    async def add(body: RaterBody) -> Link:
        """A new rater and the link for this rater."""
        rater = await run(tell, study.add_rater, body.name.strip())
        return Link(rater=rater.id, link=f"{origin}/#{rater.token}")

    @router.post("/raters/link")
    async def renew(rater: RaterId) -> Link:
        """A new link for a rater; the one before ends."""
        known = await run(tell, study.renew_token, rater)
        return Link(rater=known.id, link=f"{origin}/#{known.token}")

    @router.post("/raters/remove")
    async def remove(rater: RaterId, body: ReasonBody) -> Done:
        """The rater's answers do not count from now on, and the link ends; nothing is deleted."""
        await run(tell, study.remove_rater, rater, body.reason)
        desk.background.think()
        return Done()

    @router.post("/raters/restore")
    async def restore(rater: RaterId) -> Done:
        """The rater's answers count again, and the link works again."""
        await run(tell, study.restore_rater, rater)
        desk.background.think()
        return Done()

    @router.post("/raters/erase")
    async def erase(rater: RaterId, body: EraseBody) -> Done:
        """Erase who the rater was, for good."""
        await run(tell, study.erase_rater, rater, body.answers)
        return Done()


def _add_changes(router: APIRouter, desk: Desk, run: Run, workers: Any) -> None:
    study, tell = desk.telling, workers.telling

    @router.post("/pause")
    async def pause(body: ReasonBody) -> Done:
        """Nothing is asked until the study is resumed."""
        await run(tell, study.pause, body.reason)
        return Done()

    @router.post("/resume")
    async def resume() -> Done:
        """Ask again."""
        await run(tell, study.resume)
        return Done()

    @router.post("/undo")
    async def undo() -> Done:
        """Take back the last answer of all."""
        await run(tell, study.undo)
        desk.background.think()
        return Done()

    @router.post("/answers/restore")
    async def restore(question: Annotated[Number, Query()]) -> Done:
        """Put back the answer to a question that was taken back, or let a removed one count again."""
        await run(tell, desk.put_back, question)
        return Done()

    @router.post("/answers/remove")
    async def remove(question: Annotated[Number, Query()], body: ReasonBody) -> Done:
        """The answer to a question does not count from now on; it is kept."""
        await run(tell, study.remove_answer, question, body.reason)
        desk.background.think()
        return Done()


def _add_validation(router: APIRouter, desk: Desk, run: Run, workers: Any) -> None:
    @router.post("/validation")
    async def begin(body: RoundBody) -> Done:
        """Raters are asked next, unannounced, whether the recommendation is better than its rivals."""
        await run(workers.reading, desk.reading.validate, body.each)
        desk.background.think()
        return Done()

    @router.post("/validation/end")
    async def end() -> Done:
        """Ask no more of these comparisons."""
        await run(workers.telling, desk.telling.end_validation)
        desk.background.think()
        return Done()
