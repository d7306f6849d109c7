"""IndSelfSparring: Sui, Zhuang, Burdick, Yue 2017, "Multi-dueling bandits with dependent arms", Algorithm 3.

Step numbers are those of Algorithm 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.thompson import best_draw, posteriors, set_posterior
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import best_rate


class State(NamedTuple):
    """What IndSelfSparring remembers."""

    m: int  # slots per round
    eta: float  # learning rate
    count_self: bool  # whether a duel of an arm with itself counts
    S: NDArray[np.float64]  # wins S_i, (K,)
    F: NDArray[np.float64]  # losses F_i, (K,)
    C: NDArray[np.float64]  # constants of the draws from Beta(S_i + 1, F_i + 1), (K, 4)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Thompson sampling, independently for every slot."""
    for j in range(state.m):  # 3
        slate[j] = best_draw(state.C, rng)  # 4-6
    return state.m


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Every ordered pair of slots with an outcome feeds the first slot's arm."""
    for j in range(m):  # 9
        for k in range(m):
            if j != k and (state.count_self or slate[j] != slate[k]):
                state.S[slate[j]] += state.eta * wins[j, k]  # 10
                state.F[slate[j]] += state.eta * wins[k, j]  # 11
        set_posterior(state.C, slate[j], state.S[slate[j]] + 1.0, state.F[slate[j]] + 1.0)


@rule
def best(state: State) -> int:
    """The arm with the largest posterior mean."""
    return best_rate(state.S, state.F, 1.0)


@dataclass(kw_only=True)
class IndSelfSparring(FinitePolicy):
    """Self-sparring with independent Beta-Bernoulli arms, any slate size.

    Assumes a total order with approximately linear preferences; aims at strong regret; needs no horizon.
    A tie adds half a win and half a loss; a pair that was not compared adds nothing.

    Args:
        eta: learning rate, > 0. The paper's tuned 3.5 for two slots (preset ``sui2017``) lowers the
            mean regret and spreads it widely.
        count_self: count the coin of a duel of an arm with itself; without it the posterior of the
            best arm does not tend to one half and a run can lock in. True and false are what ``KernelSelfSparring``
            calls ``self_duel`` "coin" and "skip".

    Source: Sui et al. 2017, Algorithm 3.
    """

    eta: float = 1.0
    count_self: bool = True
    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def check(self) -> None:
        """Learning rates are positive."""
        if not self.eta > 0:
            raise SettingError(f"ind-self-sparring needs eta > 0, got {self.eta}")

    def start(self, rng: np.random.Generator) -> State:
        """Beta(1, 1) for every arm."""
        zeros = np.zeros(self.domain.size)
        return State(
            self.slate_size, float(self.eta), bool(self.count_self), zeros, zeros.copy(), posteriors(self.domain.size)
        )
