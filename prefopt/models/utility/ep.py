"""Expectation propagation in the space of differences: Minka 2001; Rasmussen and Williams 2006, section 3.6.

Every stage has a Gaussian site exp(b^T h - h^T T h / 2) on its k differences. Its moments are matched through the slope
g and minus the curvature H of log Z in the cavity's mean, which need no inverse of the cavity's covariance C:
T = (I - H C)^-1 H and b = g + T (mu + C g). All sites at once, damped; Laplace's sites to begin with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from prefopt.domain import FloatArray
from prefopt.models.utility.comparisons import Comparisons, IntArray
from prefopt.models.utility.laplace import Approximation, laplace
from prefopt.models.utility.likelihood import RIDGE, Curvature, Likelihood
from prefopt.models.utility.quadrature import nodes

STEPS, TOLERANCE, DAMPING = 60, 1e-4, 0.9
#: With a lapse more of the answer lies beyond the posterior: nodes are spread by this factor.
WIDER = 1.5


class _State(NamedTuple):
    """The posterior that the sites make."""

    mean: FloatArray  # (M,)
    alpha: FloatArray  # (M,)
    root: Curvature
    L: FloatArray
    blocks: tuple[FloatArray, ...]  # covariance of each stage's differences, (n, k, k)


class _Match(NamedTuple):
    """New sites of stages of one size, their cavities, and how far the sites moved."""

    T: FloatArray  # (n, k, k)
    b: FloatArray  # (n, k)
    moved: float  # in posterior standard deviations, squared, and logits
    log_z: FloatArray  # (n,)
    mu: FloatArray  # (n, k)
    C: FloatArray  # (n, k, k)


def expectation_propagation(
    K: FloatArray, m: FloatArray, data: Comparisons, likelihood: Likelihood, start: FloatArray | None = None
) -> Approximation:
    """A Gaussian whose stages have the moments of the true answers; arguments as in ``laplace``.

    Where a lapse asks for a site of negative precision, that site gets none. Stages of more than three differences are
    integrated over fixed quasi-random points, others by quadrature.
    """
    first = laplace(K, m, data, likelihood, start)
    if not len(data):
        return first
    T = [np.array(block) for block in first.terms.blocks]
    b = first.root.times(first.root.transposed(first.h)) + first.alpha
    damping, last = DAMPING, np.inf
    for _ in range(STEPS):
        state = _posterior(K, m, T, b, data)
        change = 0.0
        for site, (stage, rows), S in zip(T, data.groups, state.blocks, strict=True):
            found = _match(state.mean[rows], S, site, b[rows], stage, data, likelihood)
            change = max(change, found.moved)
            site += damping * (found.T - site)
            b[rows] += damping * (found.b - b[rows])
        if change < TOLERANCE:
            break
        damping, last = (damping if change < last else max(0.2, 0.7 * damping)), change
    state = _posterior(K, m, T, b, data)
    evidence = _evidence(m, T, b, state, data, likelihood)
    return Approximation(state.mean, state.alpha, state.root, state.L, likelihood.terms(state.mean, data), evidence)


def _posterior(K: FloatArray, m: FloatArray, T: list[FloatArray], b: FloatArray, data: Comparisons) -> _State:
    root = Curvature(tuple((rows, _cholesky(site)) for (_, rows), site in zip(data.groups, T, strict=True)))
    L = np.linalg.cholesky(root.around(K) + np.eye(len(m)))
    V = solve_triangular(L, root.transposed(K), lower=True, check_finite=False)
    c = b - root.times(root.transposed(m))
    u = K @ c
    alpha = c - root.times(solve_triangular(L.T, V @ c, check_finite=False))
    mean = m + u - V.T @ (V @ c)
    blocks = []
    for _, rows in data.groups:
        part = V[:, rows]
        S = K[rows[:, :, None], rows[:, None, :]] - np.einsum("mnk,mnl->nkl", part, part)
        blocks.append(S + 1e-10 * np.eye(rows.shape[1]))
    return _State(mean, alpha, root, np.asarray(L), tuple(blocks))


def _cholesky(blocks: FloatArray) -> FloatArray:
    """Lower factors of positive semi-definite (n, k, k)."""
    k = blocks.shape[1]
    return np.asarray(np.sqrt(blocks + RIDGE) if k == 1 else np.linalg.cholesky(blocks + RIDGE * np.eye(k)))


def _match(
    mean: FloatArray,
    S: FloatArray,
    T: FloatArray,
    b: FloatArray,
    stage: IntArray,
    data: Comparisons,
    likelihood: Likelihood,
) -> _Match:
    """The sites that have the moments of the stages' answers, given the others."""
    k = mean.shape[1]
    eye = np.eye(k)
    out = eye - S @ T
    C = _solve(out, S)
    C = (C + C.transpose(0, 2, 1)) / 2
    gap: FloatArray = mean - _times(S, b)
    mu = _solve(out, gap[:, :, None])[:, :, 0]
    A = np.sqrt(C) if k == 1 else np.linalg.cholesky(C + 1e-10 * eye)  # h = mu + A z, z standard normal
    xi, log_weight = nodes(k, float(np.sqrt(np.max(np.einsum("nkk->nk", C)))), likelihood.lapse > 0)
    z, density = np.broadcast_to(xi[:, None, :], (k, len(mean), xi.shape[1])), log_weight
    if k > 1:  # where the posterior is; a lapse leaves more beyond it
        precision = eye + A.transpose(0, 2, 1) @ T @ A
        spread = np.linalg.cholesky(np.linalg.inv(precision)) * (WIDER if likelihood.lapse else 1.0)
        centre = np.linalg.solve(precision, (A.transpose(0, 2, 1) @ (b - _times(T, mu))[:, :, None]))
        z = (centre + spread @ xi).transpose(1, 0, 2)
        scale = np.log(np.einsum("nkk->nk", spread)).sum(axis=1)
        density = log_weight + scale[:, None] + 0.5 * ((xi**2).sum(axis=0) - (z**2).sum(axis=0))
    log_p, slope, bend, outer = likelihood.exact(mu.T[:, :, None] + np.einsum("nkl,lnN->knN", A, z), stage, data)
    log_w = log_p + density
    top = log_w.max(axis=1, keepdims=True)
    w = np.exp(log_w - top)
    total = w.sum(axis=1, keepdims=True)
    w /= total
    g = np.einsum("nN,knN->nk", w, slope)
    H = -np.einsum("knN,lnN->nkl", slope * (w * (outer + 1)), slope) + g[:, :, None] * g[:, None, :]
    H += np.einsum("nN,knN->nk", w, bend)[:, :, None] * eye
    to = _positive(_solve(eye - H @ C, H))
    shift = g + _times(to, mu + _times(C, g))
    pull: FloatArray = shift - b - _times(to, mean) + _times(T, mean)
    moved = max(float(np.abs(_times(S, pull)).max()), float(np.abs(S @ (to - T)).max()))
    log_z: FloatArray = top + np.log(total)
    return _Match(to, shift, moved, log_z[:, 0], mu, C)


