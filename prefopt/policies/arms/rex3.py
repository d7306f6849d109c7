"""REX3: Gajane, Urvoy, Clérot 2015, Algorithm 1.

"A relative exponential weighing algorithm for adversarial utility-based dueling bandits".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.arms.bandits import draw, exp3_gamma, mix
from prefopt.policies.base import FinitePolicy, Rules, rule


class State(NamedTuple):
    """What REX3 remembers."""

    rounds: float  # horizon T, or 0 for the anytime rate
    logw: NDArray[np.float64]  # log weights, (K,)
    p: NDArray[np.float64]  # probabilities p_i, (K,)
    t: NDArray[np.int64]  # answers so far, (1,)


@rule
def rate(state: State) -> float:
    """Gamma = min(1/2, sqrt(K ln K / T)), or with t for T."""
    return exp3_gamma(len(state.p), state.rounds if state.rounds > 0.0 else state.t[0] + 1.0, 1.0, 0.5)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Both arms independently from one distribution."""
    slate[0] = draw(state.p, rng)
    slate[1] = draw(state.p, rng)
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """What one arm gains in the exponent of its weight the other loses, each over its own probability."""
    if wins[0, 1] + wins[1, 0] == 0.0:
        return
    a, b = slate[0], slate[1]
    step = rate(state) * (wins[0, 1] - wins[1, 0]) / (2.0 * len(state.p))
    state.logw[a] += step / state.p[a]
    state.logw[b] -= step / state.p[b]
    state.t[0] += 1
    mix(state.logw, rate(state), state.p)


@rule
def best(state: State) -> int:
    """The arm of largest weight."""
    return int(np.argmax(state.logw))


@dataclass(kw_only=True)
class REX3(FinitePolicy):
    """Relative exponential weighing.

    Assumes utilities, possibly adversarial; aims at strong regret; needs the horizon unless ``anytime``.
    The 2 in the exponent gamma psi / (2 K p) and the cap 1/2 of gamma were not checked against the paper.
    A tie (psi = 0) moves no weight but counts as a step; a pair that was not compared changes nothing, nor
    does an arm against itself.

    Args:
        anytime: gamma = sqrt(K ln K / t), which needs no horizon.

    Source: Gajane et al. 2015, Algorithm 1.
    """

    anytime: bool = False
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """A horizon, unless anytime."""
        if not self.anytime:
            self.need_horizon("rex3", ", or anytime=True")

    def start(self, rng: np.random.Generator) -> State:
        """Equal weights."""
        K = self.domain.size
        rounds = 0.0 if self.anytime or not self.horizon else float(self.horizon)
        return State(rounds, np.zeros(K), np.full(K, 1.0 / K), np.zeros(1, dtype=np.int64))
