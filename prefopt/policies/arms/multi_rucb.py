"""MultiRUCB: Du, Wang, Chen, Gai 2020/21, "Dueling bandits: from two-dueling to multi-dueling", Algorithm 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import most_victories, renew_hypothesis
from prefopt.policies.arms.mdb import learn_pairs
from prefopt.policies.base import FinitePolicy, Rules, rule


class State(NamedTuple):
    """What MultiRUCB remembers."""

    m: int  # most options per round
    alpha: float  # exploration, alpha
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    V: NDArray[np.float64]  # deficit of i against j, (K, K)
    M: NDArray[np.float64]  # row maxima of V: i is a candidate while M_i <= alpha ln t, (K,)
    t: NDArray[np.int64]  # round, (1,)
    B: NDArray[np.int64]  # hypothesised best arm or -1, (1,)


@rule
def sample_candidates(
    M: NDArray[np.float64],
    reach: float,
    skip: int,
    slate: NDArray[np.int64],
    start: int,
    m: int,
    rng: np.random.Generator,
) -> int:
    """Fill ``slate[start:m]`` with candidates other than ``skip``, uniform without repeats; returns how many exist."""
    size = 0
    for i in range(len(M)):
        if i != skip and M[i] <= reach:
            place = start + size if start + size < m else start + int(rng.random() * (size + 1))
            if place < m:
                slate[place] = i
            size += 1
    return size


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """All candidates if they fit; else m of them, the hypothesised best among them half of the time."""
    m, B, reach = min(state.m, len(state.M)), state.B[0], state.alpha * math.log(state.t[0])
    size = 0
    for i in range(len(state.M)):
        if state.M[i] <= reach:
            size += 1
    if size == 0:
        sample_candidates(state.M, np.inf, -1, slate, 0, m, rng)
        return m
    if size <= m:
        return sample_candidates(state.M, reach, -1, slate, 0, m, rng)
    kept = 0
    if B >= 0 and rng.random() < 0.5:
        slate[0] = B
        kept = 1
    sample_candidates(state.M, reach, B, slate, kept, m, rng)
    return m


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count every pair that was compared, then find next round's B."""
    learn_pairs(state.W, state.V, state.M, slate, m, wins)
    state.t[0] += 1
    renew_hypothesis(state.B, state.M, state.alpha * math.log(state.t[0]))


@rule
def best(state: State) -> int:
    """The hypothesised best arm, else the one that is ahead in most pairs."""
    return int(state.B[0]) if state.B[0] >= 0 else most_victories(state.W)


@dataclass(kw_only=True)
class MultiRUCB(FinitePolicy):
    """RUCB with up to ``slate_size`` different options per round.

    Assumes a Condorcet winner; aims at strong regret (its mean, since fewer options may be shown); needs no
    horizon. A tie is half a win to each; a pair that was not compared adds nothing, but the round counts.
    Written from public code; not checked against the paper.

    Args:
        alpha: exploration, > 0.

    Source: Du et al. 2021, Algorithm 2.
    """

    alpha: float = 0.51
    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def check(self) -> None:
        """Exploration is positive."""
        if not self.alpha > 0:
            raise SettingError(f"multi-rucb needs alpha > 0, got {self.alpha}")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared, no hypothesis."""
        K = self.domain.size
        one = np.ones(1, dtype=np.int64)
        return State(self.slate_size, float(self.alpha), np.zeros((K, K)), np.zeros((K, K)), np.zeros(K), one, -one)
