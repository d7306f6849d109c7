"""Beliefs averaged over what is not known for sure: the prior, hyper-parameters, and how often a person guesses.

A weighted mixture of utilities, one per hypothesis, by prior times evidence (Rasmussen and Williams 2006, section 5.2),
or of equal weights for draws of the hypotheses (``hyper_draws``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box, FloatArray
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.laplace import Approximation, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility, UtilityPaths

#: Lapse rates thought of and how probable they are before any answer: a beta distribution of mean
#: 0.125, with a = 1 and b = 7, in pieces.
LAPSES = {0.0: 0.3017, 0.1: 0.3778, 0.2: 0.2153, 0.35: 0.0845, 0.5: 0.0208}
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
    def by_evidence(
        cls, members: Sequence[Utility], likelihoods: Sequence[Likelihood], odds: FloatArray, least: float = LEAST
    ) -> Averaged:
        """The hypotheses that the answers leave in question.

        Args:
            members: the utility under every hypothesis, after the same answers.
            likelihoods: how answers come about under it.
            odds: log prior probability of every hypothesis, up to a constant, (n,).
            least: those less probable than this share of the most probable one are left out.
        """
        level = odds + np.array([member.found.evidence for member in members])
        weights = np.exp(level - level.max())
        kept = np.flatnonzero(weights >= least).tolist()
        weights = weights[kept] / weights[kept].sum()
        return cls(tuple(members[i] for i in kept), tuple(likelihoods[i] for i in kept), weights)

    def over_lapses(self, lapses: Mapping[float, float] = LAPSES) -> Averaged:
        """Every hypothesis with every lapse rate, by expectation propagation, instead of the rate it has.

        Laplace's evidence tells which are out of question. A hypothesis stays as probable as it is: what is recommended
        is judged by the same ones.

        Args:
            lapses: prior probability of each lapse rate.
        """
        chance, each = np.log(np.array(list(lapses.values()))), []
        for member, likelihood in zip(self.members, self.likelihoods, strict=True):
            heard = [replace(likelihood, lapse=lapse) for lapse in lapses]
            level = chance + [_again(member, one, laplace).found.evidence for one in heard]
            kept = np.flatnonzero(level >= level.max() + np.log(LEAST)).tolist()
            found = [_again(member, heard[i], expectation_propagation) for i in kept]
            each.append(Averaged.by_evidence(found, [heard[i] for i in kept], chance[kept], 0.0))
        members = tuple(member for one in each for member in one.members)
        likelihoods = tuple(likelihood for one in each for likelihood in one.likelihoods)
        shares = zip(self.weights, each, strict=True)
        return Averaged(members, likelihoods, np.concatenate([weight * one.weights for weight, one in shares]))

    @property
    def likeliest(self) -> Utility:
        """The most probable member."""
        return self.members[int(np.argmax(self.weights))]

    @property
    def lapse(self) -> float:
        """The expected share of guesses."""
        return float(self.weights @ [heard.lapse for heard in self.likelihoods])

    def mean(self, Z: FloatArray) -> FloatArray:
        """Posterior mean at the rows of Z (n, d), (n,)."""
        return np.asarray(self.weights @ np.array([u.mean(Z) for u in self.members]))

    def mean_path(self, box: Box) -> MeanPath:
        """The posterior mean as a path."""
        return MeanPath(tuple(u.mean_path(box) for u in self.members), self.weights)

    def difference(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and standard deviation (n,) of f(A_i) - f(B_i), rows A and B (n, d)."""
        gap, sd = np.array([u.difference(A, B) for u in self.members]).transpose(1, 0, 2)
        mean = self.weights @ gap
        return mean, np.sqrt(self.weights @ (sd**2 + (gap - mean) ** 2))

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


#: Either has a mean, a path of it, and differences.
Beliefs = Utility | Averaged


@dataclass(frozen=True)
class MeanPath:
    """The mean of a mixture as one path: the ``paths`` of its members' means, each counting by its weight."""

    paths: tuple[UtilityPaths, ...]
    weights: FloatArray

    def values(self, points: FloatArray) -> FloatArray:
        """The mean at every row of ``points`` (n, d), (1, n)."""
        return np.asarray(np.einsum("s,smn->mn", self.weights, np.array([path.values(points) for path in self.paths])))

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Values (n,) and gradients (n, d), 0 for categories, at the rows of ``points`` (n, d); ``which`` is 0."""
        value, gradient = zip(*(path.value_and_gradient(points, which) for path in self.paths), strict=True)
        return np.asarray(self.weights @ np.array(value)), np.einsum("s,snd->nd", self.weights, np.array(gradient))


def _again(utility: Utility, likelihood: Likelihood, infer: Callable[..., Approximation]) -> Utility:
    """``utility`` after the same answers, if they came about as ``likelihood`` says."""
    return Utility.after(utility.prior, utility.points, utility.data, likelihood, infer=infer, before=utility)


def _draws(utility: Utility, Z: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    mean, root = utility.mean_and_factor(Z)
    return np.asarray(mean + rng.standard_normal((size, len(Z))) @ root.T)
