"""Hyper-parameters of a utility's prior: log-normal beliefs about them, scaled with the dimension, and the evidence.

log l_i = a + b_i with a ~ N(log(lengthscale sqrt(d)), spread^2) shared and b_i ~ N(0, deviation^2) of each column;
a category's rate has log N(0, deviation^2); log outputscale ~ N(log outputscale, outputscale_spread^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from prefopt.domain import Box, FloatArray
from prefopt.models.stationary import Stationary
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.laplace import TOLERANCE, evidence_slope, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.prior import Prior, Trend

#: Hyper-parameters stay within so many standard deviations of their medians.
REACH = 4.0
#: The search for them ends once an iteration gains less than this share of the objective; the mode is as exact as
#: its gradient needs.
GAIN, MODE = 1e-3, 1e-7


@dataclass(frozen=True)
class Hyper:
    """Beliefs about the hyper-parameters on ``box``; a vector theta is (a, b_1 .. b_d, log outputscale).

    Args:
        box: the domain.
        kernel: "rbf", "matern32" or "matern52".
        lengthscale: median of the length-scales divided by sqrt(d), in units of the cube.
        spread: standard deviation of the log of the shared one.
        deviation: that of each column's factor.
        outputscale: median of the signal variance, in squared units of the answers' noise.
        outputscale_spread: standard deviation of its log.
        trend: what is not stationary, or None.
        own: variance of what is a rater's own, as a ratio to ``outputscale``, which is that of the shared utility.
    """

    box: Box
    kernel: str = "matern52"
    lengthscale: float = 0.35
    spread: float = 0.3
    deviation: float = 0.4
    outputscale: float = 10.0
    outputscale_spread: float = 0.5
    trend: Trend | None = None
    own: float = 0.0

    @property
    def median(self) -> FloatArray:
        """Prior median of theta, (d + 2,)."""
        d = self.box.dim
        return np.array([np.log(self.lengthscale * np.sqrt(d)), *np.zeros(d), np.log(self.outputscale)])

    @property
    def sd(self) -> FloatArray:
        """Prior standard deviation of theta, (d + 2,)."""
        return np.array([self.spread, *(self.deviation,) * self.box.dim, self.outputscale_spread])

    def prior(self, theta: FloatArray) -> Prior:
        """The Gaussian process with the hyper-parameters ``theta``."""
        category = tuple(j for j, c in enumerate(self.box.columns) if c.kind == "category")
        numeric = tuple(j for j in range(self.box.dim) if j not in category)
        length = tuple(float(np.exp(theta[0] + theta[1 + j])) for j in numeric)
        rate = tuple(float(np.exp(theta[1 + j])) for j in category)
        kernel = Stationary(self.kernel, float(np.exp(theta[-1])), numeric, length, category, rate)
        return Prior(kernel, self.trend, self.own)

    def density(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Log prior of ``theta``, up to a constant, and its gradient."""
        away = (theta - self.median) / self.sd
        return -0.5 * float(away @ away), -away / self.sd

    def objective(
        self, points: FloatArray, data: Comparisons, likelihood: Likelihood, tolerance: float = TOLERANCE
    ) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        """Of theta: minus the log posterior of the hyper-parameters, up to a constant, and its gradient (d + 2,)."""
        mode: list[FloatArray | None] = [None]

        def negative(theta: FloatArray) -> tuple[float, FloatArray]:
            prior = self.prior(theta)
            at_points, decay = prior.kernel.matrix_and_decay(points)
            m, K = prior.of_differences(points, data, at_points)
            found = laplace(K, m, data, likelihood, mode[0], tolerance=tolerance)
            mode[0] = found.h
            G = evidence_slope(K, found, data, likelihood)
            slope = data.at_points(data.at_points(G * prior.repeated(data) if self.own else G).T)
            value, gradient = self.density(theta)
            gradient += covariance_slope(prior.kernel, points, slope, at_points, decay)
            return -(found.evidence + value), -gradient

        return negative

    def learn(
        self,
        points: FloatArray,
        data: Comparisons,
        likelihood: Likelihood,
        *,
        start: FloatArray | None = None,
        steps: int = 15,
    ) -> FloatArray:
        """The most probable theta (d + 2,), by L-BFGS-B; the median if there is no data.

        Args:
            points: distinct options, (q, d).
            data: what was said of them.
            likelihood: how answers come about.
            start: where to begin; None for the median.
            steps: at most so many iterations.
        """
        return self.fit(points, data, likelihood, start=start, steps=steps)[0]

    def fit(
        self,
        points: FloatArray,
        data: Comparisons,
        likelihood: Likelihood,
        *,
        start: FloatArray | None = None,
        steps: int = 15,
    ) -> tuple[FloatArray, float]:
        """As ``learn``, with the log of prior times evidence there, up to a constant; with 0 steps where it starts."""
        begin = self.median if start is None else start
        if not len(data):
            return begin, self.density(begin)[0]
        objective, options = self.objective(points, data, likelihood, MODE), {"maxiter": steps, "ftol": GAIN}
        if not steps:
            return begin, -objective(begin)[0]
        bounds = list(zip(self.median - REACH * self.sd, self.median + REACH * self.sd, strict=True))
        found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return np.asarray(found.x, dtype=np.float64), -float(found.fun)


def covariance_slope(
    kernel: Stationary, points: FloatArray, weight: FloatArray, matrix: FloatArray, decay: FloatArray
) -> FloatArray:
    """sum(weight * dK) along theta, (d + 2,), for symmetric weights (q, q) of the stationary part at ``points``.

    ``matrix`` and ``decay`` are ``kernel.matrix_and_decay(points)``.
    """
    d = len(kernel.numeric) + len(kernel.category)
    made = np.zeros(d + 2)
    scaled = kernel.scaled(points)
    each = weight * matrix
    made[-1] = float(each.sum())
    along = weight * decay
    squares = along.sum(axis=1) @ scaled**2 - np.einsum("qi,qi->i", scaled, along @ scaled)
    made[[1 + j for j in kernel.numeric]] = 2 * squares
    made[0] = 2 * float(squares.sum())
    for column, rate in zip(kernel.category, kernel.rate, strict=True):
        differ = np.abs(points[:, None, column] - points[None, :, column]) > 1e-9
        made[1 + column] = -rate * float(np.sum(each * differ))
    return made
