"""Dueling UCB: Benavoli, Azzimonti, Piga 2021, "Preferential Bayesian optimisation with skew Gaussian processes".

The challenger has the largest upper bound of its difference to the champion. Fauvel and Chalk 2021 found it, with MUC,
the best of nine rules over 34 functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.rival import rival
from prefopt.policies.kernel.utility_policy import UtilityPolicy


@dataclass(kw_only=True)
class DuelingUCB(UtilityPolicy):
    """The best option by posterior mean against the one that may most exceed it.

    Args:
        beta: standard deviations of the difference that count; the others are those of ``UtilityPolicy``.
    """

    beta: float = 1.96
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Raise ``SettingError`` unless beta >= 0."""
        if self.beta < 0:
            raise SettingError(f"expected beta >= 0, got {self.beta}")

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """Champion and challenger (2, d)."""
        champion = self.leader(utility)[None]

        def bound(Z: FloatArray) -> FloatArray:
            gap, sd = utility.difference(Z, np.broadcast_to(champion, Z.shape))
            return gap + self.beta * sd

        return np.vstack([champion, rival(self, utility, champion, bound, rng)])
