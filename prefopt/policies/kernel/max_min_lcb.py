"""MaxMinLCB: Pasztor, Kassraie, Krause 2024, "Bandits with preference feedback: a Stackelberg game perspective".

Algorithm 1. The leader takes the option whose worst lower bound against any other is largest, the follower the option
that attains it; both are among the options that may still be the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import IntArray
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import candidates
from prefopt.policies.kernel.rival import apart, differences, largest
from prefopt.policies.kernel.utility_policy import UtilityPolicy

#: Of a larger grid only so many points are looked at, those that may most exceed the champion.
MOST = 1000


@dataclass(kw_only=True)
class MaxMinLCB(UtilityPolicy):
    """Leader and follower of a game on lower confidence bounds, in logits.

    Args:
        beta: width of the bounds in standard deviations. 1 (preset ``regret``) shows good options sooner and may stay
            with a second-best one; 2 does not.
        distinct: whether the two options must differ. The paper's rule (false) is to show the best option beside
            itself once no other may be better. The other settings are those of ``UtilityPolicy``.
    """

    beta: float = 2.0
    distinct: bool = True
    pairs_only: ClassVar[bool] = True

    def check(self) -> None:
        """Raise ``SettingError`` unless beta >= 0."""
        if self.beta < 0:
            raise SettingError(f"expected beta >= 0, got {self.beta}")

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """Leader and follower (2, d); a box is searched at its candidates."""
        Z = candidates(self.domain, utility, self.champion(utility, quick=True), self.shown, rng)
        if len(Z) > MOST:
            gap, sd = differences(utility, Z, Z[:1])
            Z = Z[np.argsort(-(gap + self.beta * sd)[:, 0], kind="stable")[:MOST]]
        gap, sd = differences(utility, Z, Z)
        maybe = np.flatnonzero(np.all(gap + self.beta * sd >= 0, axis=1))  # M_t, line 4
        leaders = self._leaders(Z, maybe)
        followers = np.arange(len(Z)) if self.distinct and len(maybe) == 1 else maybe
        lower = (gap - self.beta * sd)[np.ix_(leaders, followers)]
        lower[leaders[:, None] == followers] = np.inf
        worst = lower.min(axis=1)
        if np.isinf(worst).all():
            return Z[leaders[[0, 0]]]
        i = largest(np.where(np.isinf(worst), -np.inf, worst), rng)  # line 5
        return np.stack([Z[leaders[i]], Z[followers[largest(-lower[i], rng)]]])  # line 6

    def _leaders(self, Z: FloatArray, maybe: IntArray) -> IntArray:
        """The rows of Z that may lead: ``maybe``; with ``reuse`` those of them that were shown, or else all shown."""
        if not (self.reuse and len(self.shown)):
            return maybe
        known = np.flatnonzero([not len(apart(z[None], self.shown)) for z in Z])
        both = np.intersect1d(maybe, known)
        return both if len(both) else known
