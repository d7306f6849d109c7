"""RMED1: Komiyama, Honda, Kashima, Nakagawa 2015.

"Regret lower bound and optimal algorithm in dueling bandit problem".

Step numbers are those of Algorithm 1; the opponent is that of Algorithm 2.
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
from prefopt.policies.rules import argmin_random, kl_bernoulli, lowest_value


class State(NamedTuple):
    """What RMED1 remembers."""

    f: float  # f(K)
    W: NDArray[np.float64]  # wins, (K, K)
    N: NDArray[np.float64]  # comparisons N_ij, (K, K)
    mu: NDArray[np.float64]  # means mu_ij, 1/2 if never compared, (K, K)
    D: NDArray[np.float64]  # N_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0, (K, K)
    div: NDArray[np.float64]  # empirical divergence I_i, (K,)
    t: NDArray[np.int64]  # step, (1,)
    force: NDArray[np.int64]  # how often each pair is compared by force, and the next pair to look at, (2,)
    L_C: NDArray[np.int64]  # current list, (K,)
    size: NDArray[np.int64]  # length of L_C and position in it, (2,)
    remaining: NDArray[np.bool_]  # L_R as a mask, (K,)
    following: NDArray[np.bool_]  # L_N as a mask, (K,)


def start_state(K: int, f: float | None, level: int) -> State:
    """Nothing compared, every arm on the list; each pair is to be compared ``level`` times by force."""
    return State(
        0.3 * K**1.01 if f is None else float(f),
        np.zeros((K, K)),
        np.zeros((K, K)),
        np.full((K, K), 0.5),
        np.zeros((K, K)),
        np.zeros(K),
        np.ones(1, dtype=np.int64),
        np.array([level, 0]),
        np.arange(K),
        np.array([K, 0]),
        np.ones(K, dtype=np.bool_),
        np.zeros(K, dtype=np.bool_),
    )


@rule
def likely(state: State, i: int, star: int, rng: np.random.Generator) -> int:
    """The opponent of arm i: i* if it is not behind i, else whoever beats i most clearly, else i*."""
    if star != i and state.mu[i, star] <= 0.5:
        return star
    arm = argmin_random(state.mu[i], rng, i)
    return arm if arm >= 0 and state.mu[i, arm] <= 0.5 else star


@rule
def forced(state: State) -> bool:
    """Whether a pair is still compared by force."""
    return bool(state.force[1] < len(state.div) ** 2)


@rule
def next_left(state: State, slate: NDArray[np.int64]) -> bool:
    """Write the pair that is compared by force and return true, or only the next arm of the list (6)."""
    K = len(state.div)
    if forced(state):
        slate[0], slate[1] = state.force[1] // K, state.force[1] % K
        return True
    slate[0] = state.L_C[state.size[1]]
    return False


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """A pair that is compared by force, else the next arm of the list and its opponent."""
    if not next_left(state, slate):
        slate[1] = likely(state, slate[0], argmin_random(state.div, rng), rng)  # 7
    return 2


@rule
def count(state: State, i: int, j: int, won: float, lost: float) -> None:
    """Renew W, N, mu, D and I of both arms."""
    n = state.N[i, j] + won + lost
    state.W[i, j] += won
    state.N[i, j] = n
    state.mu[i, j] = state.W[i, j] / n
    state.D[i, j] = n * kl_bernoulli(state.mu[i, j], 0.5) if state.mu[i, j] <= 0.5 else 0.0
    state.div[i] = 0.0
    for k in range(len(state.div)):
        state.div[i] += state.D[i, k]


@rule
def advance_list(state: State) -> None:
    """The arm is done; arms that may still be the best go on the next list."""
    state.remaining[state.L_C[state.size[1]]] = False  # 8
    low = lowest_value(state.div)
    for j in range(len(state.div)):
        if not state.remaining[j] and state.div[j] - low <= math.log(state.t[0]) + state.f:
            state.following[j] = True  # 9
    state.size[1] += 1
    if state.size[1] == state.size[0]:  # 11
        state.size[0] = state.size[1] = 0
        for j in range(len(state.div)):
            state.remaining[j] = state.following[j]
            if state.following[j]:
                state.L_C[state.size[0]] = j
                state.size[0] += 1
            state.following[j] = False


@rule
def advance_force(state: State) -> None:
    """Move on to the next pair compared too rarely."""
    K = len(state.div)
    p = state.force[1]
    while p < K * K and (p // K >= p % K or state.N[p // K, p % K] >= state.force[0]):
        p += 1
    state.force[1] = p


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; move on in the forced pairs or in the list."""
    if not answered(wins):
        return
    i, j, by_force = slate[0], slate[1], forced(state)
    if i != j:
        count(state, i, j, wins[0, 1], wins[1, 0])
        count(state, j, i, wins[1, 0], wins[0, 1])
    if by_force:
        advance_force(state)
    elif i == state.L_C[state.size[1]]:
        advance_list(state)
    state.t[0] += 1


@rule
def best(state: State) -> int:
    """i*, the arm with the least empirical divergence."""
    return int(np.argmin(state.div))


@dataclass(kw_only=True)
class RMED1(FinitePolicy):
    """Relative minimum empirical divergence.

    Assumes a Condorcet winner; aims at strong regret; needs no horizon. A tie is half a win to each; a pair
    that was not compared changes nothing. First, every pair is compared once.

    Args:
        f: f(K), >= 0; None is the paper's 0.3 K^1.01.

    Source: Komiyama et al. 2015, Algorithms 1 and 2.
    """

    f: float | None = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """f(K) is not negative."""
        if self.f is not None and not self.f >= 0:
            raise SettingError(f"rmed needs f >= 0, got {self.f}")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared."""
        state = start_state(self.domain.size, self.f, 1)
        advance_force(state)
        return state
