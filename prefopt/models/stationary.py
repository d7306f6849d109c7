"""Stationary kernels as arrays: what posterior paths need of a GPyTorch kernel, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefopt.domain import Box, FloatArray
from prefopt.errors import SettingError

#: Kernels whose spectral density is known here, with the Matérn smoothness (None: squared exponential).
KERNELS: dict[str, float | None] = {"rbf": None, "matern32": 1.5, "matern52": 2.5}
SUPPORTED = (
    f"expected one of {', '.join(KERNELS)}, or an RBFKernel or MaternKernel(nu=1.5 or 2.5), alone, in a ScaleKernel, "
    "or multiplied with BoTorch's CategoricalKernel on the category columns"
)


@dataclass(frozen=True)
class Stationary:
    """s k(r) prod_c exp(-rate_c [a_c != b_c]): r over the numeric columns in length-scales, c over the categories.

    Attributes:
        name: a key of ``KERNELS``.
        outputscale: s, the signal variance.
        numeric: indices of the numeric columns (continuous or levels).
        lengthscale: of each of them, in units of the cube.
        category: indices of the category columns.
        rate: of each of them; two choices have correlation exp(-rate).
    """

    name: str
    outputscale: float
    numeric: tuple[int, ...]
    lengthscale: tuple[float, ...]
    category: tuple[int, ...] = ()
    rate: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in KERNELS:
            raise SettingError(f"unknown kernel {self.name!r}: {SUPPORTED}")
        values = np.array([self.outputscale, *self.lengthscale, *self.rate])
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise SettingError(f"a kernel needs finite scales > 0, got {self}")

    @classmethod
    def on(cls, box: Box, name: str, lengthscale: float | Sequence[float], outputscale: float) -> Stationary:
        """The kernel ``name`` on ``box``: one length-scale, or one a column; choices of a category correlate by 1/e."""
        scales = np.broadcast_to(np.asarray(lengthscale, dtype=np.float64), (box.dim,))
        category = tuple(j for j, c in enumerate(box.columns) if c.kind == "category")
        numeric = tuple(j for j in range(box.dim) if j not in category)
        lengths = tuple(float(scales[j]) for j in numeric)
        return cls(name, float(outputscale), numeric, lengths, category, (1.0,) * len(category))

    def scaled(self, points: FloatArray) -> FloatArray:
        """The numeric columns of (n, d) ``points`` in length-scales, (n, number of numeric columns)."""
        return np.asarray(points[:, self.numeric] / np.array(self.lengthscale))

    def agreement(self, a: FloatArray, b: FloatArray) -> FloatArray | float:
        """The categories' factor, (n, q), times the signal variance."""
        factor: FloatArray | float = self.outputscale
        for column, rate in zip(self.category, self.rate, strict=True):
            differ = np.abs(a[:, None, column] - b[None, :, column]) > 1e-9
            factor = factor * np.where(differ, math.exp(-rate), 1.0)
        return factor

    def profile(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """K and -k'(r)/r between scaled rows (n, e) and (q, e), both (n, q), for a unit signal variance."""
        return self._of_square(self._square(a, b))

    def _square(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Squared distances of scaled rows (n, e) and (q, e), (n, q), up to rounding."""
        square = a @ b.T
        square *= -2.0
        square += np.einsum("ij,ij->i", a, a)[:, None]
        square += np.einsum("ij,ij->i", b, b)
        return np.asarray(square)

    def values(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """K alone of ``profile``, (n, q), for half its time."""
        return self._value(self._square(a, b))

    def _value(self, square: FloatArray) -> FloatArray:
        """K at squared scaled distances, which are overwritten."""
        np.maximum(square, 0.0, out=square)
        if self.name == "rbf":
            square *= -0.5
            return np.exp(square, out=square)
        square *= 3.0 if self.name == "matern32" else 5.0
        r = np.sqrt(square)
        if self.name == "matern32":
            np.add(r, 1.0, out=square)
        else:
            square /= 3.0
            square += r
            square += 1.0
        np.negative(r, out=r)
        square *= np.exp(r, out=r)
        return square

    def _of_square(self, square: FloatArray) -> tuple[FloatArray, FloatArray]:
        """K and -k'(r)/r at squared scaled distances, which are overwritten."""
        if self.name == "rbf":
            square *= -0.5
            value = np.exp(np.minimum(square, 0.0, out=square), out=square)
            return value, value
        np.maximum(square, 0.0, out=square)
        if self.name == "matern32":
            r = np.sqrt(3.0 * square)
            decay = np.exp(-r)
            return (1.0 + r) * decay, 3.0 * decay
        r = np.sqrt(5.0 * square)
        decay = np.exp(-r)
        return (1.0 + r + r * r / 3.0) * decay, (5.0 / 3.0) * (1.0 + r) * decay

    def matrix(self, points: FloatArray) -> FloatArray:
        """Covariances of the rows of (K, d) ``points``, (K, K); from differences, so exactly symmetric."""
        return self._value(self._apart(points)) * self.agreement(points, points)

    def matrix_and_decay(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``matrix`` and -k'(r)/r in the same units, (K, K) each: the slope along log l_i is decay * r_i^2."""
        value, decay = self._of_square(self._apart(points))
        agreement = self.agreement(points, points)
        return value * agreement, decay * agreement

    def _apart(self, points: FloatArray) -> FloatArray:
        """Squared scaled distances of the rows of (K, d) ``points``, from differences, (K, K)."""
        square = np.zeros((len(points), len(points)))
        for column in self.scaled(points).T:
            away = column[:, None] - column
            away *= away
            square += away
        return square

    def paired(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Covariance of row i of a (n, d) with row i of b (n, d), shape (n,)."""
        away = self.scaled(a) - self.scaled(b)
        made = self.outputscale * self._value(np.einsum("ij,ij->i", away, away))
        for column, rate in zip(self.category, self.rate, strict=True):
            made *= np.where(np.abs(a[:, column] - b[:, column]) > 1e-9, math.exp(-rate), 1.0)
        return made

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Covariances between the rows of a (n, d) and b (q, d), shape (n, q)."""
        made = self.values(self.scaled(a), self.scaled(b))
        made *= self.agreement(a, b)
        return made

    def frequencies(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` draws from the spectral density, per length-scale, (n, number of numeric columns)."""
        normal = rng.standard_normal((n, len(self.numeric)))
        nu = KERNELS[self.name]
        return normal if nu is None else normal / np.sqrt(rng.gamma(nu, 1.0 / nu, size=(n, 1)))

    def to_module(self) -> Any:
        """The same kernel as a GPyTorch module (float64)."""
        return _to_module(self)


def as_stationary(
    kernel: Any, box: Box, lengthscale: float | Sequence[float] = 0.2, outputscale: float = 1.0
) -> Stationary:
    """``kernel`` as arrays: a name, a mapping of ``Stationary``'s fields, or a GPyTorch module.

    The scales given beside it are for a name; the others bring their own.

    Raises:
        SettingError: a kernel without a known spectral density, or not one on the columns of ``box``.
    """
    if kernel is None or isinstance(kernel, str):
        return Stationary.on(box, kernel or "rbf", lengthscale, outputscale)
    if isinstance(kernel, Mapping):
        made_of: dict[str, Any] = {k: tuple(v) if isinstance(v, list | tuple) else v for k, v in kernel.items()}
        made = Stationary(**made_of)
    else:
        made = _from_module(kernel, box)
    if sorted((*made.numeric, *made.category)) != list(range(box.dim)):
        raise SettingError(f"the kernel must use each of the {box.dim} columns once, got {made}")
    return made


def _from_module(kernel: Any, box: Box) -> Stationary:
    from gpytorch import kernels

    scale = 1.0
    if isinstance(kernel, kernels.ScaleKernel):
        scale, kernel = float(kernel.outputscale.item()), kernel.base_kernel
    parts = list(kernel.kernels) if isinstance(kernel, kernels.ProductKernel) else [kernel]
    fields: dict[str, Any] = {"outputscale": scale, "numeric": (), "lengthscale": ()}
    for part in parts:
        if isinstance(part, kernels.ScaleKernel):
            fields["outputscale"] *= float(part.outputscale.item())
            part = part.base_kernel
        kind = type(part).__name__
        if kind not in ("RBFKernel", "MaternKernel", "CategoricalKernel") or part.batch_shape:
            raise SettingError(f"no posterior paths for a {kind}: {SUPPORTED}")
        active = None if part.active_dims is None else part.active_dims.tolist()
        columns = tuple(range(box.dim)) if active is None else tuple(active)
        lengths = np.broadcast_to(part.lengthscale.detach().double().numpy().reshape(-1), (len(columns),))
        if kind == "CategoricalKernel":
            fields |= {"category": columns, "rate": tuple(1.0 / (len(columns) * v) for v in lengths.tolist())}
            continue
        smooth = [n for n, nu in KERNELS.items() if nu == getattr(part, "nu", None)]
        if not smooth or "name" in fields:
            raise SettingError(f"no posterior paths for a product of two numeric kernels or this nu: {SUPPORTED}")
        fields |= {"name": smooth[0], "numeric": columns, "lengthscale": tuple(lengths.tolist())}
    return Stationary(**{"name": "rbf", **fields})


def _to_module(spec: Stationary) -> Any:
    import torch
    from botorch.models.kernels.categorical import CategoricalKernel
    from gpytorch import kernels

    parts: list[Any] = []
    if spec.numeric:
        options = {"ard_num_dims": len(spec.numeric), "active_dims": spec.numeric}
        nu = KERNELS[spec.name]
        part = kernels.RBFKernel(**options) if nu is None else kernels.MaternKernel(nu=nu, **options)
        part.double().lengthscale = torch.tensor(spec.lengthscale, dtype=torch.float64)
        parts.append(part)
    if spec.category:
        part = CategoricalKernel(ard_num_dims=len(spec.category), active_dims=spec.category).double()
        part.lengthscale = 1.0 / (len(spec.category) * torch.tensor(spec.rate, dtype=torch.float64))
        parts.append(part)
    module = kernels.ScaleKernel(parts[0] if len(parts) == 1 else kernels.ProductKernel(*parts)).double()
    module.outputscale = spec.outputscale
    return module
