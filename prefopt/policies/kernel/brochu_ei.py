"""Expected improvement: Brochu, de Freitas, Ghosh 2007, "Active preference learning with discrete choice data".

The option of largest posterior mean among those shown, against the one whose utility is expected to exceed that mean
most. A baseline: several groups report that it stalls, for the variance of a utility is not that of a difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from prefopt.domain import FloatArray
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.rival import rival
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top


def expected_improvement(gain: FloatArray, sd: FloatArray) -> FloatArray:
    """E max(g, 0) for g normal with mean ``gain`` and standard deviation ``sd`` > 0.

    >>> float(expected_improvement(np.array(0.0), np.array(1.0)).round(6))
    0.398942
    """
    u = gain / sd
    return np.asarray(sd * (np.exp(-0.5 * u * u) / math.sqrt(2 * math.pi) + u * ndtr(u)))


@dataclass(kw_only=True)
class BrochuEI(UtilityPolicy):
    """The best option shown against the one of largest expected improvement on it."""

    pairs_only: ClassVar[bool] = True

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """Incumbent and challenger (2, d)."""
        incumbent = top(utility, self.shown, 1) if len(self.shown) else self.champion(utility, quick=True)[None]
        level = utility.mean(incumbent)

        def value(Z: FloatArray) -> FloatArray:
            V = utility.root(Z)
            variance = utility.prior.variance(Z) - np.einsum("nm,nm->n", V, V)
            return expected_improvement(utility.mean(Z) - level, np.sqrt(np.maximum(variance, 1e-12)))

        return np.vstack([incumbent, rival(self, utility, incumbent, value, rng)])
