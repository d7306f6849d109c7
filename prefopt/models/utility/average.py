"""Beliefs averaged over what is not known for sure: hyper-parameters and how often a person guesses.

A weighted mixture of utilities, one per hypothesis, by prior times evidence (Rasmussen and Williams 2006, section 5.2).
Length-scales and signal variance lie on a cross around the most probable ones, lapse rates are those of ``LAPSES``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.laplace import Approximation
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility

#: Lapse rates thought of, and how probable they are before any answer.
LAPSES = {0.0: 0.4, 0.1: 0.3, 0.2: 0.15, 0.35: 0.1, 0.5: 0.05}
#: Steps of the shared log length-scale and the log signal variance, in prior standard deviations.
CROSS = ((0.0, 0.0), (-1.5, 0.0), (1.5, 0.0), (0.0, -1.5), (0.0, 1.5))


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
    def over(
        cls,
        hyper: Hyper,
        theta: FloatArray,
        points: FloatArray,
        data: Comparisons,
        likelihood: Likelihood,
        *,
        steps: Sequence[tuple[float, float]] = CROSS,
        lapses: dict[float, float] | None = None,
        infer: Callable[..., Approximation] = expectation_propagation,
        least: float = 0.01,
    ) -> Averaged:
        """The mixture over a cross around ``theta``.

        Args:
            hyper: beliefs about hyper-parameters.
            theta: the most probable ones (d + 2,), as ``hyper.learn`` finds them.
            points: distinct options, (q, d).
            data: what was said of them.
            likelihood: how answers come about, but for the lapse rate if ``lapses`` are given.
            steps: of the two shared hyper-parameters, in prior standard deviations; ((0, 0),) for ``theta`` alone.
            lapses: prior probability of each lapse rate; None for that of ``likelihood``.
            infer: ``laplace`` or ``expectation_propagation``.
            least: hypotheses less probable than this share of the most probable one are left out.
        """
        shared = np.zeros((2, len(theta)))
        shared[0, 0], shared[1, -1] = hyper.sd[0], hyper.sd[-1]
        made: list[tuple[float, Utility, Likelihood]] = []
        for i, j in steps:
            at = theta + i * shared[0] + j * shared[1]
            prior, density = hyper.prior(at), hyper.density(at)[0]
            for lapse, chance in (lapses or {likelihood.lapse: 1.0}).items():
                heard = replace(likelihood, lapse=lapse)
                utility = Utility.after(prior, points, data, heard, infer=infer)
                made.append((utility.found.evidence + density + np.log(chance), utility, heard))
        top = max(weight for weight, _, _ in made)
        kept = [(np.exp(weight - top), u, heard) for weight, u, heard in made if np.exp(weight - top) >= least]
        weights = np.array([weight for weight, _, _ in kept])
        return cls(tuple(u for _, u, _ in kept), tuple(heard for _, _, heard in kept), weights / weights.sum())

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
        """``size`` joint draws of the utility at Z (n, d), (size, n)."""
        counts = rng.multinomial(size, self.weights)
        each = [joint_draws(*u.joint(Z), int(n), rng) for u, n in zip(self.members, counts, strict=True) if n]
        return np.concatenate(each)

    def probability_best(self, Z: FloatArray, rng: np.random.Generator, draws: int = 4096) -> FloatArray:
        """The chance (n,) that each row of Z (n, d) has the largest utility of them, from joint draws."""
        return np.bincount(self.draws(Z, draws, rng).argmax(axis=1), minlength=len(Z)) / draws
