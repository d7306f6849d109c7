"""A utility given one hallucination: a draw of the noisy differences that decided every answer.

Takeno et al. 2023, "Towards practical preferential Bayesian optimization with skew Gaussian processes", section 4. A
duel was won because v = f(ahead) - f(behind) + noise > 0; given v, the utility is a Gaussian process again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.comparisons import IntArray
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.skew import above

#: Standard deviation of normal noise: a logistic answer is within 0.01 of a normal one with this.
NOISE = {"probit": 1.0, "logit": 1.702}


@dataclass(frozen=True)
class Hallucination:
    """The utility ``given`` answers as a Gaussian process conditioned on v.

    Attributes:
        given: the prior, the options and the answers.
        rows: (n,) which difference of the answers each v is of.
        offset: (n,) v is that difference minus this, plus noise.
        P: (n, n) inverse covariance of v.
        v: (n,).
    """

    given: Utility
    rows: IntArray
    offset: FloatArray
    P: FloatArray
    v: FloatArray

    def moments(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and standard deviation (n,) of the utility at Z (n, d)."""
        prior, data, points = self.given.prior, self.given.data, self.given.points
        centre = data.differences(prior.mean(points))[self.rows] - self.offset
        cross = data.differences(prior.covariance(points, Z))[self.rows].T
        variance = prior.variance(Z) - np.einsum("zn,zn->z", cross @ self.P, cross)
        return prior.mean(Z) + cross @ (self.P @ (self.v - centre)), np.sqrt(np.maximum(variance, 1e-12))


def hallucinate(utility: Utility, likelihood: Likelihood, sweeps: int, rng: np.random.Generator) -> Hallucination:
    """One draw of v by ``sweeps`` sweeps of Gibbs sampling, from a start that Laplace's approximation has nearly right.

    A choice of one among m is taken for m - 1 duels, an answer of weight w for the whole part of w duels (at least
    one) whose noise has the variance that makes up for the rest.

    Args:
        utility: what is believed; its answers are what v must agree with.
        likelihood: link, threshold and weights; a lapse is not regarded.
        sweeps: more are closer to the exact law of v.
        rng: the random stream.
    """
    data = utility.data
    scale, threshold, weight = (values[data.stage] for values in likelihood.of_stages(data))
    copies = np.maximum(1, np.floor(weight + 1e-9)).astype(np.int64)
    rows = np.repeat(np.arange(len(data)), copies)
    noise = ((NOISE[likelihood.link] / scale) * np.sqrt(copies / weight))[rows]
    offset = (threshold / scale)[rows]
    m, K = utility.prior.of_differences(utility.points, data)
    centre = m[rows] - offset
    P = np.asarray(np.linalg.inv(K[np.ix_(rows, rows)] + np.diag(noise**2)), dtype=np.float64)
    f = joint_draws(*utility.joint(utility.points), 1, rng)[0] if len(data) else np.zeros(len(utility.points))
    h = data.differences(f)[rows] - offset
    v = h + noise * above(-h / noise, rng)
    pull, sd = P @ (v - centre), 1 / np.sqrt(np.diag(P))
    for _ in range(sweeps):
        for j in range(len(rows)):
            at = v[j] - pull[j] * sd[j] ** 2
            new = at + sd[j] * float(above(-at / sd[j], rng))
            pull += P[:, j] * (new - v[j])
            v[j] = new
    return Hallucination(utility, rows, offset, P, v)
