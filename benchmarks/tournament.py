"""Tournament: regret of what methods recommend after 10, 20, 40 and 80 answers, on many problems and seeds.

    python benchmarks/tournament.py                                   our methods on all problems
    python benchmarks/tournament.py --methods random --problems branin,face-3 --seeds 100-119 --m 4 --noise top
    python benchmarks/tournament.py --variant broad=kernel-self-sparring:lengthscale=0.4
    python benchmarks/tournament.py --setup-peers                     install the peers in their own environment
    python benchmarks/tournament.py --peers --jobs 1                  the peers on their problems
    python benchmarks/tournament.py --summary                         only tables and figures of what is there

A run that is already in the results is not made again, so that a stopped tournament goes on where it was. Runs are
ordered seed by seed: what is there can be read at any time.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from _common import arguments
from threadpoolctl import threadpool_limits
from tournament_parts.methods import METHODS, can_play, find_method, policy
from tournament_parts.peer import ONE_THREAD, PEERS, missing, setup
from tournament_parts.play import Row, run
from tournament_parts.report import report
from tournament_parts.store import KEY, append, read, save_manifest
from tournament_parts.suite import NOISES, SUITE, build

#: Where the peers play (they are slow), with the first noise and pairs only.
PEER_PROBLEMS = [
    *("forrester", "camel", "branin", "goldstein", "hartmann3", "hartmann6", "ackley4"),
    *("anywhere-4", "face-3", "corner-3"),
]
PEER_SEEDS = range(100, 110)
OUR_SEEDS = range(100, 120)
SHOWN = ("method", "problem", "seed", "m", "regret_10", "regret_20", "regret_40", "regret_80", "cpu_total", "failed")


class Variant(NamedTuple):
    """A policy with settings, under a name of its own."""

    name: str
    policy: str
    settings: dict[str, Any]


class Job(NamedTuple):
    """One run to make."""

    method: str
    problem: str
    seed: int
    budget: int
    m: int
    noise: str
    variant: Variant | None = None


def seeds_of(text: str) -> list[int]:
    """Single seeds and ranges: "100-102,7" is [100, 101, 102, 7]."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def variant_of(text: str) -> Variant:
    """``NAME=POLICY:key=value,key=value``; values are JSON, or else text."""
    name, _, rest = text.partition("=")
    base, _, pairs = rest.partition(":")
    if not (name and base):
        raise argparse.ArgumentTypeError(f"expected NAME=POLICY:key=value,key=value, got {text!r}")
    settings: dict[str, Any] = {}
    for pair in filter(None, pairs.split(",")):
        key, _, value = pair.partition("=")
        try:
            settings[key] = json.loads(value)
        except ValueError:
            settings[key] = value
    return Variant(name, base, settings)


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = arguments(__doc__ or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = {"type": lambda text: text.split(",")}
    parser.add_argument("--methods", **names, help="comma-separated; names of policies are allowed")
    parser.add_argument("--variant", type=variant_of, action="append", default=[], help="NAME=POLICY:key=value,...")
    parser.add_argument("--problems", **names, help=f"comma-separated, of {', '.join(SUITE)}")
    parser.add_argument("--seeds", type=seeds_of, help="such as 100-119 (0-49 are for tuning)")
    parser.add_argument("--m", type=int, default=2, help="options per question")
    parser.add_argument("--noise", choices=list(NOISES), default="random-pairs")
    parser.add_argument("--budget", type=int, default=80, help="answers per run")
    parser.add_argument("--peers", action="store_true", help="the peers on their problems and seeds")
    parser.add_argument("--summary", action="store_true", help="make no runs: tables and figures of what is there")
    parser.add_argument("--against", **names, help="methods to compare with (default: the peers that played)")
    parser.add_argument("--setup-peers", action="store_true", help="install the peers, and stop")
    return parser.parse_args(words)


def available(names: Sequence[str]) -> list[str]:
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
    variants = {v.name: v for v in options.variant}
    usual = list(PEERS) if options.peers else [] if variants else [name for name in METHODS if name not in PEERS]
    methods = [*available(options.methods or usual), *variants]
    problems = options.problems or (PEER_PROBLEMS if options.peers else SUITE)
    seeds = options.seeds or (PEER_SEEDS if options.peers else OUR_SEEDS)
    budget = options.budget
    if options.quick:
        problems, seeds, budget = options.problems or ["branin", "sushi-like"], [100], min(10, budget)
    most = {name: PEERS[name].answers if name in PEERS else budget for name in methods}
    domains = {problem: build(problem, 0).domain for problem in problems}
    return [
        Job(name, problem, seed, min(budget, most[name]), options.m, options.noise, variants.get(name))
        for seed in seeds
        for problem in problems
        for name in methods
        if can_play(variants[name].policy if name in variants else name, domains[problem], options.m)
    ]


def one_thread() -> None:
    """What is loaded in this worker, and what will be, runs on one thread."""
    threadpool_limits(1)
    os.environ.update(ONE_THREAD)


def make(job: Job) -> Row:
    """Make one run."""
    method = policy(job.variant.policy, **job.variant.settings) if job.variant else job.method
    return run(method, job.problem, job.seed, job.budget, job.m, job.noise, label=job.method)


def play(jobs: Sequence[Job], folder: Path, workers: int, *, again: bool = False) -> Iterator[Row]:
    """Make the runs that are not in ``folder`` yet (or all ``again``); each is written there when it ends."""
    done = set() if again else {(row["method"], *(row[k] for k in KEY)) for row in read(folder)}
    left = [job for job in jobs if (job.method, job.problem, job.seed, job.noise, job.m) not in done]
    print(f"{len(jobs)} runs, of which {len(jobs) - len(left)} are there", flush=True)
    with ProcessPoolExecutor(max_workers=workers, initializer=one_thread) as pool:
        for future in as_completed([pool.submit(make, job) for job in left]):
            row = future.result()
            append(folder, row)
            yield row


def main() -> None:
    """Run, save, compare."""
    options = parse()
    if options.setup_peers:
        setup()
        return
    folder = options.out / "tournament"
    if not options.summary:
        jobs = jobs_of(options)
        for name in dict.fromkeys(job.method for job in jobs):
            last = [job for job in jobs if job.method == name][-1]
            settings = last.variant._asdict() if last.variant else {}
            save_manifest(folder, name, {"variant": settings, "answers": last.budget})
        for row in play(jobs, folder, options.jobs, again=options.quick):
            print(*(row[c] for c in SHOWN), flush=True)
    rows = read(folder)
    there = list(dict.fromkeys(row["method"] for row in rows))
    others = [name for name in options.against or PEERS if name in there]
    asked = [*(options.methods or []), *(v.name for v in options.variant)]
    methods = [name for name in asked or there if name in there and name not in others]
    if methods or others:
        report(options.out, rows, methods, others, noise=options.noise, m=options.m, problems=options.problems)


if __name__ == "__main__":
    main()
