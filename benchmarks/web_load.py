"""Many raters at once: how long until an answer is acknowledged, and what a killed server loses (nothing).

    python benchmarks/web_load.py                # on an SQLite file
    python benchmarks/web_load.py --postgres     # and on a PostgreSQL server of its own (Debian's programs)

Raters answer as fast as they can, each over an own connection: first undisturbed for ``--seconds``, then while the
server is ended with SIGKILL ``--kills`` times, a moment after it has come up. Raters send again what was not
acknowledged, as the page does. At the end the log must hold every acknowledged answer exactly once.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from _common import HERE, arguments, print_rows, save_table
from _serving import Connection, Server

from prefopt import create_study, load_study

#: So many that there is always something to gain from more answers.
OPTIONS = 2000
#: Seconds from the moment the server is up until it is killed.
LIVES = (0.2, 1.5)


@dataclass
class Tally:
    """What the raters saw."""

    acknowledged: dict[str, int] = field(default_factory=dict)  # id of the answer -> its question
    waits: list[float] = field(default_factory=list)  # seconds until an answer was acknowledged, at first try
    nexts: list[float] = field(default_factory=list)  # seconds from then until the next question was there
    errors: list[str] = field(default_factory=list)
    sent_again: int = 0


async def rate(connection: Connection, stop: asyncio.Event, rng: np.random.Generator, tally: Tally) -> None:
    """One rater until ``stop``."""
    answered = None
    while not stop.is_set():
        status, screen, again = await connection.call_patiently("GET", "/api/screen")
        tally.sent_again += again
        if status != 200 or screen["state"] != "question":
            tally.errors.append(f"screen: {status} {screen}")
            return
        if answered is not None and not again:
            tally.nexts.append(time.monotonic() - answered)
        number = screen["question"]["number"]
        entry = {"id": secrets.token_hex(8), "question": number, "kind": "best", "options": [int(rng.integers(2))]}
        began = time.monotonic()
        status, said, again = await connection.call_patiently("POST", "/api/answers", entry)
        answered = time.monotonic()
        tally.sent_again += again
        if status != 200:
            tally.errors.append(f"answer: {status} {said}")
            return
        tally.acknowledged[entry["id"]] = number
        if not again:
            tally.waits.append(answered - began)
    connection.drop()


async def kill_again_and_again(server: Server, kills: int, rng: np.random.Generator) -> None:
    """End the server so many times, and start it again each time."""
    for _ in range(kills):
        await asyncio.sleep(float(rng.uniform(*LIVES)))
        server.kill()
        await asyncio.to_thread(server.begin)


async def play(server: Server, tokens: list[str], seconds: float, kills: int, seed: int) -> tuple[Tally, float, float]:
    """All raters at once, for so many seconds or kills; the seconds it took, and the processor's of the server."""
    tally, stop = Tally(), asyncio.Event()
    connections = [Connection(server.port, token) for token in tokens]
    await connections[0].call("GET", "/api/screen")  # whatever has to be loaded is
    rngs = [np.random.default_rng([seed, i]) for i in range(len(tokens) + 1)]
    began, cpu = time.monotonic(), server.cpu()
    raters = [rate(c, stop, rng, tally) for c, rng in zip(connections, rngs, strict=False)]
    rating = asyncio.gather(*raters)
    await kill_again_and_again(server, kills, rngs[-1])
    await asyncio.sleep(seconds)
    stop.set()
    await rating
    return tally, time.monotonic() - began, server.cpu() - cpu


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


def milliseconds(waits: list[float]) -> dict[str, float]:
    """Quantiles of ``waits``, in milliseconds; nan of none."""
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {name: round(1000 * float(np.quantile(waits or [np.nan], q)), 1) for name, q in shares.items()}


def run(url: str | None, raters: int, seconds: float, kills: int, seed: int) -> dict[str, Any]:
    """One run on a new SQLite file, or on the database at ``url``."""
    with tempfile.TemporaryDirectory() as folder:
        storage = url or str(Path(folder) / "study.db")
        name = f"load-{secrets.token_hex(4)}"
        study = create_study(list(range(OPTIONS)), storage=storage, seed=seed, strategy="random", study_name=name)
        tokens = [str(study.add_rater(f"r{i}").token) for i in range(raters)]
        study.close()
        server = Server(storage, name)
        began = time.process_time()
        try:
            tally, took, cpu = asyncio.run(play(server, tokens, 1.0 if kills else seconds, kills, seed))
        finally:
            server.end()
        mine = (time.process_time() - began) / took
        row: dict[str, Any] = {"storage": "sqlite" if url is None else url.partition(":")[0], "raters": raters}
        row |= {"seconds": round(took, 1), "kills": kills, "acknowledged": len(tally.acknowledged)}
        row |= {**check(storage, name, tally), "errors": len(tally.errors), "sent_again": tally.sent_again}
        row |= {f"answer_{name}_ms": value for name, value in milliseconds(tally.waits).items()}
        row |= {f"next_{name}_ms": value for name, value in milliseconds(tally.nexts).items()}
        row |= {"cpu_server": "" if kills else round(cpu / took, 2), "cpu_raters": round(mine, 2)}
        for error in tally.errors[:3]:
            print(error)
        return row


@contextmanager
def databases(postgres: bool, url: str | None) -> Any:
    """Where to keep the studies, in turn; None is an SQLite file."""
    if not postgres:
        yield [url]
        return
    sys.path.append(str(HERE.parent / "tests"))
    from postgres import run as execute
    from postgres import server as start

    with start() as origin:
        execute(f"{origin}/postgres", "CREATE DATABASE load")
        yield [url, f"{origin}/load"]


def main() -> int:
    """Run, write, and fail if an answer was lost or doubled or a request failed."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--raters", type=int, default=50, help="how many raters at once")
    parser.add_argument("--seconds", type=float, default=60, help="how long they answer undisturbed")
    parser.add_argument("--kills", type=int, default=30, help="how often the server is killed in the second run")
    parser.add_argument("--url", help="a database other than a new SQLite file")
    parser.add_argument("--postgres", action="store_true", help="also on a new PostgreSQL server")
    given = parser.parse_args()
    seconds, kills = (3.0, 1) if given.quick else (given.seconds, given.kills)
    rows, busy = [], os.getloadavg()
    with databases(given.postgres, given.url) as urls:
        for url in urls:
            for disturbed in (0, kills) if kills else (0,):
                rows.append(run(url, given.raters, seconds, disturbed, given.seed))
                print_rows(rows[-1:])
    manifest = {"seed": given.seed, "options": OPTIONS, "cores": os.cpu_count(), "load_before_and_after": [busy[0]]}
    manifest["load_before_and_after"] += [os.getloadavg()[0]]
    save_table(given.out / "web_load.csv", rows, manifest)
    return int(any(row["lost"] or row["doubled"] or row["untold"] or row["errors"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
