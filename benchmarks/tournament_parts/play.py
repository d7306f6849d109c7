"""One run of one method: questions, answers, and what it recommends on the way."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from tournament_parts.methods import Maker, Player, find_method
from tournament_parts.suite import Person, key_of, person

FloatArray = NDArray[np.float64]
#: After how many answers the recommendation is scored.
BUDGETS = (10, 20, 40, 80)
Row = dict[str, Any]
COLUMNS = [
    *("method", "problem", "seed", "noise", "m", "answers", "wrong"),
    *(f"{what}_{n}" for what in ("regret", "cumulative", "cpu") for n in BUDGETS),
    *("cpu_total", "recommend_cpu", "failed"),
]


def run(
    method: str | Maker,
    problem: str,
    seed: int,
    budget: int = 80,
    m: int = 2,
    noise: str = "random-pairs",
    label: str = "",
) -> Row:
    """Let ``method`` ask ``budget`` questions of person ``seed`` of ``problem``.

    Args:
        method: a name (see ``methods.METHODS``), or a maker of a player.
        problem: a name of ``suite.SUITE``.
        seed: of the person and of the method. By custom 0 to 49 are for tuning, 100 and more for results.
        budget: questions.
        m: options per question.
        noise: a name of ``suite.NOISES``.
        label: name of the method in the row.

    Returns:
        One row, with ``COLUMNS``. ``regret_n``: 1 - utility of what is recommended after n answers; ``cumulative_n``:
        sum over the first n questions of the mean of 1 - utility of what was shown; ``cpu_n``: median CPU seconds of
        the questions from the budget before n up to n (ask and tell); ``recommend_cpu``: mean CPU seconds of a
        recommendation; ``wrong``: answers that named another than the best option shown. If the method raises, the
        cells after that stay empty and ``failed`` says why.

    >>> row = run("random", "branin", 100, budget=10)
    >>> row["answers"], 0 <= row["regret_10"] <= 1, row["regret_20"]
    (10, True, '')
    """
    who = person(problem, seed, noise)
    name = label or (method if isinstance(method, str) else getattr(method, "__name__", "method"))
    row: Row = {**dict.fromkeys(COLUMNS, ""), "method": name, "problem": problem, "seed": seed, "noise": noise, "m": m}
    make = find_method(method) if isinstance(method, str) else method
    game = Game(who, m)
    try:
        player = make(who.domain, m=m, budget=budget, seed=key_of(problem) + seed)
        game.play(player, budget)
    except Exception as error:  # a failing method is a result, and the others go on
        row["failed"] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return {**row, **game.summary()}


class Game:
    """What happened in one run so far."""

    def __init__(self, who: Person, m: int) -> None:
        self.who, self.m = who, m
        self.loss: list[float] = []  # per question, mean of 1 - utility over the slate
        self.seconds: list[float] = []  # per question
        self.wrong = 0
        self.regret: dict[int, float] = {}  # by budget
        self.recommending: list[float] = []  # seconds

    def play(self, player: Player, budget: int) -> None:
        """Ask ``budget`` questions and score the recommendation at every budget on the way."""
        for t in range(budget):
            began = cpu(player)
            slate = player.ask()
            asked = cpu(player)
            u = self.who.utility(slate)
            winner = self.who.choose(slate, t)
            answer = Answer.best(winner, len(u)) if len(u) > 1 else Answer.alone()
            told = cpu(player)
            player.tell(slate, answer)
            self.seconds.append(asked - began + cpu(player) - told)
            self.wrong += bool(u[winner] < u.max())
            self.loss.append(float(1 - u.mean()))
            if t + 1 in BUDGETS:
                self.recommend(player)

    def recommend(self, player: Player) -> None:
        """Score what is recommended now."""
        began = cpu(player)
        best = player.recommend()
        self.recommending.append(cpu(player) - began)
        self.regret[len(self.loss)] = float(1 - self.who.utility(np.asarray(best)[None])[0])

    def summary(self) -> Row:
        """The cells of a row that are known."""
        cells: Row = {"answers": len(self.loss), "wrong": self.wrong, "cpu_total": round(sum(self.seconds), 4)}
        for before, n in zip((0, *BUDGETS), BUDGETS, strict=False):
            if n in self.regret:
                cells[f"regret_{n}"] = round(self.regret[n], 6)
                cells[f"cumulative_{n}"] = round(sum(self.loss[:n]), 4)
                cells[f"cpu_{n}"] = round(float(np.median(self.seconds[before:n])), 6)
        if self.recommending:
            cells["recommend_cpu"] = round(float(np.mean(self.recommending)), 6)
        return cells


def cpu(player: Player) -> float:
    """CPU seconds so far: the player's own count, or this process's."""
    own = getattr(player, "cpu", None)
    return time.process_time() if own is None else float(own)
