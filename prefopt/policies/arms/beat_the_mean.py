"""Beat the Mean: Yue & Joachims 2011, "Beat the mean bandit", online (regret) version.

Step numbers are those of Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What Beat the Mean remembers."""

    spread: float  # c(n) = sqrt(spread / n)
    self_pairs: bool  # whether an arm may be drawn against itself
    arms: NDArray[np.int64]  # working set W, those with the fewest recorded duels first, then the dropped, (K,)
    size: NDArray[np.int64]  # length of W, how many of it have the fewest duels, (2,)
    n: NDArray[np.float64]  # duels recorded for i (the first of the pair) against j, (K, K)
    w: NDArray[np.float64]  # wins of i among them, (K, K)
    n_b: NDArray[np.float64]  # sum of n over the working set, (K,)
    w_b: NDArray[np.float64]  # sum of w over the working set, (K,)
    mean: NDArray[np.float64]  # how often b beats the mean arm, P-hat_b, (K,)


@rule
def place(state: State, b: int) -> int:
    """Where arm b stands in the working set, or -1."""
    for k in range(state.size[0]):
        if state.arms[k] == b:
            return k
    return -1


@rule
def swap(arms: NDArray[np.int64], k: int, h: int) -> None:
    """Let two arms change places."""
    arm = arms[k]
    arms[k] = arms[h]
    arms[h] = arm


@rule
def regroup(state: State) -> None:
    """Put the arms with the fewest recorded duels first."""
    fewest, size = np.inf, 0
    for k in range(state.size[0]):
        duels = state.n_b[state.arms[k]]
        if duels < fewest:
            fewest, size = duels, 0
        if duels == fewest:
            swap(state.arms, k, size)
            size += 1
    state.size[1] = size


@rule
def renew(state: State, b: int) -> None:
    """P-hat_b = w_b / n_b, 1/2 before the first duel of b."""
    state.mean[b] = state.w_b[b] / state.n_b[b] if state.n_b[b] > 0.0 else 0.5


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The arm with the fewest recorded duels, ties random, against a random one."""
    if state.size[0] == 1:
        slate[0] = slate[1] = state.arms[0]
        return 2
    first = uniform_index(state.size[1], rng)
    if state.self_pairs:
        second = uniform_index(state.size[0], rng)
    else:
        second = uniform_index(state.size[0] - 1, rng)
        second += 1 if second >= first else 0
    slate[0] = state.arms[first]  # 8
    slate[1] = state.arms[second]  # 9
    return 2


@rule
def drop(state: State, worst: int) -> None:
    """Take the worst arm out of the working set, and its duels out of the means of the others."""
    state.size[0] -= 1
    swap(state.arms, worst, state.size[0])  # 14
    out = state.arms[state.size[0]]
    for k in range(state.size[0]):
        b = state.arms[k]
        state.n_b[b] -= state.n[b, out]
        state.w_b[b] -= state.w[b, out]
        renew(state, b)


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Record the duel for the first arm only; drop the worst arm once it is clearly below the best."""
    i, j = slate[0], slate[1]
    at = place(state, i)
    if not answered(wins) or at < 0 or place(state, j) < 0:
        return
    if i == j and (not state.self_pairs or state.size[0] == 1):
        return
    state.n[i, j] += wins[0, 1] + wins[1, 0]
    state.w[i, j] += wins[0, 1]
    state.n_b[i] += wins[0, 1] + wins[1, 0]
    state.w_b[i] += wins[0, 1]  # 10-12
    renew(state, i)
    if at < state.size[1]:
        state.size[1] -= 1
        swap(state.arms, at, state.size[1])
    if state.size[1] == 0:
        regroup(state)
    low, high, worst = 2.0, -1.0, 0
    for k in range(state.size[0]):
        p = state.mean[state.arms[k]]
        high = max(high, p)
        if p < low:
            low, worst = p, k
    fewest = state.n_b[state.arms[0]]
    if fewest > 0.0 and low + math.sqrt(state.spread / fewest) <= high - math.sqrt(state.spread / fewest):  # 13
        drop(state, worst)
        regroup(state)


@rule
def best(state: State) -> int:
    """The arm of the working set with the largest mean."""
    arm = state.arms[0]
    for k in range(1, state.size[0]):
        if state.mean[state.arms[k]] > state.mean[arm]:
            arm = state.arms[k]
    return int(arm)


@dataclass(kw_only=True)
class BeatTheMean(FinitePolicy):
    """Beat the Mean: explore by comparing with the average arm, then commit.

    Assumes a total order with relaxed stochastic transitivity and the stochastic triangle inequality; aims at
    strong regret; needs the horizon. A tie is half a win to each; a pair that was not compared is
    asked again.

    Args:
        gamma: relaxation of transitivity, >= 1.
        tight: with gamma = 1, use the radius sqrt(ln(2TK)/n) (the paper's tightened one, taken from a public
            implementation that cites its equation 9) in place of 3 gamma^2 sqrt(ln(2TK)/n).
        self_pairs: draw the opponent from the whole working set, as the pseudo-code is written; an arm drawn against
            itself records a coin, which moves its mean towards 1/2 and makes the search longer. Implementations
            differ; by default the arm itself is left out.

    Source: Yue & Joachims 2011, Algorithm 1.
    """

    gamma: float = 1.0
    tight: bool = True
    self_pairs: bool = False
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The horizon is known and gamma is a relaxation."""
        self.need_horizon("beat-the-mean")
        if not self.gamma >= 1:
            raise SettingError(f"beat-the-mean needs gamma >= 1, got {self.gamma}")

    def start(self, rng: np.random.Generator) -> State:
        """Every arm works; nothing recorded."""
        K = self.domain.size
        factor = 1.0 if self.tight and self.gamma == 1 else 3.0 * self.gamma**2
        spread = factor**2 * math.log(2 * max(1, self.horizon or 1) * K)
        pairs, zeros = np.zeros((K, K)), np.zeros(K)
        tables = pairs, pairs.copy(), zeros, zeros.copy(), zeros + 0.5
        return State(spread, bool(self.self_pairs), np.arange(K), np.array([K, K]), *tables)
