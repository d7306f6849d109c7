"""Many raters at once: how long until an answer is acknowledged, and what a killed server loses (nothing).

Raters answer as fast as they can over their own connections. ``--kills`` ends the server with SIGKILL so many times
on the way; raters send again what was not acknowledged, as the page does. At the end the log must hold every
acknowledged answer exactly once.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table

from prefopt import create_study, load_study

OPTIONS = 2000


@dataclass
class Tally:
    """What the raters saw."""

    acknowledged: dict[str, int] = field(default_factory=dict)  # id of the answer -> its question
    waits: list[float] = field(default_factory=list)  # seconds until an answer was acknowledged, at first try
    nexts: list[float] = field(default_factory=list)  # seconds until the next question was there
    errors: list[str] = field(default_factory=list)
    lost_connections: int = 0


class Connection:
    """One kept-alive HTTP connection with a token."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.reader: Any = None
        self.writer: Any = None

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of a response; raises OSError or IncompleteReadError if the server is gone."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {self.token}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        self.writer.write(head.encode() + content)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(lines.split("content-length:")[1].split("\r\n")[0])
        return int(lines.split()[1]), json.loads(await self.reader.readexactly(length))

    def drop(self) -> None:
        """Forget a broken connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def patiently(connection: Connection, tally: Tally, *request: Any) -> tuple[int, Any, bool]:
    """The response to a request, sent again for as long as the server is gone; and whether the first try did it."""
    first = True
    while True:
        try:
            return *await connection.call(*request), first
        except (OSError, asyncio.IncompleteReadError):
            first = False
            tally.lost_connections += 1
            connection.drop()
            await asyncio.sleep(0.1)


async def rate(port: int, token: str, end: float, rng: np.random.Generator, tally: Tally) -> None:
    """One rater until ``end``."""
    connection, answered = Connection(port, token), None
    while time.monotonic() < end:
        status, screen, first = await patiently(connection, tally, "GET", "/api/screen")
        if status != 200 or screen["state"] != "question":
            tally.errors.append(f"screen: {status} {screen}")
            return
        if answered is not None and first:
            tally.nexts.append(time.monotonic() - answered)
        number = screen["question"]["number"]
        entry = {"id": secrets.token_hex(8), "question": number, "kind": "best", "options": [int(rng.integers(2))]}
        began = time.monotonic()
        status, said, first = await patiently(connection, tally, "POST", "/api/answers", entry)
        answered = time.monotonic()
        if status != 200:
            tally.errors.append(f"answer: {status} {said}")
            return
        tally.acknowledged[entry["id"]] = number
        if first:
            tally.waits.append(answered - began)
    connection.drop()


def start(storage: str, name: str, port: int) -> subprocess.Popen[bytes]:
    """The server, ready; on ``port``, or any free one if 0."""
    command = [sys.executable, "-m", "prefopt.cli", "serve", storage, "--name", name, "--port", str(port)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def port_of(process: subprocess.Popen[bytes]) -> int:
    """The port in the admin's link that a server says."""
    assert process.stdout is not None
    for line in process.stdout:
        if b"/admin#" in line:
            return int(line.split(b"/admin#")[0].rsplit(b":", 1)[1])
    raise RuntimeError("the server ended before it said its links")


async def kill_now_and_then(storage: str, name: str, port: int, server: list[Any], kills: int, end: float) -> int:
    """End the server with SIGKILL ``kills`` times until ``end`` and start it again; how often it was done."""
    done = 0
    for i in range(kills):
        left = end - time.monotonic()
        if left < 0:
            break
        await asyncio.sleep(left / (kills - i + 1))
        server[0].send_signal(signal.SIGKILL)
        server[0].wait()
        server[0].stdout.close()
        server[0] = start(storage, name, port)
        await asyncio.to_thread(port_of, server[0])
        done += 1
    return done


