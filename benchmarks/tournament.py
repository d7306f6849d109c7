"""Tournament: regret of what methods recommend after 10, 20, 40 and 80 answers, on many problems and seeds.

    python benchmarks/tournament.py                                   all methods that are there, all problems
    python benchmarks/tournament.py --methods random --problems branin,face-3 --seeds 100-119 --m 4 --noise top
    python benchmarks/tournament.py --setup-peers                     install the peers in their own environment
    python benchmarks/tournament.py --peers --jobs 1                  the peers on their problems, seed by seed

A run that is already in the results is not made again, so that a stopped tournament goes on where it was. Runs are
ordered seed by seed: what is there can be read at any time.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from _common import arguments
from threadpoolctl import threadpool_limits
from tournament_parts.methods import METHODS, find_method
from tournament_parts.peer import ONE_THREAD, PEERS, missing, setup
from tournament_parts.play import run
from tournament_parts.store import KEY, append, read, save_manifest
from tournament_parts.suite import NOISES, SUITE, is_box

#: Where the peers play (they are slow), with the first noise and pairs only.
PEER_PROBLEMS = [
    *("forrester", "camel", "branin", "goldstein", "hartmann3", "hartmann6", "ackley4"),
    *("anywhere-4", "face-3", "corner-3"),
]
PEER_SEEDS = range(100, 110)
OUR_SEEDS = range(100, 120)


class Job(NamedTuple):
    """One run to make."""

    method: str
    problem: str
    seed: int
    budget: int
    m: int
    noise: str


def seeds_of(text: str) -> list[int]:
    """Single seeds and ranges: "100-102,7" is [100, 101, 102, 7]."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def parse() -> argparse.Namespace:
    """The command line."""
    parser = arguments(__doc__ or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--methods", help="comma-separated; names of policies are allowed")
    parser.add_argument("--problems", help=f"comma-separated, of {', '.join(SUITE)}")
    parser.add_argument("--seeds", type=seeds_of, help="such as 100-119 (0-49 are for tuning)")
    parser.add_argument("--m", type=int, default=2, help="options per question")
    parser.add_argument("--noise", choices=list(NOISES), default="random-pairs")
    parser.add_argument("--budget", type=int, default=80, help="answers per run")
    parser.add_argument("--peers", action="store_true", help="the peers on their problems and seeds")
    parser.add_argument("--setup-peers", action="store_true", help="install the peers, and stop")
    return parser.parse_args()


def available(names: list[str]) -> list[str]:
    """The methods that can play; says which peers are left out, and why."""
    found = []
    for name in names:
        find_method(name)
        absent = missing(name) if name in PEERS else []
        if absent:
            print(f"{name} is left out: {', '.join(absent)} not installed; run with --setup-peers to add the peers")
        else:
            found.append(name)
    return found


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """The runs that were asked for, seed by seed."""
    names = list(PEERS) if options.peers else [name for name in METHODS if name not in PEERS]
    methods = available(options.methods.split(",") if options.methods else names)
    problems = options.problems.split(",") if options.problems else (PEER_PROBLEMS if options.peers else SUITE)
    seeds = options.seeds or (PEER_SEEDS if options.peers else OUR_SEEDS)
    if options.quick:
        problems, seeds = options.problems.split(",") if options.problems else ["branin", "sushi-like"], [100]
    return [
        Job(
            name, problem, seed, min(budget, PEERS[name].answers if name in PEERS else budget), options.m, options.noise
        )
        for seed in seeds
        for problem in problems
        for name in methods
        for budget in [10 if options.quick else options.budget]
        if name not in PEERS or (is_box(problem) and options.m == 2)
    ]


def one_thread() -> None:
    """What is loaded in this worker, and what will be, runs on one thread."""
    threadpool_limits(1)
    os.environ.update(ONE_THREAD)


def play(jobs: list[Job], folder: Path, workers: int) -> Iterator[dict[str, object]]:
    """Make the runs that are not in ``folder`` yet; each is written there when it ends."""
    done = {(row["method"], *(row[k] for k in KEY)) for row in read(folder)}
    left = [job for job in jobs if (job.method, job.problem, job.seed, job.noise, job.m) not in done]
    print(f"{len(jobs)} runs, of which {len(jobs) - len(left)} are there", flush=True)
    with ProcessPoolExecutor(max_workers=workers, initializer=one_thread) as pool:
        for future in as_completed([pool.submit(run, *job) for job in left]):
            row = future.result()
            append(folder, row)
            yield row


def main() -> None:
    """Run and save."""
    options = parse()
    if options.setup_peers:
        setup()
        return
    folder = options.out / "tournament"
    jobs = jobs_of(options)
    for name in dict.fromkeys(job.method for job in jobs):
        mine = [job for job in jobs if job.method == name]
        save_manifest(folder, name, {"answers": mine[0].budget, "problems": sorted({job.problem for job in mine})})
    for row in play(jobs, folder, options.jobs):
        shown = ("method", "problem", "seed", "m", "regret_10", "regret_20", "regret_40", "regret_80", "cpu_total")
        print(*(row[c] for c in (*shown, "failed")), flush=True)


if __name__ == "__main__":
    main()
