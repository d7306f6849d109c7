"""The exact posterior of a utility after probit duels: Gibbs sampling of the skew Gaussian process.

Benavoli, Azzimonti and Piga 2021; the sweeps as Takeno et al. 2023, section 3. A duel was won because
v = (f_ahead - f_behind) / noise - threshold + e > 0, e standard normal. Given all v the utility is Gaussian, so
only the truncated v are sampled, one after another.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.prior import Prior


def above(lower: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Standard normal draws given that they exceed ``lower``, in logarithms, so that far tails are exact."""
    return np.asarray(-ndtri_exp(np.log(rng.random(lower.shape)) + log_ndtr(-lower)))


def gibbs_draws(
    prior: Prior,
    points: FloatArray,
    data: Comparisons,
    likelihood: Likelihood,
    Z: FloatArray,
    rng: np.random.Generator,
    *,
    chains: int = 128,
    warm: int = 150,
    sweeps: int = 100,
    thin: int = 5,
) -> FloatArray:
    """Draws of the utility at Z (n, d) after probit duels, (chains * sweeps / thin, n).

    Arguments as those of ``posterior_draws``.

    Raises:
        SettingError: another link, a lapse, or stages that were not said a whole number of times.
    """
    scale, threshold, weight = likelihood.of_stages(data)
    if likelihood.link != "probit" or likelihood.lapse or np.any(weight != np.round(weight)):
        raise SettingError("the skew Gaussian process needs link='probit', no lapse and answers of whole weights")
    often = np.repeat(np.arange(len(data)), weight.astype(int))
    c, offset = scale[often], threshold[often]
    m, K = prior.of_differences(points, data)
    centre = c * m[often] - offset
    P = np.linalg.inv(c[:, None] * K[np.ix_(often, often)] * c + np.eye(len(often)))
    sd = 1 / np.sqrt(np.diag(P))
    cross = data.differences(prior.covariance(Z, points).T)[often].T * c
    mean, covariance = prior.mean(Z), prior.covariance(Z, Z) - cross @ P @ cross.T
    v = np.abs(rng.standard_normal((chains, len(often))))
    kept = []
    for t in range(warm + sweeps):
        for j in range(len(often)):
            at = v[:, j] - (v - centre) @ P[:, j] * sd[j] ** 2
            v[:, j] = at + sd[j] * above(-at / sd[j], rng)
        if t >= warm and (t - warm) % thin == thin - 1:
            kept.append(mean + (v - centre) @ P @ cross.T + joint_draws(0 * mean, covariance, chains, rng))
    return np.concatenate(kept)
