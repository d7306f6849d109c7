"""Small pieces that many rules share; each compiles inside a rule and runs as plain Python outside of one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.base import rule

Generator = np.random.Generator


@rule
def uniform_index(n: int, rng: Generator) -> int:
    """A uniform index 0 .. n-1."""
    return int(rng.random() * n)


@rule
def argmax_random(values: NDArray[Any], rng: Generator, skip: int = -1, sign: int = 1) -> int:
    """The index of the largest value (smallest for ``sign`` -1), uniform among exact ties; draws only at a tie.

    Index ``skip`` is left out; -1 if none is left.
    """
    best, ties = -1, 1
    for i in range(len(values)):
        if i == skip:
            continue
        if best < 0 or sign * values[i] > sign * values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
            if rng.random() * ties < 1.0:
                best = i
    return best


@rule
def argmin_random(values: NDArray[Any], rng: Generator, skip: int = -1) -> int:
    """The index of the smallest value, see ``argmax_random``."""
    return argmax_random(values, rng, skip, -1)


@rule
def duel_sign(wins: NDArray[np.float64], rng: Generator) -> int:
    """+1 if the first of a pair won, -1 if the second; a tie is a fair coin, 0 is a pair that was not compared."""
    won, lost = wins[0, 1], wins[1, 0]
    if won == lost:
        return 0 if won == 0.0 else 1 if rng.random() < 0.5 else -1
    return 1 if won > lost else -1


@rule
def lowest_value(values: NDArray[Any]) -> Any:
    """The smallest value (numba's ``min`` allocates)."""
    low = values[0]
    for i in range(1, len(values)):
        low = min(low, values[i])
    return low


@rule
def highest_value(values: NDArray[Any]) -> Any:
    """The largest value."""
    high = values[0]
    for i in range(1, len(values)):
        high = max(high, values[i])
    return high


@rule
def best_rate(wins: NDArray[Any], losses: NDArray[Any], prior: float) -> int:
    """The first arm with the largest (wins + prior) / (wins + losses + 2 prior)."""
    top, arm = -1.0, 0
    for i in range(len(wins)):
        rate = (wins[i] + prior) / (wins[i] + losses[i] + 2.0 * prior)
        if rate > top:
            top, arm = rate, i
    return arm


@rule
def beta_draw(a: float, b: float, rng: Generator) -> float:
    """A Beta(a, b) draw from two gamma draws."""
    x = rng.standard_gamma(a)
    return x / (x + rng.standard_gamma(b))


@rule
def kl_bernoulli(p: float, q: float) -> float:
    """d(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)), with 0 ln 0 = 0 (q inside (0, 1))."""
    value = 0.0
    if p > 0.0:
        value += p * math.log(p / q)
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return value
