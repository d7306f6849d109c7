"""Upper confidence bounds of a Gaussian process as smooth functions of a point, with gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from prefopt.domain import FloatArray
from prefopt.models.exact import ExactGP
from prefopt.models.tried import Tried

#: Variances are kept above this share of the signal variance: a root has no gradient at 0.
LEAST = 1e-12


@dataclass(frozen=True)
class UpperBound:
    """mu(x) + scale sd(x) of ``model`` after ``data`` (one function, as ``box_search.peaks`` takes them).

    Srinivas et al. 2010, equation (6), with ``scale`` the root of beta_t.
    """

    model: ExactGP
    data: Tried
    scale: float

    def values(self, points: FloatArray) -> FloatArray:
        """The bound at every row of ``points`` (n, d), shape (1, n)."""
        if not len(self.data.X):
            return np.full((1, len(points)), self.model.mean + self.scale * np.sqrt(self.model.kernel.outputscale))
        cross = self.model.kernel(points, self.data.X)
        return self._value(cross, self._solved(cross)[0])[0][None]

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """The bound at the rows of ``points`` (n, d): values (n,), gradients (n, d), 0 for categories."""
        kernel, gradient = self.model.kernel, np.zeros_like(points)
        if not len(self.data.X):
            return self.values(points)[0], gradient
        scaled, X = kernel.scaled(points), kernel.scaled(self.data.X)
        k, decay = kernel.profile(scaled, X)
        agreement = kernel.agreement(points, self.data.X)
        cross = k * agreement
        half, solved = self._solved(cross)
        value, sd = self._value(cross, half)
        weight = (self.model.weights(self.data) - (self.scale / sd)[:, None] * solved) * (decay * agreement)
        slope = weight @ X - weight.sum(axis=1)[:, None] * scaled
        gradient[:, kernel.numeric] = slope / np.array(kernel.lengthscale)
        return value, gradient

    def _solved(self, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
        """L^-1 and (K + N)^-1 times the covariances ``cross`` (n, q) with the data, (n, q) each."""
        L = self.model.factor.of(self.data.X, self.model.observed(self.data)[1])
        half = solve_triangular(L, cross.T, lower=True, check_finite=False)
        return half.T, cho_solve((L, True), cross.T, check_finite=False).T

    def _value(self, cross: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
        signal = self.model.kernel.outputscale
        sd = np.sqrt(np.maximum(signal - np.einsum("nq,nq->n", half, half), LEAST * signal))
        return self.model.mean + cross @ self.model.weights(self.data) + self.scale * sd, sd
