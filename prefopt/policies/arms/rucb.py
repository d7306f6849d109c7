"""RUCB: Zoghi, Whiteson, Munos, de Rijke 2014.

"Relative upper confidence bound for the K-armed dueling bandit problem".

Step numbers are those of Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, learn, most_victories, optimistic_rival, renew_hypothesis, tables
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What RUCB remembers."""

    alpha: float  # exploration, alpha
    memory: bool  # whether the hypothesised best B is kept
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    mu: NDArray[np.float64]  # row c: mean of each j against c, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(N_ij), (K, K)
    V: NDArray[np.float64]  # deficit of i against j: u_ij < 1/2 when above alpha ln t, (K, K)
    M: NDArray[np.float64]  # row maxima of V: i is a candidate while M_i <= alpha ln t, (K,)
    t: NDArray[np.int64]  # step, (1,)
    reach: NDArray[np.float64]  # alpha ln t, (1,)
    B: NDArray[np.int64]  # hypothesised best arm or -1, (1,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """A candidate against the arm that might beat it most."""
    K, B, reach = len(state.M), state.B[0], state.reach[0]
    c = -1
    if B >= 0 and rng.random() < 0.5:
        c = B  # 10
    else:
        size = 0
        for i in range(K):
            if i != B and state.M[i] <= reach:  # 7: C, without B
                size += 1
        if size == 0:
            c = B if B >= 0 else uniform_index(K, rng)  # 9, 8
        else:
            left = uniform_index(size, rng)  # 11
            for i in range(K):
                if i != B and state.M[i] <= reach:
                    if left == 0:
                        c = i
                    left -= 1
    slate[0] = c
    slate[1] = optimistic_rival(state.mu, state.r, c, reach, rng)  # 13
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel, then find next step's B among its candidates."""
    if not answered(wins):
        return
    learn(state.W, state.mu, state.r, state.V, state.M, slate[0], slate[1], wins)  # 14
    state.t[0] += 1
    state.reach[0] = state.alpha * math.log(state.t[0])
    if state.memory:
        renew_hypothesis(state.B, state.M, state.reach[0])  # 9


@rule
def best(state: State) -> int:
    """The hypothesised best arm, else the one that is ahead in most pairs."""
    return int(state.B[0]) if state.B[0] >= 0 else most_victories(state.W)


@dataclass(kw_only=True)
class RUCB(FinitePolicy):
    """Relative upper confidence bound.

    Assumes a Condorcet winner; aims at strong regret; needs no horizon. A tie is half a win to each;
    a pair that was not compared changes nothing (the step does not count either).

    Args:
        alpha: exploration, > 0 (theory > 1/2).
        memory: keep the hypothesised best arm B; false is the variant of the preprint, which draws the
            candidate uniformly.

    Source: Zoghi et al. 2014, Algorithm 1.
    """

    alpha: float = 0.51
    memory: bool = True
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Exploration is positive."""
        if not self.alpha > 0:
            raise SettingError(f"rucb needs alpha > 0, got {self.alpha}")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared, no hypothesis."""
        one, K = np.ones(1, dtype=np.int64), self.domain.size
        return State(float(self.alpha), bool(self.memory), *tables(K), one, np.zeros(1), -one)
