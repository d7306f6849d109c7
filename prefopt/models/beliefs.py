"""Joint Gaussian beliefs: draws from them, what logits say about probabilities, and what counts say of options."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit

from prefopt.models.grid_posterior import Prior

FloatArray = NDArray[np.float64]

#: What is believed of a chance to win before any answer: its mean and variance (a uniform one has variance 1/12).
CHANCE = 0.5, 0.1
#: Largest variance of a 0/1 outcome, the one at even chances.
OUTCOME = 0.25
#: Joint draws behind a probability of being the best: blocks that stay in the processor's cache, of so many pairs.
BLOCKS, PAIRS = 3, 100


def as_probability(mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean (n,) and covariance (n, n) of sigmoid(g) for Gaussian logits g, by MacKay's approximation and a tangent."""
    shrink = 1 / np.sqrt(1 + math.pi / 8 * np.diag(covariance))  # MacKay 1992
    p = expit(mean * shrink)
    slope = p * (1 - p) * shrink
    return p, slope[:, None] * covariance * slope


def joint_draws(mean: FloatArray, covariance: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """``size`` draws of a Gaussian vector with this mean (n,) and covariance (n, n), shape (size, n)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean + rng.standard_normal((size, len(mean))) @ root.T)


def jittered_root(covariance: FloatArray, jitter: float) -> FloatArray:
    """A lower factor of ``covariance`` (n, n), with ``jitter`` on its diagonal, or ten times as much until one exists.

    Ten times faster than ``joint_draws`` with its eigenvalues, for hundreds of options.
    """
    while True:
        try:
            return np.asarray(np.linalg.cholesky(covariance + jitter * np.eye(len(covariance))))
        except np.linalg.LinAlgError:
            jitter *= 10


def deviations(prior: Prior, size: int, rng: np.random.Generator) -> FloatArray:
    """``size`` joint draws of the prior, less its mean, at once, (size, K)."""
    if len(prior.rows):
        return np.asarray(rng.standard_normal((size, len(prior.rows))) @ prior.rows)
    drawn = rng.standard_normal((size, *(prior.sizes if len(prior.sizes) else prior.mean.shape)))
    for axis, count in enumerate(prior.sizes):
        root = prior.roots[axis, :count, :count]
        drawn = np.moveaxis(np.tensordot(drawn, root, axes=(axis + 1, 0)), -1, axis + 1)
    return np.asarray(prior.scale * drawn.reshape(size, -1))


def chances(
    prior: Prior,
    tries: FloatArray,
    wins: FloatArray,
    rng: np.random.Generator,
    *,
    among: NDArray[np.bool_] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What counts say of every option's chance to win, however noisy the model that chose the questions.

    Of ``prior`` only the correlations count: the mean and variance are ``CHANCE``, the noise is ``OUTCOME``. Draws are
    of the prior, corrected at the options tried (Matheron's rule; Wilson et al. 2020), so K x K is never factorised;
    each is used twice, mirrored at the mean.

    Args:
        prior: a Gaussian process over K options.
        tries: comparisons of each option, (K,).
        wins: those won, a tie one half, (K,).
        rng: of the draws.
        among: which options may be the largest, (K,); None for all.

    Returns:
        Mean, standard deviation, and probability of being the largest, (K,) each.

    >>> from prefopt.models.grid_posterior import make_prior
    >>> mean, sd, best = chances(make_prior(np.eye(2)), np.ones(2), np.array([1.0, 0.0]), np.random.default_rng(0))
    >>> mean.round(3)
    array([0.643, 0.357])
    """
    start, variance = CHANCE
    unit = variance / float(np.mean(np.diag(prior.covariance)))
    tried = np.flatnonzero(tries)
    noise, cross = OUTCOME / tries[tried], unit * prior.covariance[tried]
    root = np.linalg.cholesky(cross[:, tried] + np.diag(noise))
    W = solve_triangular(root, cross, lower=True)
    mean = start + solve_triangular(root, wins[tried] / tries[tried] - start, lower=True) @ W
    left = unit * np.diag(prior.covariance) - np.einsum("qk,qk->k", W, W)
    best, top = np.zeros(len(mean)), mean if among is None else np.where(among, mean, -np.inf)
    for _ in range(BLOCKS):
        away = math.sqrt(unit) * deviations(prior, PAIRS, rng)
        seen = away[:, tried] + np.sqrt(noise) * rng.standard_normal((PAIRS, len(tried)))
        away -= solve_triangular(root, seen.T, lower=True).T @ W
        for draws in (top + away, top - away):
            best += np.bincount(np.argmax(draws, axis=1), minlength=len(mean))
    return mean, np.sqrt(np.maximum(left, 0.0)), best / (2 * PAIRS * BLOCKS)
