"""A utility after answers: means, covariances and whole functions drawn from it (Wilson et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from prefopt.domain import Box, FloatArray
from prefopt.models.beliefs import jittered_root
from prefopt.models.paths import Features, Paths
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.laplace import Approximation, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.prior import Prior
from prefopt.models.utility.win import win_probability


@dataclass(frozen=True)
class Utility:
    """Gaussian beliefs about a utility; only differences of it mean anything.

    Attributes:
        prior: before any answer.
        points: distinct options compared, (q, d).
        data: what was said of them.
        found: the approximation at the differences.
        known: prior covariances (q, M) of the points with the differences, if they have been computed.
    """

    prior: Prior
    points: FloatArray
    data: Comparisons
    found: Approximation
    known: FloatArray | None = field(default=None, repr=False, compare=False)

    @classmethod
    def after(
        cls,
        prior: Prior,
        points: FloatArray,
        data: Comparisons,
        likelihood: Likelihood,
        start: FloatArray | None = None,
        infer: Callable[..., Approximation] = laplace,
        before: Utility | None = None,
    ) -> Utility:
        """``prior`` conditioned on ``data``.

        Args:
            prior: before any answer.
            points: distinct options compared, (q, d).
            data: what was said of them.
            likelihood: how answers come about.
            start: where ``infer`` begins, (M,).
            infer: ``laplace`` or ``expectation_propagation``.
            before: the same after the first ones of these answers, about the first points, whose covariances are taken
                over, and where the search begins.
        """
        known = before.known if before is not None and before.prior == prior else None
        known = prior.with_differences(points, data, known)
        if before is not None:
            start = data.differences(np.concatenate([before.level, before.mean(points[len(before.points) :])]))
        m, K = data.differences(prior.mean(points)), data.differences(known)
        if prior.own:
            K = K + prior.deviations(points, data)
        return cls(prior, points, data, infer(K, m, data, likelihood, start), known)

    @cached_property
    def weights(self) -> FloatArray:
        """Weights (q,) of the points: the posterior mean is prior mean + k(x, points) weights."""
        return self.data.at_points(self.found.alpha)

    @cached_property
    def level(self) -> FloatArray:
        """Posterior mean at the points compared, (q,)."""
        known = self.prior.with_differences(self.points, self.data) if self.known is None else self.known
        return np.asarray(self.prior.mean(self.points) + known @ self.found.alpha)

    @cached_property
    def _psi(self) -> FloatArray:
        return self.prior.features(self.points)

    def cross(self, Z: FloatArray) -> FloatArray:
        """Prior covariances between the rows of Z (n, d) and the points compared, (n, q)."""
        if not len(self.data):
            return np.zeros((len(Z), len(self.points)))
        return np.asarray(self.prior.kernel(Z, self.points) + self.prior.features(Z) @ self._psi.T)

    def mean(self, Z: FloatArray) -> FloatArray:
        """Posterior mean at the rows of Z (n, d), (n,)."""
        if Z.shape == self.points.shape and np.array_equal(Z, self.points):
            return self.level
        return self.prior.mean(Z) + self.cross(Z) @ self.weights

    def root(self, Z: FloatArray) -> FloatArray:
        """V (n, M): the posterior covariance of rows Z (n, d) and Z' is prior covariance - V V'^T."""
        return self._root(self.cross(Z))

    def _root(self, cross: FloatArray) -> FloatArray:
        seen = self.found.root.transposed(self.data.differences(cross.T))
        return np.asarray(solve_triangular(self.found.L, seen, lower=True, check_finite=False).T)

    def mean_and_root(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``mean`` (n,) and ``root`` (n, M) at Z (n, d)."""
        cross = self.cross(Z)
        return self.prior.mean(Z) + cross @ self.weights, self._root(cross)

    def joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (n,) and covariance (n, n) at Z (n, d)."""
        mean, V = self.mean_and_root(Z)
        return mean, self.prior.covariance(Z, Z) - V @ V.T

    def mean_and_factor(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (n,) and a lower factor (n, n) of the covariance at Z (n, d), for joint draws."""
        mean, covariance = self.joint(Z)
        return mean, jittered_root(covariance, 1e-8 * float(np.mean(self.prior.variance(Z))))

    def pairs(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means (n,) of f(A_i) and of f(B_i), and the standard deviation (n,) of their difference; rows (n, d)."""
        prior = self.prior
        at_a, at_b = self.cross(A), self.cross(B)
        V, psi = self._root(at_a - at_b), prior.features(A) - prior.features(B)
        variance = 2 * (prior.kernel.outputscale - prior.kernel.paired(A, B)) + np.einsum("np,np->n", psi, psi)
        sd = np.sqrt(np.maximum(variance - np.einsum("nm,nm->n", V, V), 1e-12))
        return prior.mean(A) + at_a @ self.weights, prior.mean(B) + at_b @ self.weights, sd

    def difference(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and standard deviation (n,) of f(A_i) - f(B_i), rows A and B (n, d)."""
        mean_a, mean_b, sd = self.pairs(A, B)
        return mean_a - mean_b, sd

    def win_probability(self, A: FloatArray, B: FloatArray, likelihood: Likelihood, rater: int = 0) -> FloatArray:
        """The chance (n,) that ``rater`` is seen to prefer A_i to B_i, rows A and B (n, d); see ``win``."""
        return win_probability(*self.difference(A, B), likelihood, rater)

    def probability_best(self, Z: FloatArray, rng: np.random.Generator, draws: int = 4096) -> FloatArray:
        """The chance (n,) that each row of Z (n, d) has the largest utility of them, from joint draws."""
        mean, root = self.mean_and_factor(Z)
        drawn = mean[:, None] + root @ rng.standard_normal((len(Z), draws))
        return np.bincount(drawn.argmax(axis=0), minlength=len(Z)) / draws

    def paths(self, box: Box, size: int, rng: np.random.Generator, *, features: int = 1024) -> UtilityPaths:
        """``size`` independent posterior functions; they share ``features`` / 2 frequencies and nothing else.

        A draw of the prior is corrected where answers were given (Matheron's rule), with the approximation's
        pseudo-observations h + W^-1 gradient and their noise W^-1.
        """
        pairs = max(1, features // 2)
        kernel = self.prior.kernel
        basis = Features.draw(kernel, box, pairs, rng)
        weight = rng.standard_normal((2, size, pairs)) * np.sqrt(kernel.outputscale / pairs)
        drift = rng.standard_normal((size, self.prior.features(self.points[:1]).shape[1]))
        stationary = Paths.of(kernel, basis, weight[0], weight[1], self.points, np.zeros((size, len(self.points))))
        v = np.tile(self.weights, (size, 1))
        if len(self.data):
            drawn = stationary.values(self.points) + drift @ self.prior.features(self.points).T
            found = self.found
            z = rng.standard_normal((len(found.h), size))
            seen = self.data.differences(drawn.T)
            if self.prior.own:
                root = jittered_root(self.prior.deviations(self.points, self.data), 1e-8 * kernel.outputscale)
                seen = seen + root @ rng.standard_normal((len(found.h), size))
            gap = found.root.transposed(seen) + z
            v -= self.data.at_points(found.root.times(cho_solve((found.L, True), gap, check_finite=False))).T
            stationary = Paths.of(kernel, basis, weight[0], weight[1], self.points, v)
        return UtilityPaths(self.prior, stationary, drift + v @ self.prior.features(self.points))

    def mean_path(self, box: Box) -> UtilityPaths:
        """The posterior mean as one path."""
        kernel, v = self.prior.kernel, self.weights[None]
        basis = Features.draw(kernel, box, 1, np.random.default_rng(0))
        stationary = Paths.of(kernel, basis, np.zeros((1, 1)), np.zeros((1, 1)), self.points, v)
        return UtilityPaths(self.prior, stationary, v @ self.prior.features(self.points))


@dataclass(frozen=True)
class UtilityPaths:
    """m functions: the prior mean, a stationary path, and ``drift`` (m, p) times the trend's features."""

    prior: Prior
    stationary: Paths
    drift: FloatArray

    @property
    def size(self) -> int:
        """Number of paths, m."""
        return self.stationary.size

    def values(self, points: FloatArray) -> FloatArray:
        """Every path at every row of ``points`` (n, d), shape (m, n)."""
        return self.stationary.values(points) + self.prior.mean(points) + self.drift @ self.prior.features(points).T

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Path ``which[i]`` at row i of ``points`` (n, d): values (n,), gradients (n, d), 0 for categories."""
        value, gradient = self.stationary.value_and_gradient(points, which)
        trend = self.prior.trend
        if trend is not None:
            drift = self.drift[which]
            value = value + trend.mean(points) + np.einsum("np,np->n", drift, trend.features(points))
            gradient[:, trend.numeric] += trend.gradient(points, drift)
        return value, gradient
