"""RCS: Zoghi, Whiteson, de Rijke, Munos 2014, "Relative confidence sampling for efficient on-line ranker evaluation".

Step numbers are those of Algorithm 1. The tournament is sampled only as far as its winner needs: who loses a
sampled pair cannot be the champion, so at most 2 (K - 1) pairs are looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, learn, most_victories, optimistic_rival, tables
from prefopt.policies.arms.sides import beta_above_half, count_side, sides
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import argmax_random


class State(NamedTuple):
    """What RCS remembers."""

    alpha: float  # exploration, alpha
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    mu: NDArray[np.float64]  # row c: mean of each j against c, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(N_ij), (K, K)
    V: NDArray[np.float64]  # deficits, (K, K)
    M: NDArray[np.float64]  # their row maxima, (K,)
    P: NDArray[np.float64]  # P(theta_ij > 1/2), -1 where the counts are not whole, (K, K)
    q: NDArray[np.float64]  # recurrence of P, (K, K)
    rare: NDArray[np.int64]  # minus how often each arm was champion, (K,)
    t: NDArray[np.int64]  # step, (1,)


@rule
def champion(state: State, rng: np.random.Generator) -> int:
    """The Condorcet winner of a sampled tournament, or -1."""
    c, before = 0, -1  # who holds the place, and from whom it was won
    for j in range(1, len(state.rare)):
        if not beta_above_half(state.P, state.W, 1.0, c, j, rng):
            c, before = j, c
    for j in range(c):  # those that c has not met yet
        if j != before and not beta_above_half(state.P, state.W, 1.0, c, j, rng):
            return -1
    return c


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The sampled champion against the arm that might beat it most."""
    c = champion(state, rng)  # 4-5
    if c < 0:
        c = argmax_random(state.rare, rng)  # 7
    slate[0] = c
    slate[1] = optimistic_rival(state.mu, state.r, c, state.alpha * math.log(state.t[0]), rng)  # 9
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel and the champion, who is the first of the slate."""
    if answered(wins):
        count_side(state.P, state.q, state.W, 1.0, slate[0], slate[1], wins)
        learn(state.W, state.mu, state.r, state.V, state.M, slate[0], slate[1], wins)  # 10
        state.rare[slate[0]] -= 1
        state.t[0] += 1


@rule
def best(state: State) -> int:
    """The arm that is ahead in most pairs."""
    return most_victories(state.W)


@dataclass(kw_only=True)
class RCS(FinitePolicy):
    """Relative confidence sampling.

    Assumes a Condorcet winner; aims at strong regret; needs no horizon. A tie is half a win to each; a pair
    that was not compared changes nothing. Whether the arm taken for want of a champion counts as champion
    was not checked against the paper's text; here it does.

    Args:
        alpha: exploration, > 0 (theory > 1/2).

    Source: Zoghi et al. 2014 (WSDM), Algorithm 1.
    """

    alpha: float = 0.51
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Exploration is positive."""
        if not self.alpha > 0:
            raise SettingError(f"rcs needs alpha > 0, got {self.alpha}")

    def start(self, rng: np.random.Generator) -> State:
        """Uniform posteriors; nobody was champion."""
        K = self.domain.size
        one = np.ones(1, dtype=np.int64)
        return State(float(self.alpha), *tables(K), *sides(K), np.zeros(K, dtype=np.int64), one)
