"""MergeRUCB: Zoghi, Whiteson, de Rijke 2015, "MergeRUCB: a method for large-scale online ranker evaluation".

Step numbers are those of Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.bounds import answered, learn, most_victories, tables
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What MergeRUCB remembers."""

    alpha: float  # exploration, alpha
    log_C: float  # ln C, -inf for C = 0
    p: int  # batch size
    W: NDArray[np.float64]  # wins w_ij, (K, K)
    mu: NDArray[np.float64]  # row c: mean of each j against c, (K, K)
    r: NDArray[np.float64]  # 1 / sqrt(N_ij), (K, K)
    V: NDArray[np.float64]  # deficits: u_ij < 1/2 when above alpha ln(t + C), (K, K)
    M: NDArray[np.float64]  # their row maxima, (K,)
    t: NDArray[np.int64]  # step, (1,)
    reach: NDArray[np.float64]  # alpha ln(t + C), (1,)
    batch: NDArray[np.int64]  # arms of each batch, (batches, K)
    size: NDArray[np.int64]  # their numbers, (batches,)
    now: NDArray[np.int64]  # number of batches, arms left, stage S, batch of this step, (4,)
    scratch_lost: NDArray[np.bool_]  # who is dropped, (K,)


@rule
def join(state: State, source: int, target: int) -> None:
    """Put the arms of one batch into another; the last batch takes the freed place."""
    for k in range(state.size[source]):
        state.batch[target, state.size[target] + k] = state.batch[source, k]
    state.size[target] += state.size[source]
    last = state.now[0] - 1
    if source != last:
        for k in range(state.size[last]):
            state.batch[source, k] = state.batch[last, k]
        state.size[source] = state.size[last]
    state.size[last] = 0
    state.now[0] = last


@rule
def drop(state: State, m: int, rng: np.random.Generator) -> None:
    """Drop the arms of batch m that surely lose to another of its arms; one stays in any case (7)."""
    n, lost = state.size[m], 0
    for k in range(n):
        state.scratch_lost[k] = False
        if state.M[state.batch[m, k]] > state.reach[0]:
            for h in range(n):
                if state.V[state.batch[m, k], state.batch[m, h]] > state.reach[0]:
                    state.scratch_lost[k] = True
        lost += 1 if state.scratch_lost[k] else 0
    if lost == 0:
        return
    if lost == n:
        state.scratch_lost[uniform_index(n, rng)] = False
    kept = 0
    for k in range(n):
        if not state.scratch_lost[k]:
            state.batch[m, kept] = state.batch[m, k]
            kept += 1
    state.now[1] -= n - kept
    state.size[m] = kept


@rule
def prepare(state: State, rng: np.random.Generator) -> None:
    """Choose the batch of the coming step and drop its losers; a batch of one joins the next batch."""
    while True:
        m = state.t[0] % state.now[0]  # 5
        drop(state, m, rng)
        if state.size[m] > 1 or state.now[0] == 1:
            state.now[3] = m
            return
        join(state, m, (m + 1) % state.now[0])


@rule
def extreme(state: State, sign: int, paired: NDArray[np.bool_], skip: int) -> int:
    """The smallest (sign 1) or largest (-1) batch not paired yet, or -1."""
    found = -1
    for b in range(state.now[0]):
        if b != skip and not paired[b] and (found < 0 or sign * state.size[b] < sign * state.size[found]):
            found = b
    return found


@rule
def pair_up(state: State) -> None:
    """Merge the smallest batch with the largest, and so on, while both fit into 1.5 p (13)."""
    paired = state.scratch_lost
    for b in range(state.now[0]):
        paired[b] = False
    while True:
        large = extreme(state, -1, paired, -1)
        small = extreme(state, 1, paired, large)
        if large < 0 or small < 0:
            return
        paired[large] = True
        if state.size[large] + state.size[small] <= 1.5 * state.p:
            last = state.now[0] - 1
            mark = paired[last]
            join(state, small, large)
            if large == last:
                large = small
                mark = True
            paired[small] = mark
            paired[large] = True


@rule
def merge(state: State) -> None:
    """Next stage: pair the batches, once more if some are still small."""
    pair_up(state)
    for b in range(state.now[0]):
        if 2 * state.size[b] <= state.p:
            pair_up(state)
            break
    state.now[2] += 1


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """A uniform arm of the batch against the one that might beat it most; the last arm against itself."""
    m = state.now[3]
    n = state.size[m]
    c = state.batch[m, uniform_index(n, rng)]  # 8
    slate[0] = slate[1] = c
    s, top, ties = math.sqrt(state.reach[0]), -1.0, 1
    for k in range(n):
        j = state.batch[m, k]
        u = state.mu[c, j] + s * state.r[c, j]
        if j != c and u > top:
            slate[1], top, ties = j, u, 1  # 9
        elif j != c and u == top:
            ties += 1
            if rng.random() * ties < 1.0:
                slate[1] = j
    return 2


