"""A utility model for GPyTorch and BoTorch: any kernel and mean module, answers of any kind, ``posterior(X)``.

Everything that depends on the answers is a vector (M,) and a matrix (M, M) computed once, by Laplace's approximation or
expectation propagation; the posterior is then products, with gradients along X, and solves nothing.
"""

from __future__ import annotations

import copy
from typing import Any

import gpytorch
import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor

from prefopt.domain import Box, FloatArray
from prefopt.errors import SettingError
from prefopt.models.climb import climb
from prefopt.models.one_sided import F64, to_tensor
from prefopt.models.utility.fitting import INFERENCE, evidence
from prefopt.models.utility.given import as_said, check_comparisons, check_points, default_hyper
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.hyper_sampling import hyper_draws
from prefopt.models.utility.laplace import Approximation
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.modules import to_modules
from prefopt.models.utility.posterior import Utility, UtilityPaths
from prefopt.models.utility.sampled import SampledUtilityGP
from prefopt.models.utility.win import win_probability


class UtilityGP(Model):  # type: ignore[misc]
    """Gaussian beliefs about a latent utility.

    Args:
        X: (q, d) options in the unit cube, as BoTorch's ``datapoints``; any dtype, computed in float64.
        said: what was said of them: a sequence of ``Said``, or BoTorch's ``comparisons`` (n, 2), rows [winner, loser].
        kernel: a GPyTorch kernel with its priors; None for Matern 5/2 with learned scales and, unless ``mean`` is
            given, the centre prior (see ``Hyper`` and ``Trend``).
        mean: a GPyTorch mean; None for zero with a kernel, else for the centre prior's.
        likelihood: how answers come about; None for logistic.
        inference: "ep" (accurate probabilities) or "laplace" (faster).
        hyper: beliefs about the hyper-parameters of the default prior; None for the defaults on a box without
            categories.

    Raises:
        SettingError: options that are not finite rows, comparisons that name none of them, unknown inference.

    >>> model = UtilityGP([[0.1], [0.5], [0.9]], [[1, 0], [1, 2]])
    >>> model.posterior(torch.tensor([[0.5], [0.0]])).mean.diff(dim=0).item() < 0
    True
    """

    num_outputs = 1

    def __init__(
        self,
        X: Any,
        said: Any,
        *,
        kernel: Any = None,
        mean: Any = None,
        likelihood: Likelihood | None = None,
        inference: str = "ep",
        hyper: Hyper | None = None,
    ) -> None:
        super().__init__()
        if inference not in INFERENCE:
            raise SettingError(f"unknown inference {inference!r}; expected 'ep' or 'laplace'")
        if hyper is not None and kernel is not None:
            raise SettingError("give hyper for the default kernel, or a kernel with its own priors, not both")
        self.datapoints, self.said = check_points(X), as_said(said)
        self.heard, self.inference = likelihood or Likelihood(), inference
        self.data = check_comparisons(self.said, len(self.datapoints))
        self.hyper: Hyper | None = None
        self.theta: FloatArray | None = None
        self._own_mean = mean is not None
        if kernel is None:
            self.hyper = hyper or default_hyper(Box(self.datapoints.shape[1]), centred=mean is None)
            self._use(self.hyper.median, mean)
        else:
            self.mean_module = (gpytorch.means.ZeroMean() if mean is None else mean).double()
            self.covar_module = kernel.double()
        self.refresh()

    def _use(self, theta: FloatArray, mean: Any = None) -> None:
        """The default prior's modules with these hyper-parameters."""
        assert self.hyper is not None
        self.theta = theta
        made, self.covar_module = to_modules(self.hyper.prior(theta))
        self.mean_module = made if mean is None else mean.double()

    @property
    def batch_shape(self) -> torch.Size:
        """Empty: one model."""
        return torch.Size()

    def refresh(self, start: FloatArray | None = None) -> None:
        """Condition on the answers again, after hyper-parameters have changed; ``start`` as in ``laplace``."""
        with torch.no_grad():
            m, K = self._of_differences()
        self.found: Approximation = INFERENCE[self.inference](K.numpy(), m.numpy(), self.data, self.heard, start)
        self._weights = torch.tensor(self.data.at_points(self.found.alpha), dtype=F64)
        self._half = torch.tensor(self.data.at_points(self.found.half.T), dtype=F64)  # (q, M)
        self.eval()

    def _of_differences(self) -> tuple[Tensor, Tensor]:
        """Prior mean (M,) and covariance (M, M) of the differences, with gradients."""
        a, b = torch.tensor(self.data.ahead), torch.tensor(self.data.behind)
        with gpytorch.settings.lazily_evaluate_kernels(False):
            K, m = self.covar_module(self.datapoints).to_dense(), self.mean_module(self.datapoints)
        rows = K[a] - K[b]
        return m[a] - m[b], rows[:, a] - rows[:, b]

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
    ) -> GPyTorchPosterior:
        """Joint posterior of the utility at ``X`` (..., n, d), float64; an observation is a utility, without noise."""
        x = to_tensor(X)
        with gpytorch.settings.lazily_evaluate_kernels(False):
            own = self.covar_module(x).to_dense()
            mean = self.mean_module(x)
            if len(self.data):
                points = self.datapoints.expand(*x.shape[:-2], *self.datapoints.shape)
                cross = self.covar_module(x, points).to_dense()
                V = cross @ self._half
                mean, own = mean + cross @ self._weights, own - V @ V.transpose(-1, -2)
        made = GPyTorchPosterior(MultivariateNormal(mean, to_linear_operator(own)))  # not factorised unless sampled
        return made if posterior_transform is None else posterior_transform(made)

    def win_probability(self, A: Any, B: Any, rater: int = 0) -> Tensor:
        """The chance (n,) that ``rater`` is seen to prefer A_i to B_i, rows A and B (n, d); see ``win``."""
        both = torch.stack([to_tensor(A), to_tensor(B)], dim=-2)
        with torch.no_grad():
            at = self.posterior(both)
            mean, C = at.mean.squeeze(-1), at.distribution.covariance_matrix
            sd = (C[..., 0, 0] + C[..., 1, 1] - 2 * C[..., 0, 1]).clamp_min(0).sqrt()
        return torch.tensor(win_probability((mean[..., 0] - mean[..., 1]).numpy(), sd.numpy(), self.heard, rater))

    def evidence(self) -> Tensor:
        """Log p(answers), approximately, with gradients along the parameters of mean and kernel."""
        return evidence(*self._of_differences(), self)

    def fit(self, iterations: int = 50) -> UtilityGP:
        """Maximise evidence plus log priors of the hyper-parameters; deterministic.

        The default prior's are found on Laplace's evidence; those of given modules by L-BFGS on the model's own. A fit
        that fails leaves them as they were and warns.
        """
        if not len(self.data):
            return self
        if self.hyper is not None:
            given = self.mean_module if self._own_mean else None
            self._use(self.hyper.learn(self.datapoints.numpy(), self.data, self.heard, steps=iterations), given)
        elif any(p.requires_grad for p in self.parameters()):
            climb(self, [self.mean_module, self.covar_module], iterations)
        self.refresh(self.found.h)
        return self

    def sample(
        self, size: int = 16, rng: np.random.Generator | None = None, *, lapse: tuple[float, float] | None = None
    ) -> SampledUtilityGP:
        """Fully Bayesian: a mixture over ``size`` draws of the default prior's hyper-parameters, for few answers.

        Args:
            size: draws; about (2 + d) ms each with 20 answers and "laplace", ten times as much with "ep".
            rng: the random stream; None for one of seed 0.
            lapse: (a, b) of a beta prior of the share of guesses, which is drawn too; None for the likelihood's.

        Raises:
            SettingError: the model was given a kernel.

        >>> model = UtilityGP([[0.1], [0.5], [0.9]], [[1, 0], [1, 2]], inference="laplace").sample(8, lapse=(1, 9))
        >>> model.posterior(torch.tensor([[0.5], [0.0]])).mixture_mean.shape
        torch.Size([2, 1])
        """
        if self.hyper is None:
            raise SettingError("sampling needs the default prior; build the model without a kernel")
        points, rng = self.datapoints.numpy(), np.random.default_rng(0) if rng is None else rng
        mean = self.mean_module(self.datapoints).detach().numpy() if self._own_mean else None
        infer, members = INFERENCE[self.inference], []
        for theta, heard in hyper_draws(
            self.hyper, points, self.data, self.heard, size, rng, lapse=lapse, mean=mean, infer=infer
        ):
            one = copy.deepcopy(self)
            one.heard = heard
            one._use(theta, one.mean_module if self._own_mean else None)
            one.refresh(self.found.h)
            members.append(one)
        return SampledUtilityGP(members)

    def condition_on_observations(self, X: Any, Y: Any, **kwargs: Any) -> UtilityGP:
        """The model after more answers ``Y`` about more options ``X`` (q', d), whose rows ``Y`` names from 0 on.

        Hyper-parameters stay; the search for the mode starts from what is believed already. This model is unchanged.
        """
        new = copy.deepcopy(self)
        more, old = check_points(X, self.datapoints.shape[1]), len(self.datapoints)
        new.datapoints = torch.cat([self.datapoints, more])
        new.said = [*self.said, *(one._replace(slate=tuple(old + i for i in one.slate)) for one in as_said(Y))]
        new.data = check_comparisons(new.said, len(new.datapoints))
        with torch.no_grad():
            mean = self.posterior(new.datapoints).mean.squeeze(-1).numpy()
        new.refresh(new.data.differences(mean))
        return new

    def utility(self) -> Utility:
        """The same beliefs without torch; of the default prior only, as others have no such form."""
        if self.hyper is None or self.theta is None or self._own_mean:
            raise SettingError("paths and utility() need the default prior; build the model without kernel and mean")
        return Utility(self.hyper.prior(self.theta), self.datapoints.numpy(), self.data, self.found)

    def paths(self, n: int, rng: np.random.Generator) -> UtilityPaths:
        """``n`` independent functions drawn from the posterior, with values and gradients (default prior only)."""
        utility = self.utility()
        assert self.hyper is not None
        return utility.paths(self.hyper.box, n, rng)
