"""ECW-RMED: Komiyama, Honda, Nakagawa 2016.

"Copeland dueling bandit problem: regret lower bound, optimal algorithm, and computationally efficient algorithm".
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
from prefopt.policies.rules import kl_bernoulli, lowest_value


class State(NamedTuple):
    """What ECW-RMED remembers; pairs are kept as i <= j."""

    alpha: float  # every pair is compared alpha sqrt(ln t) times
    beta: float  # and until |mu_ij - 1/2| >= beta / ln ln t
    W: NDArray[np.float64]  # wins, (K, K)
    N: NDArray[np.float64]  # comparisons N_ij, (K, K)
    d: NDArray[np.float64]  # d(mu_ij, 1/2), (K, K)
    L: NDArray[np.int64]  # number of superiors of each arm, L_i, (K,)
    t: NDArray[np.int64]  # step, (1,)
    pair: NDArray[np.int64]  # pair of this step, and whether it is forced, (3,)
    current: NDArray[np.bool_]  # L_C: pairs of this loop still to be compared, (K, K)
    remaining: NDArray[np.bool_]  # L_R, (K, K)
    following: NDArray[np.bool_]  # L_N, (K, K)
    scratch_q: NDArray[np.float64]  # comparisons over ln t that the regret bound asks for, (K, K)
    scratch_need: NDArray[np.bool_]  # pairs compared less than that, (K, K)
    scratch_H: NDArray[np.float64]  # sums of divergences of inferiors, (K + 1,)
    scratch_S: NDArray[np.float64]  # sums of divergences of superiors, or their costs, (K + 1,)
    scratch_order: NDArray[np.int64]  # superiors by cost, (K + 1,)


@rule
def beats(state: State, i: int, j: int) -> bool:
    """Whether mu_ij > 1/2."""
    return bool(state.W[i, j] > state.W[j, i])


@rule
def log_time(state: State) -> float:
    """The logarithm of t, at least 1."""
    return max(1.0, math.log(state.t[0]))


@rule
def flips(state: State, i: int, skip: int, won: bool, sums: NDArray[np.float64]) -> int:
    """sums[n]: the least N d of n duels that i wins (or loses), ``skip`` left out; returns the largest n."""
    n = 0
    sums[0] = 0.0
    for j in range(len(state.L)):
        if j != skip and (beats(state, i, j) if won else beats(state, j, i)):
            place, value = n, state.N[i, j] * state.d[i, j]
            while place > 0 and sums[place] > value:
                sums[place + 1] = sums[place]
                place -= 1
            sums[place + 1] = value
            n += 1
    for k in range(n):
        sums[k + 1] += sums[k]
    return n


@rule
def confident(state: State, i1: int) -> bool:
    """Whether the data refute every world in which another arm i2 has l losses and i1 more than l."""
    H, sup, level = state.scratch_H, state.scratch_S, log_time(state)
    for i2 in range(len(state.L)):
        if i2 == i1:
            continue
        n, m = flips(state, i1, i2, True, H), flips(state, i2, i1, False, sup)
        for losses in range(max(0, state.L[i1] - 1), state.L[i2] + 1):
            h, o = losses + 1 - state.L[i1], state.L[i2] - losses
            if h <= n and o <= m and H[h] + sup[o] < level:
                return False
            h, o = max(0, h - 1), max(0, o - 1)  # the duel of i1 and i2 turned round serves both
            both = state.N[i1, i2] * state.d[i1, i2]
            if beats(state, i1, i2) and h <= n and o <= m and both + H[h] + sup[o] < level:
                return False
    return True


@rule
def superiors(state: State, i: int, skip: int, low: int) -> int:
    """Write the arms that beat i, without ``skip``, by ascending regret per information; returns how many."""
    n, order, cost = 0, state.scratch_order, state.scratch_S
    for j in range(len(state.L)):
        if j != skip and beats(state, j, i):
            place, value = n, (state.L[i] + state.L[j] - 2 * low) / state.d[i, j]
            while place > 0 and cost[place - 1] > value:
                order[place], cost[place] = order[place - 1], cost[place - 1]
                place -= 1
            order[place], cost[place] = j, value
            n += 1
    return n


@rule
def demand(state: State, i1: int) -> float:
    """Fill q with the comparisons that make i1 sure to be a winner at the least regret; returns that regret."""
    K, q, low, regret = len(state.L), state.scratch_q, state.L[i1], 0.0
    for i in range(K):
        for j in range(K):
            q[i, j] = 0.0
    for j in range(K):
        if beats(state, i1, j):
            q[i1, j] = q[j, i1] = 1.0 / state.d[i1, j]
            regret += (state.L[j] - low) * q[i1, j]
    for i2 in range(K):
        n = superiors(state, i2, i1, low) if i2 != i1 else 0
        k = n - (state.L[i2] - low + 1)  # all but k of them must suffice to refute that i2 is better
        if i2 != i1 and k >= 0:
            used, least, total = 0, np.inf, 0.0
            for h in range(1, n + 1):
                total += state.scratch_S[h - 1]
                if h > k and total / (h - k) < least:
                    used, least = h, total / (h - k)
            regret += least
            for h in range(used):
                j = state.scratch_order[h]
                q[i2, j] = q[j, i2] = 1.0 / ((used - k) * state.d[i2, j])
    return regret


@rule
def enlist(state: State) -> None:
    """Put a sure winner's self-duel on the next list, or else the cheapest one's and the pairs that it still needs."""
    K, low, level = len(state.L), lowest_value(state.L), log_time(state)
    star, least = -1, np.inf
    for i1 in range(K):
        if state.L[i1] != low or least < 0.0:
            continue
        sure = confident(state, i1)
        regret = -1.0 if sure else demand(state, i1)
        if regret < least:
            star, least = i1, regret
            for i in range(K):
                for j in range(i + 1, K):
                    state.scratch_need[i, j] = not sure and state.scratch_q[i, j] * level > state.N[i, j]
    for i in range(K):
        for j in range(i, K):
            if (i == j == star or (i < j and state.scratch_need[i, j])) and not state.remaining[i, j]:
                state.following[i, j] = True


@rule
def rarest(state: State) -> bool:
    """Find the least compared of the pairs that were compared too rarely or are too close to 1/2."""
    K, fewest = len(state.L), np.inf
    often = state.alpha * math.sqrt(math.log(state.t[0]))
    far = state.beta / max(1.0, math.log(log_time(state)))
    for i in range(K):
        for j in range(i + 1, K):
            n = state.N[i, j]
            if n < fewest and (n < often or abs(state.W[i, j] - 0.5 * n) < far * n or n == 0.0):
                state.pair[0], state.pair[1], fewest = i, j, n
    return bool(fewest < np.inf)


@rule
def prepare(state: State) -> None:
    """The pair of the coming step: one that is forced, or the next of the list; at its end the next list begins."""
    K = len(state.L)
    state.pair[2] = 1 if rarest(state) else 0
    while state.pair[2] == 0:
        for i in range(K):
            for j in range(i, K):
                if state.current[i, j]:
                    state.pair[0], state.pair[1] = i, j
                    return
        for i in range(K):
            for j in range(i, K):
                state.current[i, j] = state.remaining[i, j] = state.following[i, j]
                state.following[i, j] = False


@rule
def count(state: State, i: int, j: int, wins: NDArray[np.float64]) -> None:
    """Renew W, N, d and both numbers of superiors."""
    state.W[i, j] += wins[0, 1]
    state.W[j, i] += wins[1, 0]
    n = state.W[i, j] + state.W[j, i]
    state.N[i, j] = state.N[j, i] = n
    state.d[i, j] = state.d[j, i] = kl_bernoulli(state.W[i, j] / n, 0.5)
    for arm in (i, j):
        state.L[arm] = 0
        for k in range(len(state.L)):
            state.L[arm] += 1 if beats(state, k, arm) else 0


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The pair that was prepared."""
    slate[0], slate[1] = state.pair[0], state.pair[1]
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; after a pair of the list, see what the next list needs."""
    if not answered(wins):
        return
    i, j = min(slate[0], slate[1]), max(slate[0], slate[1])
    if i != j:
        count(state, slate[0], slate[1], wins)
    if state.pair[2] == 0 and i == state.pair[0] and j == state.pair[1]:
        state.current[i, j] = state.remaining[i, j] = False
        enlist(state)
    state.t[0] += 1
    prepare(state)


@rule
def best(state: State) -> int:
    """The arm that is ahead in most pairs."""
    return most_victories(state.W)


@dataclass(kw_only=True)
class ECWRMED(FinitePolicy):
    """Efficient Copeland-winners RMED: compare each pair as often as the regret lower bound asks for.

    Assumes only that no pair is tied (a tied one is compared for ever); aims at Copeland regret, with an
    asymptotic constant near the optimal one; needs no horizon. A tie is half a win to each; a pair that was
    not compared is asked again. A step costs O(K^3) in the worst case. Taken from public code with
    two corrections, not checked against the paper's text: the code calls a winner unsure when some pair
    was compared more than it need be, and does not ask whether a rival could have fewer losses than the winner has.

    Args:
        alpha: every pair is compared at least alpha sqrt(ln t) times, > 0.
        beta: a pair whose mean is within beta / ln ln t of 1/2 is compared again, > 0.

    Source: Komiyama et al. 2016, Algorithm 1 with the efficient bound.
    """

    alpha: float = 3.0
    beta: float = 0.01
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Exploration is positive."""
        if not (self.alpha > 0 and self.beta > 0):
            raise SettingError(f"ecw-rmed needs alpha > 0 and beta > 0, got {self.alpha} and {self.beta}")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared, every pair on the list."""
        K = self.domain.size
        zeros = np.zeros((K, K))
        pairs = np.triu(np.ones((K, K), dtype=np.bool_), 1 if K > 1 else 0)
        lists = pairs, pairs.copy(), np.zeros_like(pairs)
        one, pair, L = np.ones(1, dtype=np.int64), np.zeros(3, dtype=np.int64), np.zeros(K, dtype=np.int64)
        H, S, order = np.zeros(K + 1), np.zeros(K + 1), np.zeros(K + 1, dtype=np.int64)
        tables = zeros, zeros.copy(), zeros.copy()
        state = State(
            float(self.alpha), float(self.beta), *tables, L, one, pair, *lists, zeros.copy(), pairs.copy(), H, S, order
        )
        prepare(state)
        return state
