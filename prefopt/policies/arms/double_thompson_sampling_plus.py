"""D-TS+: Wu & Liu 2016, "Double Thompson sampling for dueling bandits", section 6: D-TS with a tie-break by regret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.arms.double_thompson_sampling import (
    DoubleThompsonSampling,
    State,
    best,
    rival,
    tell,
    upper_scores,
)
from prefopt.policies.base import Rules, rule
from prefopt.policies.rules import argmax_random, beta_draw, highest_value, kl_bernoulli


@rule
def regret_scores(state: State, rng: np.random.Generator) -> None:
    """D-TS+: sample theta in full; among the best of C the least estimated regret wins (subtracted from s)."""
    K = len(state.M)
    s, theta = state.scratch_s, state.scratch_theta
    for i in range(K):
        s[i] = 0.0
    for i in range(K):
        for j in range(i + 1, K):
            x = beta_draw(state.eta * state.W[i, j] + 1.0, state.eta * state.W[j, i] + 1.0, rng)
            theta[i, j], theta[j, i] = x, 1.0 - x
            s[i if x > 0.5 else j] += 1.0
    top, most = highest_value(s), -1.0
    for i in range(K):
        if state.scratch_zeta[i] >= 0:
            most = max(most, s[i])
    for i in range(K):
        if state.scratch_zeta[i] >= 0 and s[i] == most:
            regret = 0.0
            for j in range(K):
                if j != i and theta[i, j] != 0.5:
                    regret += (top - 0.5 * (s[i] + s[j])) / kl_bernoulli(theta[i, j], 0.5)
            theta[i, i] = regret
    for i in range(K):
        s[i] = -theta[i, i] if state.scratch_zeta[i] >= 0 and s[i] == most else -np.inf


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """As in D-TS, but ties of the first step go to the least estimated regret."""
    reach = state.alpha * math.log(state.t[0])
    if upper_scores(state, reach) > 1:
        regret_scores(state, rng)
        slate[0] = argmax_random(state.scratch_s, rng)
    else:
        slate[0] = argmax_random(state.scratch_zeta, rng)
    slate[1] = rival(state, slate[0], reach, rng)
    return 2


@dataclass(kw_only=True)
class DoubleThompsonSamplingPlus(DoubleThompsonSampling):
    """Double Thompson sampling with a regret-aware tie-break in its first step; otherwise as D-TS.

    Source: Wu & Liu 2016, section 6.
    """

    rules: ClassVar[Rules] = Rules(ask, tell, best)
    full_sample: ClassVar[bool] = True
