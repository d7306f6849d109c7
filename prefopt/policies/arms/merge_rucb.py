"""MergeRUCB: Zoghi, Whiteson, de Rijke 2015, "MergeRUCB: a method for large-scale online ranker evaluation".

Step numbers are those of Algorithm 1; ``batches`` has the bookkeeping.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError
from prefopt.policies.arms.batches import State, best, start_batches, tell
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import uniform_index


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
        delta: chance of failure, for C by formula; None is 1/T.

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
        if self.C is not None and self.delta is not None:
            raise SettingError(f"merge-rucb uses delta={self.delta} only to compute C: pass C=None, or leave delta out")
        if self.C is None and self.delta is None:
            self.need_horizon("merge-rucb with C by formula and delta = 1/T", ", or delta")

    def log_C(self) -> float:
        """The logarithm of C, -inf for 0."""
        if self.C is not None:
            return math.log(self.C) if self.C > 0 else -math.inf
        delta = self.delta or 1.0 / max(1, self.horizon or 1)
        a, K = self.alpha, self.domain.size
        return math.log((4 * a - 1) * K * K / ((2 * a - 1) * delta)) / (2 * a - 1)

    def start(self, rng: np.random.Generator) -> State:
        """Random batches of size p."""
        return start_batches(self.domain.size, float(self.alpha), self.log_C(), int(self.p), rng)
