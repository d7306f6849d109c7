"""A Gaussian process with fixed hyper-parameters, conditioned exactly on tries and wins; its factor grows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from prefopt.domain import Box, FloatArray
from prefopt.models.paths import Features, Paths, prior_values
from prefopt.models.stationary import Stationary
from prefopt.models.tried import Tried

#: The factor is made block by block. A block depends on the points up to its end and on nothing else, so a factor
#: that grew while questions were asked equals one made at once to the last bit, and a replay asks the same questions.
BLOCK = 64


@dataclass
class BlockCholesky:
    """The lower factor of K(X, X) + diag(noise), remembered and extended; equal inputs give equal bits."""

    kernel: Stationary
    X: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    noise: FloatArray = field(default_factory=lambda: np.zeros(0))
    L: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def of(self, X: FloatArray, noise: FloatArray) -> FloatArray:
        """The factor (q, q) for points X (q, d) and noise variances (q,)."""
        q, old = len(X), min(len(X), len(self.X))
        same = np.all(X[:old] == self.X[:old], axis=1) & (noise[:old] == self.noise[:old]) if old else np.zeros(0, bool)
        kept = old if same.all() else int(np.argmin(same))
        if kept == q == len(self.X):
            return self.L
        start = kept // BLOCK * BLOCK
        L = np.zeros((q, q), order="F")
        L[:start, :start] = self.L[:start, :start]
        for low in range(start, q, BLOCK):
            high = min(low + BLOCK, q)
            cross = self.kernel(X[low:high], X[:high])
            if low:
                left = solve_triangular(L[:low, :low], cross[:, :low].T, lower=True, check_finite=False).T
                L[low:high, :low] = left
                cross[:, low:] -= left @ left.T
            cross[:, low:] += np.diag(noise[low:high])
            L[low:high, low:high] = np.linalg.cholesky(cross[:, low:])
        self.X, self.noise, self.L = X.copy(), noise.copy(), L
        return L


@dataclass
class ExactGP:
    """A Gaussian process with fixed hyper-parameters on aggregated observations; its factor is remembered.

    Args:
        kernel: the covariance.
        box: the domain, for the choices of its categories.
        mean: constant prior mean.
        noise: variance of one observation; a point tried n times has noise / n. None: the function is a logit
            and outcomes are Bernoulli (Laplace's approximation).
    """

    kernel: Stationary
    box: Box
    mean: float
    noise: float | None
    factor: BlockCholesky = field(init=False, repr=False)
    seen: tuple[Tried, FloatArray, FloatArray] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.factor = BlockCholesky(self.kernel)

    def observed(self, data: Tried) -> tuple[FloatArray, FloatArray]:
        """What the tried points (q, d) are taken to have shown, (q,), and its noise variances (q,).

        Variances are kept above what rounding of the kernel could undo.
        """
        if self.seen is None or self.seen[0] is not data:
            if self.noise is None:
                from prefopt.models.bernoulli import laplace

                K = self.kernel(data.X, data.X)
                targets, noise = laplace(np.full(len(data.X), self.mean), K, data.tries, data.wins)
            else:
                targets, noise = data.wins / data.tries, self.noise / data.tries
            self.seen = data, targets, np.maximum(noise, 1e-10 * self.kernel.outputscale)
        return self.seen[1:]

    def weights(self, data: Tried) -> FloatArray:
        """(K + N)^-1 (observed - mean), (q,): the posterior mean is mean + k(x, X) weights."""
        targets, noise = self.observed(data)
        solved: FloatArray = cho_solve((self.factor.of(data.X, noise), True), targets - self.mean, check_finite=False)
        return solved

    def mean_at_tried(self, data: Tried) -> FloatArray:
        """The posterior mean at the tried points, (q,): K w, from (K + N) w = observed - mean."""
        targets, noise = self.observed(data)
        return targets - noise * self.weights(data)

    def posterior(self, data: Tried, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (n,) and covariance (n, n) at ``points`` (n, d)."""
        prior = self.kernel(points, points)
        if not len(data.X):
            return np.full(len(points), self.mean), prior
        cross = self.kernel(data.X, points)
        L = self.factor.of(data.X, self.observed(data)[1])
        half = solve_triangular(L, cross, lower=True, check_finite=False)
        return self.mean + self.weights(data) @ cross, prior - half.T @ half

    def mean_path(self, data: Tried) -> Paths:
        """The posterior mean as one path."""
        X = data.X
        features = Features.draw(self.kernel, self.box, 1, np.random.default_rng(0))
        v = self.weights(data)[None] if len(X) else np.zeros((1, 0))
        return Paths(self.kernel, self.mean, features, np.zeros((1, 1)), np.zeros((1, 1)), X, v, self.kernel.scaled(X))

    def paths(self, data: Tried, size: int, rng: np.random.Generator, *, features: int = 1024) -> Paths:
        """``size`` independent posterior paths; they share ``features`` / 2 frequencies and nothing else."""
        pairs = max(1, features // 2)
        basis = Features.draw(self.kernel, self.box, pairs, rng)
        weight = rng.standard_normal((2, size, pairs)) * np.sqrt(self.kernel.outputscale / pairs)
        X, v = data.X, np.zeros((size, len(data.X)))
        if len(X):
            targets, noise = self.observed(data)
            error = rng.standard_normal((size, len(X))) * np.sqrt(noise)
            gap = targets - self.mean - prior_values(self.kernel, basis, weight[0], weight[1], X) - error
            v = cho_solve((self.factor.of(X, noise), True), gap.T, check_finite=False).T
        return Paths(self.kernel, self.mean, basis, weight[0], weight[1], X, v, self.kernel.scaled(X))
