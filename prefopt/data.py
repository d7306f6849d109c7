"""What models learn from: counts of wins between options, or tries and wins of each option."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer

FloatArray = NDArray[np.float64]
Slate = NDArray[np.int64] | FloatArray


@dataclass
class Tally:
    """Tries n and wins s of each distinct option: all that a one-sided model needs.

    Attributes:
        tries: shape (K,), observations per option.
        wins: shape (K,), sum of their 0/1 outcomes (a tie adds one half).
    """

    tries: FloatArray
    wins: FloatArray

    @classmethod
    def empty(cls, size: int) -> Tally:
        """No observation of any of the ``size`` options."""
        return cls(np.zeros(size), np.zeros(size))

    def add(
        self, slate: NDArray[np.int64], wins: FloatArray, *, count_self: bool = True, only: int | None = None
    ) -> None:
        """Add every compared ordered pair: the row's option tried once more, with its share of the win.

        Args:
            slate: option indices, shape (m,).
            wins: shape (m, m), as ``Answer.wins``.
            count_self: whether a duel of an option with itself (a fair coin) counts.
            only: the position whose option is tried, the others being its opponents; None for all.
        """
        for j, option in enumerate(slate):
            if only not in (None, j):
                continue
            for k, other in enumerate(slate):
                seen = wins[j, k] + wins[k, j]
                if j != k and seen > 0 and (count_self or option != other):
                    self.tries[option] += seen
                    self.wins[option] += wins[j, k]


def win_counts(size: int, answers: Iterable[tuple[NDArray[np.int64], Answer]]) -> FloatArray:
    """W of shape (K, K): W[i, j] is how often option i beat option j over all ``answers``.

    >>> win_counts(3, [(np.array([0, 2]), Answer.duel(1))])[2, 0]
    np.float64(1.0)
    """
    counts = np.zeros((size, size))
    for slate, answer in answers:
        np.add.at(counts, (np.repeat(slate, len(slate)), np.tile(slate, len(slate))), answer.wins.reshape(-1))
    return counts
