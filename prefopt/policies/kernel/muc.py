"""Maximally uncertain challenge (MUC) and its batch version: Fauvel and Chalk 2021.

"Efficient exploration in binary and preferential Bayesian optimization". The champion against the option of which it
is least known how often it would win: the variance of the chance to win that comes from not knowing the utility,
without that of the answer itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.win import win_variance
from prefopt.policies.kernel.rival import differences, rival
from prefopt.policies.kernel.utility_policy import UtilityPolicy


@dataclass(kw_only=True)
class MUC(UtilityPolicy):
    """The best option by posterior mean, and challengers one after another.

    Each challenger has the largest variance of its chances to win, summed over the options on the slate so far. The
    settings are those of ``UtilityPolicy``.
    """

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """Champion and challengers (m, d)."""
        slate = self.leader(utility)[None]

        def uncertain(Z: FloatArray) -> FloatArray:
            return np.asarray(win_variance(*differences(utility, Z, slate), self.link).sum(axis=1))

        for _ in range(self.slate_size - 1):
            slate = np.vstack([slate, rival(self, utility, slate, uncertain, rng)])
        return slate
