"""The loop of a simulation for policies and people that do not compile (boxes, solvers, real rankers)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.domain import is_finite
from prefopt.regret import Score, score, slate_regret
from prefopt.simulation.driver import Run


def run_plain(
    policy: Any,
    environment: Any,
    regrets: tuple[str, ...],
    rng: np.random.Generator,
    person: np.random.Generator,
    checkpoints: NDArray[np.int64],
) -> Run:
    """One repetition of any policy with any person, question by question.

    ``Run.recommended`` is (C,) on a finite domain and (C, d) on a box; slates are not recorded.
    """
    finite = is_finite(environment.domain)
    table = score(environment, regrets, np.arange(environment.domain.size)) if finite else None
    began = time.thread_time()
    policy.init(rng)
    total = np.zeros(len(regrets))
    rows, options = [], []
    t = 0
    for checkpoint in checkpoints:
        while t < checkpoint:
            slate = policy.ask(rng)
            alone = len(slate) == 1  # nobody is asked
            policy.tell(slate, Answer.alone() if alone else environment.answer(slate, t, person), rng)
            total += slate_losses(environment, regrets, table, slate)
            t += 1
        rows.append(total.copy())
        options.append(policy.best())
    return Run(np.array(rows), np.array(options), np.zeros((0, 0), dtype=np.int64), time.thread_time() - began)


def slate_losses(
    environment: Any, regrets: tuple[str, ...], table: Score | None, slate: NDArray[Any]
) -> NDArray[np.float64]:
    """The named regrets of one slate, (R,)."""
    local = table if table is not None else score(environment, regrets, slate)
    places = slate if table is not None else np.arange(len(slate))
    return np.array([slate_regret(local, r, places, len(slate)) for r in range(len(regrets))])
