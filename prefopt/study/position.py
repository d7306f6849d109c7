"""Does a rater choose by the place on the screen? An exact group-sequential test of the shown order of all answers.

The order is drawn anew for every question, so for a rater who looks at the options every place is equally probable to
hold the chosen one, whatever the options are and however noisy the rater is. Looking again and again at growing data
finds something by chance sooner or later; so the data are looked at after every 20th answer only, and the probability
of a false alarm is spent over the looks (Lan and DeMets 1983): half of it at the first, half of the rest at the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Answers between two looks.
EVERY = 20
#: Probability that a rater without bias is ever flagged, however many answers there will be.
SPENT = 0.025
#: Places of 2 to 6 options are whole numbers on this scale, from +SCALE for the first to -SCALE for the last.
SCALE = 60


@dataclass(frozen=True)
class Places:
    """Where on the screen the chosen options were.

    Attributes:
        first: how often the first option shown (the left or upper one) was chosen.
        last: how often the last one.
        answers: how many answers name an option.
        biased: the number of answers at the look that found a bias; None if none did.
        p: two-sided exact probability of places so far to one side, at that look, or now.
    """

    first: int = 0
    last: int = 0
    answers: int = 0
    biased: int | None = None
    p: float = 1.0


def examine(chosen: Sequence[tuple[int, int]]) -> Places:
    """The test on all answers so far.

    Args:
        chosen: for every answer in order, the place of the option chosen (0 is the first) and how many were shown.

    >>> examine([(0, 2)] * 18 + [(1, 2)] * 2)
    Places(first=18, last=2, answers=20, biased=20, p=0.0004...)
    """
    first, last = sum(place == 0 for place, _ in chosen), sum(place == size - 1 for place, size in chosen)
    unit = math.gcd(*(2 * SCALE // (size - 1) for _, size in chosen), SCALE)
    at = biased_at(chosen, unit)
    seen = chosen if at is None else chosen[:at]
    walk = np.ones(1)
    for _, size in seen:
        walk = step(walk, size, unit)
    total = sum(score(place, size, unit) for place, size in seen)
    if at is not None:
        first, last = sum(place == 0 for place, _ in seen), sum(place == size - 1 for place, size in seen)
    return Places(first, last, len(seen), at, float(min(1.0, _outside(walk, abs(total)))))


def biased_at(chosen: Sequence[tuple[int, int]], unit: int) -> int | None:
    """The number of answers at the first look that finds a bias."""
    walk, total, spent = np.ones(1), 0, 0.0
    for count, (place, size) in enumerate(chosen, start=1):
        walk = step(walk, size, unit)
        total += score(place, size, unit)
        if count % EVERY == 0:
            limit, spent = boundary(walk, spent, count // EVERY)
            if abs(total) >= limit:
                return count
            half = len(walk) // 2
            walk[np.abs(np.arange(-half, half + 1)) >= limit] = 0.0
    return None


def boundary(walk: FloatArray, spent: float, look: int) -> tuple[int, float]:
    """The smallest |sum of scores| that is a bias at this look, and what is spent after it.

    Args:
        walk: probabilities (2n + 1,) of the sums -n .. n, of those who have not been flagged before.
        spent: probability of having been flagged before.
        look: 1, 2, ...
    """
    allowed = SPENT * (1 - 0.5**look)
    limit = len(walk) // 2 + 1
    while limit > 1 and spent + _outside(walk, limit - 1) <= allowed:
        limit -= 1
    return limit, spent + _outside(walk, limit)


def score(place: int, size: int, unit: int) -> int:
    """+n for the first place, -n for the last, evenly between."""
    return (SCALE - place * (2 * SCALE // (size - 1))) // unit


def step(walk: FloatArray, size: int, unit: int) -> FloatArray:
    """The probabilities of the sums after one more answer, whose place is any of ``size`` alike."""
    reach = SCALE // unit
    step = np.zeros(2 * reach + 1)
    for place in range(size):
        step[reach + score(place, size, unit)] += 1 / size
    return np.convolve(walk, step)


def _outside(walk: FloatArray, limit: int) -> float:
    """Probability of a sum of at least ``limit`` to either side."""
    half = len(walk) // 2
    if limit > half:
        return 0.0
    return float(walk.sum()) if limit <= 0 else float(walk[: half - limit + 1].sum() + walk[half + limit :].sum())
