"""Soft-Copeland scores of a pair process, and how much a duel is expected to tell: Gonzalez et al. 2017."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prefopt.models.pairs import IntArray, PairPosterior

FloatArray = NDArray[np.float64]

#: Nodes and weights for expectations over a normal variable (Gauss and Hermite).
_x, _w = np.polynomial.hermite_e.hermegauss(31)
NODES, WEIGHTS = _x, _w / _w.sum()
#: Halvings of the interval in which the mode after one more answer is looked for.
STEPS = 50


def logistic_moments(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of sigmoid(f) for Gaussian f with this ``mean`` and ``variance``, of any one shape.

    >>> mean, variance = logistic_moments(np.array([0.0]), np.array([4.0]))
    >>> mean.round(3), variance.round(3)
    (array([0.5]), array([0.099]))
    """
    p = expit(mean[..., None] + np.sqrt(variance)[..., None] * NODES)
    first = p @ WEIGHTS
    return first, np.maximum((p * p) @ WEIGHTS - first**2, 0.0)


def quick_probability(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """The mean of sigmoid(f) by MacKay's approximation (1992), a tenth of the work, off by up to 0.02."""
    return np.asarray(expit(mean / np.sqrt(1.0 + math.pi / 8 * variance)))


def soft_copeland(posterior: PairPosterior, options: IntArray, landmarks: IntArray) -> FloatArray:
    """C(x) = mean over the ``landmarks`` x' (M,) of the mean of sigmoid(f([x, x'])), at ``options`` (n,): (n,).

    Gonzalez et al. 2017, equation (4), with the integral over x' a mean over landmarks.
    """
    return np.asarray(logistic_moments(*posterior.table(options, landmarks))[0].mean(axis=1))


def pure_exploration(posterior: PairPosterior, a: IntArray, b: IntArray) -> FloatArray:
    """Variance of sigmoid(f) at the n pairs [a, b], (n,): what is not known, not how noisy an answer is."""
    return logistic_moments(*posterior.moments(a, b))[1]


def expected_improvement(
    posterior: PairPosterior, a: IntArray, b: IntArray, options: IntArray, landmarks: IntArray
) -> FloatArray:
    """Copeland expected improvement of asking each of the n pairs [a, b], (n,).

    pi (c1 - c)_+ + (1 - pi) (c0 - c)_+: c is the largest soft-Copeland score now, c1 and c0 after the answer that a
    won or lost, pi the chance that it wins. The mode after one more answer moves along the covariances with its pair,
    by an amount that solves an equation in one number (exact if the curvature of the old answers stays); then no
    refit is needed. Costs n x options x landmarks.
    """
    x, y = np.repeat(options, len(landmarks)), np.tile(landmarks, len(options))
    mean, variance = posterior.moments(x, y)
    at, spread = posterior.moments(a, b)
    cross = posterior.covariance(a, b, x, y)  # (n, options x landmarks)

    def largest_score(f: FloatArray, v: FloatArray) -> FloatArray:
        return np.asarray(quick_probability(f, v).reshape(*f.shape[:-1], len(options), -1).mean(axis=-1).max(axis=-1))

    now, chance = largest_score(mean, variance), quick_probability(at, spread)
    gain = np.zeros(len(a))
    for won, probability in ((1.0, chance), (0.0, 1.0 - chance)):
        step, weight = one_more_answer(at, spread, won)
        lessened = np.maximum(variance - cross**2 * (weight / (1.0 + weight * spread))[:, None], 0.0)
        gain += probability * np.maximum(largest_score(mean + cross * step[:, None], lessened) - now, 0.0)
    return gain


def one_more_answer(mean: FloatArray, variance: FloatArray, won: float) -> tuple[FloatArray, FloatArray]:
    """How the mode of f moves when a pair with this ``mean`` and ``variance`` (n,) is answered once.

    Returns:
        The step s (n,), s = won - sigmoid(mean + variance s): f moves by its covariance with the pair times s; and the
        curvature of the answer's likelihood there, (n,).
    """
    low, high = np.full(mean.shape, won - 1.0), np.full(mean.shape, won)
    for _ in range(STEPS):
        step = (low + high) / 2
        below = step + expit(mean + variance * step) < won
        low, high = np.where(below, step, low), np.where(below, high, step)
    p = expit(mean + variance * step)
    return step, p * (1.0 - p)
