"""Circular triads: a over b, b over c, and c over a (Kendall and Babington Smith 1940)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: More options than this are not looked at: the triads of a study are among the options met several times.
MOST_OPTIONS = 400


@dataclass(frozen=True)
class Triads:
    """How transitive preferences are.

    Attributes:
        circular: how many triads go round in a circle.
        compared: triads of which all three pairs were compared, with a winner each.
        consistency: 1 without circles, 0 for as many as possible if all pairs of all options were compared (Kendall's
            coefficient of consistency), and otherwise for as many as coin tosses give, a quarter; it may be below 0
            then. None if there is no triad.
    """

    circular: int = 0
    compared: int = 0
    consistency: float | None = None


def count_triads(won: Mapping[tuple[int, int], float]) -> Triads:
    """Triads among options of which ``won[a, b]`` says how often a was preferred to b; the majority counts.

    >>> count_triads({(0, 1): 1, (1, 2): 1, (2, 0): 1})
    Triads(circular=1, compared=1, consistency=0.0)
    """
    options = sorted({i for pair in won for i in pair})[:MOST_OPTIONS]
    row = {option: i for i, option in enumerate(options)}
    wins = np.zeros((len(options), len(options)))
    for (a, b), times in won.items():
        if a in row and b in row:
            wins[row[a], row[b]] += times
    over = (wins > wins.T).astype(np.float64)
    either = over + over.T
    circular = round(np.trace(over @ over @ over) / 3)
    compared = round(np.trace(either @ either @ either) / 6)
    if not compared:
        return Triads()
    n = len(options)
    complete = compared == n * (n - 1) * (n - 2) // 6
    most = (n**3 - (n if n % 2 else 4 * n)) / 24 if complete else compared / 4
    return Triads(circular, compared, 1 - circular / most)
