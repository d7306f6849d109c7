"""Sparring: Ailon, Karnin, Joachims 2014, "Reducing dueling bandits to cardinal bandits", Algorithm 3 (Sparring).

MultiSparring is its extension to m slots that Sui et al. 2017 compare with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bandits import UNSEEN, draw, exp3_gamma, mix, thompson_learn, ucb1_learn, ucb1_pull
from prefopt.policies.arms.thompson import best_draw, posteriors
from prefopt.policies.base import FinitePolicy, Rules, rule

BANDITS = {"ucb1": 0, "exp3": 1, "ts": 2}


class State(NamedTuple):
    """What the m learners, one per slot, remember."""

    bandit: int  # BANDITS
    factor: float  # UCB1: index = mean + sqrt(factor ln n / n_a)
    rounds: float  # EXP3: horizon T, or 0 for the anytime rate
    n: NDArray[np.float64]  # UCB1: pulls of each slot's arms, (m, K)
    mean: NDArray[np.float64]  # UCB1: mean rewards, (m, K)
    r: NDArray[np.float64]  # UCB1: 1 / sqrt(n), (m, K)
    x: NDArray[np.float64]  # EXP3: log weights; TS: rewards S, (m, K)
    p: NDArray[np.float64]  # EXP3: probabilities; TS: missed rewards F, (m, K)
    C: NDArray[np.float64]  # TS: constants of the draws, (m, K, 4)
    t: NDArray[np.int64]  # answers that each slot learned from, (m,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Every slot's learner pulls an arm."""
    m = len(state.t)
    for j in range(m):
        if state.bandit == 0:
            slate[j] = ucb1_pull(state.mean[j], state.r[j], state.factor * math.log(max(1, state.t[j])), rng)
        elif state.bandit == 1:
            slate[j] = draw(state.p[j], rng)
        else:
            slate[j] = best_draw(state.C[j], rng)
    return m


@rule
def exp3_rate(state: State, j: int) -> float:
    """Exploration of slot j at its next pull."""
    if state.rounds > 0.0:
        return exp3_gamma(state.x.shape[1], state.rounds, math.e - 1.0, 1.0)
    return exp3_gamma(state.x.shape[1], state.t[j] + 1.0, 1.0, 1.0)


@rule
def learn(state: State, j: int, a: int, reward: float) -> None:
    """Tell slot j's learner the reward of its arm a."""
    if state.bandit == 0:
        ucb1_learn(state.mean[j], state.r[j], state.n[j], a, reward)
    elif state.bandit == 1:
        state.x[j, a] += exp3_rate(state, j) * reward / (state.x.shape[1] * state.p[j, a])
    else:
        thompson_learn(state.x[j], state.p[j], state.C[j], a, reward)
    state.t[j] += 1
    if state.bandit == 1:
        mix(state.x[j], exp3_rate(state, j), state.p[j])


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """A slot's reward is its mean win over the slots it was compared with."""
    for j in range(m):
        won = compared = 0.0
        for k in range(m):
            if k != j:
                won += wins[j, k]
                compared += wins[j, k] + wins[k, j]
        if compared > 0.0:
            learn(state, j, slate[j], won / compared)


@rule
def best(state: State) -> int:
    """UCB1: the arm pulled most; EXP3: the largest weight; TS: the largest posterior mean. All slots together."""
    top, arm = -np.inf, 0
    for a in range(state.x.shape[1]):
        pulls, x, p = state.n[:, a].sum(), state.x[:, a].sum(), state.p[:, a].sum()
        value = pulls if state.bandit == 0 else x if state.bandit == 1 else (x + 1.0) / (x + p + 2.0)
        if value > top:
            top, arm = value, a
    return arm


@dataclass(kw_only=True)
class MultiSparring(FinitePolicy):
    """One ordinary bandit per slot; each is rewarded by its own wins and knows nothing of the others.

    Assumes utilities (Sparring has no proof for a bare Condorcet winner); aims at strong regret. Only EXP3
    without ``anytime`` needs the horizon. The text of Sui et al. 2017 does not say what a slot of
    MultiSparring is rewarded with; the mean over its observed comparisons is assumed. A tie is a reward of
    one half, a pair that was not compared is left out, an arm against itself is a coin for either side.
    The learners begin with unseen arms in independent random orders.

    Args:
        bandit: "ucb1", "exp3" or "ts".
        factor: UCB1's bonus is sqrt(factor ln n / n_a); 2 is UCB1's own (Ailon et al. analyse 2.5).
        anytime: EXP3 with exploration sqrt(K ln K / t), which needs no horizon.

    Source: Ailon et al. 2014, Algorithm 3; Auer et al. 2002 (UCB1, EXP3); Sui et al. 2017, Algorithms 1 and 2.
    """

    bandit: str = "ucb1"
    factor: float = 2.0
    anytime: bool = False
    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def check(self) -> None:
        """A known bandit, a positive bonus, a horizon for EXP3."""
        if self.bandit not in BANDITS:
            raise SettingError(f"sparring needs a bandit among {', '.join(BANDITS)}, got {self.bandit!r}")
        if not self.factor > 0:
            raise SettingError(f"sparring needs factor > 0, got {self.factor}")
        if self.bandit != "ucb1" and self.factor != type(self).factor:
            raise SettingError(f"factor={self.factor} is for bandit 'ucb1' and has no effect on {self.bandit!r}")
        if self.bandit != "exp3" and self.anytime:
            raise SettingError(f"anytime is for bandit 'exp3' and has no effect on {self.bandit!r}; leave it out")
        if self.bandit == "exp3" and not self.anytime:
            self.need_horizon("sparring with EXP3", ", or anytime=True")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing pulled."""
        m, K = self.slate_size, self.domain.size
        zeros = np.zeros((m, K))
        p = np.full((m, K), 1.0 / K) if self.bandit == "exp3" else zeros.copy()
        rounds = 0.0 if self.anytime or not self.horizon else float(self.horizon)
        arrays = zeros, np.full((m, K), UNSEEN), zeros.copy(), zeros.copy(), p, posteriors(m, K)
        return State(BANDITS[self.bandit], float(self.factor), rounds, *arrays, np.zeros(m, dtype=np.int64))


@dataclass(kw_only=True)
class Sparring(MultiSparring):
    """Sparring proper: two slots, see ``MultiSparring``."""

    pairs_only: ClassVar[bool] = True


def sparring_ucb1(domain: Any, *, bandit: str = "ucb1", **settings: Any) -> Sparring:
    """Sparring of two UCB1."""
    return Sparring(domain, bandit=bandit, **settings)


def sparring_exp3(domain: Any, *, bandit: str = "exp3", **settings: Any) -> Sparring:
    """Sparring of two EXP3."""
    return Sparring(domain, bandit=bandit, **settings)


def sparring_ts(domain: Any, *, bandit: str = "ts", **settings: Any) -> Sparring:
    """Sparring of two Thompson samplers."""
    return Sparring(domain, bandit=bandit, **settings)
