"""Gaussian processes over pairs of options as arrays: f([a, b]) is the logit of the chance that a beats b.

Covariances are made of a kernel k of single options (Gonzalez et al. 2017; Houlsby et al. 2011; Chau et al. 2022):

    se          k(a, c) k(b, d)                            a product, such as a squared exponential of [a, b]
    skew        k(a, c) k(b, d) - k(a, d) k(b, c)          any preference, cycles included
    difference  k(a, c) + k(b, d) - k(a, d) - k(b, c)      u(a) - u(b), u a Gaussian process: no cycles
    sum         skew + difference

All but "se" give f([a, b]) = -f([b, a]). Draws of the prior are exact and cheap: with k = R^T R and standard normal
Z (r, r) and z (r,), R^T Z R has the covariance "se", R^T (Z - Z^T) R / sqrt(2) "skew", R^T z "u".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit

from prefopt.models.grid_posterior import Prior, low_rank

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

KINDS = ("se", "skew", "difference", "sum")
#: Entries of an array that tables over all pairs are made with at a time.
CHUNK = 1_000_000
#: Least curvature of a pair's likelihood (as in ``bernoulli.pseudo_observations``).
FLAT = 1e-10


def pair_covariance(kind: str, ac: Any, bd: Any, ad: Any, bc: Any) -> Any:
    """Covariance of f([a, b]) and f([c, d]) from k(a, c), k(b, d), k(a, d), k(b, c): arrays or tensors, elementwise."""
    if kind == "se":
        return ac * bd
    difference = ac + bd - ad - bc if kind in ("difference", "sum") else 0.0
    return difference if kind == "difference" else ac * bd - ad * bc + difference


def root_of(prior: Prior) -> FloatArray:
    """R (r, K) with R^T R the covariance of ``prior``; r is small if that is possible."""
    rows = prior.rows if len(prior.rows) else low_rank(prior.covariance, len(prior.mean) // 4)
    if rows is not None:
        return rows
    root: FloatArray = np.eye(1 if len(prior.sizes) else len(prior.mean))
    for axis, size in enumerate(prior.sizes):
        root = np.asarray(np.kron(root, prior.roots[axis, :size, :size]))
    return prior.scale * root


@dataclass(frozen=True)
class PairPrior:
    """f on the ordered pairs of K options.

    Attributes:
        kind: one of ``KINDS``.
        scale: factor of the covariance.
        k: covariances of single options, (K, K).
    """

    kind: str
    scale: float
    k: FloatArray

    @property
    def skew(self) -> bool:
        """Whether f([a, b]) = -f([b, a])."""
        return self.kind != "se"

    def covariance(self, a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> FloatArray:
        """Of the pairs [a, b] with the q pairs [c, d], (..., q) for indices a and b that broadcast to (...)."""
        left, right = a[..., None], b[..., None]
        parts = self.k[left, c], self.k[right, d], self.k[left, d], self.k[right, c]
        return np.asarray(self.scale * pair_covariance(self.kind, *parts))

    def variance(self, a: IntArray, b: IntArray) -> FloatArray:
        """Of the pairs [a, b], (...) for indices that broadcast to (...)."""
        own = np.diag(self.k)
        cross = self.k[a, b]
        return np.asarray(self.scale * pair_covariance(self.kind, own[a], own[b], cross, cross))

    def combination(self, v: FloatArray, c: IntArray, d: IntArray, a: IntArray, b: IntArray) -> FloatArray:
        """Sum over i of v_i times the covariance of [a, b] with [c_i, d_i], for all ``a`` (n,) and ``b`` (M,): (n, M).

        Costs (n + M) q + n M q, less than the covariances themselves.
        """
        left, right = self.k[a], self.k[b]
        ac, ad, bc, bd = left[:, c], left[:, d], right[:, c], right[:, d]
        total = np.zeros((len(a), len(b)))
        if self.kind != "difference":
            total += (ac * v) @ bd.T
        if self.kind in ("skew", "sum"):
            total -= (ad * v) @ bc.T
        if self.kind in ("difference", "sum"):
            total += ((ac - ad) @ v)[:, None] + (bd - bc) @ v
        return self.scale * total


@dataclass(frozen=True)
class PairDraw:
    """One draw of f before any answer, R the root of k: sqrt(scale) (R_a^T Z R_b + z^T (R_a - R_b))."""

    amplitude: float
    Z: FloatArray  # (r, r); zero where the kind has none
    z: FloatArray  # (r,)

    @classmethod
    def of(cls, prior: PairPrior, rank: int, rng: np.random.Generator) -> PairDraw:
        """A draw for a root of ``rank`` rows."""
        Z, z = np.zeros((rank, rank)), np.zeros(rank)
        if prior.kind != "difference":
            Z = rng.standard_normal((rank, rank))
            Z = (Z - Z.T) / np.sqrt(2.0) if prior.skew else Z
        if prior.kind in ("difference", "sum"):
            z = rng.standard_normal(rank)
        return cls(float(np.sqrt(prior.scale)), Z, z)

    def pairs(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """At n pairs, from the columns of R of their first and second options, (r, n) each: (n,)."""
        return np.asarray(self.amplitude * (np.einsum("rn,rn->n", left, self.Z @ right) + self.z @ (left - right)))

    def table(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """At all pairs of the options with columns ``left`` (r, n) and ``right`` (r, M): (n, M)."""
        return np.asarray(self.amplitude * (left.T @ (self.Z @ right) + (self.z @ left)[:, None] - self.z @ right))


@dataclass(frozen=True)
class PairPosterior:
    """f after the answers to q distinct pairs, by Laplace's approximation (Rasmussen and Williams 2006, section 3.4).

    Attributes:
        prior: f before.
        c, d: the options of the pairs, (q,) each.
        tries: answers to each pair, (q,).
        wins: those that the first option won, a tie one half, (q,).
        alpha: wins - tries sigmoid(f) at the mode, (q,): the mode is K alpha.
    """

    prior: PairPrior
    c: IntArray
    d: IntArray
    tries: FloatArray
    wins: FloatArray
    alpha: FloatArray
    noise: FloatArray = field(init=False, repr=False)  # variances of the q equivalent Gaussian observations
    targets: FloatArray = field(init=False, repr=False)  # and what they have shown
    L: FloatArray = field(init=False, repr=False)  # Cholesky factor of their covariance

    def __post_init__(self) -> None:
        K = self.prior.covariance(self.c, self.d, self.c, self.d)
        mode = K @ self.alpha
        p = expit(mode)
        noise = 1.0 / np.maximum(self.tries * p * (1.0 - p), FLAT)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "targets", mode + noise * self.alpha)
        object.__setattr__(self, "L", np.linalg.cholesky(K + np.diag(noise)))

    def moments(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of f at the pairs [a, b], (...) each for indices that broadcast to (...)."""
        cross = self.prior.covariance(a, b, self.c, self.d)
        flat = cross.reshape(math.prod(cross.shape[:-1]), len(self.c))
        half = solve_triangular(self.L, flat.T, lower=True, check_finite=False)
        variance = self.prior.variance(a, b) - np.einsum("qn,qn->n", half, half).reshape(cross.shape[:-1])
        return cross @ self.alpha, np.maximum(variance, 0.0)

    def table(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of f at all pairs of ``a`` (n,) and ``b`` (M,), (n, M) each; a few rows at a time."""
        rows = max(1, CHUNK // (len(b) * max(1, len(self.c))))
        parts = [self.moments(some[:, None], b[None, :]) for some in np.split(a, range(rows, len(a), rows))]
        mean, variance = (np.concatenate(x) for x in zip(*parts, strict=True))
        return mean, variance

    def covariance(self, a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> FloatArray:
        """Of f at the n pairs [a, b] with f at the M pairs [c, d], (n, M)."""
        left, right = (
            solve_triangular(self.L, self.prior.covariance(*pair, self.c, self.d).T, lower=True, check_finite=False)
            for pair in ((a, b), (c, d))
        )
        return np.asarray(self.prior.covariance(a, b, c, d) - left.T @ right)

    def correction(self, draw: PairDraw, R: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights (q,) of the data's covariances that make a posterior draw of ``draw`` (Matheron's rule).

        ``R`` (r, K) are the columns of the root at the options that ``c`` and ``d`` name.
        """
        seen = draw.pairs(R[:, self.c], R[:, self.d]) + np.sqrt(self.noise) * rng.standard_normal(len(self.c))
        return np.asarray(cho_solve((self.L, True), self.targets - seen, check_finite=False))

    def draw(self, R: FloatArray, a: IntArray, b: IntArray, rng: np.random.Generator) -> FloatArray:
        """One joint draw of f at all pairs of ``a`` (n,) and ``b`` (M,), (n, M); ``R`` is the root of the prior's k."""
        drawn = PairDraw.of(self.prior, len(R), rng)
        v = self.correction(drawn, R, rng)
        return drawn.table(R[:, a], R[:, b]) + self.prior.combination(v, self.c, self.d, a, b)


def fit_pairs(
    prior: PairPrior, c: IntArray, d: IntArray, tries: FloatArray, wins: FloatArray, start: FloatArray
) -> FloatArray:
    """``PairPosterior.alpha`` of these answers, (q,); Newton's method begins at the mode that ``start`` (q,) gives."""
    if not len(c):
        return np.zeros(0)
    import torch

    from prefopt.models.bernoulli import laplace_mode

    K = prior.covariance(c, d, c, d)
    tensors = [torch.from_numpy(np.ascontiguousarray(x)) for x in (np.zeros(len(c)), K, tries, wins, K @ start)]
    mode = laplace_mode(*tensors).numpy()
    return np.asarray(wins - tries * expit(mode))
