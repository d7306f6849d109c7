"""The soft-Copeland score of one draw of a pair process on a box, as a smooth function of a point, with gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prefopt.domain import Box, FloatArray
from prefopt.models.pairs import PairDraw, PairPosterior
from prefopt.models.paths import Features, Paths
from prefopt.models.stationary import Stationary


def feature_columns(kernel: Stationary, features: Features, points: FloatArray) -> FloatArray:
    """R (2F, n) whose R^T R approximates the covariances of (n, d) ``points``: cosines, then sines."""
    phase = kernel.scaled(points) @ features.omega.T
    sign = features.sign(kernel, points)
    amplitude = np.sqrt(kernel.outputscale / len(features.omega))
    return np.asarray(amplitude * np.vstack([(np.cos(phase) * sign).T, (np.sin(phase) * sign).T]))


@dataclass(frozen=True)
class CopelandPath:
    """C(x) = mean over landmarks b_m of sigmoid(f([x, b_m])), f one draw; a function for ``box_search.peaks``.

    Attributes:
        paths: x -> f([x, b_m]) less ``offset``, M paths.
        offset: what does not depend on x, (M,).
    """

    paths: Paths
    offset: FloatArray

    @classmethod
    def draw(
        cls,
        posterior: PairPosterior,
        kernel: Stationary,
        box: Box,
        X: FloatArray,
        landmarks: FloatArray,
        size: int,
        rng: np.random.Generator,
    ) -> CopelandPath:
        """A draw of f: the prior by random features (Rahimi and Recht 2007), corrected exactly (Wilson et al. 2020).

        Args:
            posterior: of f; its pairs name rows of ``X``.
            kernel: k of single options, the one of the posterior's prior.
            box: the domain.
            X: points compared so far, (p, d).
            landmarks: over which the score is a mean, (M, d).
            size: random features.
            rng: of the draw.
        """
        basis = Features.draw(kernel, box, max(1, size // 2), rng)
        drawn = PairDraw.of(posterior.prior, 2 * len(basis.omega), rng)
        right = feature_columns(kernel, basis, landmarks)
        v = posterior.correction(drawn, feature_columns(kernel, basis, X), rng)
        weights, offset = _correction(posterior, v, kernel(landmarks, X))
        amplitude = drawn.amplitude * np.sqrt(kernel.outputscale / len(basis.omega))
        cosine, sine = np.split(amplitude * (drawn.Z @ right + drawn.z[:, None]).T, 2, axis=1)
        paths = Paths(kernel, 0.0, basis, cosine, sine, X, weights, kernel.scaled(X))
        return cls(paths, offset - drawn.amplitude * (drawn.z @ right))

    def values(self, points: FloatArray) -> FloatArray:
        """The score at every row of ``points`` (n, d), (1, n)."""
        return np.asarray(expit(self.paths.values(points) + self.offset[:, None]).mean(axis=0)[None])

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """The score at the rows of ``points`` (n, d): values (n,), gradients (n, d), 0 for categories."""
        p = expit(self.paths.values(points) + self.offset[:, None])
        slope = (p * (1.0 - p)).T / len(p)  # (n, M): the gradient is that of the path with these weights
        x = self.paths
        joined = Paths(x.kernel, 0.0, x.features, slope @ x.cosine, slope @ x.sine, x.A, slope @ x.v, x.A_scaled)
        return p.mean(axis=0), joined.value_and_gradient(points, np.arange(len(points)))[1]


def _correction(posterior: PairPosterior, v: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The weights ``v`` (q,) of pairs as weights (M, p) of points for every landmark, and an offset (M,).

    ``k`` (M, p) are the covariances of landmarks and points.
    """
    prior, c, d = posterior.prior, posterior.c, posterior.d
    weights, offset = np.zeros(k.shape), np.zeros(len(k))
    if prior.kind != "difference":
        np.add.at(weights.T, c, (k[:, d] * v).T)
    if prior.kind in ("skew", "sum"):
        np.add.at(weights.T, d, -(k[:, c] * v).T)
    if prior.kind in ("difference", "sum"):
        np.add.at(weights.T, c, v[:, None])
        np.add.at(weights.T, d, -v[:, None])
        offset += (k[:, d] - k[:, c]) @ v
    return prior.scale * weights, prior.scale * offset
