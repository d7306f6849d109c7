"""Starts the server and says the links."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefopt.errors import MissingDependency, StudyError
from prefopt.study import Study

#: Bytes of the admin token, which is new whenever a server starts.
TOKEN_BYTES = 24
#: Seconds for which a thread computes before another has its turn: a request needs many turns and little time, what
#: is done behind the scenes the reverse.
TURN = 0.0005


def serve(
    study: Study,
    *,
    render: Callable[[Any], Any] | None = None,
    folder: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    raters: Sequence[str] = (),
    timeout: float | None = None,
    origin: str | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve a study until the process is told to stop.

    Args:
        study: what is asked.
        render: function of an option's parameters that gives what to show: text, ``Html``, ``Markdown``, a ``Path``,
            bytes, a figure. See ``prefopt.frontend.content_of``.
        folder: where items of a list of options that name pictures, sounds and films are found.
        host: the address to listen at; the default is reached from this computer only.
        port: 0 takes any that is free.
        raters: names to give links to: a new rater, or a new link for a known one. One link is always given if the
            study has no rater yet.
        timeout: seconds the policy may take for a question.
        origin: the beginning of links, if others reach the server under another name.
        say: told the links, a line each.

    Raises:
        MissingDependency: the extra ``web`` is not installed.
        StudyError: the port is taken, or the host is no address of this computer.
    """
    uvicorn = _uvicorn()
    from prefopt.web.app import create_app
    from prefopt.web.desk import Desk

    listening = _listen(host, port)
    with listening:
        here = origin or _origin(host, listening.getsockname()[1])
        admin_token = secrets.token_urlsafe(TOKEN_BYTES)
        desk = Desk(study, render, folder, timeout)
        app = create_app(desk, admin_token, here)
        for line in link_lines(study, raters, here):
            say(line)
        say(f"for you: {here}/admin#{admin_token}")
        if not _is_local(host):
            say("others can reach this without encryption: outside of your own network, put HTTPS before it")
        say("stop with control-C; every answer is on disk before the page says so")
        config = uvicorn.Config(app, access_log=False, log_level="warning", server_header=False, ws="none")
        with _short_turns():
            uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def link_lines(study: Study, names: Sequence[str], origin: str) -> list[str]:
    """Links for the raters called ``names``, and where those of others are."""
    known = {rater.name or rater.id: rater for rater in study.raters} | {rater.id: rater for rater in study.raters}
    lines = []
    for name in names or ([] if known else [""]):
        rater = study.renew_token(known[name]) if name in known else study.add_rater(name)
        ended = " (the link before ends)" if name in known else ""
        lines.append(f"to answer{f', {name}' if name else ''}: {origin}/#{rater.token}{ended}")
    if not lines:
        lines = ["links that were given out before still work; --rater NAME or the admin page makes new ones"]
    return lines


def _uvicorn() -> Any:
    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingDependency("fastapi and uvicorn", "web", "serving a study") from error
    return uvicorn


def _listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that the links are right before the server starts."""
    listening = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)  # who follows a link at once waits until the server is up
    except (OSError, OverflowError) as error:
        if listening is not None:
            listening.close()
        why = getattr(error, "strerror", None) or error
        raise StudyError(f"cannot listen at {host} port {port}: {why}; take another, --port 0 for any") from error
    return listening


def _origin(host: str, port: int) -> str:
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
