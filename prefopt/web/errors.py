"""Errors as JSON: what was expected, what came, what to do."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from prefopt.errors import AnswerError, NoStudyError, PrefoptError, StudyError
from prefopt.web.desk import Denied

log = logging.getLogger("prefopt.web")
#: Short words for programs.
CODES = {400: "bad_request", 401: "unknown_token", 403: "forbidden", 404: "not_found", 405: "wrong_method"}


def failure(status: int, code: str, message: str) -> JSONResponse:
    """An error response."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def install(app: FastAPI) -> None:
    """Let ``app`` answer every error in this form."""

    @app.exception_handler(Denied)
    async def _denied(_: Request, __: Denied) -> JSONResponse:
        return failure(401, CODES[401], "this link is not valid (any more); ask whoever gave it to you for a new one")

    @app.exception_handler(PrefoptError)
    async def _ours(_: Request, error: PrefoptError) -> JSONResponse:
        if isinstance(error, AnswerError):
            return failure(422, "unfit_answer", str(error))
        if isinstance(error, NoStudyError):
            return failure(404, CODES[404], str(error))
        if isinstance(error, StudyError) and str(error).startswith("storage "):
            log.error("%s", error)
            return failure(503, "storage", "the study's storage does not answer; nothing was kept, try again")
        return failure(409, "conflict", str(error))

    @app.exception_handler(RequestValidationError)
    async def _unlike(_: Request, error: RequestValidationError) -> JSONResponse:
        return failure(422, "not_as_described", "; ".join(map(_told, error.errors()[:3])))

    @app.exception_handler(HTTPException)
    async def _plain(_: Request, error: HTTPException) -> JSONResponse:
        made = failure(error.status_code, CODES.get(error.status_code, "error"), str(error.detail))
        made.headers.update(error.headers or {})
        return made

    @app.exception_handler(Exception)
    async def _ours_to_mend(_: Request, error: Exception) -> JSONResponse:
        log.error("unexpected %s", type(error).__name__, exc_info=error)
        return failure(500, "internal", "the server failed at this; its log says why")


def _told(problem: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in problem["loc"] if part != "body") or "body"
    return f"{where}: {problem['msg']}"
