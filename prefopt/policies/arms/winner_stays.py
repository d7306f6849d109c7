"""Winner Stays for weak regret (WS-W) and for strong regret (WS-S).

Chen & Frazier 2017, "Dueling bandits with weak regret".

Step numbers are those of Algorithm 1 (WS-W); WS-S adds the phases of Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import duel_sign


class State(NamedTuple):
    """What Winner Stays remembers."""

    beta: float  # growth of the exploitation phases; 0 for WS-W, which has none
    C: NDArray[np.int64]  # wins minus losses C(t, i), (K,)
    pair: NDArray[np.int64]  # the previous pair (i_{t-1}, j_{t-1}), -1 before the first, (2,)
    round: NDArray[np.int64]  # WS-S: round l, (1,)
    length: NDArray[np.float64]  # WS-S: beta^l, (1,)
    left: NDArray[np.int64]  # WS-S: exploitation steps left, (1,)


@rule
def leader(C: NDArray[np.int64], pair: NDArray[np.int64], skip: int, rng: np.random.Generator) -> int:
    """The argmax of C without arm ``skip``; ties prefer the previous pair, then chance."""
    top, arm, ties = 0, -1, 0
    for k in range(len(C)):
        if k == skip:
            continue
        if arm < 0 or C[k] > top:
            top, arm = C[k], k
    for p in pair:
        if p >= 0 and p != skip and C[p] == top:
            return int(p)
    for k in range(len(C)):
        if k != skip and C[k] == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    return arm


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The two arms with most net wins, or the winner of the round against itself."""
    slate[0] = leader(state.C, state.pair, -1, rng)  # 2
    if state.left[0] > 0 or len(state.C) == 1:
        slate[1] = slate[0]
    else:
        slate[1] = leader(state.C, state.pair, slate[0], rng)  # 3
    return 2


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Winner + 1, loser - 1; in WS-S, the end of a round starts an exploitation phase."""
    i, j = slate[0], slate[1]
    if i == j:
        state.left[0] = max(0, state.left[0] - 1)
        return
    gain = duel_sign(wins, rng)
    if gain == 0:
        return
    state.C[i] += gain  # 5
    state.C[j] -= gain
    state.pair[0], state.pair[1] = i, j
    ahead = max(state.C[i], state.C[j])
    if state.beta > 0.0 and ahead >= (len(state.C) - 1) * state.round[0]:
        state.left[0] = int(min(state.length[0], 1e15))
        state.length[0] = min(state.length[0] * state.beta, 1e15)
        state.round[0] += 1


@rule
def best(state: State) -> int:
    """The arm with most net wins."""
    return int(np.argmax(state.C))


@dataclass(kw_only=True)
class WinnerStays(FinitePolicy):
    """Winner Stays. The incumbent meets challengers; who loses too often leaves until the next round.

    WS-W (``beta`` 0) assumes a Condorcet winner, better a total order, and aims at weak regret, which stays
    bounded for ever; WS-S aims at strong regret: after round l of WS-W it plays the round's winner against
    itself for floor(beta^l) steps (the floor is taken from a public implementation; the paper's proof only
    uses the geometric sum). Needs no horizon. A tie is decided by a fair coin, lest the
    same pair be asked for ever; a pair that was not compared leaves C as it is.

    Args:
        beta: growth of the exploitation phases, >= 1 (theory 1 < beta < p/(1-p)); 0 for WS-W. The paper
            uses 1.1.

    Source: Chen & Frazier 2017, Algorithms 1 and 2.
    """

    beta: float = 0.0
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Phases do not shrink."""
        if self.beta != 0 and not self.beta >= 1:
            raise SettingError(f"ws-s needs beta >= 1 (ws-w: 0), got {self.beta}")

    def start(self, rng: np.random.Generator) -> State:
        """Nobody is ahead; round 1."""
        none, one = np.zeros(self.domain.size, dtype=np.int64), np.ones(1, dtype=np.int64)
        return State(float(self.beta), none, np.full(2, -1), one, np.array([float(self.beta)]), np.zeros_like(one))


def ws_w(domain: Any, **settings: Any) -> WinnerStays:
    """Winner Stays for weak regret."""
    return WinnerStays(domain, **settings)


def ws_s(domain: Any, *, beta: float = 1.1, **settings: Any) -> WinnerStays:
    """Winner Stays for strong regret."""
    return WinnerStays(domain, beta=beta, **settings)
