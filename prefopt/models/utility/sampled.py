"""A utility model whose hyper-parameters are drawn, not chosen: a mixture, one Gaussian process per draw.

BoTorch's acquisition functions average over it as over its own fully Bayesian models (batch dimension ``MCMC_DIM``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors.fully_bayesian import MCMC_DIM, GaussianMixturePosterior
from gpytorch.distributions import MultivariateNormal
from torch import Tensor

from prefopt.errors import SettingError
from prefopt.models.utility.average import Averaged

if TYPE_CHECKING:
    from prefopt.models.utility.gp import UtilityGP


class SampledUtilityGP(Model):  # type: ignore[misc]
    """Equally probable utility models of the same answers, as ``UtilityGP.sample`` makes them.

    Args:
        members: one model per draw of the hyper-parameters, all about the same options.

    Raises:
        SettingError: no members.
    """

    num_outputs = 1
    _is_fully_bayesian = True
    _is_ensemble = True

    def __init__(self, members: Sequence[UtilityGP]) -> None:
        super().__init__()
        if not members:
            raise SettingError("a mixture needs at least one member, got none")
        self.members = tuple(members)
        self.registered = torch.nn.ModuleList(members)  # torch knows their parameters
        self.datapoints = members[0].datapoints
        self.eval()

    @property
    def batch_shape(self) -> torch.Size:
        """The number of members, (s,)."""
        return torch.Size([len(self.members)])

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
    ) -> GaussianMixturePosterior:
        """Joint posterior at ``X`` (..., n, d): ``mean`` (..., s, n, 1) of members, ``mixture_mean`` (..., n, 1)."""
        each = [member.posterior(X).distribution for member in self.members]
        mean = torch.stack([one.mean for one in each], dim=MCMC_DIM + 1)
        covariance = torch.stack([one.covariance_matrix for one in each], dim=MCMC_DIM)
        made = GaussianMixturePosterior(MultivariateNormal(mean, covariance))
        return made if posterior_transform is None else posterior_transform(made)

    def win_probability(self, A: Any, B: Any, rater: int = 0) -> Tensor:
        """The chance (n,) that ``rater`` is seen to prefer A_i to B_i, rows A and B (n, d)."""
        return torch.stack([member.win_probability(A, B, rater) for member in self.members]).mean(dim=0)

    def condition_on_observations(self, X: Any, Y: Any, **kwargs: Any) -> SampledUtilityGP:
        """Every member after more answers, see ``UtilityGP``; the hyper-parameters stay those drawn before."""
        return SampledUtilityGP([member.condition_on_observations(X, Y, **kwargs) for member in self.members])

    def averaged(self) -> Averaged:
        """The same beliefs without torch: chances of being best, draws, the expected lapse rate."""
        heard = tuple(member.heard for member in self.members)
        utilities = tuple(member.utility() for member in self.members)
        return Averaged(utilities, heard, np.full(len(heard), 1 / len(heard)))