def _times(blocks: FloatArray, v: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nkl,nl->nk", blocks, v), dtype=np.float64)


def _solve(a: FloatArray, b: FloatArray) -> FloatArray:
    """a^-1 b of blocks; a division where they are single numbers."""
    return np.asarray(b / a if a.shape[1] == 1 else np.linalg.solve(a, b), dtype=np.float64)


def _positive(blocks: FloatArray) -> FloatArray:
    """The nearest positive semi-definite matrices to (n, k, k)."""
    if blocks.shape[1] == 1:
        return np.maximum(blocks, 0.0)
    values, vectors = np.linalg.eigh((blocks + blocks.transpose(0, 2, 1)) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1))


def _evidence(
    m: FloatArray, T: list[FloatArray], b: FloatArray, state: _State, data: Comparisons, likelihood: Likelihood
) -> float:
    """Log p(answers): the sites' product under the prior, and each stage's factor in its cavity."""
    root = state.root
    made = float(b @ m) - 0.5 * float(np.sum(root.transposed(m) ** 2)) - float(np.log(np.diag(state.L)).sum())
    c = b - root.times(root.transposed(m))
    made += 0.5 * float(c @ (state.mean - m))
    for site, (stage, rows), S in zip(T, data.groups, state.blocks, strict=True):
        *_, log_z, mu, C = _match(state.mean[rows], S, site, b[rows], stage, data, likelihood)
        c_site = b[rows] - _times(site, mu)
        inner = np.eye(rows.shape[1]) + C @ site
        to = np.linalg.solve(inner, _times(C, c_site)[:, :, None])[:, :, 0]
        own = np.einsum("nk,nk->n", b[rows], mu) - 0.5 * np.einsum("nk,nkl,nl->n", mu, site, mu)
        own += 0.5 * np.einsum("nk,nk->n", c_site, to) - 0.5 * np.linalg.slogdet(inner)[1]
        made += float((log_z - own).sum())
    return made