async def play(
    storage: str, name: str, tokens: list[str], seconds: float, kills: int, seed: int
) -> tuple[Tally, int, float]:
    """All raters at once against a server that is started for them."""
    tally, server = Tally(), [start(storage, name, 0)]
    try:
        port = await asyncio.to_thread(port_of, server[0])
        rngs = [np.random.default_rng([seed, i]) for i in range(len(tokens))]
        await patiently(Connection(port, tokens[0]), tally, "GET", "/api/screen")
        tally.lost_connections = 0
        began = time.monotonic()
        end = began + seconds
        raters = [rate(port, token, end, rng, tally) for token, rng in zip(tokens, rngs, strict=True)]
        killing = asyncio.create_task(kill_now_and_then(storage, name, port, server, kills, end))
        await asyncio.gather(killing, *raters)
        return tally, killing.result(), time.monotonic() - began
    finally:
        server[0].send_signal(signal.SIGINT)
        server[0].communicate(timeout=60)


def check(storage: str, name: str, tally: Tally) -> dict[str, int]:
    """What the log says of the acknowledged answers: lost, doubled, and others that nobody was told of."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.json"
        load_study(storage, study_name=name).export(path)
        events = [e for e in json.loads(path.read_text())["events"] if e["kind"] == "answered"]
    ids = [str(e["token"]).rpartition(":")[2] for e in events]
    questions = [e["payload"]["query"] for e in events]
    known = dict(zip(ids, questions, strict=True))
    lost = sum(known.get(mark) != question for mark, question in tally.acknowledged.items())
    doubled = len(ids) - len(set(ids)) + len(questions) - len(set(questions))
    return {"in_log": len(events), "lost": lost, "doubled": doubled, "untold": len(set(ids) - set(tally.acknowledged))}


def milliseconds(waits: list[float], share: float) -> float:
    """The quantile of ``waits``, in milliseconds; nan of none."""
    return 1000 * float(np.quantile(waits, share)) if waits else float("nan")


def run(url: str | None, raters: int, seconds: float, kills: int, seed: int) -> dict[str, Any]:
    """One run on a new SQLite file, or on the database at ``url``."""
    with tempfile.TemporaryDirectory() as folder:
        storage = url or str(Path(folder) / "study.db")
        name = f"load-{secrets.token_hex(4)}"
        study = create_study(list(range(OPTIONS)), storage=storage, seed=seed, strategy="random", study_name=name)
        tokens = [str(study.add_rater(f"r{i}").token) for i in range(raters)]
        study.close()
        tally, done, took = asyncio.run(play(storage, name, tokens, seconds, kills, seed))
        p50, p95, p99 = (milliseconds(tally.waits, share) for share in (0.5, 0.95, 0.99))
        row = {
            "storage": "sqlite" if url is None else url.partition(":")[0],
            "raters": raters,
            "seconds": round(took, 1),
        }
        row |= {"kills": done, "acknowledged": len(tally.acknowledged), **check(storage, name, tally)}
        row |= {"errors": len(tally.errors), "lost_connections": tally.lost_connections}
        row |= {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "next_p95_ms": milliseconds(tally.nexts, 0.95)}
        for error in tally.errors[:3]:
            print(error)
        return row


def main() -> int:
    """Run, write, and fail if an answer was lost or doubled or a request failed."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--raters", type=int, default=50, help="how many raters at once")
    parser.add_argument("--seconds", type=float, default=60, help="how long they answer")
    parser.add_argument("--kills", type=int, default=30, help="of the second run, in which the server is killed")
    parser.add_argument("--url", help="a database other than a new SQLite file")
    given = parser.parse_args()
    seconds, kills = (3.0, 1) if given.quick else (given.seconds, given.kills)
    rows = [run(given.url, given.raters, seconds, 0, given.seed)]
    if kills:
        rows.append(
            run(given.url, given.raters, seconds if given.quick else max(seconds, 8.0 * kills), kills, given.seed)
        )
    print_rows(rows)
    save_table(given.out / "web_load.csv", rows, {"cores": os.cpu_count(), "load": os.getloadavg()[0]})
    return int(any(row["lost"] or row["doubled"] or row["untold"] or row["errors"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
