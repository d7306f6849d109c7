"""Kernels over pairs [x, x'] in GPyTorch, and the Gaussian-process classifier of duels on them."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gpytorch.kernels import Kernel, ScaleKernel
from torch import Tensor

from prefopt.errors import SettingError
from prefopt.models.bernoulli import BernoulliOneSidedGP
from prefopt.models.kernels import make_kernel
from prefopt.models.one_sided import F64, to_tensor
from prefopt.models.pairs import pair_covariance


class PairKernel(Kernel):  # type: ignore[misc]
    """A kernel of pairs (the last dimension holds x and then x') made of any kernel of single options.

    Subclasses say which: ``ProductPairKernel`` k(a, c) k(b, d), of which the squared exponential of [x, x'] is an
    instance; ``SkewPairKernel`` k(a, c) k(b, d) - k(a, d) k(b, c), universal for preferences, cycles included;
    ``DifferencePairKernel`` k(a, c) + k(b, d) - k(a, d) - k(b, c), that of u(a) - u(b). GPyTorch's ``+`` and
    ``ScaleKernel`` join and scale them.

    >>> pair = SkewPairKernel(make_kernel("rbf"))
    >>> x = torch.tensor([[0.1, 0.9], [0.9, 0.1]], dtype=F64)
    >>> (pair(x).to_dense()[0, 0] + pair(x).to_dense()[0, 1]).item()
    0.0
    """

    kind: ClassVar[str]

    def __init__(self, base_kernel: Any) -> None:
        super().__init__()
        self.base_kernel = base_kernel

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Covariances of the pairs x1 (..., n, 2d) and x2 (..., q, 2d), (..., n, q); (..., n) for ``diag``."""
        if x1.shape[-1] % 2:
            raise SettingError(f"a pair has an even number of columns, x and then x', got {x1.shape[-1]}")
        half = x1.shape[-1] // 2
        a, b, c, d = x1[..., :half], x1[..., half:], x2[..., :half], x2[..., half:]
        parts = [self.base_kernel(*pair, diag=diag, **params) for pair in ((a, c), (b, d), (a, d), (b, c))]
        made: Tensor = pair_covariance(self.kind, *(parts if diag else [part.to_dense() for part in parts]))
        return made


class ProductPairKernel(PairKernel):
    """k(a, c) k(b, d): Gonzalez et al. 2017 (with a squared exponential k)."""

    kind = "se"


class SkewPairKernel(PairKernel):
    """k(a, c) k(b, d) - k(a, d) k(b, c): the general preference kernel of Chau et al. 2022."""

    kind = "skew"


class DifferencePairKernel(PairKernel):
    """k(a, c) + k(b, d) - k(a, d) - k(b, c): u(a) - u(b) (Houlsby et al. 2011)."""

    kind = "difference"


class PairGP(BernoulliOneSidedGP):
    """P(a beats b) = sigmoid(f([a, b])), f a Gaussian process over pairs, by Laplace's approximation.

    ``posterior(pairs)`` (pairs (..., n, 2d)) is that of the latent f, as BoTorch's models answer;
    ``probability(pairs)`` is the mean probability; ``evidence()`` is Laplace's log evidence. The sum of a skew and a
    difference kernel against the difference kernel alone, by evidence, tests whether preferences are transitive.
    Repeated pairs are aggregated.
    With a skew kernel the order of a pair does not matter and self-duels are dropped; with another kernel
    data are ordered as given, and mirrored (b, a, loser first) too if ``mirror``.

    Args:
        X: (K, d) options in the unit cube.
        comparisons: (n, 2) indices, rows [winner, loser] as in BoTorch.
        kernel: a GPyTorch kernel of pairs; None for a skew one with length-scale 0.2 and variance 16.
        mirror: whether to add mirrored duels; None: unless the kernel is skew (for which it makes no difference).

    Raises:
        SettingError: comparisons that name no option.

    >>> model = PairGP([[0.1], [0.5], [0.9]], [[0, 1], [1, 2], [2, 0]])  # a cycle
    >>> pairs = torch.tensor([[0.1, 0.5], [0.5, 0.1]], dtype=F64)
    >>> bool(model.probability(pairs)[0] > 0.6), round(model.probability(pairs).sum().item(), 9)
    (True, 1.0)
    """

    def __init__(self, X: Any, comparisons: Any, *, kernel: Any = None, mirror: bool | None = None) -> None:
        points, duels = to_tensor(X), torch.as_tensor(comparisons, dtype=torch.long).reshape(-1, 2)
        if len(duels) and (int(duels.min()) < 0 or int(duels.max()) >= len(points)):
            raise SettingError(f"comparisons are rows [winner, loser] of 0 .. {len(points) - 1}, got {duels.tolist()}")
        made = (default_pair_kernel() if kernel is None else kernel).double()
        if is_skew(made, points):
            duels = duels[duels[:, 0] != duels[:, 1]]
            won, ordered = (duels[:, 0] < duels[:, 1]).to(F64), duels.sort(dim=1).values
        else:
            won, ordered = torch.ones(len(duels), dtype=F64), duels
            if mirror is None or mirror:
                won, ordered = torch.cat([won, 1 - won]), torch.cat([ordered, ordered.flip(1)])
        distinct, which = torch.unique(ordered, dim=0, return_inverse=True)
        tries, wins = torch.zeros(2, len(distinct), dtype=F64)
        tries.index_add_(0, which, torch.ones_like(won))
        wins.index_add_(0, which, won)
        super().__init__(points[distinct].flatten(1), tries, wins, kernel=made)


def default_pair_kernel() -> Any:
    """Skew, squared exponential with length-scale 0.2, variance 16."""
    kernel = ScaleKernel(SkewPairKernel(make_kernel("rbf", 0.2, 1.0))).double()
    kernel.outputscale = torch.tensor(16.0, dtype=F64)
    return kernel


def is_skew(kernel: Any, X: Tensor) -> bool:
    """Whether f([a, b]) = -f([b, a]) under ``kernel``: f([a, a]) has no variance at the options X (K, d)."""
    with torch.no_grad():
        own = kernel(torch.cat([X, X], dim=1), diag=True)
    return bool((own.abs() < 1e-9).all())
