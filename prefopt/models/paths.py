"""Posterior paths: whole functions drawn from a Gaussian process, with gradients, by Matheron's rule.

A draw of the prior (random Fourier features) is corrected at the tried points by the exact kernel: Wilson et al.
2020, "Efficiently sampling functions from Gaussian process posteriors"; features: Rahimi and Recht 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box, FloatArray
from prefopt.models.stationary import Stationary


class Features(NamedTuple):
    """Random features of a prior: pairs cos, sin, times a random sign a choice for categories.

    A sign that is shared by all choices with chance exp(-rate), and otherwise drawn per choice, has the covariance
    exp(-rate [a != b]) exactly, as cos and sin of spectral draws have k(r).
    """

    omega: FloatArray  # (F, e) frequencies per length-scale
    codes: tuple[FloatArray, ...]  # ascending codes of each category column
    signs: tuple[FloatArray, ...]  # (F, number of choices) for each category column

    @classmethod
    def draw(cls, kernel: Stationary, box: Box, size: int, rng: np.random.Generator) -> Features:
        """``size`` pairs for ``kernel`` on ``box``."""
        omega = kernel.frequencies(size, rng)
        codes, signs = [], []
        for column, rate in zip(kernel.category, kernel.rate, strict=True):
            levels = np.array(box.columns[column].levels)
            sign = np.where(rng.random((size, len(levels))) < 0.5, -1.0, 1.0)
            sign[rng.random(size) < np.exp(-rate)] = 1.0
            codes.append(levels)
            signs.append(sign)
        return cls(omega, tuple(codes), tuple(signs))

    def sign(self, kernel: Stationary, points: FloatArray) -> FloatArray | float:
        """The product of the signs at (n, d) ``points``, (n, F)."""
        product: FloatArray | float = 1.0
        for column, levels, sign in zip(kernel.category, self.codes, self.signs, strict=True):
            at = np.argmin(np.abs(points[:, column, None] - levels), axis=1)
            product = product * sign.T[at]
        return product


@dataclass(frozen=True)
class Paths:
    """m functions f_j(x) = mean + amplitude phi(x) W_j + k(x, A) v_j on the unit cube.

    Attributes:
        kernel: k.
        mean: the prior mean.
        features: phi.
        cosine: the weights of the cosines times the amplitude, (m, F).
        sine: those of the sines, (m, F).
        A: the tried points, (q, d).
        v: their weights, (m, q).
        A_scaled: the tried points in length-scales.
    """

    kernel: Stationary
    mean: float
    features: Features
    cosine: FloatArray
    sine: FloatArray
    A: FloatArray
    v: FloatArray
    A_scaled: FloatArray

    @classmethod
    def of(
        cls, kernel: Stationary, features: Features, cosine: FloatArray, sine: FloatArray, A: FloatArray, v: FloatArray
    ) -> Paths:
        """Paths of zero mean with these weights."""
        return cls(kernel, 0.0, features, cosine, sine, A, v, kernel.scaled(A))

    @property
    def size(self) -> int:
        """Number of paths, m."""
        return len(self.cosine)

    def values(self, points: FloatArray) -> FloatArray:
        """Every path at every row of ``points`` (n, d), shape (m, n)."""
        value = self.mean + prior_values(self.kernel, self.features, self.cosine, self.sine, points)
        if len(self.A):
            value += self.v @ self.kernel(self.A, points)
        return value

    def value_and_gradient(self, points: FloatArray, which: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Path ``which[i]`` at row i of ``points`` (n, d): values (n,), gradients (n, d), 0 for categories."""
        kernel = self.kernel
        scaled = kernel.scaled(points)
        phase = scaled @ self.features.omega.T
        sign = self.features.sign(kernel, points)
        cos, sin = np.cos(phase) * sign, np.sin(phase) * sign
        a, b = self.cosine[which], self.sine[which]
        value = self.mean + np.einsum("ij,ij->i", cos, a) + np.einsum("ij,ij->i", sin, b)
        cos *= b
        sin *= a
        cos -= sin
        slope = cos @ self.features.omega
        if len(self.A):
            k, decay = kernel.profile(scaled, self.A_scaled)
            weight = self.v[which] * kernel.agreement(points, self.A)
            value += np.einsum("ij,ij->i", k, weight)
            weight *= decay
            slope += weight @ self.A_scaled - weight.sum(axis=1)[:, None] * scaled
        gradient = np.zeros_like(points)
        gradient[:, kernel.numeric] = slope / np.array(kernel.lengthscale)
        return value, gradient


def prior_values(
    k: Stationary, features: Features, cosine: FloatArray, sine: FloatArray, points: FloatArray
) -> FloatArray:
    """Prior paths without their mean at (n, d) ``points``, (m, n)."""
    phase = k.scaled(points) @ features.omega.T
    sign = features.sign(k, points)
    return cosine @ (np.cos(phase) * sign).T + sine @ (np.sin(phase) * sign).T
