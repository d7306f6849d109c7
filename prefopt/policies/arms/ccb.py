"""CCB: Zoghi, Karnin, Whiteson, de Rijke 2015, "Copeland dueling bandits".

Step letters are those of Algorithm 1: A reset disproven hypotheses, B remove non-winners, C add winners.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, learn, most_victories, tables
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import highest_value, uniform_index


class State(NamedTuple):
    """What CCB remembers."""

    alpha: float  # exploration, alpha
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    mu: NDArray[np.float64]  # row c: mean of each j against c, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(N_ij), (K, K)
    V: NDArray[np.float64]  # deficits: i surely loses to j (u_ij < 1/2, l_ji > 1/2) above alpha ln t, (K, K)
    M: NDArray[np.float64]  # their row maxima, (K,)
    t: NDArray[np.int64]  # step, (1,)
    reach: NDArray[np.float64]  # alpha ln t, (1,)
    upper: NDArray[np.int64]  # optimistic Copeland scores, (K,)
    lower: NDArray[np.int64]  # pessimistic Copeland scores, (K,)
    B: NDArray[np.bool_]  # potential Copeland winners B_t, (K,)
    beaten: NDArray[np.bool_]  # row i: B_t^i, arms that beat i if i is a winner, (K, K)
    L: NDArray[np.int64]  # estimated number of losses of a winner, L_C, (1,)


@rule
def reset(state: State) -> None:
    """Forget all hypotheses."""
    state.B[:] = True
    state.beaten[:] = False
    state.L[0] = len(state.B)


@rule
def disproven(state: State) -> bool:
    """A: some i surely beats an arm of B^i."""
    for i in range(len(state.B)):
        for j in range(len(state.B)):
            if state.beaten[i, j] and state.V[j, i] > state.reach[0]:
                return True
    return False


@rule
def remove(state: State) -> None:
    """B: arms that are surely not winners leave B."""
    K, high = len(state.B), highest_value(state.lower)
    for i in range(K):
        if state.B[i] and state.upper[i] < high:
            state.B[i] = False
            if state.beaten[i].sum() != state.L[0] + 1:
                for k in range(K):
                    state.beaten[i, k] = state.V[i, k] > state.reach[0]
    if state.B.sum() == 0:
        reset(state)


@rule
def add(state: State, rng: np.random.Generator) -> None:
    """C: arms with a known score that nobody can exceed are winners."""
    K, high = len(state.B), highest_value(state.upper)
    for i in range(K):
        if state.upper[i] == high and state.lower[i] == high:
            state.B[i] = True
            state.beaten[i, :] = False
            state.L[0] = K - 1 - high
            for j in range(K):
                if j != i and state.beaten[j].sum() < state.L[0] + 1:
                    state.beaten[j, :] = False
                while state.beaten[j].sum() > state.L[0] + 1:
                    drop = uniform_index(state.beaten[j].sum(), rng)
                    state.beaten[j, nth(state.beaten[j], drop)] = False


@rule
def nth(mask: NDArray[np.bool_], n: int) -> int:
    """The index of the n-th true entry."""
    for i in range(len(mask)):
        if mask[i]:
            if n == 0:
                return i
            n -= 1
    return 0


@rule
def open_pair(state: State, slate: NDArray[np.int64], rng: np.random.Generator) -> bool:
    """A uniform pair (i, j in B^i) that is not decided; false if there is none."""
    K, ties = len(state.B), 0
    for i in range(K):
        for j in range(K):
            if state.beaten[i, j] and max(state.V[i, j], state.V[j, i]) <= state.reach[0]:
                ties += 1
                if rng.random() * ties < 1.0:
                    slate[0], slate[1] = i, j
    return ties > 0


@rule
def rival(state: State, c: int, within: bool, rng: np.random.Generator) -> int:
    """The argmax of u_jc over j (in B^c if ``within``) with l_jc <= 1/2; -1 if there is none."""
    s, d, top, ties = math.sqrt(state.reach[0]), -1, -1.0, 1
    for j in range(len(state.B)):
        if (within and not state.beaten[c, j]) or state.V[c, j] > state.reach[0]:
            continue
        u = state.mu[c, j] + s * state.r[c, j]
        if u > top or (u == top and d == c):
            d, top, ties = j, u, 1
        elif u == top and j != c:
            ties += 1
            if rng.random() * ties < 1.0:
                d = j
    return d


@rule
def candidate(state: State, rng: np.random.Generator) -> int:
    """A uniform optimistic winner; two times in three only potential winners, if there are any among them."""
    high = highest_value(state.upper)
    size, both = 0, 0
    for i in range(len(state.B)):
        if state.upper[i] == high:
            size += 1
            both += 1 if state.B[i] else 0
    only = both > 0 and rng.random() < 2.0 / 3.0
    skip = uniform_index(both if only else size, rng)
    for i in range(len(state.B)):
        if state.upper[i] == high and (state.B[i] or not only):
            if skip == 0:
                return i
            skip -= 1
    return 0


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Settle an open hypothesis one time in four, else an optimistic winner against its strongest rival."""
    if rng.random() < 0.25 and open_pair(state, slate, rng):
        return 2
    c = candidate(state, rng)
    d = rival(state, c, True, rng) if rng.random() < 0.5 else -1
    slate[0] = c
    slate[1] = rival(state, c, False, rng) if d < 0 else d
    return 2


@rule
def prepare(state: State, rng: np.random.Generator) -> None:
    """Scores and hypotheses of the coming step."""
    K = len(state.B)
    state.upper[:] = K - 1
    state.lower[:] = 0
    for i in range(K):
        for k in range(K):
            if state.V[i, k] > state.reach[0]:
                state.upper[i] -= 1
                state.lower[k] += 1
    if disproven(state):
        reset(state)
    remove(state)
    add(state, rng)


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel."""
    if answered(wins):
        learn(state.W, state.mu, state.r, state.V, state.M, slate[0], slate[1], wins)
        state.t[0] += 1
        state.reach[0] = state.alpha * math.log(state.t[0])
        prepare(state, rng)


@rule
def best(state: State) -> int:
    """The arm that is ahead in most pairs."""
    return most_victories(state.W)


@dataclass(kw_only=True)
class CCB(FinitePolicy):
    """Copeland confidence bound.

    Assumes nothing but a Copeland winner; aims at Copeland regret; needs no horizon. A tie is half a win to
    each; a pair that was not compared changes nothing. Written after two public implementations
    that agree, not checked against the paper's text.

    Args:
        alpha: exploration, > 0 (theory > 1/2).

    Source: Zoghi et al. 2015, Algorithm 1.
    """

    alpha: float = 0.51
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Exploration is positive."""
        if not self.alpha > 0:
            raise SettingError(f"ccb needs alpha > 0, got {self.alpha}")

    def start(self, rng: np.random.Generator) -> State:
        """Everybody may be a winner."""
        K = self.domain.size
        one, scores = np.ones(1, dtype=np.int64), np.full(K, K - 1)
        sets = np.ones(K, dtype=np.bool_), np.zeros((K, K), dtype=np.bool_)
        return State(float(self.alpha), *tables(K), one, np.zeros(1), scores, np.zeros_like(scores), *sets, K * one)
