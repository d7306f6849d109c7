"""The one-sided model with a Bernoulli likelihood: logit link, Laplace approximation on aggregated counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prefopt.models.one_sided import F64, AggregatedGP, check_counts

FloatArray = NDArray[np.float64]


def newton(g: Tensor, mean: Tensor, K: Tensor, tries: Tensor, wins: Tensor) -> Tensor:
    """One Newton step towards the most probable logits, from ``g`` (q,), with B = I + W^(1/2) K W^(1/2)."""
    p = torch.sigmoid(g)
    root = (tries * p * (1 - p)).sqrt()
    b = root**2 * (g - mean) + wins - tries * p
    factor = torch.linalg.cholesky(torch.eye(len(g), dtype=F64) + root[:, None] * K * root)
    a = b - root * torch.cholesky_solve((root * (K @ b))[:, None], factor)[:, 0]
    return mean + K @ a


def laplace_mode(mean: Tensor, K: Tensor, tries: Tensor, wins: Tensor, start: Tensor | None = None) -> Tensor:
    """The most probable logits (q,) under a GP with ``mean`` (q,) and covariance ``K`` (q, q), without gradient.

    Newton's method begins at ``start`` (q,), such as the mode before the last answer; None: at the mean.
    """
    with torch.no_grad():
        g = (mean if start is None else start).clone()
        for _ in range(100):
            step = newton(g, mean, K, tries, wins) - g
            g = g + step.clamp(-3, 3)  # a cap in logits keeps the first steps from overshooting
            if float(step.abs().max()) < 1e-11:
                break
    return g


def pseudo_observations(mode: Tensor, tries: Tensor, wins: Tensor) -> tuple[Tensor, Tensor]:
    """Targets and noise variances (q,) of Gaussian observations that give Laplace's posterior around ``mode``."""
    p = torch.sigmoid(mode)
    weight = (tries * p * (1 - p)).clamp_min(1e-10)
    return mode + (wins - tries * p) / weight, 1 / weight


def laplace(mean: FloatArray, K: FloatArray, tries: FloatArray, wins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``pseudo_observations`` of counts (q,) under a GP with this mean (q,) and covariance (q, q), as arrays."""
    m, k, n, s = (torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64)) for x in (mean, K, tries, wins))
    targets, noise = pseudo_observations(laplace_mode(m, k, n, s), n, s)
    return targets.numpy(), noise.numpy()


class BernoulliOneSidedGP(AggregatedGP):
    """P(b beats the environment) = sigmoid(g(b)), g a GP; wins are binomial given g. State: tries and wins.

    ``posterior(X)`` is that of the *latent* g (logits); ``probability(X)`` is the mean probability. Laplace's
    approximation (Rasmussen & Williams 2006, section 3.4) is exactly a GP with one pseudo-observation per option,
    so BoTorch's posteriors and acquisition functions work on it.

    Args:
        X: (q, d) distinct options in the unit cube; q = 0 gives the prior.
        tries: (q,) outcomes per option.
        wins: (q,) their sum (a tie is one half).
        kernel: a GPyTorch kernel of g; None for a squared exponential with length-scale 0.2 and variance 1.
        mean: a GPyTorch mean of g; None for zero, a probability of one half.

    Raises:
        SettingError: counts that do not fit together.

    >>> model = BernoulliOneSidedGP([[0.0], [1.0]], [4, 4], [4, 0])
    >>> bool(model.probability(torch.tensor([[0.0]])) > 0.5)
    True
    """

    def __init__(self, X: Any, tries: Any, wins: Any, *, kernel: Any = None, mean: Any = None) -> None:
        super().__init__(*check_counts(X, tries, wins), kernel, mean)
        self.refresh()

    def mode(self) -> Tensor:
        """The most probable logits at the options tried, (q,), without gradient."""
        with torch.no_grad():
            return laplace_mode(*self.prior_at_data(), self.tries, self.wins)

    def refresh(self) -> None:
        """Find the mode; condition on the pseudo-observations that have it as their posterior mean."""
        if not len(self.X):
            return self.condition(self.wins, self.tries)
        return self.condition(*pseudo_observations(self.mode(), self.tries, self.wins))

    def evidence(self) -> Tensor:
        """Laplace's log evidence of the single outcomes; its gradient follows the mode."""
        if not len(self.X):
            return sum((p.sum() * 0.0 for p in self.parameters()), torch.zeros((), dtype=F64))
        mean, K = self.prior_at_data()
        K = K + 1e-8 * torch.eye(len(K), dtype=F64) * K.diagonal().mean().detach()
        g = newton(self.mode(), mean, K, self.tries, self.wins)  # a step from the mode has the mode's derivative
        p = torch.sigmoid(g)
        root = (self.tries * p * (1 - p)).sqrt()
        factor = torch.linalg.cholesky(torch.eye(len(g), dtype=F64) + root[:, None] * K * root)
        inner = torch.cholesky_solve((g - mean)[:, None], torch.linalg.cholesky(K))[:, 0]
        fit = (self.wins * g - self.tries * torch.nn.functional.softplus(g)).sum()
        value: Tensor = fit - (g - mean) @ inner / 2 - factor.diagonal().log().sum()
        return value

    def probability(self, X: Any) -> Tensor:
        """Posterior mean of P(b beats the environment) at ``X`` (..., n, d), in [0, 1], (..., n)."""
        with torch.no_grad():
            latent = self.posterior(X)
            shrink = 1 / (1 + math.pi / 8 * latent.variance).sqrt()  # MacKay 1992
            probability: Tensor = torch.sigmoid(latent.mean * shrink).squeeze(-1)
            return probability
