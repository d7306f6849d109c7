"""Ordinary (one-arm) bandits, the pieces of Sparring: UCB1, EXP3 and Thompson sampling.

Each works on one row per learner and reads only its own state: ``*_pull`` chooses, ``*_learn`` is told a reward in
[0, 1]. ``ThompsonBandit`` is the subroutine of Sui et al. 2017 as it stands there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.arms.thompson import best_draw, posteriors, set_posterior
from prefopt.policies.base import rule
from prefopt.policies.rules import highest_value

FloatArray = NDArray[np.float64]
#: Stands for the mean of an arm that was never pulled; large enough that no bonus matters, so that ties are exact.
UNSEEN = 1e18


@rule
def ucb1_pull(mean: FloatArray, r: FloatArray, reach: float, rng: np.random.Generator) -> int:
    """Argmax of mean + sqrt(reach / n), unseen arms first, ties random; ``r`` is 1 / sqrt(n)."""
    s = math.sqrt(reach)
    top, arm, ties = mean[0] + s * r[0], 0, 1
    for a in range(1, len(mean)):
        index = mean[a] + s * r[a]
        if index > top:
            top, arm, ties = index, a, 1
        elif index == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = a
    return arm


@rule
def ucb1_learn(mean: FloatArray, r: FloatArray, n: FloatArray, a: int, reward: float) -> None:
    """Count ``reward`` of arm a."""
    n[a] += 1.0
    mean[a] = reward if n[a] == 1.0 else mean[a] + (reward - mean[a]) / n[a]
    r[a] = 1.0 / math.sqrt(n[a])


@rule
def draw(p: FloatArray, rng: np.random.Generator) -> int:
    """An index with the probabilities ``p``; rounding is left to the last possible one."""
    u, last = rng.random(), 0
    for a in range(len(p)):
        if p[a] > 0.0:
            last = a
            u -= p[a]
            if u < 0.0:
                break
    return last


@rule
def exp3_gamma(K: int, rounds: float, scale: float, most: float) -> float:
    """Exploration min(most, sqrt(K ln K / (scale rounds)))."""
    return min(most, math.sqrt(K * math.log(K) / (scale * rounds)))


@rule
def mix(logw: FloatArray, gamma: float, p: FloatArray) -> None:
    """p_a = (1 - gamma) w_a / sum w + gamma / K from log weights."""
    top, total = highest_value(logw), 0.0
    for a in range(len(p)):
        p[a] = math.exp(logw[a] - top)
        total += p[a]
    for a in range(len(p)):
        p[a] = (1.0 - gamma) * p[a] / total + gamma / len(p)


@rule
def thompson_learn(S: FloatArray, F: FloatArray, C: FloatArray, a: int, reward: float) -> None:
    """S_a grows by ``reward``, F_a by what is missing to 1; C holds the constants of the draws."""
    S[a] += reward
    F[a] += 1.0 - reward
    set_posterior(C, a, S[a] + 1.0, F[a] + 1.0)


class ThompsonBandit:
    """Beta-Bernoulli Thompson sampling, Algorithm 1 of Sui et al. 2017; rewards between 0 and 1 count in part.

    It learns from rewards of single arms, not from comparisons, so it is no policy and not in ``POLICIES``: it is the
    subroutine that ``sparring-ts`` plays two of (by the same functions) and ``multi-sparring`` with "ts" one per slot.

    Args:
        K: arms.

    >>> bandit = ThompsonBandit(2)
    >>> for _ in range(20):
    ...     bandit.learn(0, 1.0)
    ...     bandit.learn(1, 0.0)
    >>> bandit.pull(np.random.default_rng(0))
    0
    """

    def __init__(self, K: int) -> None:
        self.S, self.F, self.C = np.zeros(K), np.zeros(K), posteriors(K)

    def pull(self, rng: np.random.Generator) -> int:
        """The arm with the largest draw theta_i ~ Beta(S_i + 1, F_i + 1)."""
        return best_draw(self.C, rng)

    def learn(self, arm: int, reward: float) -> None:
        """Count the reward of ``arm``, a number in [0, 1]."""
        thompson_learn(self.S, self.F, self.C, arm, reward)
