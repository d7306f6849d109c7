"""Around every request: its size, and headers that keep what is shown from reaching anything else."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Largest request, in bytes; an answer has a few hundred.
LARGEST = 64 * 1024
#: For every response; media bring a policy of their own.
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    b"cache-control": b"no-store",
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; frame-src 'self'; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


class TooLarge(Exception):
    """The request has more bytes than any honest one."""


class Guard:
    """An ASGI middleware."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, at most ``LARGEST`` bytes of it."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        taken, started, refused = 0, False, _length(scope) > LARGEST

        async def bounded() -> MutableMapping[str, Any]:
            nonlocal taken, refused
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST:
                refused = True
                raise TooLarge
            return message

        async def dressed(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if refused and not started:
                return  # what the application makes of half a request
            if message["type"] == "http.response.start":
                started = True
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((k, v) for k, v in HEADERS.items() if k not in own)]
            await send(message)

        if not refused:
            with suppress(TooLarge):
                await self.app(scope, bounded, dressed)
        if refused and not started:
            await _refuse(send)


def _length(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0


async def _refuse(send: Send) -> None:
    body = json.dumps({"error": {"code": "too_large", "message": f"a request has at most {LARGEST} bytes"}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close"), *HEADERS.items()]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
