"""Joint Gaussian beliefs: draws from them, and what logits say about probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatArray = NDArray[np.float64]


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
