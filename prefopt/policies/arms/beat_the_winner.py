"""Beat the Winner and Modified Beat the Winner: Pekoz, Ross, Zhang 2022, "Dueling bandit problems".

Written after descriptions and a public implementation, not checked against the paper's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import duel_sign, uniform_index


class State(NamedTuple):
    """What Beat the Winner remembers."""

    modified: bool  # MBTW
    restart: bool  # BTW: the length of a round is 1 again when the host loses
    queue: NDArray[np.int64]  # host, opponent, then (BTW) the others in their order, (K,)
    wins: NDArray[np.int64]  # of host and opponent in this round, (2,)
    goal: NDArray[np.int64]  # wins that decide a round: BTW entry 0, MBTW r_i of the host, (K,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The host against its opponent."""
    slate[0] = state.queue[0]
    slate[1] = state.queue[min(1, len(state.queue) - 1)]
    return 2


@rule
def end_queue(state: State, won: bool) -> None:
    """BTW: the loser goes to the back, the next round is one win longer."""
    K, queue = len(state.queue), state.queue
    loser = queue[1] if won else queue[0]
    if not won:
        queue[0] = queue[1]
    for k in range(1, K - 1):
        queue[k] = queue[k + 1]
    queue[K - 1] = loser
    state.goal[0] = 1 if state.restart and not won else state.goal[0] + 1


@rule
def end_drawn(state: State, won: bool, rng: np.random.Generator) -> None:
    """MBTW: strengths move by one; the next opponent is drawn in proportion to strength."""
    queue, r = state.queue, state.goal
    if not won:
        queue[0], queue[1] = queue[1], queue[0]
    r[queue[0]] += 1
    r[queue[1]] = max(1, r[queue[1]] - 1)
    mass = r.sum() - r[queue[0]]
    pick = uniform_index(mass, rng)
    for k in range(1, len(queue)):
        pick -= r[queue[k]]
        if pick < 0:
            queue[1], queue[k] = queue[k], queue[1]
            break


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Count the win; the round ends when one side has enough of them."""
    if len(state.queue) < 2 or slate[0] != state.queue[0] or slate[1] != state.queue[1]:
        return
    sign = duel_sign(wins, rng)
    if sign == 0:
        return
    side = 0 if sign > 0 else 1
    state.wins[side] += 1
    if state.wins[side] >= (state.goal[state.queue[0]] if state.modified else state.goal[0]):
        state.wins[:] = 0
        if state.modified:
            end_drawn(state, side == 0, rng)
        else:
            end_queue(state, side == 0)


@rule
def best(state: State) -> int:
    """The host, or in MBTW the strongest."""
    return int(np.argmax(state.goal)) if state.modified else int(state.queue[0])


@dataclass(kw_only=True)
class BeatTheWinner(FinitePolicy):
    """Beat the Winner: round n goes to the first with n wins, its loser goes to the back of the queue.

    Modified: each arm has a strength r, starting at 1; the round goes to the first with r_host wins; the
    winner gains 1, the loser loses 1 (not below 1), and the next opponent is drawn in proportion to r.
    Assumes a Condorcet winner; aims at weak regret; needs no horizon. A tie is decided by a
    fair coin, lest the same pair be asked for ever; a pair that was not compared changes nothing.

    Args:
        modified: MBTW.
        restart: BTW: start again with rounds of one win when the host loses.

    Source: Pekoz, Ross, Zhang 2022.
    """

    modified: bool = False
    restart: bool = False
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Only BTW's rounds can restart."""
        if self.modified and self.restart:
            raise SettingError("restart is for btw and has no effect on mbtw; leave it out")

    def start(self, rng: np.random.Generator) -> State:
        """A random queue."""
        K = self.domain.size
        two = np.zeros(2, dtype=np.int64)
        ones = np.ones(K, dtype=np.int64)
        return State(bool(self.modified), bool(self.restart), rng.permutation(K), two, ones)


def btw(domain: Any, **settings: Any) -> BeatTheWinner:
    """Beat the Winner."""
    return BeatTheWinner(domain, **settings)


def mbtw(domain: Any, *, modified: bool = True, **settings: Any) -> BeatTheWinner:
    """Modified Beat the Winner."""
    return BeatTheWinner(domain, modified=modified, **settings)
