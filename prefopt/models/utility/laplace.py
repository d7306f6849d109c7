"""Laplace's approximation in the space of differences: Rasmussen and Williams 2006, Algorithms 3.1 and 5.1.

h = A f are the differences that the answers read, K their prior covariance, W = R R^T the curvature of the likelihood.
Only B = I + R^T K R is factorised, which is well conditioned whatever K is: chains, cycles, repeats, near-duplicates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from prefopt.domain import FloatArray
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.likelihood import Curvature, Likelihood, Terms

STEPS, TOLERANCE = 60, 1e-11


class Approximation(NamedTuple):
    """A Gaussian over the differences: as if h had been seen once, with noise covariance W^-1.

    Attributes:
        h: mode of the differences, (M,).
        alpha: K^-1 (h - m), (M,): the posterior mean at z is m(z) + k(z, h) alpha.
        root: R.
        L: lower factor of B.
        terms: the log likelihood at the mode.
        evidence: log p(answers), approximately.
    """

    h: FloatArray
    alpha: FloatArray
    root: Curvature
    L: FloatArray
    terms: Terms
    evidence: float

    @property
    def half(self) -> FloatArray:
        """Q (M, M) with K_post = K - (Q K)^T (Q K): Q = L^-1 R^T."""
        return np.asarray(solve_triangular(self.L, self.root.transposed(np.eye(len(self.h))), lower=True))


def laplace(
    K: FloatArray,
    m: FloatArray,
    data: Comparisons,
    likelihood: Likelihood,
    start: FloatArray | None = None,
    *,
    tolerance: float = TOLERANCE,
    chord: float = 0.0,
) -> Approximation:
    """The mode and curvature of p(h | answers).

    Args:
        K: prior covariance of the differences, (M, M).
        m: their prior mean, (M,).
        data: the stages.
        likelihood: how answers come about.
        start: where Newton's method begins, (M,); None for the prior mean.
        tolerance: the relative gain of the objective at which it ends.
        chord: it keeps its factor while no curvature has changed by more than this share of the largest one; a step
            then costs little, but takes away a share of the distance only, where Newton's squares it.
    """
    h = m if start is None else start
    alpha, objective = np.zeros(len(m)), -np.inf
    first = True
    terms = likelihood.terms(h, data)
    factored: Terms | None = None
    for _ in range(STEPS):
        if factored is None or not _near(terms, factored, chord):
            root, factored = likelihood.root(terms, data), terms
            L = _cholesky(root.around(K))
        b = root.times(root.transposed(h - m)) + terms.gradient
        new = b - root.times(cho_solve((L, True), root.transposed(K @ b), check_finite=False))
        to = m + K @ new
        terms = likelihood.terms(to, data)
        reached = terms.value - 0.5 * float(new @ (to - m))
        for _ in range(20):
            if first or reached >= objective - 1e-12 * (1 + abs(objective)):
                break
            new, to = 0.5 * (new + alpha), 0.5 * (to + h)
            terms = likelihood.terms(to, data)
            reached = terms.value - 0.5 * float(new @ (to - m))
        done = not first and abs(reached - objective) < tolerance * (1 + abs(reached))
        alpha, h, objective, first = new, to, reached, False
        if done:
            break
    root = likelihood.root(terms, data)
    L = _cholesky(root.around(K))
    evidence = terms.value - 0.5 * float(alpha @ (h - m)) - float(np.log(np.diag(L)).sum())
    return Approximation(h, alpha, root, L, terms, evidence)


def _cholesky(inner: FloatArray) -> FloatArray:
    """The lower factor of I + ``inner`` (M, M), which is overwritten."""
    inner.flat[:: len(inner) + 1] += 1.0
    return np.asarray(np.linalg.cholesky(inner), dtype=np.float64)


def _near(terms: Terms, other: Terms, share: float) -> bool:
    """Whether no curvature differs by more than ``share`` of the largest."""
    if not share:
        return False
    pairs = list(zip(terms.blocks, other.blocks, strict=True))
    largest = max((float(np.abs(new).max()) for new, _ in pairs), default=0.0)
    return all(float(np.abs(new - old).max()) <= share * largest for new, old in pairs)


def evidence_slope(K: FloatArray, found: Approximation, data: Comparisons, likelihood: Likelihood) -> FloatArray:
    """G (M, M), symmetric: d evidence = sum(G * dK) for a change dK of the prior covariance (their equation 5.23)."""
    return evidence_slopes(K, found, data, likelihood)[0]


def evidence_slopes(
    K: FloatArray, found: Approximation, data: Comparisons, likelihood: Likelihood
) -> tuple[FloatArray, FloatArray]:
    """``evidence_slope`` and the slope along the prior mean of the differences, (M,)."""
    M = len(found.h)
    middle = found.half.T @ found.half  # R B^-1 R^T
    blocks = []
    KM = K @ middle
    for _, rows in data.groups:
        prior = K[rows[:, :, None], rows[:, None, :]]
        blocks.append(prior - np.einsum("nkm,nlm->nkl", KM[rows], K[rows]) if M else prior)
    s = -0.5 * likelihood.third(found.terms, data, tuple(blocks))
    u = s - middle @ (K @ s)
    outer = np.outer(found.alpha, 0.5 * found.alpha + u)
    return np.asarray(0.5 * (outer + outer.T - middle)), found.alpha + u
