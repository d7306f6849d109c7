"""RMED1, RMED2, RMED2F: Komiyama, Honda, Kashima, Nakagawa 2015.

"Regret lower bound and optimal algorithm in dueling bandit problem".

Step numbers are those of Algorithm 1; the opponents are those of Algorithms 2 and 3.
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
from prefopt.policies.rules import kl_bernoulli, lowest_value


class State(NamedTuple):
    """What RMED remembers."""

    variant: int  # 1: RMED1, 2: RMED2, 3: RMED2F
    alpha: float  # forced exploration of RMED2: alpha ln ln t comparisons of each pair
    f: float  # f(K)
    log_log_T: float  # RMED2F: ln ln T
    W: NDArray[np.float64]  # wins, (K, K)
    N: NDArray[np.float64]  # comparisons N_ij, (K, K)
    mu: NDArray[np.float64]  # means mu_ij, 1/2 if never compared, (K, K)
    D: NDArray[np.float64]  # N_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0, (K, K)
    div: NDArray[np.float64]  # empirical divergence I_i, (K,)
    t: NDArray[np.int64]  # step, (1,)
    force: NDArray[np.int64]  # how often each pair is compared by force, and the next pair to look at, (2,)
    b: NDArray[np.int64]  # RMED2F: frozen b_i, -1 before, (K,)
    L_C: NDArray[np.int64]  # current list, (K,)
    size: NDArray[np.int64]  # length of L_C and position in it, (2,)
    remaining: NDArray[np.bool_]  # L_R as a mask, (K,)
    following: NDArray[np.bool_]  # L_N as a mask, (K,)


@rule
def lowest(values: NDArray[np.float64], skip: int, rng: np.random.Generator) -> int:
    """The argmin of without index ``skip``, ties random."""
    arm, ties = -1, 1
    for i in range(len(values)):
        if i == skip:
            continue
        if arm < 0 or values[i] < values[arm]:
            arm, ties = i, 1
        elif values[i] == values[arm]:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = i
    return arm


@rule
def cheapest(state: State, i: int, star: int) -> int:
    """b_i: the opponent that rules i out at the least regret."""
    arm, low = star, np.inf
    for j in range(len(state.div)):
        if state.mu[i, j] < 0.5:
            cost = max(0.01, state.mu[star, i] + state.mu[star, j] - 1.0) * state.N[i, j] / state.D[i, j]
            if cost < low:
                arm, low = j, cost
    return arm


@rule
def opponent(state: State, i: int, rng: np.random.Generator) -> int:
    """The arm that i is compared with."""
    star = lowest(state.div, -1, rng)
    if state.variant > 1:
        b = cheapest(state, i, star) if state.b[i] < 0 else state.b[i]
        scale = state.log_log_T if state.variant == 3 else math.log(math.log(max(3.0, state.t[0])))
        if b != i and state.mu[i, b] <= 0.5 and state.N[i, star] * max(1.0, scale) >= state.N[i, b]:
            return int(b)
    if star != i and state.mu[i, star] <= 0.5:
        return star
    arm = lowest(state.mu[i], i, rng)
    return arm if arm >= 0 and state.mu[i, arm] <= 0.5 else star


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """A pair that is compared by force, else the next arm of the list and its opponent."""
    K = len(state.div)
    if state.force[1] < K * K:
        slate[0], slate[1] = state.force[1] // K, state.force[1] % K
    else:
        slate[0] = state.L_C[state.size[1]]  # 6
        slate[1] = opponent(state, slate[0], rng)  # 7
    return 2


@rule
def count(state: State, i: int, j: int, won: float, lost: float) -> None:
    """Renew W, N, mu, D and I of both arms."""
    n = state.N[i, j] + won + lost
    state.W[i, j] += won
    state.N[i, j] = n
    state.mu[i, j] = state.W[i, j] / n
    state.D[i, j] = n * kl_bernoulli(state.mu[i, j], 0.5) if state.mu[i, j] <= 0.5 else 0.0
    state.div[i] = 0.0
    for k in range(len(state.div)):
        state.div[i] += state.D[i, k]


@rule
def advance_force(state: State, rng: np.random.Generator) -> None:
    """Move on to the next pair compared too rarely; where none is left, RMED2F freezes its b_i."""
    K = len(state.div)
    if state.variant == 2 and state.t[0] > 2:
        level = math.ceil(state.alpha * math.log(math.log(state.t[0])))
        if level > state.force[0]:
            state.force[0], state.force[1] = level, 0
    p = state.force[1]
    while p < K * K and (p // K >= p % K or state.N[p // K, p % K] >= state.force[0]):
        p += 1
    state.force[1] = p
    if state.variant == 3 and p == K * K and state.b[0] < 0:
        star = lowest(state.div, -1, rng)
        for i in range(K):
            state.b[i] = cheapest(state, i, star)


@rule
def advance_list(state: State) -> None:
    """The arm is done; arms that may still be the best go on the next list."""
    state.remaining[state.L_C[state.size[1]]] = False  # 8
    low = lowest_value(state.div)
    for j in range(len(state.div)):
        if not state.remaining[j] and state.div[j] - low <= math.log(state.t[0]) + state.f:
            state.following[j] = True  # 9
    state.size[1] += 1
    if state.size[1] == state.size[0]:  # 11
        state.size[:] = 0
        for j in range(len(state.div)):
            state.remaining[j] = state.following[j]
            if state.following[j]:
                state.L_C[state.size[0]] = j
                state.size[0] += 1
            state.following[j] = False


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; move on in the forced pairs or in the list."""
    if not answered(wins):
        return
    i, j = slate[0], slate[1]
    forced = state.force[1] < len(state.div) ** 2
    if i != j:
        count(state, i, j, wins[0, 1], wins[1, 0])
        count(state, j, i, wins[1, 0], wins[0, 1])
    if not forced and i == state.L_C[state.size[1]]:
        advance_list(state)
    state.t[0] += 1
    if forced or state.variant == 2:
        advance_force(state, rng)


