"""Uniformly random slates: the null baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import best_rate, uniform_index


class State(NamedTuple):
    """What Random remembers: only enough to recommend."""

    slate_size: int
    S: NDArray[np.float64]  # wins of each arm, (K,)
    F: NDArray[np.float64]  # losses of each arm, (K,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Draw every place uniformly and independently (an arm may meet itself)."""
    for j in range(state.slate_size):
        slate[j] = uniform_index(len(state.S), rng)
    return state.slate_size


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count wins and losses against other arms."""
    for j in range(m):
        for k in range(m):
            if slate[j] != slate[k]:
                state.S[slate[j]] += wins[j, k]
                state.F[slate[j]] += wins[k, j]


@rule
def best(state: State) -> int:
    """The arm with the largest share of wins; arms never compared count as one half."""
    return best_rate(state.S, state.F, 0.5)


@dataclass(kw_only=True)
class Random(FinitePolicy):
    """Uniformly random slates (null baseline); assumes nothing and aims at nothing."""

    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared yet."""
        return State(self.slate_size, np.zeros(self.domain.size), np.zeros(self.domain.size))
