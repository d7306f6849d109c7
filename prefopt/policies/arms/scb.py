"""SCB (Scalable Copeland Bandits): Zoghi, Karnin, Whiteson, de Rijke 2015, "Copeland dueling bandits".

Algorithm 3 calls Algorithm 2 (rewards from decided pairs), which calls Algorithm 4 (elimination by KL intervals).
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
from prefopt.policies.rules import kl_bernoulli, uniform_index


class State(NamedTuple):
    """What SCB remembers; only ``total`` outlives a round."""

    total: NDArray[np.float64]  # wins of all rounds, for the recommendation only, (K, K)
    W: NDArray[np.float64]  # wins of this round, (K, K)
    sure: NDArray[np.int64]  # +1 if i surely beats j, -1 if it surely loses, 0 if open, (K, K)
    live: NDArray[np.bool_]  # arms not eliminated, (K,)
    rewards: NDArray[np.float64]  # decided duels won against random opponents, (K,)
    T: NDArray[np.float64]  # duels of this round, and those made, (2,)
    n: NDArray[np.int64]  # rewards of each live arm, and of all arms, (2,)
    pair: NDArray[np.int64]  # arm whose reward is being found and its opponent; the winner twice once known, (2,)


@rule
def level(n: float, delta: float) -> float:
    """What n d(mean, q) exceeds for the true q at some n with a chance of about delta."""
    return math.log(4.0 * n / delta) + 2.0 * math.log(max(1.0, math.log(n)))


@rule
def failure(state: State) -> float:
    """Chance of a mistake allowed in this round, ln T / T."""
    return math.log(state.T[0]) / float(state.T[0])


@rule
def eliminate(state: State) -> None:
    """Algorithm 4: arms whose interval lies below the interval of the leader are out (all live arms have one n)."""
    K, n, top = len(state.live), state.n[0], -1.0
    bound = level(state.n[1], failure(state) / K) / n
    for i in range(K):
        if state.live[i]:
            top = max(top, state.rewards[i] / n)
    low, high = 0.0, top
    for _ in range(50):  # low: the leader's lower end
        middle = 0.5 * (low + high)
        if 0.0 < middle < 1.0 and kl_bernoulli(top, middle) <= bound:
            high = middle
        else:
            low = middle
    for i in range(K):
        mean = state.rewards[i] / n
        if state.live[i] and mean < low and kl_bernoulli(mean, low) > bound:
            state.live[i] = False


@rule
def find_winner(state: State) -> None:
    """If one arm is left, or all pairs of those left are decided, the largest score wins."""
    K, arm, top, left, unsure = len(state.live), 0, -1, 0, 0
    for i in range(K):
        score, open_pairs = 0, 0
        for j in range(K):
            score += 1 if state.sure[i, j] > 0 else 0
            open_pairs += 1 if i != j and state.sure[i, j] == 0 else 0
        if state.live[i]:
            left += 1
            unsure += open_pairs
            if score > top:
                arm, top = i, score
    if left > 1 and unsure > 0:
        return
    state.pair[0] = state.pair[1] = arm


@rule
def prepare(state: State, rng: np.random.Generator) -> None:
    """Give rewards for decided pairs; stop at one that is open, or when the winner is known."""
    K = len(state.live)
    while state.pair[0] != state.pair[1]:
        arm = state.pair[0]
        if state.pair[1] >= 0:
            if state.sure[arm, state.pair[1]] == 0:
                return
            state.rewards[arm] += 1.0 if state.sure[arm, state.pair[1]] > 0 else 0.0
            state.n[1] += 1
            arm += 1
            state.pair[1] = -1
        while arm < K and not state.live[arm]:
            arm += 1
        if arm < K:
            other = uniform_index(K - 1, rng)
            state.pair[0], state.pair[1] = arm, other + (1 if other >= arm else 0)
        else:
            state.n[0] += 1
            eliminate(state)
            state.pair[0] = 0
            find_winner(state)


@rule
def begin(state: State, rng: np.random.Generator) -> None:
    """Algorithm 3: forget everything and begin a round."""
    for i in range(len(state.live)):
        state.live[i], state.rewards[i] = True, 0.0
        for j in range(len(state.live)):
            state.W[i, j], state.sure[i, j] = 0.0, 0
    state.T[1] = 0.0
    state.n[0] = state.n[1] = 0
    state.pair[0], state.pair[1] = 0, -1
    find_winner(state)
    prepare(state, rng)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The pair that is not decided, or the winner against itself."""
    slate[0], slate[1] = state.pair[0], state.pair[1]
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; decide its pair if n d(mean, 1/2) is large enough; a round that is over begins the next."""
    if not answered(wins):
        return
    i, j, K = slate[0], slate[1], len(state.live)
    if i != j:
        for counts in (state.total, state.W):
            counts[i, j] += wins[0, 1]
            counts[j, i] += wins[1, 0]
        n = state.W[i, j] + state.W[j, i]
        if state.sure[i, j] == 0 and n * kl_bernoulli(state.W[i, j] / n, 0.5) > level(n, failure(state) / K**2):
            state.sure[i, j] = 1 if 2.0 * state.W[i, j] > n else -1
            state.sure[j, i] = -state.sure[i, j]
    state.T[1] += 1.0
    if state.T[1] >= state.T[0]:
        state.T[0] *= state.T[0]  # 2^(2^r)
        begin(state, rng)
    else:
        prepare(state, rng)


@rule
def best(state: State) -> int:
    """The winner of the round, or before it is known the arm that is ahead in most pairs."""
    return int(state.pair[0]) if state.pair[0] == state.pair[1] else most_victories(state.total)


@dataclass(kw_only=True)
class SCB(FinitePolicy):
    """Scalable Copeland bandits: find the Copeland winner from random opponents, then play it; in ever longer rounds.

    Assumes only that no pair is tied: an exactly tied one is compared to the end of its round, which is the
    algorithm's law (nothing but its decision lets an arm go on). Aims at Copeland regret; needs no horizon. Made
    for many arms: each arm meets random opponents, and a pair is compared until it is decided, so a run of a few
    thousand duels may never leave exploration. A tie is half a win to each; a pair that was not compared is asked
    again. Data are discarded between rounds. Assumed, for lack of the paper's text: the test that decides a pair
    is the KL test of Algorithm 4 at level delta / K^2; a round also ends its search when all pairs of the arms left
    are decided (as in public code), without which tied winners would be searched for ever.

    Args:
        first: duels of the first round, > 2; each round is as long as the square of the one before. Preset
            ``wu2016`` is the 1000 of Wu & Liu's code.

    Source: Zoghi et al. 2015, Algorithms 2, 3 and 4.
    """

    first: float = 4.0
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Rounds grow."""
        if not self.first > 2:
            raise SettingError(f"scb needs first > 2, got {self.first}")

    def start(self, rng: np.random.Generator) -> State:
        """The first round."""
        K = self.domain.size
        zeros, sure = np.zeros((K, K)), np.zeros((K, K), dtype=np.int64)
        T, n, pair = np.array([float(self.first), 0.0]), np.zeros(2, dtype=np.int64), np.array([0, -1])
        state = State(zeros, zeros.copy(), sure, np.ones(K, dtype=np.bool_), np.zeros(K), T, n, pair)
        begin(state, rng)
        return state
