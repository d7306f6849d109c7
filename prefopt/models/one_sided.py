"""One-sided models: a Gaussian process over f(b) = P(b beats the environment), from tries and wins per option."""

from __future__ import annotations

import math
from typing import Any

import gpytorch
import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from prefopt.errors import SettingError
from prefopt.models.climb import climb
from prefopt.models.kernels import make_kernel

F64 = torch.float64


def default_kernel() -> Any:
    """Squared exponential, length-scale 0.2, signal variance 1 (Sui et al. 2017), with priors that ``fit`` uses."""
    kernel = make_kernel("rbf", 0.2, 1.0)
    kernel.base_kernel.register_prior("lengthscale_prior", LogNormalPrior(math.log(0.3), 0.75), "lengthscale")
    kernel.register_prior("outputscale_prior", LogNormalPrior(math.log(0.5), 1.0), "outputscale")
    return kernel.double()


def to_tensor(values: Any) -> Tensor:
    """``values`` as a float64 tensor; read-only arrays (a grid's points) are copied."""
    return values.to(F64) if isinstance(values, Tensor) else torch.tensor(np.asarray(values, dtype=np.float64))


def check_counts(X: Any, tries: Any, wins: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The options tried and their counts as float64; raises SettingError if they do not fit together."""
    points = to_tensor(X)
    n, s = to_tensor(tries).reshape(-1), to_tensor(wins).reshape(-1)
    if points.ndim != 2 or len(points) != len(n) or len(n) != len(s):
        raise SettingError(f"expected X (q, d) with q tries and wins, got {tuple(points.shape)}, {len(n)}, {len(s)}")
    for row, column in torch.argwhere(~torch.isfinite(points)).tolist()[:1]:
        raise SettingError(f"X row {row}, column {column} is {points[row, column].item()}: it must be finite")
    for row in torch.argwhere(~((s >= 0) & (s <= n) & torch.isfinite(n))).flatten().tolist()[:1]:
        raise SettingError(f"expected 0 <= wins <= tries, row {row} has {s[row].item()} of {n[row].item()}")
    tried = n > 0
    return points[tried], n[tried], s[tried]


class AggregatedGP(gpytorch.models.ExactGP, GPyTorchModel):  # type: ignore[misc]
    """An exact GP on one (pseudo-)observation per distinct option, with its own noise variance."""

    _num_outputs = 1

    def __init__(self, X: Tensor, tries: Tensor, wins: Tensor, kernel: Any, mean: Any) -> None:
        likelihood = FixedNoiseGaussianLikelihood(torch.ones(max(1, len(X)), dtype=F64))
        super().__init__(None, None, likelihood)
        self.covar_module = (default_kernel() if kernel is None else kernel).double()
        self.mean_module = (gpytorch.means.ZeroMean() if mean is None else mean).double()
        self.X, self.tries, self.wins = X, tries, wins

    def forward(self, x: Tensor) -> MultivariateNormal:
        """The prior at ``x`` (..., n, d)."""
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def prior_at_data(self) -> tuple[Tensor, Tensor]:
        """Prior mean (q,) and covariance (q, q) at the options tried."""
        return self.mean_module(self.X), self.covar_module(self.X).to_dense()

    def condition(self, targets: Tensor, noise: Tensor) -> None:
        """Observe ``targets`` (q,) with variances ``noise`` (q,); none if there is no option tried."""
        if len(self.X):
            self.likelihood.noise_covar.noise = noise.detach()
            self.set_train_data(self.X, targets.detach(), strict=False)
        self.train()
        self.eval()

    def refresh(self) -> None:
        """Condition again, after hyper-parameters have changed."""
        raise NotImplementedError

    def evidence(self) -> Tensor:
        """Log marginal likelihood of all answers."""
        raise NotImplementedError

    def posterior(self, X: Tensor, *args: Any, **kwargs: Any) -> GPyTorchPosterior:
        """Joint posterior at ``X`` (..., n, d), float64, by Cholesky at any size."""
        with gpytorch.settings.max_cholesky_size(10**7), gpytorch.settings.fast_computations(False, False, False):
            return super().posterior(to_tensor(X), *args, **kwargs)

    def fit(self, iterations: int = 60) -> AggregatedGP:
        """Maximise evidence plus log priors over the trainable hyper-parameters (L-BFGS, deterministic).

        A fit that fails leaves the hyper-parameters as they were and warns.
        """
        climb(self, [self], iterations)
        self.refresh()
        return self


class OneSidedGP(AggregatedGP):
    """Gaussian regression on 0/1 outcomes, exact from tries and wins (Sui et al. 2017, section 3).

    Args:
        X: (q, d) distinct options in the unit cube; any dtype, computed in float64. q = 0 gives the prior.
        tries: (q,) outcomes per option.
        wins: (q,) their sum (a tie is one half).
        kernel: a GPyTorch kernel; None for the paper's, with priors.
        mean: a GPyTorch mean; None for zero.
        noise: variance of one outcome.
        learn_noise: whether ``fit`` learns it too.

    Raises:
        SettingError: counts that do not fit together, or noise not above 0.

    >>> model = OneSidedGP([[0.0], [1.0]], [2, 1], [2, 0])
    >>> bool(model.posterior(torch.tensor([[0.0]])).mean > 0.9)
    True
    """

    def __init__(
        self,
        X: Any,
        tries: Any,
        wins: Any,
        *,
        kernel: Any = None,
        mean: Any = None,
        noise: float = 0.025,
        learn_noise: bool = False,
    ) -> None:
        if not 0 < noise < math.inf:
            raise SettingError(f"noise is a variance above 0, got {noise}")
        super().__init__(*check_counts(X, tries, wins), kernel, mean)
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(noise), dtype=F64), requires_grad=learn_noise)
        if learn_noise:
            prior = LogNormalPrior(math.log(0.1), 1.0).double()
            self.register_prior("noise_prior", prior, lambda m: m.noise)
        self.refresh()

    @property
    def noise(self) -> Tensor:
        """Variance of one outcome."""
        return self.log_noise.exp()

    def refresh(self) -> None:
        """Condition on the mean outcome of every option."""
        self.condition(self.wins / self.tries, self.noise / self.tries)

    def evidence(self) -> Tensor:
        """Log density of every single 0/1 outcome, from the counts alone."""
        if not len(self.X):
            return sum((p.sum() * 0.0 for p in self.parameters()), torch.zeros((), dtype=F64))
        mean, K = self.prior_at_data()
        n, s, v = self.tries, self.wins, self.noise
        joint = torch.distributions.MultivariateNormal(mean, K + torch.diag(v / n))
        within = (n - 1) / 2 * torch.log(2 * math.pi * v) + n.log() / 2 + s * (1 - s / n) / (2 * v)
        return joint.log_prob(s / n) - within.sum()  # type: ignore[no-untyped-call, no-any-return]

    def posterior(self, X: Tensor, observation_noise: Any = False, **kwargs: Any) -> GPyTorchPosterior:
        """Joint posterior of f at ``X`` (..., n, d); with ``observation_noise``, of one new outcome each."""
        if observation_noise is True:
            shape = to_tensor(X).shape[:-1]
            observation_noise = self.noise.detach().expand(shape).unsqueeze(-1)
        return super().posterior(X, observation_noise=observation_noise, **kwargs)
