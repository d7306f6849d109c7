"""MergeDTS: Li, Markov, de Rijke, Zoghi 2020, "MergeDTS: a method for effective large-scale online ranker evaluation".

The batches and their bookkeeping are those of MergeRUCB; the two arms are chosen by Thompson sampling.
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
from prefopt.policies.rules import argmax_random, beta_draw


@rule
def sampled_winner(state: State, m: int, rng: np.random.Generator) -> int:
    """The arm of batch m that beats most of the others in one draw of all pairs, ties random."""
    n, batch = state.size[m], state.batch[m]
    victories = state.scratch[:n]
    for k in range(n):
        victories[k] = 0.0
    for k in range(n):
        for h in range(k + 1, n):
            i, j = batch[k], batch[h]
            if beta_draw(state.W[i, j] + 1.0, state.W[j, i] + 1.0, rng) > 0.5:
                victories[k] += 1.0
            else:
                victories[h] += 1.0
    return int(batch[argmax_random(victories, rng)])


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The sampled winner of the batch against the arm it is most likely to drop; the last arm against itself."""
    m = state.now[3]
    c = sampled_winner(state, m, rng)
    slate[0] = slate[1] = c
    least = 2.0
    for k in range(state.size[m]):
        j = state.batch[m, k]
        if j != c:
            theta = beta_draw(state.W[j, c] + 1.0, state.W[c, j] + 1.0, rng)
            if theta < least:
                slate[1], least = j, theta
    return 2


@dataclass(kw_only=True)
class MergeDTS(FinitePolicy):
    """Thompson sampling in batches that are merged as arms drop out; for a hundred arms and more.

    Assumes a Condorcet winner and few ties; aims at strong regret; needs no horizon. A tie is half a win
    to each; a pair that was not compared changes nothing. Dropping an arm is final. The defaults are the
    authors' tuned values, outside of their theory (alpha 1.01, p 4). Merging is as in ``MergeRUCB``;
    the details were taken from public code and not checked against the paper.

    Args:
        alpha: exploration, > 0.
        p: batch size, >= 2.
        C: added to t in ln(t + C), >= 0.

    Source: Li et al. 2020, Algorithm 1.
    """

    alpha: float = 0.8**6
    p: int = 16
    C: float = 4e5
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Sizes are sizes."""
        if not self.alpha > 0 or self.p < 2 or not self.C >= 0:
            raise SettingError(f"merge-dts needs alpha > 0, p >= 2, C >= 0, got {self.alpha}, {self.p}, {self.C}")

    def start(self, rng: np.random.Generator) -> State:
        """Random batches of size p."""
        log_C = math.log(self.C) if self.C > 0 else -math.inf
        return start_batches(self.domain.size, float(self.alpha), log_C, int(self.p), rng)
