"""MultiSBM: Ailon, Karnin, Joachims 2014, "Reducing dueling bandits to cardinal bandits", Algorithm 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bandits import UNSEEN, ucb1_learn, ucb1_pull
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What the K singleton bandits remember."""

    factor: float  # index = mean + sqrt(factor ln n / n_a)
    left: NDArray[np.int64]  # left arm: the right arm of the step before, (1,)
    t: NDArray[np.int64]  # pulls of each bandit, (K,)
    n: NDArray[np.float64]  # pulls of each bandit's arms, (K, K)
    mean: NDArray[np.float64]  # mean rewards, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(n), (K, K)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The left arm's bandit pulls the right arm."""
    left = state.left[0]
    slate[0] = left
    slate[1] = ucb1_pull(state.mean[left], state.r[left], state.factor * math.log(max(1, state.t[left])), rng)
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Reward the left arm's bandit if the right arm won; the right arm moves to the left."""
    if wins[0, 1] + wins[1, 0] > 0.0:
        left, right = slate[0], slate[1]
        ucb1_learn(state.mean[left], state.r[left], state.n[left], right, wins[1, 0])
        state.t[left] += 1
        state.left[0] = right


@rule
def best(state: State) -> int:
    """The arm that was on the right most often."""
    most, arm = -1.0, 0
    for a in range(len(state.t)):
        pulls = 0.0
        for left in range(len(state.t)):
            pulls += state.n[left, a]
        if pulls > most:
            most, arm = pulls, a
    return arm


@dataclass(kw_only=True)
class MultiSBM(FinitePolicy):
    """One UCB1 for every left arm.

    Assumes utilities with a linear link; aims at strong regret; needs no horizon. A tie is a reward of one
    half, an arm against itself a coin; a pair that was not compared changes nothing.

    Args:
        factor: the bonus is sqrt(factor ln n / n_a); 2.5 is the authors' (alpha + 2) / 2 with alpha = 3.

    Source: Ailon et al. 2014, Algorithm 2.
    """

    factor: float = 2.5
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The bonus is positive."""
        if not self.factor > 0:
            raise SettingError(f"multi-sbm needs factor > 0, got {self.factor}")

    def start(self, rng: np.random.Generator) -> State:
        """A uniform left arm, nothing pulled."""
        K = self.domain.size
        zeros = np.zeros((K, K))
        left = np.full(1, uniform_index(K, rng), dtype=np.int64)
        arrays = np.zeros(K, dtype=np.int64), zeros, np.full((K, K), UNSEEN), zeros.copy()
        return State(float(self.factor), left, *arrays)
