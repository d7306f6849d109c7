"""CPU time of one question against the number of answers: policies on boxes next to BoTorch's PairwiseGP with EUBO.

    python benchmarks/question_time.py
    python benchmarks/question_time.py --methods eubo --dims 2,6 --answers 10,100,300,1000
    python benchmarks/question_time.py --limits 0.3,0.5,1 --dims 6 --answers 100,1000

Every method is given the same answers to the same random pairs, then goes on by itself: ask, answer, tell. What counts
is CPU time from the answer to the next question, with whatever the method refits on the way; one thread. All of one
row is measured in turns, so that ratios hold on a busy machine. The peer runs in its own environment (see
``tournament.py --setup-peers``); it takes a quarter of a minute a question after 300 answers, and is left out beyond.

With ``--limits`` the first question of a study that was just opened is asked with every ``timeout``: all answers have
to be learned of, so that long studies are cut short. Wall time, which wants an idle machine.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits
from tournament_parts.methods import Player, policy
from tournament_parts.peer import Peer, missing
from tournament_parts.suite import Person, person

from prefopt import Float, Space, create_study
from prefopt.answer import Answer
from prefopt.seeding import stream

PEER = "botorch-eubo"
#: Answers up to which the peer takes part, and its questions in a row.
PEER_ANSWERS, PEER_QUESTIONS = 300, 3
#: Questions of ours in a row: enough for several scheduled refits.
QUESTIONS = 20
Row = dict[str, Any]


def history(who: Person, answers: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Random pairs (answers, 2, d) and which of each won."""
    rng = stream(seed, answers)
    pairs = np.array([who.domain.sample(2, rng) for _ in range(answers)])
    return pairs, [who.choose(pair, t) for t, pair in enumerate(pairs)]


class Timed:
    """A player that was told the history and has asked once, so that whatever has to be compiled is."""

    def __init__(self, player: Player, clock: Callable[[], float]) -> None:
        self.player, self.clock = player, clock
        self.slate = player.ask()
        self.seconds: list[float] = []

    def go_on(self, who: Person, t: int) -> None:
        """Answer what is asked; count the CPU time of being told that and of asking again."""
        answer = Answer.duel(who.choose(self.slate, t))
        began = self.clock()
        self.player.tell(self.slate, answer)
        self.slate = self.player.ask()
        self.seconds.append(self.clock() - began)


def informed(name: str, who: Person, pairs: np.ndarray, winners: Sequence[int], seed: int) -> Player:
    """A policy that was told the history."""
    player = policy(name)(who.domain, m=2, budget=2 * len(pairs), seed=seed)
    for pair, winner in zip(pairs, winners, strict=True):
        player.tell(pair, Answer.duel(winner))
    return player


def measure(methods: Sequence[str], dim: int, answers: int, seed: int, *, peer: bool) -> list[Row]:
    """One row a method, all measured in turns."""
    who = person(f"anywhere-{dim}", seed)
    pairs, winners = history(who, answers, seed)
    players = {name: Timed(informed(name, who, pairs, winners, seed), time.thread_time) for name in methods}
    if peer:
        rival = Peer(PEER, dim, 2 * answers, seed)
        rival.feed(pairs, winners)
        players[PEER] = Timed(rival, lambda: rival.cpu)
    for t in range(answers, answers + QUESTIONS):
        for name, player in players.items():
            if name != PEER or t < answers + PEER_QUESTIONS:
                player.go_on(who, t)
    against = statistics.median(players[PEER].seconds) if peer else None
    return [row(name, dim, answers, player.seconds, against) for name, player in players.items()]


