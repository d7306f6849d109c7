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
from scipy.linalg import solve_triangular

from prefopt.errors import SettingError
from prefopt.jit import jitable
from prefopt.models.arrays import (
    FloatArray,
    add_deviations,
    add_rows,
    apply_roots,
    copy_into,
    downdate,
    fill_normal,
    next_update,
    noisy_residuals,
    residuals,
    shift,
    take_updates,
    variances,
)

#: Updates of S between two rebuilds from the counts, which take the accumulated rounding away.
REBUILD = 500
#: Most updates that S may lack; they are made in one pass, since a pass over a large S costs more than many updates.
BLOCK = 16
#: What a low-rank root may leave out of a variance, relative to the largest one.
TOLERANCE = 1e-12


class Prior(NamedTuple):
    """A Gaussian process on K points before any answer."""

    mean: FloatArray  # (K,)
    covariance: FloatArray  # (K, K)
    roots: FloatArray  # (A, L, L): transposed Cholesky factors, one per axis; the root is their Kronecker product
    sizes: NDArray[np.int64]  # (A,) points on each axis; the product is K (A = 0: independent points)
    scale: float  # factor of the root
    rows: FloatArray  # (r, K) transposed low-rank root to use instead, or (0, K)


class GridPosterior(NamedTuple):
    """What is known after some answers; arrays change in place."""

    prior: Prior
    noise: float  # variance of one 0/1 outcome
    n: FloatArray  # tries, (K,)
    s: FloatArray  # wins, (K,)
    root: FloatArray  # sqrt(n), (K,)
    S: FloatArray  # posterior covariance before the updates in W, (K, K)
    W: FloatArray  # w of the updates S <- S - w w^T that S still lacks, (up to BLOCK, K)
    waiting: NDArray[np.int64]  # points with tries that neither has, (K,)
    tries: FloatArray  # those tries, (K,)
    updates: NDArray[np.int64]  # updates since the last rebuild, points that wait, rows of W that count, (3,)
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


