"""MDB: Brost, Seldin, Cox, Lioma 2016, "Multi-dueling bandits and their application to online ranker evaluation".

u_ij < 1/2 is tested as V_ij > alpha ln t with the deficits of ``bounds``, v_ij < 1/2 as V_ij > beta alpha ln t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import most_victories, set_deficit
from prefopt.policies.base import FinitePolicy, Rules, rule


class State(NamedTuple):
    """What MDB remembers."""

    alpha: float  # exploration, alpha
    beta: float  # widening of the second bound, beta
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    V: NDArray[np.float64]  # deficit of i against j, (K, K)
    M: NDArray[np.float64]  # row maxima of V, (K,)
    t: NDArray[np.int64]  # round, (1,)


@rule
def collect(M: NDArray[np.float64], reach: float, slate: NDArray[np.int64]) -> int:
    """Write the arms with no deficit above ``reach`` into the slate; returns how many."""
    size = 0
    for i in range(len(M)):
        if M[i] <= reach:
            slate[size] = i
            size += 1
    return size


@rule
def learn_pairs(
    W: NDArray[np.float64],
    V: NDArray[np.float64],
    M: NDArray[np.float64],
    slate: NDArray[np.int64],
    m: int,
    wins: NDArray[np.float64],
) -> None:
    """Count every pair of different arms that was compared."""
    for j in range(m):
        for k in range(j + 1, m):
            a, b = slate[j], slate[k]
            if a != b and wins[j, k] + wins[k, j] > 0.0:
                W[a, b] += wins[j, k]
                W[b, a] += wins[k, j]
                set_deficit(W, V, M, a, b)
                set_deficit(W, V, M, b, a)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The one arm that may be best, else all that the wider bound leaves, else all."""
    reach = state.alpha * math.log(state.t[0])
    if collect(state.M, reach, slate) == 1:
        return 1
    size = collect(state.M, state.beta * reach, slate)
    return size if size > 0 else collect(state.M, np.inf, slate)


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count every pair that was compared."""
    learn_pairs(state.W, state.V, state.M, slate, m, wins)
    state.t[0] += 1


@rule
def best(state: State) -> int:
    """The arm that is ahead in most pairs."""
    return most_victories(state.W)


@dataclass(kw_only=True)
class MDB(FinitePolicy):
    """Multi-dueling bandit; the first question shows all arms, later ones as many as may still be the best.

    Assumes a Condorcet winner; aims at strong regret (its mean over the slate, whose size varies, so
    ``slate_size`` is not used); needs no horizon. A tie is half a win to each; a pair that was not compared
    adds nothing, but the round counts. With one arm left it shows it alone and learns nothing. What
    happens when no arm qualifies (all are shown) was not checked against the paper.

    Args:
        alpha: exploration, > 0.
        beta: factor >= 1 of the wider bound.

    Source: Brost et al. 2016, Algorithm 1.
    """

    alpha: float = 0.5
    beta: float = 1.5
    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def check(self) -> None:
        """Exploration is positive, the second bound is not narrower."""
        if not (self.alpha > 0 and self.beta >= 1):
            raise SettingError(f"mdb needs alpha > 0 and beta >= 1, got {self.alpha} and {self.beta}")

    @property
    def max_slate(self) -> int:
        """Every arm."""
        return self.domain.size

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared."""
        K = self.domain.size
        tables = np.zeros((K, K)), np.zeros((K, K)), np.zeros(K)
        return State(float(self.alpha), float(self.beta), *tables, np.ones(1, dtype=np.int64))
