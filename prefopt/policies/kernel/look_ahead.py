"""What is expected after one more answer: the mean of the largest posterior mean, for any slate of options.

Options have jointly normal utilities f ~ N(mean, C), and P_j(f) is the chance that option j of the slate is chosen.
By Stein's identity E[f(x) | j] = mean(x) + C(x, slate) E[dP_j / df] / E[P_j], so that

    E max_x E[f(x) | answer] = sum_j max_x (E[P_j] mean(x) + C(x, slate) E[dP_j / df]).

Of a pair both expectations are known in closed form (Wu and Gardner 2026, arXiv 2601.22335), a logistic answer being
taken for a normal one; of a Plackett-Luce choice among more, dP_j / df_i = P_j ([i = j] - P_i), and they are averages
over mirrored draws, the same ones for every slate. With several hypotheses about f, each probable to a degree, chance
times mean is averaged over them before the largest is taken: an answer tells of the hypotheses, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, softmax

from prefopt.domain import FloatArray
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.comparisons import IntArray
from prefopt.models.utility.likelihood import Likelihood
from prefopt.policies.kernel.hallucination import NOISE

#: Pairs of mirrored draws behind the expectations of a choice among more than two.
DRAWS = 64
#: So many options of large mean, and so many of large mean + standard deviation, can turn out best.
LARGE, HOPEFUL = 64, 96


class Looked(NamedTuple):
    """Options one of which may turn out best: rows (k, d), and of every hypothesis their mean (k,) and root (k, M)."""

    rows: FloatArray
    known: tuple[tuple[FloatArray, FloatArray], ...]

    @classmethod
    def at(cls, beliefs: Averaged, rows: FloatArray) -> Looked:
        """Those rows (k, d)."""
        return cls(rows, tuple(utility.mean_and_root(rows) for utility in beliefs.members))


class Normal(NamedTuple):
    """One hypothesis: options that may be asked about, and those that may turn out best.

    Attributes:
        mean, C: posterior mean (n,) and covariance (n, n) of the options that may be asked about.
        best_mean, best_C: mean (k,) of those that may turn out best, and covariance (k, n) with the others.
    """

    mean: FloatArray
    C: FloatArray
    best_mean: FloatArray
    best_C: FloatArray

    def after_duels(self, a: IntArray, b: IntArray, noise: float, lapse: float) -> list[FloatArray]:
        """Chance times mean after the answer "a", and "b", of those that may turn out best, (k, P) each."""
        gap, variance = self.mean[a] - self.mean[b], self.C[a, a] + self.C[b, b] - 2 * self.C[a, b]
        tau = np.sqrt(noise**2 + np.maximum(variance, 0.0))
        slope = (1 - lapse) * np.exp(-0.5 * (gap / tau) ** 2) / (math.sqrt(2 * math.pi) * tau)
        first, second = ((1 - lapse) * np.exp(log_ndtr(u / tau)) + lapse / 2 for u in (gap, -gap))
        mean, K = self.best_mean[:, None], (self.best_C[:, a] - self.best_C[:, b]) * slope
        return [mean * first + K, mean * second - K]

    def after_choices(self, slates: IntArray, normal: FloatArray, lapse: float) -> list[FloatArray]:
        """Chance times mean after each answer to the ``slates`` (P, m), (k, P) each, by draws ``normal`` (m, size)."""
        m = slates.shape[1]
        S = self.C[slates[:, :, None], slates[:, None, :]]
        scale = np.maximum(np.einsum("pii->p", S) / m, 1e-12)
        root = np.linalg.cholesky(S + (1e-8 * scale)[:, None, None] * np.eye(m))
        P = softmax(self.mean[slates][:, :, None] + root @ normal[:m], axis=1)
        p = P.mean(axis=2)
        slope = p[:, :, None] * np.eye(m) - np.einsum("pjs,pis->pji", P, P) / P.shape[2]
        p, slope = (1 - lapse) * p + lapse / m, (1 - lapse) * slope
        raised = np.matmul(self.best_C[:, slates].transpose(1, 0, 2), slope.transpose(0, 2, 1))
        return list((self.best_mean[:, None] * p[:, None, :] + raised).transpose(2, 1, 0))


@dataclass(frozen=True)
class LookAhead:
    """What is believed of the options, and how a person answers.

    Attributes:
        beliefs: one normal distribution for every hypothesis.
        weights: how probable each is, (s,).
        noise: standard deviation of the normal noise of a duel.
        lapse: share of answers that are guesses.
        normal: draws (m, size) from N(0, 1) for slates of up to m options; None if there are only pairs.
    """

    beliefs: tuple[Normal, ...]
    weights: FloatArray
    noise: float
    lapse: float = 0.0
    normal: FloatArray | None = None

    @classmethod
    def of(
        cls,
        beliefs: Averaged,
        Z: FloatArray,
        likelihood: Likelihood,
        normal: FloatArray | None = None,
        looked: Looked | None = None,
    ) -> LookAhead:
        """The options Z (n, d). They and those ``looked`` at may turn out best; by default the leading ones of Z."""
        at = [utility.mean_and_root(Z) for utility in beliefs.members]
        known = [(m, u.prior.covariance(Z, Z) - V @ V.T) for u, (m, V) in zip(beliefs.members, at, strict=True)]
        made = []
        if looked is None:
            mean, C = mixed(known, beliefs.weights)
            large, hopeful = np.argsort(-mean, kind="stable")[:LARGE], hopeful_first(mean, C)[:HOPEFUL]
            among = np.unique(np.concatenate([large, hopeful]))
            made = [Normal(mean, C, mean[among], C[among]) for mean, C in known]
        else:
            for u, (mean, V), (_, C), (level, root) in zip(beliefs.members, at, known, looked.known, strict=True):
                cross = u.prior.covariance(looked.rows, Z) - root @ V.T
                made.append(Normal(mean, C, np.concatenate([mean, level]), np.vstack([C, cross])))
        noise = NOISE[likelihood.link]
        return cls(tuple(made), beliefs.weights, noise, likelihood.lapse, normal)

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and covariance (n, n) of the options that may be asked about."""
        return mixed([one[:2] for one in self.beliefs], self.weights)

    @cached_property
    def now(self) -> float:
        """The largest mean of those that may turn out best."""
        return float((self.weights @ np.array([one.best_mean for one in self.beliefs])).max())

    def value(self, slates: IntArray) -> FloatArray:
        """The knowledge gradient of every slate of distinct options, (P,) of (P, m): how much the best mean rises.

        >>> one = Normal(np.zeros(2), np.eye(2), np.zeros(2), np.eye(2))
        >>> ahead = LookAhead((one,), np.ones(1), math.sqrt(2))
        >>> ahead.value(np.array([[0, 1]])).round(4)  # E max of the means after the answer
        array([0.3989])
        """
        each = [self._after(one, slates) for one in self.beliefs]  # by hypothesis and answer, (k, P)
        made = np.zeros(len(slates))
        for answer in zip(*each, strict=True):
            total = self.weights[0] * answer[0]
            for weight, one in zip(self.weights[1:], answer[1:], strict=True):
                total += weight * one
            made += total.max(axis=0)
        return made - self.now

    def _after(self, one: Normal, slates: IntArray) -> list[FloatArray]:
        m = slates.shape[1]
        if m == 2:
            return one.after_duels(slates[:, 0], slates[:, 1], self.noise, self.lapse)
        if self.normal is None or len(self.normal) < m:
            raise ValueError(f"made for pairs or smaller slates, got slates of {m} options")
        return one.after_choices(slates, self.normal, self.lapse)

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


def mixed(known: Sequence[tuple[FloatArray, FloatArray]], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean (n,) and covariance (n, n) of a mixture with those of its members ``known`` and these ``weights`` (s,).

    >>> mixed([(np.zeros(1), np.eye(1)), (np.full(1, 2.0), np.eye(1))], np.array([0.5, 0.5]))
    (array([1.]), array([[2.]]))
    """
    if len(known) == 1:
        return known[0]
    mean = weights @ np.array([m for m, _ in known])
    return mean, sum(w * (C + np.outer(m - mean, m - mean)) for w, (m, C) in zip(weights, known, strict=True))


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
