"""D-TS: Wu & Liu 2016, "Double Thompson sampling for dueling bandits".

Step numbers are those of Algorithm 1. The first sample is used only through the side of one half it falls on,
so a coin with the maintained chance P(theta_ij > 1/2) replaces it (the law is the same) while counts are whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, learn, most_victories, tables
from prefopt.policies.arms.sides import beta_above_half, count_side, sides
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import argmax_random, beta_draw


class State(NamedTuple):
    """What D-TS remembers."""

    alpha: float  # exploration, alpha
    eta: float  # learning rate of the posteriors
    W: NDArray[np.float64]  # wins B_ij, (K, K)
    mu: NDArray[np.float64]  # row c: mean of each j against c, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(N_ij), (K, K)
    V: NDArray[np.float64]  # deficit of i against j: u_ij < 1/2 when above alpha ln t, (K, K)
    M: NDArray[np.float64]  # row maxima of V, (K,)
    P: NDArray[np.float64]  # P(theta_ij > 1/2), -1 where the counts are not whole, (K, K)
    q: NDArray[np.float64]  # recurrence of P, (K, K)
    t: NDArray[np.int64]  # step, (1,)
    scratch_zeta: NDArray[np.int64]  # upper Copeland scores times K-1, (K,)
    scratch_s: NDArray[np.float64]  # sampled Copeland scores, (K,)
    scratch_theta: NDArray[np.float64]  # first sample of D-TS+, (K, K) or (0, 0)


@rule
def upper_scores(state: State, reach: float) -> int:
    """zeta_i = #{j : u_ij > 1/2} (4); returns how many arms have the largest."""
    K = len(state.M)
    top, size = -1, 0
    for i in range(K):
        zeta = K
        if state.M[i] > reach:
            for j in range(K):
                if state.V[i, j] > reach:
                    zeta -= 1
        state.scratch_zeta[i] = zeta
        if zeta > top:
            top, size = zeta, 0
        if zeta == top:
            size += 1
    for i in range(K):
        if state.scratch_zeta[i] < top:
            state.scratch_zeta[i] = -1  # not in C
    return size


@rule
def sampled_scores(state: State, rng: np.random.Generator) -> None:
    """Sampled Copeland scores of C, from the pairs that matter to them (6-9); the other arms stay below zero."""
    K = len(state.M)
    s, C = state.scratch_s, state.scratch_zeta
    for i in range(K):
        s[i] = 0.0 if C[i] >= 0 else -K
    for i in range(K):
        won, matters = s[i], C[i] >= 0
        for j in range(i + 1, K):
            if matters or C[j] >= 0:
                above = 1.0 if beta_above_half(state.P, state.W, state.eta, i, j, rng) else 0.0
                won += above
                s[j] += 1.0 - above
        s[i] = won


@rule
def rival(state: State, a: int, reach: float, rng: np.random.Generator) -> int:
    """The arm with the largest sample against ``a`` among those that may beat it (12, 13)."""
    b, top = a, 0.5
    for i in range(len(state.M)):
        if i != a and state.V[a, i] <= reach:  # l_ia <= 1/2
            theta = beta_draw(state.eta * state.W[i, a] + 1.0, state.eta * state.W[a, i] + 1.0, rng)
            if theta > top:
                b, top = i, theta
    return b


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Two independent samples: one for the arm, one for its rival."""
    reach = state.alpha * math.log(state.t[0])
    if upper_scores(state, reach) > 1:
        sampled_scores(state, rng)
        slate[0] = argmax_random(state.scratch_s, rng)  # 10
    else:
        slate[0] = argmax_random(state.scratch_zeta, rng)
    slate[1] = rival(state, slate[0], reach, rng)
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel."""
    if answered(wins):
        count_side(state.P, state.q, state.W, state.eta, slate[0], slate[1], wins)
        learn(state.W, state.mu, state.r, state.V, state.M, slate[0], slate[1], wins)  # 14
        state.t[0] += 1


@rule
def best(state: State) -> int:
    """The arm that is ahead in most pairs."""
    return most_victories(state.W)


@dataclass(kw_only=True)
class DoubleThompsonSampling(FinitePolicy):
    """Double Thompson sampling.

    Assumes nothing but a Copeland winner; aims at Copeland regret, hence at strong regret where there is a
    Condorcet winner; needs no horizon. A tie is half a win to each; a pair that was not compared
    changes nothing. The coin of an arm against itself is not counted.

    Args:
        alpha: exploration, > 0 (theory > 1/2).
        eta: learning rate: posteriors are Beta(eta W + 1, ...), bounds use W. Sui et al. 2017 play D-TS
            with 2.5 (preset ``sui2017``), but do not define it: this reading is assumed. It lowers the mean
            regret and spreads it widely.

    Source: Wu & Liu 2016, Algorithm 1.
    """

    alpha: float = 0.51
    eta: float = 1.0
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True
    #: Whether the first step needs the sample itself.
    full_sample: ClassVar[bool] = False

    def check(self) -> None:
        """Exploration and learning rate are positive."""
        if not (self.alpha > 0 and self.eta > 0):
            raise SettingError(f"d-ts needs alpha > 0 and eta > 0, got {self.alpha} and {self.eta}")

    def start(self, rng: np.random.Generator) -> State:
        """Uniform posteriors."""
        K = self.domain.size
        one = np.ones(1, dtype=np.int64)
        zeta, s, theta = np.zeros(K, dtype=np.int64), np.zeros(K), np.zeros((K, K) if self.full_sample else (0, 0))
        return State(float(self.alpha), float(self.eta), *tables(K), *sides(K), one, zeta, s, theta)
