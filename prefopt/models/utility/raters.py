"""Several raters: one utility with a noise of each rater's own, and a shared utility with individual deviations.

Noise: the differences of utility that rater r sees are divided by sigma_r; log sigma_r ~ N(0, SPREAD^2), and the most
probable ones are found with the utility integrated out (type-II maximum a posteriori). Dividing what r sees is the same
as dividing the prior's mean and covariance of these differences, whose slopes Laplace's approximation gives.

Deviations: u_r = u + delta_r with independent delta_r, so that cov(u_r(x), u_s(z)) = k(x, z) (1 + rho [r = s]). Ratios
are compared at the same variance of u_r; else clear answers, which want a larger one, would pass for deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.optimize import minimize

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.stationary import Stationary
from prefopt.models.utility.comparisons import Comparisons, IntArray, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.laplace import evidence_slopes, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Prior

#: Prior standard deviation of a rater's log noise.
SPREAD = 0.7
#: Log noises stay within so many of these; iterations of the search, which ends at a gain of less than this share.
REACH, ITERATIONS, GAIN = 3.0, 20, 1e-4
#: Two raters who have given so many answers each can be told apart.
ENOUGH_EACH = 8
#: Of the variance of the shared utility, how much the individual deviations may have.
RATIOS = (0.0, 0.1, 0.3, 1.0, 3.0)
#: The rater of a row that is about the shared utility.
SHARED = -1


def rater_noise(prior: Prior, points: FloatArray, data: Comparisons, likelihood: Likelihood, raters: int) -> FloatArray:
    """The most probable noise of every rater, in units of the noise that all have before any answer, (raters,).

    Args:
        prior: of the utility.
        points: distinct options, (q, d).
        data: what was said, with ``rater`` from 0 to ``raters`` - 1.
        likelihood: how answers come about; its ``noise`` is not used.
        raters: how many.
    """
    m, K = prior.of_differences(points, data)
    plain, mode = replace(likelihood, noise=()), [m]

    def negative(log_noise: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log posterior of the log noises, up to a constant, and its gradient (raters,)."""
        c = np.exp(-log_noise)[who]
        seen, covariance = c * m, c[:, None] * K * c
        found = laplace(covariance, seen, data, plain, c * mode[0])
        mode[0] = found.h / c
        G, g = evidence_slopes(covariance, found, data, plain)
        slope = np.bincount(who, -2 * np.einsum("ij,ij->i", G, covariance) - g * seen, minlength=raters)
        return 0.5 * float(log_noise @ log_noise) / SPREAD**2 - found.evidence, log_noise / SPREAD**2 - slope

    who = data.rater[data.stage]
    bounds = [(-REACH * SPREAD, REACH * SPREAD)] * raters
    options = {"maxiter": ITERATIONS, "ftol": GAIN}
    best = minimize(negative, np.zeros(raters), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(np.exp(best.x), dtype=np.float64)


def deviating(hyper: Hyper, own: float) -> Hyper:
    """``hyper`` with deviations, so that a rater's utility has the variance that it had without."""
    return replace(hyper, own=own, outputscale=hyper.outputscale / (1 + own))


def ratio_of(hyper: Hyper, points: FloatArray, data: Comparisons, likelihood: Likelihood) -> float:
    """The one of ``RATIOS`` under which the answers are most probable, at the medians of hyper-parameters.

    Args:
        hyper: of a rater's utility, what is shared included.
        points: distinct options, (q, d).
        data: what was said of them.
        likelihood: how answers come about.
    """

    def evidence(own: float) -> float:
        with_own = deviating(hyper, own)
        m, K = with_own.prior(with_own.median).of_differences(points, data)
        return laplace(K, m, data, likelihood).evidence

    return max(RATIOS, key=evidence)


def distinguishable(answers: Sequence[int] | IntArray) -> bool:
    """Whether two raters have given enough ``answers``, a number each, to be told apart.

    >>> distinguishable([30, 7]), distinguishable([8, 0, 8])
    (False, True)
    """
    return int(np.sum(np.asarray(answers) >= ENOUGH_EACH)) > 1


def with_noise(likelihood: Likelihood, noise: Sequence[float], raters: int) -> Likelihood:
    """``likelihood`` for ``raters`` of whom the first have ``noise``; the others, and ``SHARED``, have the usual 1.

    >>> with_noise(Likelihood(), [0.5, 3.0], 3).noise[SHARED], with_noise(Likelihood(), (), 3).noise
    (1.0, ())
    """
    more = (1.0,) * (raters + 1 - len(noise))
    return replace(likelihood, noise=(*noise, *more)) if len(noise) else likelihood


@dataclass(frozen=True)
class Individual(Stationary):
    """k(x, z) (1 + rho [r = s]) on rows (x, r) (n, d + 1), the rater in the last column; ``SHARED`` is everybody's.

    Of a posterior with this kernel, ``mean`` and ``joint`` are right for rows of raters and of ``SHARED``.
    """

    rho: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.rho < np.inf:
            raise SettingError(f"rho must be a finite ratio of variances of at least 0, got {self.rho!r}")

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Covariances of the rows of a (n, d + 1) and b (q, d + 1), (n, q)."""
        return np.asarray(super().__call__(a, b) * self._ratio(a[:, None, -1], b[None, :, -1]))

    def matrix(self, points: FloatArray) -> FloatArray:
        """Covariances of the rows of ``points`` (q, d + 1), (q, q)."""
        return np.asarray(super().matrix(points) * self._ratio(points[:, None, -1], points[None, :, -1]))

    def _ratio(self, r: FloatArray, s: FloatArray) -> FloatArray:
        return np.asarray(1 + self.rho * ((r == s) & (r >= 0)), dtype=np.float64)


def individual(prior: Prior, rho: float) -> Prior:
    """``prior`` of the shared utility with deviations of ``rho`` times its variance; a trend is shared."""
    kernel = prior.kernel
    return replace(prior, kernel=Individual(**{f.name: getattr(kernel, f.name) for f in fields(Stationary)}, rho=rho))


def of_rater(points: FloatArray, rater: int) -> FloatArray:
    """Rows (n, d + 1) about the utility of ``rater`` at ``points`` (n, d)."""
    return np.column_stack([points, np.full(len(points), float(rater))])


def shared_and_individual(
    prior: Prior, points: FloatArray, said: Sequence[Said], likelihood: Likelihood, ratios: Sequence[float] = RATIOS
) -> tuple[Utility, float]:
    """The posterior over rows (x, rater) and the rho of ``ratios`` with the largest evidence.

    Args:
        prior: of the utility of a rater, the part that is shared included.
        points: distinct options, (q, d).
        said: what was said of them, with the rater.
        likelihood: how answers come about.
        ratios: those tried.
    """
    raters = 1 + max((one.rater for one in said), default=0)
    rows = np.vstack([of_rater(points, r) for r in range(raters)])
    moved = [one._replace(slate=tuple(i + one.rater * len(points) for i in one.slate)) for one in said]
    data = Comparisons.of(moved, len(rows))
    made = [(Utility.after(individual(_shrunk(prior, rho), rho), rows, data, likelihood), rho) for rho in ratios]
    return max(made, key=lambda pair: pair[0].found.evidence)


def _shrunk(prior: Prior, rho: float) -> Prior:
    """``prior`` of which every rater's utility has the variance of ``prior``, whatever is shared of it."""
    return replace(prior, kernel=replace(prior.kernel, outputscale=prior.kernel.outputscale / (1 + rho)))