@rule
def best(state: State) -> int:
    """i*, the arm with the least empirical divergence."""
    return int(np.argmin(state.div))


@dataclass(kw_only=True)
class RMED(FinitePolicy):
    """Relative minimum empirical divergence.

    Assumes a Condorcet winner; aims at strong regret, with the optimal constant in RMED2 and RMED2F.
    RMED2F needs the horizon. A tie is half a win to each; a pair that was not compared changes nothing.
    The numerator of RMED2's choice of opponent is floored at 0.01 as in the authors' code (noise can make
    it negative); ln ln t is taken as at least 1 where it divides.

    Args:
        variant: "1", "2" or "2F".
        alpha: RMED2, RMED2F: every pair is compared alpha ln ln t (ln ln T) times, > 0.
        f: f(K); None is the paper's 0.3 K^1.01.

    Source: Komiyama et al. 2015, Algorithms 1 to 3.
    """

    variant: str = "1"
    alpha: float = 3.0
    f: float | None = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """The variant exists and has what it needs."""
        if self.variant not in ("1", "2", "2F"):
            raise SettingError(f'rmed has the variants "1", "2" and "2F", got {self.variant!r}')
        if self.variant == "2F" and self.horizon is None:
            raise SettingError("rmed2f needs the number of rounds it will play: pass horizon=...")
        if not self.alpha > 0 or (self.f is not None and not self.f >= 0):
            raise SettingError(f"rmed needs alpha > 0 and f >= 0, got {self.alpha} and {self.f}")

    def start(self, rng: np.random.Generator) -> State:
        """Nothing compared; every arm is on the list."""
        K = self.domain.size
        log_log_T = math.log(math.log(max(3.0, self.horizon or 0)))
        level = math.ceil(self.alpha * log_log_T) if self.variant == "2F" else 1
        one, zeros = np.ones(1, dtype=np.int64), np.zeros((K, K))
        state = State(
            ("1", "2", "2F").index(self.variant) + 1,
            float(self.alpha),
            0.3 * K**1.01 if self.f is None else float(self.f),
            log_log_T,
            zeros,
            zeros.copy(),
            np.full((K, K), 0.5),
            zeros.copy(),
            np.zeros(K),
            one,
            np.array([max(1, level), 0]),
            np.full(K, -1),
            np.arange(K),
            np.array([K, 0]),
            np.ones(K, dtype=np.bool_),
            np.zeros(K, dtype=np.bool_),
        )
        advance_force(state, rng)
        return state


def rmed1(domain: Any, *, variant: str = "1", **settings: Any) -> RMED:
    """RMED1."""
    return RMED(domain, variant=variant, **settings)


def rmed2(domain: Any, *, variant: str = "2", **settings: Any) -> RMED:
    """RMED2: the asymptotically optimal one, without the horizon."""
    return RMED(domain, variant=variant, **settings)


def rmed2f(domain: Any, *, variant: str = "2F", **settings: Any) -> RMED:
    """RMED2F: RMED2 with the horizon known."""
    return RMED(domain, variant=variant, **settings)
