"""The evidence of a ``UtilityGP`` with gradients along the parameters of its modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.laplace import evidence_slopes, laplace

if TYPE_CHECKING:
    from prefopt.models.utility.gp import UtilityGP

INFERENCE = {"laplace": laplace, "ep": expectation_propagation}


class _Evidence(torch.autograd.Function):
    """The evidence as a function of the prior of the differences."""

    @staticmethod
    def forward(ctx: Any, m: Tensor, K: Tensor, model: UtilityGP) -> Tensor:
        mean, covariance = m.detach().numpy(), K.detach().numpy()
        found = INFERENCE[model.inference](covariance, mean, model.data, model.heard, model.found.h)
        if model.inference == "laplace":
            G, g = evidence_slopes(covariance, found, model.data, model.heard)
        else:  # the sites do not move the evidence where they are consistent (Seeger 2005)
            G, g = 0.5 * (np.outer(found.alpha, found.alpha) - found.half.T @ found.half), found.alpha
        ctx.save_for_backward(torch.tensor(g, dtype=torch.float64), torch.tensor(G, dtype=torch.float64))
        return torch.tensor(found.evidence, dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        g, G = ctx.saved_tensors
        return upstream[0] * g, upstream[0] * G, None


def evidence(m: Tensor, K: Tensor, model: UtilityGP) -> Tensor:
    """Log p(answers) of ``model`` if the differences had the prior mean m (M,) and covariance K (M, M)."""
    value: Tensor = _Evidence.apply(m, K, model)  # type: ignore[no-untyped-call]
    return value
