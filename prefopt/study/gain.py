"""Is it worth going on? What more answers are expected to be worth (preposterior analysis; Raiffa and Schlaifer 1961).

Before they are given, more answers about an option move its posterior mean by a normal amount of variance
s^4 / (s^2 + r), where s^2 is its variance and r that of what the answers say; whoever then takes the largest mean gains
E max(mean after) - max(mean now), as in the knowledge gradient (Frazier, Powell, Dayanik 2008). The answers are shared
out among the few options for which that is largest, which are taken as independent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from prefopt.domain import Box
from prefopt.models.beliefs import OUTCOME
from prefopt.seeding import stream
from prefopt.study.asking import Asker
from prefopt.study.fold import State
from prefopt.study.learner import RECOMMEND
from prefopt.study.recommend import ENOUGH_SHOWN, believed

FloatArray = NDArray[np.float64]

#: So many more answers are looked ahead.
TEN = 10
#: A smaller gain in the chance to win is not worth ten answers.
SMALL = 0.01
#: Points of a continuous space that were not shown and might be better.
ELSEWHERE = 128
#: Among so many options at most the answers are shared out, and points of the integral.
MOST, POINTS = 8, 400


def expected_gain(state: State, asker: Asker, answers: int = TEN) -> float:
    """How much larger the chance to win of what is recommended will be after ``answers`` more, in expectation."""
    options: list[Any] = [state.options.option(i) for i in range(len(state.options))]
    domain, rng = state.space.domain, stream(state.record.seed, state.last, RECOMMEND, 1)
    if isinstance(domain, Box):
        options += [state.options.plain(row) for row in domain.sample(ELSEWHERE, rng)]
    out = state.infeasible()
    among = np.array([i not in out for i in range(len(options))])
    mean, sd, _ = believed(state, asker.policy(state), options, among, rng)[1]
    return gain(mean[among], sd[among], answers * min(state.record.query_size, int(among.sum())))


def gain(mean: FloatArray, sd: FloatArray, looks: int) -> float:
    """The largest expected gain of ``looks`` comparisons of options with normal beliefs, shared out among 2, 3, ...

    >>> wide, narrow = np.array([0.2, 0.2]), np.array([0.02, 0.02])
    >>> even = np.array([0.5, 0.5])
    >>> round(gain(even, wide, 10), 3), round(gain(even, narrow, 10), 3)
    (0.091, 0.001)
    """
    promising = np.argsort(-(mean + sd), kind="stable")
    best = 0.0
    for k in range(2, min(MOST, len(mean)) + 1):
        chosen = promising[:k]
        moves = sd[chosen] ** 2 / np.sqrt(sd[chosen] ** 2 + OUTCOME * k / looks)
        best = max(best, expected_largest(mean[chosen], moves, float(mean.max()), 1.0) - float(mean.max()))
    return best


def expected_largest(mean: FloatArray, sd: FloatArray, least: float, most: float = math.inf) -> float:
    """E min(most, max(least, X_1, ..., X_k)) of independent normals, by the integral of P(some X_i > x) over x.

    >>> round(expected_largest(np.full(2, 0.6), np.full(2, 0.8), 0.6, 1.0), 2)  # chances, at most 1
    0.86
    """
    x = np.linspace(least, max(least, min(most, float((mean + 8 * sd).max()))) + 1e-12, POINTS)
    below = np.prod(ndtr((x[:, None] - mean) / np.maximum(sd, 1e-12)), axis=1)
    return least + float(np.trapezoid(1 - below, x))


def little_to_gain(state: State, asker: Asker) -> str:
    """Why it is reasonable to stop although nobody is sure of the best, or ""."""
    if state.answered < ENOUGH_SHOWN:
        return ""
    found = expected_gain(state, asker)
    if found >= SMALL:
        return ""
    return f"ten more answers are expected to raise the chance to win by less than {SMALL:.0%}"
