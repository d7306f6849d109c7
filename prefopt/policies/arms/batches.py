"""The batches of MergeRUCB and MergeDTS: what is dropped, when batches merge, whose turn it is.

Step numbers are those of Algorithm 1 of Zoghi, Whiteson, de Rijke 2015 (MergeRUCB).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.arms.bounds import answered, learn, most_victories, tables
from prefopt.policies.base import rule
from prefopt.policies.rules import uniform_index


class State(NamedTuple):
    """What a merging algorithm remembers."""

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
    scratch: NDArray[np.float64]  # working space of a choice, (K,)


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


def start_batches(K: int, alpha: float, log_C: float, p: int, rng: np.random.Generator) -> State:
    """Random batches of size ``p``, as even as can be, ready for the first step."""
    count = -(-K // p)
    batch, size = np.zeros((count, K), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for place, arm in enumerate(rng.permutation(K)):
        batch[place % count, size[place % count]] = arm
        size[place % count] += 1
    t, now = np.zeros(1, dtype=np.int64), np.array([count, K, 1, 0])
    scratch = np.zeros(K, dtype=np.bool_), np.zeros(K)
    state = State(alpha, log_C, p, *tables(K), t, np.zeros(1), batch, size, now, *scratch)
    step(state)
    prepare(state, rng)
    return state