def limited(dim: int, answers: int, limit: float, seed: int) -> Row:
    """How long the first question after ``answers`` answers takes with a ``timeout`` of ``limit`` seconds."""
    who = person(f"anywhere-{dim}", seed)
    pairs, winners = history(who, answers, seed)
    made = create_study(Space([Float(f"x{i}", 0, 1) for i in range(dim)]), seed=seed)
    with closing(made) as study:
        rows = [(2 * t + w, 2 * t + 1 - w) for t, w in enumerate(winners)]
        study.import_tensors(pairs.reshape(-1, dim), rows, unit=True)
        study.progress()  # the log is read; nothing is learned of it yet
        began = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that it ran out of time
            query = study.ask(timeout=limit)
        taken = time.monotonic() - began
    about = {"dim": dim, "answers": answers, "timeout": limit, "seconds": round(taken, 3)}
    return {**about, "cut_short": query.fallback, "over": round(taken / limit - 1, 3)}


def row(name: str, dim: int, answers: int, seconds: Sequence[float], peer: float | None) -> Row:
    """Median, mean and largest time, and how many times faster than the peer's median."""
    median, mean = statistics.median(seconds), statistics.fmean(seconds)
    return {
        "dim": dim,
        "answers": answers,
        "method": name,
        "questions": len(seconds),
        "median": round(median, 6),
        "mean": round(mean, 6),
        "largest": round(max(seconds), 6),
        "peer_over_median": "" if peer is None else round(peer / median, 1),
        "peer_over_mean": "" if peer is None else round(peer / mean, 1),
    }


def figure(rows: Sequence[Row]) -> Figure:
    """One panel a number of dimensions: mean seconds a question against answers."""
    dims = list(dict.fromkeys(r["dim"] for r in rows))
    result = Figure(figsize=(3.6 * len(dims), 3.2), layout="constrained")
    for axis, dim in zip(result.subplots(1, len(dims), sharey=True, squeeze=False)[0], dims, strict=True):
        for i, name in enumerate(dict.fromkeys(r["method"] for r in rows)):
            mine = [(r["answers"], r["mean"]) for r in rows if (r["dim"], r["method"]) == (dim, name)]
            if mine:
                axis.loglog(*zip(*mine, strict=True), "o-", markersize=3, color=f"C{i}", label=name)
        axis.set_title(f"{dim} parameters", fontsize=10)
        axis.set_xlabel("answers")
        axis.grid(alpha=0.3)
    result.axes[0].set_ylabel("CPU seconds a question, mean")
    result.axes[0].legend(fontsize=7)
    return result


def main() -> None:
    """Run, print and save."""
    parser = arguments(__doc__.split("\n")[0])
    whole = {"type": lambda text: [int(x) for x in text.split(",")]}
    parser.add_argument("--methods", default="eubo,kernel-self-sparring", help="comma-separated policies")
    parser.add_argument("--dims", **whole, default=[2, 4, 6], help="numbers of parameters")
    parser.add_argument("--answers", **whole, default=[10, 100, 300, 1000], help="answers before the questions")
    parser.add_argument("--limits", type=lambda text: [float(x) for x in text.split(",")], default=[])
    options = parser.parse_args()
    dims, counts = (options.dims[:1], options.answers[:2]) if options.quick else (options.dims, options.answers)
    if options.limits:
        with threadpool_limits(1):
            found = [limited(d, n, limit, options.seed) for n in counts for d in dims for limit in options.limits]
        print_rows(found)
        save_table(options.out / "question_limits.csv", found, {"seed": options.seed, "threads": 1})
        return
    absent = missing(PEER)
    if absent:
        print(f"{PEER} is left out: {', '.join(absent)} not installed; see tournament.py --setup-peers")
    rows: list[Row] = []
    with threadpool_limits(1):
        for answers in counts:
            for dim in dims:
                peer = not absent and answers <= (10 if options.quick else PEER_ANSWERS)
                found = measure(options.methods.split(","), dim, answers, options.seed, peer=peer)
                print_rows(found)
                rows.extend(found)
    path = options.out / "question_time"
    save_table(path.with_suffix(".csv"), rows, {"seed": options.seed, "threads": 1, "peer": PEER})
    figure(rows).savefig(path.with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
