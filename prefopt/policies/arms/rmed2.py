"""RMED2 and RMED2F: Komiyama, Honda, Kashima, Nakagawa 2015, Algorithms 1 and 3.

RMED1 with the opponent that rules an arm out at the least regret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms import rmed
from prefopt.policies.arms.rmed import RMED1, advance_force, forced, likely, next_left, start_state
from prefopt.policies.base import Rules, rule
from prefopt.policies.rules import argmin_random


class State(NamedTuple):
    """What RMED2 remembers."""

    fixed: bool  # RMED2F
    alpha: float  # every pair is compared alpha ln ln t times by force (RMED2F: alpha ln ln T)
    log_log_T: float  # RMED2F: ln ln T
    rmed: rmed.State
    b: NDArray[np.int64]  # RMED2F: frozen b_i, -1 before, (K,)


@rule
def cheapest(state: rmed.State, i: int, star: int) -> int:
    """b_i: the opponent that rules i out at the least regret."""
    arm, low = star, np.inf
    for j in range(len(state.div)):
        if state.mu[i, j] < 0.5:
            cost = max(0.01, state.mu[star, i] + state.mu[star, j] - 1.0) * state.N[i, j] / state.D[i, j]
            if cost < low:
                arm, low = j, cost
    return arm


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """As RMED1, but b_i is the opponent unless i* was compared with i 1 / ln ln t times as rarely."""
    one = state.rmed
    if next_left(one, slate):
        return 2
    i, star = slate[0], argmin_random(one.div, rng)
    b = cheapest(one, i, star) if state.b[i] < 0 else state.b[i]
    scale = state.log_log_T if state.fixed else math.log(math.log(max(3.0, one.t[0])))
    if b != i and one.mu[i, b] <= 0.5 and one.N[i, star] * max(1.0, scale) >= one.N[i, b]:
        slate[1] = b
    else:
        slate[1] = likely(one, i, star, rng)
    return 2


@rule
def update_force(state: State, rng: np.random.Generator) -> None:
    """Raise the number of forced comparisons as ln ln t grows; when they are done, RMED2F freezes its b_i."""
    one = state.rmed
    if not state.fixed and one.t[0] > 2:
        level = math.ceil(state.alpha * math.log(math.log(one.t[0])))
        if level > one.force[0]:
            one.force[0], one.force[1] = level, 0
            advance_force(one)
    if state.fixed and state.b[0] < 0 and not forced(one):
        star = argmin_random(one.div, rng)
        for i in range(len(state.b)):
            state.b[i] = cheapest(one, i, star)


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel as RMED1 does."""
    before = state.rmed.t[0]
    rmed.tell(state.rmed, slate, m, wins, rng)
    if state.rmed.t[0] > before:
        update_force(state, rng)


@rule
def best(state: State) -> int:
    """i*, the arm with the least empirical divergence."""
    return rmed.best(state.rmed)


@dataclass(kw_only=True)
class RMED2(RMED1):
    """RMED with the asymptotically optimal constant, without the horizon (RMED2) or with it (RMED2F).

    Assumes a Condorcet winner; aims at strong regret. A tie is half a win to each; a pair that was not compared
    changes nothing. The numerator of b_i is floored at 0.01 as in the authors' code (noise can make it
    negative); ln ln t is taken as at least 1 where it divides.

    Args:
        fixed: RMED2F: b_i is chosen once, after alpha ln ln T comparisons of every pair; needs the horizon.
        alpha: every pair is compared alpha ln ln t times, > 0.
        f: f(K), >= 0; None is the paper's 0.3 K^1.01.

    Source: Komiyama et al. 2015, Algorithms 1 and 3.
    """

    fixed: bool = False
    alpha: float = 3.0
    rules: ClassVar[Rules] = Rules(ask, tell, best)

    def check(self) -> None:
        """Forced exploration is positive, and RMED2F knows the horizon."""
        super().check()
        if self.fixed:
            self.need_horizon("rmed2f")
        if not self.alpha > 0:
            raise SettingError(f"rmed2 needs alpha > 0, got {self.alpha}")

    def start(self, rng: np.random.Generator) -> Any:
        """Nothing compared."""
        log_log_T = math.log(math.log(max(3.0, self.horizon or 0)))
        level = max(1, math.ceil(self.alpha * log_log_T)) if self.fixed else 1
        one = start_state(self.domain.size, self.f, level)
        advance_force(one)
        state = State(self.fixed, float(self.alpha), log_log_T, one, np.full(self.domain.size, -1))
        update_force(state, rng)
        return state


def rmed2f(domain: Any, *, fixed: bool = True, **settings: Any) -> RMED2:
    """RMED2F: RMED2 with the horizon known."""
    return RMED2(domain, fixed=fixed, **settings)
