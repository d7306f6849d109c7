"""GPyTorch kernels by name, and their matrix on a finite set of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefopt.domain import FloatArray
from prefopt.errors import SettingError

#: Names that settings may use; torch is imported only when one is made.
NAMES = ("rbf", "matern52", "matern32")


def make_kernel(name: str, lengthscale: float | Sequence[float] = 0.2, outputscale: float = 1.0) -> Any:
    """A ``ScaleKernel`` over the named stationary kernel, float64.

    Args:
        name: one of ``NAMES``.
        lengthscale: one, or one per column, in units of the cube, > 0.
        outputscale: signal variance, > 0.

    Raises:
        SettingError: unknown name, or a scale that is not positive and finite.
    """
    import torch
    from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel

    scales = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
    if name not in NAMES:
        raise SettingError(f"unknown kernel {name!r}; expected one of {', '.join(NAMES)} or a gpytorch Kernel")
    if not (np.all(np.isfinite(scales)) and np.all(scales > 0) and 0 < outputscale < np.inf):
        raise SettingError(f"kernel scales are positive numbers, got lengthscale={lengthscale}, {outputscale=}")
    ard = len(scales) if len(scales) > 1 else None
    if name == "rbf":
        base = RBFKernel(ard_num_dims=ard)
    else:
        base = MaternKernel(nu=2.5 if name == "matern52" else 1.5, ard_num_dims=ard)
    kernel = ScaleKernel(base).double()
    base.lengthscale = torch.as_tensor(scales)
    kernel.outputscale = torch.tensor(float(outputscale), dtype=torch.float64)
    return kernel


def kernel_matrix(kernel: Any, points: FloatArray) -> FloatArray:
    """k(x_i, x_j) of a GPyTorch ``kernel`` on the rows of ``points`` (K, d): float64 (K, K), symmetric.

    Raises:
        SettingError: the kernel is none, or does not give finite numbers.
    """
    import copy

    import torch

    try:
        with torch.no_grad():
            made = copy.deepcopy(kernel).double()(torch.tensor(points, dtype=torch.float64)).to_dense().numpy()
    except (TypeError, AttributeError) as error:
        raise SettingError(f"expected one of {', '.join(NAMES)} or a gpytorch Kernel, got {kernel!r}") from error
    matrix = np.asarray(made, dtype=np.float64)
    if not np.all(np.isfinite(matrix)):
        raise SettingError(f"the kernel matrix of {kernel!r} has entries that are not finite")
    return np.ascontiguousarray((matrix + matrix.T) / 2)