def low_rank(matrix: FloatArray, most: int = 128) -> FloatArray | None:
    """R (r, K) with R^T R = ``matrix`` up to ``TOLERANCE``, by Cholesky with pivots; None if r would exceed ``most``.

    A smooth kernel on a fine grid has such a root, and a draw from it costs K r instead of K^2 / 2.
    """
    size = len(matrix)
    left = np.diag(matrix).copy()
    least = TOLERANCE * float(left.max())
    rows = np.zeros((min(size // 2, most), size))
    for k in range(len(rows)):
        i = int(np.argmax(left))
        if left[i] <= least:
            return rows[:k].copy()
        rows[k] = (matrix[i] - rows[:k, i] @ rows[:k]) / math.sqrt(left[i])
        left -= rows[k] ** 2
    return None


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
            axes then gets one small root per axis; any other a root of low rank if it has one, else a dense one.

    Raises:
        SettingError: not positive semi-definite.
    """
    size, none = len(covariance), np.zeros((0, len(covariance)))
    vector = np.array(np.broadcast_to(np.asarray(mean, dtype=np.float64), (size,)))
    variance = float(covariance[0, 0])
    if variance > 0 and np.array_equal(covariance, variance * np.eye(size)):
        return Prior(vector, covariance, np.zeros((0, 0, 0)), np.zeros(0, dtype=np.int64), math.sqrt(variance), none)
    factors, scale = _axis_matrices(covariance, sizes), math.sqrt(max(variance, 0.0))
    if factors is None:
        rows = low_rank(covariance)
        if rows is not None and np.allclose(rows.T @ rows, covariance, rtol=0, atol=10 * TOLERANCE * variance):
            return Prior(vector, covariance, np.zeros((0, 0, 0)), np.zeros(0, dtype=np.int64), 1.0, rows)
        factors, scale = [covariance], 1.0
    counts = np.array([len(f) for f in factors], dtype=np.int64)
    roots = np.zeros((len(factors), int(counts.max()), int(counts.max())))
    for axis, factor in enumerate(factors):
        roots[axis, : len(factor), : len(factor)] = _cholesky(factor).T
    return Prior(vector, covariance, roots, counts, scale, none)


def start_posterior(prior: Prior, noise: float) -> GridPosterior:
    """No answer yet."""
    K = len(prior.mean)
    n, s, root, tries, scratch = np.zeros((5, K))
    waiting, updates = np.zeros(K, dtype=np.int64), np.zeros(3, dtype=np.int64)
    S, W = prior.covariance.copy(), np.zeros((min(BLOCK, max(2, K // 64)), K))
    return GridPosterior(prior, float(noise), n, s, root, S, W, waiting, tries, updates, scratch)


@jitable
def observe(posterior: GridPosterior, i: int, tries: float, wins: float) -> None:
    """Learn that point i won ``wins`` of ``tries`` > 0 comparisons; ``settle`` ends the answer."""
    waiting, counts, updates = posterior.waiting, posterior.tries, posterior.updates
    posterior.n[i] += tries
    posterior.root[i] = math.sqrt(posterior.n[i])
    posterior.s[i] += wins
    k = 0
    while k < updates[1] and waiting[k] != i:
        k += 1
    if k == updates[1]:
        waiting[k], counts[k] = i, 0.0
        updates[1] += 1
    counts[k] += tries


@jitable
def settle(posterior: GridPosterior) -> None:
    """Update the covariance by the tries that wait, or, at times, anew from the prior by all tries."""
    S, W, n, covariance = posterior.S, posterior.W, posterior.n, posterior.prior.covariance
    waiting, counts, updates = posterior.waiting, posterior.tries, posterior.updates
    updates[0] += updates[1]
    if updates[0] >= REBUILD:
        updates[0] = updates[1] = updates[2] = 0
        for i in range(n.size):
            copy_into(S[i], covariance[i])
            if n[i] > 0.0:
                waiting[updates[1]], counts[updates[1]] = i, n[i]
                updates[1] += 1
    for k in range(updates[1]):
        if updates[2] == len(W):
            downdate(S, W, len(W))
            updates[2] = 0
        next_update(W, updates[2], S, waiting[k], posterior.noise / counts[k])
        updates[2] += 1
    updates[1] = 0


def covariance_of(posterior: GridPosterior) -> FloatArray:
    """The posterior covariance, (K, K)."""
    W = posterior.W[: posterior.updates[2]]
    return np.asarray(posterior.S - W.T @ W)


@jitable
def add_covariance(posterior: GridPosterior, x: FloatArray, out: FloatArray) -> None:
    """Add the posterior covariance times ``x`` (K,) to ``out`` (K,)."""
    add_rows(out, x, posterior.S)
    take_updates(out, x, posterior.W, posterior.updates[2])


@jitable
def mean_into(posterior: GridPosterior, out: FloatArray) -> None:
    """Write the posterior mean m + S (s - n m) / v into ``out`` (K,)."""
    mean, residual = posterior.prior.mean, posterior.scratch
    residuals(residual, posterior.s, posterior.n, mean, posterior.noise)
    copy_into(out, mean)
    add_covariance(posterior, residual, out)


def mean_of(posterior: GridPosterior) -> FloatArray:
    """The posterior mean, (K,)."""
    mean = np.empty(len(posterior.n))
    mean_into(posterior, mean)
    return mean


@jitable
def upper_into(posterior: GridPosterior, scale: float, out: FloatArray, work: FloatArray) -> None:
    """Write the posterior mean plus ``scale`` standard deviations into ``out`` (K,); ``work`` (K,) is overwritten."""
    mean_into(posterior, out)
    variances(work, posterior.S, posterior.W, posterior.updates[2])
    add_deviations(out, scale, work)


@jitable
def draw_into(posterior: GridPosterior, rng: np.random.Generator, out: FloatArray) -> None:
    """Write one joint draw of all points into ``out`` (K,)."""
    prior, residual = posterior.prior, posterior.scratch
    rank = prior.rows.shape[0]
    if rank > 0:
        fill_normal(residual[:rank], rng)
        copy_into(out, prior.mean)
        add_rows(out, residual[:rank], prior.rows)
    else:
        fill_normal(out, rng)
        apply_roots(prior.roots, prior.sizes, out)
        shift(out, prior.mean, prior.scale)
    noisy_residuals(residual, posterior.s, posterior.n, posterior.root, out, posterior.noise, rng)
    add_covariance(posterior, residual, out)


def posterior_of(prior: Prior, noise: float, tries: FloatArray, wins: FloatArray) -> GridPosterior:
    """The posterior of these counts (K,) at once."""
    posterior = start_posterior(prior, noise)
    posterior.n[:], posterior.s[:], posterior.root[:] = tries, wins, np.sqrt(tries)
    tried = np.flatnonzero(tries)
    cross = prior.covariance[tried]
    W = solve_triangular(_cholesky(cross[:, tried] + np.diag(noise / tries[tried])), cross, lower=True)
    posterior.S[:] -= W.T @ W
    return posterior
