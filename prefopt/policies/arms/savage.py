"""SAVAGE: Urvoy, Clerot, Feraud, Naamane 2013, "Generic exploration and K-armed voting bandits".

Step numbers are those of Algorithm 1: the general form, which drops pairs that no longer matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, most_victories
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What SAVAGE remembers."""

    copeland: bool  # look for the Copeland winner instead of the Condorcet winner
    spread: float  # c(n) = sqrt(spread / n)
    W: NDArray[np.float64]  # wins, (K, K)
    matters: NDArray[np.bool_]  # pairs i < j still explored, (K, K)
    alive: NDArray[np.bool_]  # arms that may be the winner, (K,)
    sure: NDArray[np.int64]  # +1 if i surely beats j, -1 if it surely loses, 0 if open, (K, K)


@rule
def winner(state: State) -> int:
    """The arm alive that is ahead in most pairs."""
    arm = most_victories(state.W)
    if not state.alive[arm]:
        arm = int(np.argmax(state.alive))
    return arm


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The pair that matters and was compared least, ties random; the winner against itself at the end."""
    K = len(state.alive)
    fewest, ties = np.inf, 0
    for i in range(K):
        for j in range(i + 1, K):
            if state.matters[i, j]:
                n = state.W[i, j] + state.W[j, i]
                if n < fewest:
                    fewest, ties = n, 0
                if n == fewest:
                    ties += 1
    slate[0] = slate[1] = winner(state) if ties == 0 else 0
    skip = uniform_index(ties, rng) if ties > 0 else 0
    for i in range(K):
        for j in range(i + 1, K):
            if ties > 0 and state.matters[i, j] and state.W[i, j] + state.W[j, i] == fewest:
                if skip == 0:
                    slate[0], slate[1] = i, j
                skip -= 1
    return 2


@rule
def drop_condorcet(state: State, loser: int) -> None:
    """An arm that lost a pair surely is not the winner: none of its pairs matters."""
    state.alive[loser] = False
    for k in range(len(state.alive)):
        state.matters[loser, k] = state.matters[k, loser] = False


@rule
def count(row: NDArray[np.int64], value: int) -> int:
    """How often ``value`` occurs."""
    times = 0
    for x in row:
        if x == value:
            times += 1
    return times


@rule
def drop_copeland(state: State) -> None:
    """Arms whose largest possible score is below the smallest possible score of another are out."""
    K = len(state.alive)
    low, left = -1, 0
    for i in range(K):
        low = max(low, count(state.sure[i], 1))
    for i in range(K):
        if K - 1 - count(state.sure[i], -1) < low:
            state.alive[i] = False
        left += 1 if state.alive[i] else 0
    for i in range(K):
        for j in range(i + 1, K):
            if left == 1 or not (state.alive[i] or state.alive[j]):
                state.matters[i, j] = False


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; a pair whose interval excludes 1/2 is decided for good."""
    i, j = slate[0], slate[1]
    if i == j or not answered(wins):
        return
    state.W[i, j] += wins[0, 1]
    state.W[j, i] += wins[1, 0]
    n = state.W[i, j] + state.W[j, i]
    if state.sure[i, j] == 0 and abs(state.W[i, j] / n - 0.5) > math.sqrt(state.spread / n):
        up, down = (i, j) if 2.0 * state.W[i, j] > n else (j, i)
        state.sure[up, down], state.sure[down, up] = 1, -1
        state.matters[i, j] = state.matters[j, i] = False
        if state.copeland:
            drop_copeland(state)
        else:
            drop_condorcet(state, down)


@rule
def best(state: State) -> int:
    """The arm alive that is ahead in most pairs."""
    return winner(state)


@dataclass(kw_only=True)
class SAVAGE(FinitePolicy):
    """Sensitivity analysis of variables for generic exploration: explore what matters, then commit.

    Assumes a Condorcet winner (or only a Copeland winner with ``copeland``); aims at finding it, hence at
    strong (Copeland) regret; needs the horizon. A tie is half a win to each; a pair that was
    not compared is asked again. The radius sqrt(ln(K (K-1) T / delta) / (2n)) is that of the public C++ libraries.

    Args:
        copeland: look for the Copeland winner.
        delta: chance of a mistake, in (0, 1); None is 1/T.

    Source: Urvoy et al. 2013, Algorithm 1.
    """

    copeland: bool = False
    delta: float | None = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The horizon is known and delta is a probability."""
        self.need_horizon("savage")
        if self.delta is not None and not 0 < self.delta < 1:
            raise SettingError(f"savage needs 0 < delta < 1, got {self.delta}")

    def start(self, rng: np.random.Generator) -> State:
        """Every pair matters."""
        K, T = self.domain.size, max(1, self.horizon or 1)
        spread = 0.5 * math.log(max(2, K * (K - 1)) * T / (self.delta or 1.0 / T))
        pairs = np.triu(np.ones((K, K), dtype=np.bool_), 1)
        sure = np.zeros((K, K), dtype=np.int64)
        return State(bool(self.copeland), spread, np.zeros((K, K)), pairs, np.ones(K, dtype=np.bool_), sure)
