"""Do raters agree, beyond what coin tosses would? Only questions that at least two of them have answered can tell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Pair:
    """How alike two raters answered their common questions.

    Attributes:
        raters: who.
        questions: how many both answered, ties left out.
        alike: in how many both chose the same option.
        coefficient: 1 if always, 0 if as often as by chance, negative if less often.
        p: two-sided exact probability of being so far from chance if both tossed coins.
    """

    raters: tuple[str | None, str | None]
    questions: int
    alike: int
    coefficient: float
    p: float


@dataclass(frozen=True)
class Agreement:
    """How alike all raters answered.

    Attributes:
        questions: those that at least two raters answered, ties left out.
        coefficient: Kendall's coefficient of agreement u (Kendall and Babington Smith 1940), though not everybody
            answered everything: the share of pairs of answers that are alike, scaled to 0 for chance and 1 for always.
        pairs: every two raters who have common questions.
    """

    questions: int
    coefficient: float
    pairs: tuple[Pair, ...]


Answers = Mapping[str | None, Mapping[tuple[Hashable, int], int]]


def agree(answers: Answers) -> Agreement | None:
    """The agreement of raters; None if no question was answered by two.

    Args:
        answers: of every rater, by question and how many options it shows: the option chosen.

    >>> agree({"a": {("q", 2): 0, ("r", 2): 1}, "b": {("q", 2): 0, ("r", 2): 0}}).coefficient
    0.0
    """
    pairs, alike, chance, asked, shared = [], 0, 0.0, 0, set()
    for one, other in combinations(sorted(answers, key=str), 2):
        common = [question for question in answers[one] if question in answers[other]]
        if common:
            same = sum(answers[one][question] == answers[other][question] for question in common)
            by_chance = [1 / size for _, size in common]
            expected = sum(by_chance)
            coefficient = (same - expected) / (len(common) - expected)
            pairs.append(Pair((one, other), len(common), same, coefficient, two_sided(same, by_chance)))
            alike, chance, asked = alike + same, chance + expected, asked + len(common)
            shared.update(common)
    return Agreement(len(shared), (alike - chance) / (asked - chance), tuple(pairs)) if pairs else None


def two_sided(count: int, chances: list[float]) -> float:
    """Exact probability that so many of independent events with ``chances`` happen, or a number as improbable.

    >>> two_sided(14, [0.5] * 16)
    0.00418...
    """
    spread = np.ones(1)
    for p in chances:
        spread = np.convolve(spread, [1 - p, p])
    return float(min(1.0, spread[spread <= spread[count] * (1 + 1e-9)].sum()))
