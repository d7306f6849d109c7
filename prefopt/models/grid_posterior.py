"""The exact posterior of a Gaussian process on a finite set, kept up to date answer by answer, and joint draws.

Information form: with tries n, wins s, noise variance v and S the posterior covariance, a draw is
f = f0 + S (s - n f0 - sqrt(n v) e) / v, f0 from the prior, e standard normal (Matheron's rule; Wilson et al. 2020).
No factorisation per draw, and a cost that does not grow with the number of answers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.errors import SettingError
from prefopt.jit import jitable
from prefopt.models.arrays import FloatArray, add_rows, apply_roots, copy_into, downdate, fill_normal, residuals, shift

#: Updates of S between two rebuilds from the counts, which take the accumulated rounding away.
REBUILD = 500


class Prior(NamedTuple):
    """A Gaussian process on K points before any answer."""

    mean: FloatArray  # (K,)
    covariance: FloatArray  # (K, K)
    roots: FloatArray  # (A, L, L): transposed Cholesky factors, one per axis; the root is their Kronecker product
    sizes: NDArray[np.int64]  # (A,) points on each axis; the product is K (A = 0: independent points)
    scale: float  # factor of the root


class GridPosterior(NamedTuple):
    """What is known after some answers; arrays change in place."""

    prior: Prior
    noise: float  # variance of one 0/1 outcome
    n: FloatArray  # tries, (K,)
    s: FloatArray  # wins, (K,)
    S: FloatArray  # posterior covariance, (K, K)
    updates: NDArray[np.int64]  # since the last rebuild, (1,)
    scratch: FloatArray  # (K,)


def _cholesky(matrix: FloatArray) -> FloatArray:
    """Lower factor of a positive semi-definite matrix, with the least jitter (relative, from 1e-12) that works."""
    size = max(float(np.mean(np.diag(matrix))), np.finfo(float).tiny)
    for jitter in (0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6):
        try:
            return np.asarray(np.linalg.cholesky(matrix + jitter * size * np.eye(len(matrix))), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
    raise SettingError("the kernel matrix is not positive semi-definite, even with jitter 1e-6; use another kernel")


def _axis_matrices(covariance: FloatArray, sizes: tuple[int, ...]) -> list[FloatArray] | None:
    """Per-axis correlation-like factors whose Kronecker product times covariance[0, 0] is ``covariance``, or None."""
    corner = float(covariance[0, 0])
    if len(sizes) < 2 or math.prod(sizes) != len(covariance) or corner <= 0:
        return None
    factors: list[FloatArray] = []
    product: FloatArray = np.ones((1, 1))
    for axis, size in enumerate(sizes):
        line = np.arange(size) * math.prod(sizes[axis + 1 :])
        factors.append(covariance[np.ix_(line, line)] / corner)
        product = np.asarray(np.kron(product, factors[-1]), dtype=np.float64)
    return factors if np.allclose(corner * product, covariance, rtol=0, atol=1e-12 * corner) else None


def make_prior(covariance: FloatArray, mean: ArrayLike = 0.0, sizes: tuple[int, ...] = ()) -> Prior:
    """The prior with this ``covariance`` (K, K) and ``mean`` (a number or (K,)), with a root for joint draws.

    Args:
        covariance: symmetric positive semi-definite; near-duplicate points get the least jitter that works.
        mean: prior mean.
        sizes: points per axis of a product grid (row-major); a covariance that is a product over the
            axes then gets one small root per axis, any other a dense one.

    Raises:
        SettingError: not positive semi-definite.
    """
    size = len(covariance)
    vector = np.array(np.broadcast_to(np.asarray(mean, dtype=np.float64), (size,)))
    variance = float(covariance[0, 0])
    if variance > 0 and np.array_equal(covariance, variance * np.eye(size)):
        return Prior(vector, covariance, np.zeros((0, 0, 0)), np.zeros(0, dtype=np.int64), math.sqrt(variance))
    factors, scale = _axis_matrices(covariance, sizes), math.sqrt(max(variance, 0.0))
    if factors is None:
        factors, scale = [covariance], 1.0
    counts = np.array([len(f) for f in factors], dtype=np.int64)
    roots = np.zeros((len(factors), int(counts.max()), int(counts.max())))
    for axis, factor in enumerate(factors):
        roots[axis, : len(factor), : len(factor)] = _cholesky(factor).T
    return Prior(vector, covariance, roots, counts, scale)


def start_posterior(prior: Prior, noise: float) -> GridPosterior:
    """No answer yet."""
    zeros = np.zeros(len(prior.mean))
    start = prior.covariance.copy()
    return GridPosterior(prior, float(noise), zeros, zeros.copy(), start, np.zeros(1, dtype=np.int64), zeros.copy())


@jitable
def condition(posterior: GridPosterior, i: int, tries: float) -> None:
    """Shrink S by ``tries`` observations of point i."""
    variance = posterior.S[i, i] + posterior.noise / tries
    downdate(posterior.S, i, posterior.scratch, 1.0 / math.sqrt(variance))


@jitable
def rebuild(posterior: GridPosterior) -> None:
    """Recompute S from the prior and the tries: one update per point tried."""
    for i in range(posterior.n.size):
        copy_into(posterior.S[i], posterior.prior.covariance[i])
    for i in range(posterior.n.size):
        if posterior.n[i] > 0.0:
            condition(posterior, i, posterior.n[i])
    posterior.updates[0] = 0


@jitable
def observe(posterior: GridPosterior, i: int, tries: float, wins: float) -> None:
    """Learn that point i won ``wins`` of ``tries`` > 0 comparisons."""
    posterior.n[i] += tries
    posterior.s[i] += wins
    posterior.updates[0] += 1
    if posterior.updates[0] >= REBUILD:
        rebuild(posterior)
    else:
        condition(posterior, i, tries)


@jitable
def mean_into(posterior: GridPosterior, out: FloatArray) -> None:
    """Write the posterior mean m + S (s - n m) / v into ``out`` (K,)."""
    prior = posterior.prior
    residuals(posterior.scratch, posterior.s, posterior.n, prior.mean, posterior.noise, 0.0)
    copy_into(out, prior.mean)
    add_rows(out, posterior.scratch, posterior.S)


@jitable
def draw_into(posterior: GridPosterior, rng: np.random.Generator, out: FloatArray) -> None:
    """Write one joint draw of all points into ``out`` (K,); takes 2 K standard normals from ``rng``."""
    prior, residual, v = posterior.prior, posterior.scratch, posterior.noise
    fill_normal(out, rng)
    apply_roots(prior.roots, prior.sizes, out)
    shift(out, prior.mean, prior.scale)
    fill_normal(residual, rng)
    residuals(residual, posterior.s, posterior.n, out, v, 1.0)
    add_rows(out, residual, posterior.S)


def posterior_of(prior: Prior, noise: float, tries: FloatArray, wins: FloatArray) -> GridPosterior:
    """The posterior of these counts (K,) at once."""
    posterior = start_posterior(prior, noise)
    posterior.n[:], posterior.s[:] = tries, wins
    rebuild(posterior)
    return posterior
