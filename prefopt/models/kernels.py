"""GPyTorch kernels by name, and their matrix on a finite set of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.stationary import KERNELS, Stationary

#: Names that settings may use.
NAMES = tuple(KERNELS)


def make_kernel(name: str, lengthscale: float | Sequence[float] = 0.2, outputscale: float = 1.0) -> Any:
    """A ``ScaleKernel`` over the named stationary kernel, float64; this imports torch.

    Args:
        name: one of ``NAMES``.
        lengthscale: one, or one per column, in units of the cube, > 0.
        outputscale: signal variance, > 0.

    Raises:
        SettingError: unknown name, or a scale that is not positive and finite.
    """
    import torch
    from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel

    scales = _scales(name, lengthscale, outputscale)
    ard = len(scales) if len(scales) > 1 else None
    if name == "rbf":
        base = RBFKernel(ard_num_dims=ard)
    else:
        base = MaternKernel(nu=2.5 if name == "matern52" else 1.5, ard_num_dims=ard)
    kernel = ScaleKernel(base).double()
    base.lengthscale = torch.as_tensor(scales)
    kernel.outputscale = torch.tensor(float(outputscale), dtype=torch.float64)
    return kernel


def _scales(name: str, lengthscale: float | Sequence[float], outputscale: float) -> FloatArray:
    """The length-scales, (1,) or (d,); raises SettingError for an unknown name or a scale that is none."""
    scales = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
    if name not in NAMES:
        raise SettingError(f"unknown kernel {name!r}; expected one of {', '.join(NAMES)} or a gpytorch Kernel")
    if not (np.all(np.isfinite(scales)) and np.all(scales > 0) and 0 < outputscale < np.inf):
        raise SettingError(f"kernel scales are positive numbers, got lengthscale={lengthscale}, {outputscale=}")
    return scales


def kernel_matrix(
    kernel: Any, points: FloatArray, lengthscale: float | Sequence[float] = 0.2, outputscale: float = 1.0
) -> FloatArray:
    """k(x_i, x_j) on the rows of ``points`` (K, d): float64 (K, K), symmetric.

    Args:
        kernel: one of ``NAMES``, whose closed form spares a person the import of torch, or a GPyTorch kernel.
        points: the options in the unit cube.
        lengthscale: of a named kernel, one, or one per column.
        outputscale: signal variance of a named kernel.

    Raises:
        SettingError: the kernel or a scale is none, or does not give finite numbers.
    """
    if not isinstance(kernel, str):
        return _module_matrix(kernel, points)
    scales, d = _scales(kernel, lengthscale, outputscale), points.shape[1]
    if len(scales) not in (1, d):
        raise SettingError(f"expected one lengthscale or {d}, one a column of the domain, got {len(scales)}")
    lengths = tuple(np.broadcast_to(scales, (d,)).tolist())
    return Stationary(kernel, float(outputscale), tuple(range(d)), lengths).matrix(points)


def _module_matrix(kernel: Any, points: FloatArray) -> FloatArray:
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
