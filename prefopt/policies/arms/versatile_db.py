"""Versatile-DB: Saha & Gaillard 2022, "Versatile dueling bandits: best-of-both-world analyses", Algorithm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.arms.bandits import draw
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import lowest_value


class State(NamedTuple):
    """What the two Tsallis-INF learners remember."""

    reduced: bool  # reduced-variance estimates
    L: NDArray[np.float64]  # estimated cumulative losses of each side, (2, K)
    p: NDArray[np.float64]  # probabilities p_t of each side, (2, K)
    t: NDArray[np.int64]  # step, (1,)


@rule
def tsallis(L: NDArray[np.float64], eta: float, p: NDArray[np.float64]) -> None:
    """p_i = 4 / (eta (L_i - x))^2 with x such that they add up to 1.

    The sum is convex and increasing in x and at least 1 at min L - 2/eta, so Newton's steps from
    there decrease to the root and never pass it.
    """
    least = lowest_value(L)
    x = least - 2.0 / eta
    for _ in range(100):
        total = slope = 0.0
        for i in range(len(L)):
            root = 2.0 / (eta * (L[i] - x))
            p[i] = root * root
            total += p[i]
            slope += p[i] * root
        if total - 1.0 < 1e-10:
            break
        x -= (total - 1.0) / (eta * slope)
    for i in range(len(L)):
        p[i] /= total


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Each side draws from its own distribution."""
    slate[0] = draw(state.p[0], rng)
    slate[1] = draw(state.p[1], rng)
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Importance-weighted losses, then the distributions of the next step."""
    if wins[0, 1] + wins[1, 0] == 0.0:
        return
    scale = 4.0 if state.reduced else 2.0
    eta = scale / math.sqrt(state.t[0])
    for side in range(2):
        a = slate[side]
        loss = wins[1 - side, side]
        if state.reduced:
            for i in range(state.L.shape[1]):
                base = 0.5 if state.p[side, i] >= eta * eta else 0.0
                state.L[side, i] += base
                if i == a:
                    state.L[side, i] += (loss - base) / state.p[side, i]
        else:
            state.L[side, a] += loss / state.p[side, a]
    state.t[0] += 1
    for side in range(2):
        tsallis(state.L[side], scale / math.sqrt(state.t[0]), state.p[side])


@rule
def best(state: State) -> int:
    """The arm with the least estimated loss."""
    arm = 0
    for a in range(state.L.shape[1]):
        if state.L[0, a] + state.L[1, a] < state.L[0, arm] + state.L[1, arm]:
            arm = a
    return arm


@dataclass(kw_only=True)
class VersatileDB(FinitePolicy):
    """Sparring of two Tsallis-INF learners, good against stochastic and adversarial preferences alike.

    Assumes a Condorcet winner; aims at strong regret; needs no horizon. A tie is a loss of one half
    to either side, an arm against itself a coin; a pair that was not compared changes nothing.

    Args:
        reduced: reduced-variance loss estimates with eta = 4 / sqrt(t) (Zimmert & Seldin 2021) instead of
            plain importance weights with 2 / sqrt(t).

    Source: Saha & Gaillard 2022, Algorithm 1.
    """

    reduced: bool = False
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def start(self, rng: np.random.Generator) -> State:
        """No losses."""
        K = self.domain.size
        return State(bool(self.reduced), np.zeros((2, K)), np.full((2, K), 1.0 / K), np.ones(1, dtype=np.int64))
