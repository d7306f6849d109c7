"""The prior of a utility as GPyTorch modules: the centre's mean and kernel, beside any stationary kernel."""

from __future__ import annotations

from typing import Any

import gpytorch
import torch
from torch import Tensor

from prefopt.models.utility.prior import Prior, Trend

F64 = torch.float64


class _Shape(gpytorch.Module):  # type: ignore[misc]
    """z and q of ``Trend``, with gradients."""

    def __init__(self, trend: Trend) -> None:
        super().__init__()
        self.trend = trend
        self.register_buffer("centre", torch.tensor(trend.centre, dtype=F64))
        self.register_buffer("width", torch.tensor(trend.width, dtype=F64))

    def z(self, x: Tensor) -> Tensor:
        made: Tensor = (x[..., list(self.trend.numeric)] - self.centre) / self.width
        return made

    def away(self, x: Tensor) -> Tensor:
        z = self.z(x).abs()
        return torch.where(z <= 1, z * z, 2 * z - 1).mean(dim=-1)

    def features(self, x: Tensor) -> Tensor:
        """psi(x), (..., n, 1 + number of numeric columns)."""
        z = self.z(x)
        drift = z * (self.trend.tilt / max(1, z.shape[-1]) ** 0.5)
        return torch.cat([self.trend.bend * self.away(x).unsqueeze(-1), drift], dim=-1)


class TrendMean(gpytorch.means.Mean):  # type: ignore[misc]
    """The mean of a ``Trend``: how much less a point is worth than the centre, in logits."""

    def __init__(self, trend: Trend) -> None:
        super().__init__()
        self.shape = _Shape(trend)

    def forward(self, x: Tensor) -> Tensor:
        """At ``x`` (..., n, d), shape (..., n)."""
        return -self.shape.trend.pull * self.shape.away(x)


class TrendKernel(gpytorch.kernels.Kernel):  # type: ignore[misc]
    """The covariance of a ``Trend``, psi(x) psi(x')^T."""

    def __init__(self, trend: Trend) -> None:
        super().__init__()
        self.shape = _Shape(trend)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Between the rows of ``x1`` and ``x2``, or of each with its own."""
        a, b = self.shape.features(x1), self.shape.features(x2)
        return (a * b).sum(dim=-1) if diag else a @ b.transpose(-1, -2)


def to_modules(prior: Prior) -> tuple[Any, Any]:
    """The mean module and the kernel module of ``prior``, float64."""
    kernel = prior.kernel.to_module()
    if prior.trend is None:
        return gpytorch.means.ZeroMean(), kernel
    return TrendMean(prior.trend).double(), (kernel + TrendKernel(prior.trend)).double()
