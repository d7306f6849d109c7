"""The chance that one option is said to be better than another, averaged over Gaussian beliefs about their difference.

A logistic variable is a normal one whose standard deviation is twice a Kolmogorov variable K (Andrews and Mallows 1974,
section 3), so s(x) = E Phi(x / 2K) and E s(N(mu, sd^2)) = E Phi(mu / sqrt(4 K^2 + sd^2)): one sum, exact for any sd.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, owens_t

from prefopt.domain import FloatArray
from prefopt.models.utility.likelihood import Likelihood

_K = np.linspace(0.2, 3.6, 35)
_n = np.arange(1, 40)[:, None]
_WEIGHT = (-((-1.0) ** _n) * _n**2 * np.exp(-2 * _n**2 * _K**2)).sum(axis=0) * _K
_WEIGHT = np.maximum(_WEIGHT, 0.0) / _WEIGHT.sum()


def win_probability(mean: FloatArray, sd: FloatArray, likelihood: Likelihood, rater: int = 0) -> FloatArray:
    """E[P(a is preferred to b)] for f(a) - f(b) normal with these ``mean`` and ``sd`` (n,), accurate to 1e-6.

    Given that one of the two is preferred: with a just-noticeable difference, ties are left out. A lapse is part of it:
    this is how often a person will be seen to say so. ``rater`` chooses the noise.

    >>> win_probability(np.array([0.0, 1.0]), np.array([3.0, 0.0]), Likelihood()).round(3)
    array([0.5  , 0.731])
    """
    noise = likelihood.noise[rater] if likelihood.noise else 1.0
    mean, sd = np.asarray(mean / noise), np.asarray(sd / noise)
    won, lost = (_expected(side - likelihood.jnd, sd, likelihood.link) for side in (mean, -mean))
    return np.asarray((1 - likelihood.lapse) * won / (won + lost) + likelihood.lapse / 2)


def win_variance(mean: FloatArray, sd: FloatArray, link: str = "logit") -> FloatArray:
    """Variance of link(f(a) - f(b)) for f(a) - f(b) normal with these ``mean`` and ``sd`` (...): what is to be learned.

    Probit: Phi(a) - 2 T(a, 1 / sqrt(1 + 2 sd^2)) - Phi(a)^2, a = mean / sqrt(1 + sd^2), with Owen's function T (1956).
    Logit: s^2 = s - s', and the slope of E s(N(mu, sd^2)) in mu is E s', so one sum as above serves, to 1e-5.

    >>> float(win_variance(np.array(0.0), np.array(1e3), "probit").round(3))  # a coin that is 0 or 1
    0.25
    """
    mean, sd = np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64)
    chance = _expected(mean, sd, link)
    if link == "probit":
        square = chance - 2 * owens_t(mean / np.sqrt(1 + sd**2), 1 / np.sqrt(1 + 2 * sd**2))
    else:
        width = np.sqrt(4 * _K**2 + (sd**2)[..., None])
        square = chance - (np.exp(-0.5 * (mean[..., None] / width) ** 2) / width) @ _WEIGHT / np.sqrt(2 * np.pi)
    return np.asarray(np.maximum(square - chance**2, 0.0))


def _expected(mean: FloatArray, sd: FloatArray, link: str) -> FloatArray:
    """E[link(N(mean, sd^2))]."""
    if link == "probit":
        return np.asarray(ndtr(mean / np.sqrt(1 + sd**2)))
    return np.asarray(ndtr(mean[..., None] / np.sqrt(4 * _K**2 + (sd**2)[..., None])) @ _WEIGHT)
