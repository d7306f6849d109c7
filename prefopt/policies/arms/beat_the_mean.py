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
    working: NDArray[np.bool_]  # working set W, (K,)
    n: NDArray[np.float64]  # duels recorded for i (the first of the pair) against j, (K, K)
    w: NDArray[np.float64]  # wins of i among them, (K, K)
    n_b: NDArray[np.float64]  # sum of n over the working set, (K,)
    w_b: NDArray[np.float64]  # sum of w over the working set, (K,)
    left: NDArray[np.int64]  # size of the working set, (1,)


@rule
def mean(state: State, b: int) -> float:
    """P-hat_b: how often b beats the mean arm, 1/2 before its first duel."""
    return float(state.w_b[b] / state.n_b[b]) if state.n_b[b] > 0.0 else 0.5


@rule
def leader(state: State) -> int:
    """The arm of the working set with the largest mean."""
    top, arm = -1.0, 0
    for b in range(len(state.n_b)):
        if state.working[b] and mean(state, b) > top:
            top, arm = mean(state, b), b
    return arm


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The arm with the fewest recorded duels against a random other one."""
    if state.left[0] == 1:
        slate[0] = slate[1] = leader(state)
        return 2
    arm, ties = -1, 1
    for b in range(len(state.n_b)):
        if state.working[b]:
            if arm < 0 or state.n_b[b] < state.n_b[arm]:
                arm, ties = b, 1
            elif state.n_b[b] == state.n_b[arm]:
                ties += 1
                if rng.random() * ties < 1.0:
                    arm = b  # 8
    slate[0] = arm
    skip = uniform_index(state.left[0] - 1, rng)
    for b in range(len(state.n_b)):
        if state.working[b] and b != arm:
            if skip == 0:
                slate[1] = b  # 9
            skip -= 1
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Record the duel for the first arm only; drop the worst arm once it is clearly below the best."""
    i, j = slate[0], slate[1]
    if i == j or not answered(wins) or not (state.working[i] and state.working[j]):
        return
    state.n[i, j] += wins[0, 1] + wins[1, 0]
    state.w[i, j] += wins[0, 1]
    state.n_b[i] += wins[0, 1] + wins[1, 0]
    state.w_b[i] += wins[0, 1]  # 10-12
    fewest, low, high, worst = np.inf, 2.0, -1.0, i
    for b in range(len(state.n_b)):
        if state.working[b]:
            fewest = min(fewest, state.n_b[b])
            p = mean(state, b)
            high = max(high, p)
            if p < low:
                low, worst = p, b
    if fewest > 0.0 and low + math.sqrt(state.spread / fewest) <= high - math.sqrt(state.spread / fewest):  # 13
        state.working[worst] = False
        state.left[0] -= 1
        for b in range(len(state.n_b)):
            state.n_b[b] -= state.n[b, worst]  # 14
            state.w_b[b] -= state.w[b, worst]


@rule
def best(state: State) -> int:
    """The arm of the working set with the largest mean."""
    return leader(state)


@dataclass(kw_only=True)
class BeatTheMean(FinitePolicy):
    """Beat the Mean: explore by comparing with the average arm, then commit.

    Assumes a total order with relaxed stochastic transitivity and the stochastic triangle inequality; aims at
    strong regret; needs the horizon. A tie is half a win to each; a pair that was not compared is
    asked again. Whether an arm may be drawn against itself differs between implementations; here it may not.

    Args:
        gamma: relaxation of transitivity, >= 1.
        tight: with gamma = 1, use the radius sqrt(ln(2TK)/n) (the paper's tightened one, taken from a public
            implementation that cites its equation 9) in place of 3 gamma^2 sqrt(ln(2TK)/n).

    Source: Yue & Joachims 2011, Algorithm 1.
    """

    gamma: float = 1.0
    tight: bool = True
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The horizon is known and gamma is a relaxation."""
        if self.horizon is None:
            raise SettingError("beat-the-mean needs the number of rounds it will play: pass horizon=...")
        if not self.gamma >= 1:
            raise SettingError(f"beat-the-mean needs gamma >= 1, got {self.gamma}")

    def start(self, rng: np.random.Generator) -> State:
        """Every arm works; nothing recorded."""
        K = self.domain.size
        factor = 1.0 if self.tight and self.gamma == 1 else 3.0 * self.gamma**2
        spread = factor**2 * math.log(2 * max(1, self.horizon or 1) * K)
        pairs, arms = np.zeros((K, K)), np.zeros(K)
        return State(spread, np.ones(K, dtype=np.bool_), pairs, pairs.copy(), arms, arms.copy(), np.array([K]))
