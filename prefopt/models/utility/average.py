"""Beliefs averaged over what is not known for sure: hyper-parameters, and how often a person guesses.

A weighted mixture of utilities, one per hypothesis, by prior times evidence (Rasmussen and Williams 2006, section 5.2),
or of equal weights for draws of the hypotheses (``hyper_draws``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility

#: Lapse rates thought of and how probable they are before any answer: a beta distribution with a = 1, b = 5 in pieces.
LAPSES = {0.0: 0.226, 0.1: 0.330, 0.2: 0.244, 0.35: 0.137, 0.5: 0.063}
#: Hypotheses less probable than this share of the most probable one are left out.
LEAST = 0.02


@dataclass(frozen=True)
class Averaged:
    """A mixture of utilities.

    Attributes:
        members: a utility per hypothesis.
        likelihoods: how answers come about, per hypothesis.
        weights: their probabilities, (n,).
    """

    members: tuple[Utility, ...]
    likelihoods: tuple[Likelihood, ...]
    weights: FloatArray

    @classmethod
    def of(cls, utility: Utility, likelihood: Likelihood) -> Averaged:
        """One hypothesis, for certain."""
        return cls((utility,), (likelihood,), np.ones(1))

    @classmethod
    def over_lapses(cls, utility: Utility, likelihood: Likelihood, lapses: Mapping[float, float] = LAPSES) -> Averaged:
        """The mixture over lapse rates, by expectation propagation; Laplace's evidence tells which are out of question.

        Args:
            utility: after the answers under ``likelihood``, with the prior that all members have.
            likelihood: how answers come about, but for the lapse rate.
            lapses: prior probability of each lapse rate.
        """
        prior, points, data = utility.prior, utility.points, utility.data
        heard = [replace(likelihood, lapse=lapse) for lapse in lapses]
        chance = np.log(np.array(list(lapses.values())))
        rough = chance + [Utility.after(prior, points, data, h, before=utility).found.evidence for h in heard]
        kept = np.flatnonzero(rough >= rough.max() + np.log(LEAST))
        members = [
            Utility.after(prior, points, data, heard[i], infer=expectation_propagation, before=utility) for i in kept
        ]
        level = chance[kept] + [member.found.evidence for member in members]
        weights = np.exp(level - level.max())
        return cls(tuple(members), tuple(heard[i] for i in kept), weights / weights.sum())

    @property
    def lapse(self) -> float:
        """The expected share of guesses."""
        return float(self.weights @ [heard.lapse for heard in self.likelihoods])

    def mean(self, Z: FloatArray) -> FloatArray:
        """Posterior mean at the rows of Z (n, d), (n,)."""
        return np.asarray(self.weights @ np.array([u.mean(Z) for u in self.members]))

    def win_probability(self, A: FloatArray, B: FloatArray, rater: int = 0) -> FloatArray:
        """The chance (n,) that ``rater`` is seen to prefer A_i to B_i, rows A and B (n, d)."""
        each = [u.win_probability(A, B, heard, rater) for u, heard in zip(self.members, self.likelihoods, strict=True)]
        return np.asarray(self.weights @ np.array(each))

    def draws(self, Z: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        """``size`` joint draws of the utility at Z (n, d), (size, n); members in proportion to their weights."""
        counts = np.diff(np.round(size * np.cumsum(self.weights)), prepend=0).astype(int)
        return np.concatenate([_draws(u, Z, int(n), rng) for u, n in zip(self.members, counts, strict=True) if n])

    def probability_best(self, Z: FloatArray, rng: np.random.Generator, draws: int = 4096) -> FloatArray:
        """The chance (n,) that each row of Z (n, d) has the largest utility of them, from joint draws."""
        return np.bincount(self.draws(Z, draws, rng).argmax(axis=1), minlength=len(Z)) / draws


def _draws(utility: Utility, Z: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    mean, root = utility.mean_and_factor(Z)
    return np.asarray(mean + rng.standard_normal((size, len(Z))) @ root.T)
