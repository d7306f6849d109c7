"""What is expected after one more answer: the mean of the largest posterior mean, for any slate of options.

Options have jointly normal utilities f ~ N(mean, C), and P_j(f) is the chance that option j of the slate is chosen.
By Stein's identity E[f(x) | j] = mean(x) + C(x, slate) E[dP_j / df] / E[P_j], so that

    E max_x E[f(x) | answer] = sum_j max_x (E[P_j] mean(x) + C(x, slate) E[dP_j / df]).

Of a pair both expectations are known in closed form (Wu and Gardner 2026, arXiv 2601.22335), a logistic answer being
taken for a normal one; of a Plackett-Luce choice among more, dP_j / df_i = P_j ([i = j] - P_i), and they are averages
over mirrored draws, the same ones for every slate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, softmax

from prefopt.domain import FloatArray
from prefopt.models.utility.comparisons import IntArray
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.hallucination import NOISE

#: Pairs of mirrored draws behind the expectations of a choice among more than two.
DRAWS = 64
#: So many options of large mean, and so many of large mean + standard deviation, can turn out best.
LARGE, HOPEFUL = 64, 96


class Looked(NamedTuple):
    """Options one of which may turn out best: rows (k, d), their posterior mean (k,) and root (k, M)."""

    rows: FloatArray
    mean: FloatArray
    root: FloatArray

    @classmethod
    def at(cls, utility: Utility, rows: FloatArray) -> Looked:
        """Those rows (k, d)."""
        return cls(rows, *utility.mean_and_root(rows))


@dataclass(frozen=True)
class LookAhead:
    """Options that may be asked about, those that may turn out best, and how a person answers.

    Attributes:
        mean, C: posterior mean (n,) and covariance (n, n) of the options that may be asked about.
        best_mean, best_C: mean (k,) of those that may turn out best, and covariance (k, n) with the others.
        noise: standard deviation of the normal noise of a duel.
        lapse: share of answers that are guesses.
        normal: draws (m, size) from N(0, 1) for slates of up to m options; None if there are only pairs.
    """

    mean: FloatArray
    C: FloatArray
    best_mean: FloatArray
    best_C: FloatArray
    noise: float
    lapse: float = 0.0
    normal: FloatArray | None = None

    @classmethod
    def of(
        cls,
        utility: Utility,
        Z: FloatArray,
        likelihood: Likelihood,
        normal: FloatArray | None = None,
        looked: Looked | None = None,
    ) -> LookAhead:
        """The options Z (n, d). They and those ``looked`` at may turn out best; by default the leading ones of Z."""
        mean, V = utility.mean_and_root(Z)
        C = utility.prior.covariance(Z, Z) - V @ V.T
        if looked is None:
            large, hopeful = np.argsort(-mean, kind="stable")[:LARGE], hopeful_first(mean, C)[:HOPEFUL]
            among = np.unique(np.concatenate([large, hopeful]))
            best = mean[among], C[among]
        else:
            cross = utility.prior.covariance(looked.rows, Z) - looked.root @ V.T
            best = np.concatenate([mean, looked.mean]), np.vstack([C, cross])
        return cls(mean, C, *best, NOISE[likelihood.link], likelihood.lapse, normal)

    def value(self, slates: IntArray) -> FloatArray:
        """The knowledge gradient of every slate of distinct options, (P,) of (P, m): how much the best mean rises.

        >>> ahead = LookAhead(np.zeros(2), np.eye(2), np.zeros(2), np.eye(2), math.sqrt(2))
        >>> ahead.value(np.array([[0, 1]])).round(4)  # E max of the means after the answer
        array([0.3989])
        """
        after = self._after_duel(*slates.T) if slates.shape[1] == 2 else self._after_choice(slates)
        return np.asarray(after - self.best_mean.max())

    def _after_duel(self, a: IntArray, b: IntArray) -> FloatArray:
        gap, variance = self.mean[a] - self.mean[b], self.C[a, a] + self.C[b, b] - 2 * self.C[a, b]
        tau = np.sqrt(self.noise**2 + np.maximum(variance, 0.0))
        slope = (1 - self.lapse) * np.exp(-0.5 * (gap / tau) ** 2) / (math.sqrt(2 * math.pi) * tau)
        made, mean, K = np.zeros(len(a)), self.best_mean[:, None], self.best_C[:, a] - self.best_C[:, b]
        for sign in (1.0, -1.0):  # a wins, b wins
            p = (1 - self.lapse) * np.exp(log_ndtr(sign * gap / tau)) + self.lapse / 2
            made += np.max(mean * p + K * (sign * slope), axis=0)
        return made

    def _after_choice(self, slates: IntArray) -> FloatArray:
        if self.normal is None or len(self.normal) < slates.shape[1]:
            raise ValueError(f"made for pairs or smaller slates, got slates of {slates.shape[1]} options")
        m = slates.shape[1]
        S = self.C[slates[:, :, None], slates[:, None, :]]
        scale = np.maximum(np.einsum("pii->p", S) / m, 1e-12)
        root = np.linalg.cholesky(S + (1e-8 * scale)[:, None, None] * np.eye(m))
        P = softmax(self.mean[slates][:, :, None] + root @ self.normal[:m], axis=1)
        p = P.mean(axis=2)
        slope = p[:, :, None] * np.eye(m) - np.einsum("pjs,pis->pji", P, P) / P.shape[2]
        p, slope = (1 - self.lapse) * p + self.lapse / m, (1 - self.lapse) * slope
        raised = np.matmul(self.best_C[:, slates].transpose(1, 0, 2), slope.transpose(0, 2, 1))
        return np.asarray((self.best_mean[:, None] * p[:, None, :] + raised).max(axis=1).sum(axis=1))

    def best_in(self, slate: Sequence[int], place: int, pool: IntArray) -> int:
        """The option of ``pool`` that makes the best slate at ``place``; the first one that does, none twice.

        Args:
            slate: options.
            place: which of them is exchanged; its length to append one.
            pool: options to choose from, at least one that is not elsewhere on the slate.
        """
        rest = [*slate[:place], *slate[place + 1 :]]
        free = pool[~np.isin(pool, rest)]
        slates = np.tile(np.array([*slate[:place], -1, *slate[place + 1 :]], dtype=np.int64), (len(free), 1))
        slates[:, place] = free
        return int(free[int(np.argmax(self.value(slates)))])


def hopeful_first(mean: FloatArray, C: FloatArray) -> IntArray:
    """Options by ``mean`` (n,) + standard deviation of the difference to the first, largest first, (n,)."""
    away = np.diag(C) + C[0, 0] - 2 * C[0]
    return np.argsort(-(mean + np.sqrt(np.maximum(away, 0.0))), kind="stable")


def mirrored(m: int, rng: np.random.Generator) -> FloatArray | None:
    """Draws (m, 2 * DRAWS) from N(0, 1) and their opposites; None for pairs, which need none."""
    if m == 2:
        return None
    drawn = rng.standard_normal((m, DRAWS))
    return np.hstack([drawn, -drawn])
