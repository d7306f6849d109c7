"""Interleaved Filter 1 and 2: Yue, Broder, Kleinberg, Joachims 2012, "The K-armed dueling bandits problem".

Step numbers are those of Algorithm 2 (IF2); IF1 is Algorithm 2 without the pruning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered
from prefopt.policies.base import FinitePolicy, Rules, rule


class State(NamedTuple):
    """What Interleaved Filter remembers."""

    prune: bool  # IF2
    spread: float  # c(n) = sqrt(spread / n)
    b: NDArray[np.int64]  # incumbent, (1,)
    order: NDArray[np.int64]  # the candidates W in their fixed order, (K,)
    size: NDArray[np.int64]  # number of candidates, next one of the pass, (2,)
    n: NDArray[np.float64]  # duels of each arm with the incumbent, (K,)
    w: NDArray[np.float64]  # wins of the incumbent over each arm, (K,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The incumbent against the next candidate of the pass, or against itself when none is left."""
    slate[0] = slate[1] = state.b[0]
    if state.size[0] > 0:
        slate[1] = state.order[state.size[1]]  # 6-7
    return 2


@rule
def drop(state: State, above: float, spread: float) -> None:
    """Drop the candidates whom the incumbent beats: w/n - sqrt(spread/n) > above."""
    kept = 0
    for k in range(state.size[0]):
        a = state.order[k]
        if state.w[a] / state.n[a] - math.sqrt(spread / state.n[a]) <= above:
            state.order[kept] = a
            kept += 1
    state.size[0] = kept


@rule
def promote(state: State, winner: int) -> None:
    """The winner becomes the incumbent; all counts start again."""
    kept = 0
    for k in range(state.size[0]):
        if state.order[k] != winner:
            state.order[kept] = state.order[k]
            kept += 1
    state.size[0] = kept
    state.b[0] = winner
    state.n[:] = 0.0
    state.w[:] = 0.0


@rule
def end_pass(state: State) -> None:
    """The tests, made only after every candidate had its duel."""
    drop(state, 0.5, state.spread)  # 10-12
    for k in range(state.size[0]):
        a = state.order[k]
        if state.w[a] / state.n[a] + math.sqrt(state.spread / state.n[a]) < 0.5:  # 13
            if state.prune:
                drop(state, 0.5, 0.0)  # 14-16
            promote(state, a)  # 17
            break


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; at the end of a pass, drop and promote."""
    a = slate[1]
    if not answered(wins) or slate[0] != state.b[0] or a == state.b[0]:
        return
    state.n[a] += wins[0, 1] + wins[1, 0]
    state.w[a] += wins[0, 1]
    if state.size[0] > 0 and a == state.order[state.size[1]]:
        state.size[1] += 1
        if state.size[1] == state.size[0]:
            state.size[1] = 0
            end_pass(state)


@rule
def best(state: State) -> int:
    """The incumbent."""
    return int(state.b[0])


@dataclass(kw_only=True)
class InterleavedFilter(FinitePolicy):
    """Interleaved Filter: explore, then commit to the last incumbent.

    Assumes a total order with strong stochastic transitivity and the stochastic triangle inequality; aims
    at strong regret; needs the horizon. A tie is half a win to each; a pair that was not compared is
    asked again. If several candidates beat the incumbent at once, the first in order takes over.

    Args:
        prune: IF2: when the incumbent changes, drop the candidates it was ahead of.
        confidence: factor q in c(n) = sqrt(q ln(T K^2) / n), > 0. Not checked against the paper's text: 4 follows
            from its lemma on confidence and is what two public implementations use; others use 1.

    Source: Yue et al. 2012, Algorithms 1 and 2.
    """

    prune: bool = True
    confidence: float = 4.0
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The horizon is known and the interval is positive."""
        self.need_horizon("if1" if not self.prune else "if2")
        if not self.confidence > 0:
            raise SettingError(f"if1 and if2 need confidence > 0, got {self.confidence}")

    def start(self, rng: np.random.Generator) -> State:
        """A random incumbent, and the others in random order."""
        K = self.domain.size
        order = rng.permutation(K)
        spread = self.confidence * math.log(max(1, self.horizon or 1) * K * K)
        size = np.array([K - 1, 0])
        return State(bool(self.prune), spread, order[:1].copy(), order[1:].copy(), size, np.zeros(K), np.zeros(K))


def if1(domain: Any, *, prune: bool = False, **settings: Any) -> InterleavedFilter:
    """Interleaved Filter 1."""
    return InterleavedFilter(domain, prune=prune, **settings)


def if2(domain: Any, *, prune: bool = True, **settings: Any) -> InterleavedFilter:
    """Interleaved Filter 2."""
    return InterleavedFilter(domain, prune=prune, **settings)
