"""Hallucination Believer: Takeno, Nomura, Karasuyama 2023, Algorithm 1.

"Towards practical preferential Bayesian optimization with skew Gaussian processes". One hallucination of what decided
the answers is believed; then an acquisition function of ordinary Bayesian optimization chooses the challenger of the
last winner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.brochu_ei import expected_improvement
from prefopt.policies.kernel.hallucination import hallucinate
from prefopt.policies.kernel.rival import apart, rival
from prefopt.policies.kernel.utility_policy import UtilityPolicy


@dataclass(kw_only=True)
class HallucinationBeliever(UtilityPolicy):
    """The last winner against what expected improvement, or an upper bound, would try next given a hallucination.

    Args:
        acquisition: "ei" or "ucb".
        beta: the bound of "ucb" is mean + sqrt(beta) standard deviations.
        sweeps: sweeps of the Gibbs sampler. The paper has 1000 from an arbitrary start; this one starts at a draw of
            Laplace's approximation. More than two options have a hallucination each. The other settings are those of
            ``UtilityPolicy``.
    """

    acquisition: str = "ei"
    beta: float = 2.0
    sweeps: int = 20

    def check(self) -> None:
        """Raise ``SettingError`` for another acquisition function or numbers out of range."""
        if self.acquisition not in ("ei", "ucb") or self.beta < 0 or self.sweeps < 0:
            raise SettingError(
                "expected acquisition 'ei' or 'ucb', beta >= 0 and sweeps >= 0, got "
                f"{self.acquisition!r}, {self.beta} and {self.sweeps}"
            )

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The last winner and challengers (m, d)."""
        slate = self.winner(utility)[None]
        for _ in range(self.slate_size - 1):
            slate = np.vstack([slate, self._challenger(utility, slate, rng)])
        return slate

    def _challenger(self, utility: Utility, slate: FloatArray, rng: np.random.Generator) -> FloatArray:
        """What is worth trying against the first option of ``slate`` (k, d), given one hallucination, (d,)."""
        believed = hallucinate(utility, self.heard, self.sweeps, rng)
        level = believed.moments(slate[:1])[0]

        def value(Z: FloatArray) -> FloatArray:
            mean, sd = believed.moments(Z)
            if self.acquisition == "ucb":
                return np.asarray(mean + math.sqrt(self.beta) * sd)
            return np.asarray(expected_improvement(mean - level, sd))

        return rival(self, utility, slate, value, rng)

    def winner(self, utility: Utility) -> FloatArray:
        """The option (d,) that won most in the last answer, by posterior mean if several did; else the champion."""
        if self.answers:
            last = Comparisons.of(self.answers[-1:])
            won = np.bincount(last.ahead, last.weight[last.stage], minlength=len(self.points))
            options = sorted(self.answers[-1].slate)
            best = self.points[[i for i in options if won[i] == won[options].max()]]
            row = best[int(np.argmax(utility.mean(best)))]
            if not len(apart(row[None], self.shown)):
                return np.array(row)
        return self.leader(utility)
