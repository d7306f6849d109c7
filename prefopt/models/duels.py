"""Duels told so far, pair by pair, and what they say of a process over pairs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prefopt.models.pairs import IntArray, PairPosterior, PairPrior, fit_pairs

FloatArray = NDArray[np.float64]


@dataclass
class Duels:
    """Tries and wins of distinct pairs [i, j] of options, in the order they came.

    Attributes:
        skew: whether [j, i] says the same as [i, j] and [i, i] says nothing; each pair is then kept in one order.
        mirror: whether every duel is kept in the other order too.
        at: the position of every pair.
        tries: answers to each pair, (q,).
        wins: those that the first option won, a tie one half, (q,).
        alpha: see ``PairPosterior``, (q,).

    >>> duels = Duels(skew=True)
    >>> duels.add(3, 1, 1.0, 0.0)
    >>> duels.at, duels.wins
    ({(1, 3): 0}, array([0.]))
    """

    skew: bool
    mirror: bool = False
    at: dict[tuple[int, int], int] = field(default_factory=dict)
    tries: FloatArray = field(default_factory=lambda: np.zeros(0))
    wins: FloatArray = field(default_factory=lambda: np.zeros(0))
    alpha: FloatArray = field(default_factory=lambda: np.zeros(0))

    def learn(self, options: NDArray[np.int64], wins: FloatArray, prior: PairPrior) -> None:
        """Add every compared pair of ``options`` (m,), as ``Answer.wins`` (m, m), and find the mode of f again.

        Newton's method starts from the last mode, so that it takes few steps.
        """
        for j in range(len(options)):
            for k in range(j + 1, len(options)):
                self.add(int(options[j]), int(options[k]), float(wins[j, k]), float(wins[k, j]))
        self.alpha = fit_pairs(prior, *self.pairs, self.tries, self.wins, self.alpha)

    def add(self, i: int, j: int, won: float, lost: float) -> None:
        """Option i beat j ``won`` times of ``won + lost``."""
        if won + lost == 0.0 or (self.skew and i == j):
            return
        if self.skew and i > j:
            i, j, won, lost = j, i, lost, won
        self._count(i, j, won + lost, won)
        if self.mirror:
            self._count(j, i, won + lost, lost)

    def _count(self, i: int, j: int, tries: float, wins: float) -> None:
        if (i, j) not in self.at:
            self.at[i, j] = len(self.at)
            self.tries, self.wins, self.alpha = (np.append(x, 0.0) for x in (self.tries, self.wins, self.alpha))
        self.tries[self.at[i, j]] += tries
        self.wins[self.at[i, j]] += wins

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """First and second options of the distinct pairs, (q,) each."""
        c, d = np.array(list(self.at), dtype=np.int64).reshape(-1, 2).T
        return c, d

    def posterior(self, prior: PairPrior) -> PairPosterior:
        """The process f under ``prior`` (the one that was learned with, perhaps on more options) after the duels."""
        return PairPosterior(prior, *self.pairs, self.tries, self.wins, self.alpha)
