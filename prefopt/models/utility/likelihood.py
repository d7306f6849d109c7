"""How a person answers, given utilities: value, gradient and curvature of the log likelihood of every stage.

With z = (f_ahead - f_behind) / noise - threshold, a stage has P = 1 / (1 + sum_r exp(-z_r)) (logit; Plackett-Luce if
it has several rows), or P = Phi(z) (probit, single rows only). A just-noticeable difference t > 0 shifts decided
answers by t and makes a tie P = (1 - exp(-2 t)) s(t + z) s(t - z), with s the logistic function (Rao and Kupper 1967);
without one, a tie is half a win for each side. A lapse rate e mixes in a guess among the stage's options:
(1 - e) P + e / (k + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import Comparisons, IntArray

#: Added to curvatures: a factor exists however sure an answer is.
RIDGE = 1e-9


class Curvature(NamedTuple):
    """W = R R^T, block-diagonal over stages: factors R by size of the stages, rows (n, k) and factors (n, k, k)."""

    blocks: tuple[tuple[IntArray, FloatArray], ...]

    def times(self, v: FloatArray) -> FloatArray:
        """R v for v (M, ...)."""
        made = np.empty_like(v)
        for rows, R in self.blocks:
            made[rows] = R.reshape(R.shape[:2] + (1,) * (v.ndim - 1)) * v[rows] if R.shape[1] == 1 else _dot(R, v[rows])
        return made

    def transposed(self, v: FloatArray) -> FloatArray:
        """R^T v for v (M, ...)."""
        return Curvature(tuple((rows, R.transpose(0, 2, 1)) for rows, R in self.blocks)).times(v)

    def around(self, K: FloatArray) -> FloatArray:
        """R^T K R for a symmetric K (M, M)."""
        if len(self.blocks) == 1 and self.blocks[0][1].shape[1] == 1:
            root = self.blocks[0][1][:, 0, 0]
            return np.asarray(root[:, None] * K * root)
        return self.transposed(self.transposed(K).T)


def _dot(R: FloatArray, v: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nij,nj...->ni...", R, v))


class Terms(NamedTuple):
    """The log likelihood at some differences."""

    value: float
    gradient: FloatArray  # (M,)
    blocks: tuple[FloatArray, ...]  # curvature by size of the stages, (n, k, k)
    slopes: tuple[tuple[FloatArray, FloatArray, FloatArray], ...]  # what the third derivative needs


@dataclass(frozen=True)
class Likelihood:
    """How a person answers.

    Args:
        link: "logit" or "probit"; utilities are in units of its noise.
        lapse: share of answers that are guesses, in [0, 1).
        jnd: just-noticeable difference t >= 0 in units of the noise.
        noise: factor on the noise of every rater, by index; () for 1.

    Raises:
        SettingError: unknown link, or a number out of range.
    """

    link: str = "logit"
    lapse: float = 0.0
    jnd: float = 0.0
    noise: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.link not in ("logit", "probit"):
            raise SettingError(f"unknown link {self.link!r}; expected 'logit' or 'probit'")
        if not (0 <= self.lapse < 1 and 0 <= self.jnd < np.inf and all(0 < v < np.inf for v in self.noise)):
            raise SettingError(f"expected 0 <= lapse < 1, jnd >= 0 and noise > 0 for every rater; got {self}")

    def terms(self, h: FloatArray, data: Comparisons) -> Terms:
        """Value, gradient (M,) and curvature of the log likelihood at the rows' differences ``h`` (M,).

        Where a lapse makes the likelihood bend the wrong way, the curvature is that of the undisturbed answer times
        the chance that this answer was one, which is never negative.
        """
        scale, offset, weight = self.of_stages(data)
        value, gradient, blocks, slopes = 0.0, np.empty(len(h)), [], []
        for stage, rows in data.groups:
            c, w = scale[stage][:, None], weight[stage]
            log_p, g, W = self._stage(c * h[rows] - offset[stage][:, None])
            if self.lapse:
                guess = self.lapse / (rows.shape[1] + 1)
                p = (1 - self.lapse) * np.exp(log_p)
                log_p, sure = np.log(p + guess), p / (p + guess)
            else:
                sure = np.ones(len(stage))
            value += float(w @ log_p)
            gradient[rows] = (w * sure)[:, None] * c * g
            blocks.append((w * sure * c[:, 0] ** 2)[:, None, None] * W + RIDGE * np.eye(rows.shape[1]))
            slopes.append((c * h[rows] - offset[stage][:, None], g, sure))
        return Terms(value, gradient, tuple(blocks), tuple(slopes))

    def exact(
        self, h: FloatArray, stage: IntArray, data: Comparisons
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Value, slope and true Hessian of the weighted log probability of ``stage`` (n,) at h (k, n, N).

        Returns:
            log probability (n, N), gradient g (k, n, N); e (k, n, N) and c (n, N): minus the Hessian is
            diag(e) - c g g^T.
        """
        scale, offset, weight = (values[stage][:, None] for values in self.of_stages(data))
        z = scale * h - offset
        log_p = self._log(z)
        if self.link == "probit":
            q = np.exp(-0.5 * z * z - 0.9189385332046727 - log_p)
            curve, outer = q * (q + z), np.zeros_like(log_p)
        else:
            q = curve = np.exp(np.minimum(log_p - z, 0.0))
            outer = np.ones_like(log_p)
        if self.lapse:
            p = (1 - self.lapse) * np.exp(log_p)
            total = p + self.lapse / (len(h) + 1)
            log_p, sure = np.log(total), p / total
            outer += 1 - sure
        else:
            sure = np.ones_like(log_p)
        c = outer / np.maximum(weight * sure, 1e-300)
        return weight * log_p, (weight * scale * sure) * q, (weight * scale**2 * sure) * curve, c

    def log_probability(self, h: FloatArray, data: Comparisons) -> FloatArray:
        """Log likelihood (N,) of all answers at differences h (M, N)."""
        scale, offset, weight = self.of_stages(data)
        made = np.zeros(h.shape[1])
        for stage, rows in data.groups:
            log_p = self._log(scale[stage][:, None] * h[rows.T] - offset[stage][:, None])
            if self.lapse:
                log_p = np.log((1 - self.lapse) * np.exp(log_p) + self.lapse / (rows.shape[1] + 1))
            made += weight[stage] @ log_p
        return made

    def of_stages(self, data: Comparisons) -> tuple[FloatArray, FloatArray, FloatArray]:
        """1 / noise, threshold and weight of every stage."""
        scale = 1 / np.array(self.noise)[data.rater] if self.noise else np.ones(len(data.rater))
        if self.jnd:
            return scale, np.where(data.tie, -self.jnd, self.jnd), data.weight
        return scale, np.zeros(len(scale)), np.where(data.tie, 0.5, 1.0) * data.weight

    def _log(self, z: FloatArray) -> FloatArray:
        """Logarithm of P (...) at z (k, ...)."""
        if self.link == "probit":
            if len(z) > 1:
                raise SettingError("the probit link is for duels and ties; choices and rankings need link='logit'")
            return np.asarray(log_ndtr(z[0]))
        top = np.maximum(-z.min(axis=0), 0.0)
        return np.asarray(-top - np.log(np.exp(-top) + np.exp(-z - top).sum(axis=0)))

    def _stage(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Logarithm of P (n,), its gradient (n, k) and minus its Hessian (n, k, k) in z (n, k)."""
        if self.link == "probit":
            log_p = self._log(z.T)
            g = np.exp(-0.5 * z * z - 0.9189385332046727 - log_p[:, None])
            return log_p, g, (g * (g + z))[:, :, None]
        top = np.maximum(np.max(-z, axis=1), 0.0)
        e = np.exp(-z - top[:, None])
        total = np.exp(-top) + e.sum(axis=1)
        p = e / total[:, None]
        if z.shape[1] == 1:  # p (1 - p), exact where p is close to one
            return -(top + np.log(total)), p, (p * (np.exp(-top) / total)[:, None])[:, :, None]
        return -(top + np.log(total)), p, p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]

    def root(self, terms: Terms, data: Comparisons) -> Curvature:
        """The factors R of the curvature."""
        made: list[tuple[IntArray, FloatArray]] = []
        for (_, rows), W in zip(data.groups, terms.blocks, strict=True):
            made.append(
                (rows, np.asarray(np.sqrt(W) if rows.shape[1] == 1 else np.linalg.cholesky(W), dtype=np.float64))
            )
        return Curvature(tuple(made))

    def third(self, terms: Terms, data: Comparisons, S: tuple[FloatArray, ...]) -> FloatArray:
        """sum_kl S_kl dW_kl / dh_j for every row j, (M,), of symmetric blocks S (n, k, k)."""
        scale, _, weight = self.of_stages(data)
        made = np.empty(len(data))
        for (stage, rows), (z, g, sure), block in zip(data.groups, terms.slopes, S, strict=True):
            W = self._stage(z)[2]
            if self.link == "probit":
                slope = block[:, 0] * (g - (2 * g + z) * W[:, :, 0])
            else:
                inner = np.einsum("nkk->nk", block) - 2 * np.einsum("nkl,nl->nk", block, g)
                slope = -np.einsum("njk,nk->nj", W, inner)
            if self.lapse:
                slope += ((1 - sure) * np.einsum("nkl,nkl->n", block, W))[:, None] * g
            made[rows] = (weight[stage] * sure * scale[stage] ** 3)[:, None] * slope
        return made