@rule
def step(state: State) -> None:
    """Advance t and the reach of the bounds; ln(t + C) is taken in log space."""
    state.t[0] += 1
    log_t = math.log(state.t[0])
    high, low = max(log_t, state.log_C), min(log_t, state.log_C)
    state.reach[0] = state.alpha * (high + math.log1p(math.exp(low - high)))


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the duel; when enough arms are out, merge batches; prepare the next step."""
    if not answered(wins):
        return
    learn(state.W, state.mu, state.r, state.V, state.M, slate[0], slate[1], wins)  # 10
    if state.now[0] > 1 and state.now[1] <= len(state.M) / 2.0 ** state.now[2] + 1.0:  # 12
        merge(state)
    step(state)
    prepare(state, rng)


@rule
def best(state: State) -> int:
    """The arm left in the tournament that is ahead in most of its pairs."""
    arm, top = state.batch[0, 0], -1
    overall = most_victories(state.W)
    for b in range(state.now[0]):
        for k in range(state.size[b]):
            i, score = state.batch[b, k], 0
            for j in range(len(state.M)):
                if state.W[i, j] > state.W[j, i]:
                    score += 2
            if i == overall:
                score += 1
            if score > top:
                arm, top = i, score
    return int(arm)


@dataclass(kw_only=True)
class MergeRUCB(FinitePolicy):
    """RUCB in batches that are merged as arms drop out; for many arms.

    Assumes a Condorcet winner and few ties; aims at strong regret; needs the horizon only if ``C`` and
    ``delta`` are both None. A tie is half a win to each; a pair that was not compared changes nothing.
    Dropping an arm is final. With C = 0 (which a run with alpha = 0.51 needs: the paper's constant would be
    e^970 for 16 arms) this is not safe, and some runs lose the winner. A batch of one arm joins the next
    batch: without that, tied arms can block the merging for ever. How the paper treats it was not checked;
    the trigger of a merge (arms left <= K / 2^S + 1) is that of the authors' code.

    Args:
        alpha: exploration, > 0 (> 1/2 for C by formula). Preset ``zoghi2015``: 1.01 and C by formula.
        p: batch size, >= 2 (theory >= 4).
        C: added to t in ln(t + C); None is the paper's ((4 alpha - 1) K^2 / ((2 alpha - 1) delta))^(1 / (2 alpha - 1)).
        delta: chance of failure; None is 1/T.

    Source: Zoghi et al. 2015 (WSDM), Algorithm 1.
    """

    alpha: float = 0.51
    p: int = 4
    C: float | None = 0.0
    delta: float | None = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """C can be computed, sizes are sizes."""
        if not self.alpha > 0 or self.p < 2 or (self.C is not None and not self.C >= 0):
            raise SettingError(f"merge-rucb needs alpha > 0, p >= 2, C >= 0, got {self.alpha}, {self.p}, {self.C}")
        if self.C is None and not self.alpha > 0.5:
            raise SettingError(f"merge-rucb with C by formula needs alpha > 1/2, got {self.alpha}")
        if self.delta is not None and not 0 < self.delta < 1:
            raise SettingError(f"merge-rucb needs 0 < delta < 1, got {self.delta}")
        if self.C is None and self.delta is None and self.horizon is None:
            raise SettingError(
                "merge-rucb with C by formula and delta = 1/T needs the number of rounds: pass horizon=..."
            )

    def log_C(self) -> float:
        """The logarithm of C, -inf for 0."""
        if self.C is not None:
            return math.log(self.C) if self.C > 0 else -math.inf
        delta = self.delta or 1.0 / max(1, self.horizon or 1)
        a, K = self.alpha, self.domain.size
        return math.log((4 * a - 1) * K * K / ((2 * a - 1) * delta)) / (2 * a - 1)

    def start(self, rng: np.random.Generator) -> State:
        """Random batches of size p, as even as can be."""
        K = self.domain.size
        count = -(-K // self.p)
        batch, size = np.zeros((count, K), dtype=np.int64), np.zeros(count, dtype=np.int64)
        for place, arm in enumerate(rng.permutation(K)):
            batch[place % count, size[place % count]] = arm
            size[place % count] += 1
        t, now = np.zeros(1, dtype=np.int64), np.array([count, K, 1, 0])
        rates = float(self.alpha), self.log_C(), int(self.p)
        state = State(*rates, *tables(K), t, np.zeros(1), batch, size, now, np.zeros(K, dtype=np.bool_))
        step(state)
        prepare(state, rng)
        return state
