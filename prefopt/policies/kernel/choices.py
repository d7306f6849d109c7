"""What the policies of one-sided Gaussian processes let one choose, the checks of it, and their prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from prefopt.domain import Arms, FloatArray, Grid
from prefopt.errors import SettingError
from prefopt.kinds import is_real
from prefopt.models import grid_posterior as gp
from prefopt.models.kernels import kernel_matrix

#: Variance of one 0/1 outcome that does not lock in, by the kind of answer (the paper's 0.025 does: preset ``paper``).
NOISE = {"pairs": 0.05, "winner": 0.25}


def check_choices(feedback: str, self_duel: str, distinct: bool | None, slate_size: int) -> None:
    """Raise ``SettingError`` for an unknown choice, or ``distinct`` with more than two slots."""
    if feedback not in NOISE or self_duel not in ("coin", "skip"):
        raise SettingError(
            f"expected feedback 'pairs' or 'winner' and self_duel 'coin' or 'skip', got {feedback!r} and {self_duel!r}"
        )
    if distinct and slate_size > 2:
        raise SettingError(
            f"distinct=True is for slates of 2, got slate_size={slate_size}: more slots may all play the best option; "
            "leave distinct out"
        )


def variance_of(policy: Any) -> float:
    """The noise in force: as given, or the default for the kind of feedback."""
    return NOISE[policy.feedback] if policy.noise is None else float(policy.noise)


def must_differ(policy: Any) -> bool:
    """Whether the second slot must differ from the first: as given, or if there are two."""
    return bool(policy.slate_size == 2 if policy.distinct is None else policy.distinct)


def check_likelihood(likelihood: str, noise: float | None) -> None:
    """Raise ``SettingError`` for an unknown likelihood, or a noise variance that it has no use for."""
    if likelihood not in ("gaussian", "bernoulli"):
        raise SettingError(f"unknown likelihood {likelihood!r}; expected 'gaussian' or 'bernoulli'")
    if likelihood == "bernoulli" and noise is not None:
        raise SettingError(f"noise={noise} does not apply to likelihood 'bernoulli', which has none; leave it out")


def check_scales(policy: Any) -> None:
    """Raise ``SettingError`` for scales other than the defaults beside a kernel object, which brings its own."""
    if policy.kernel is None or isinstance(policy.kernel, str):
        return
    for name in ("lengthscale", "outputscale"):
        value = getattr(policy, name)
        if not (is_real(value) and value == getattr(type(policy), name)):
            raise SettingError(f"{name}={value} has no effect beside a kernel with its own scales; leave it out")


def check_numbers(policy: Any) -> None:
    """Raise ``SettingError`` unless the scales of a Gaussian process are positive and its mean is finite."""
    noise = variance_of(policy)
    if not (noise > 0 and np.isfinite(policy.mean) and 0 < policy.outputscale < np.inf):
        raise SettingError(
            f"expected noise > 0, outputscale > 0 and a finite mean, got {noise}, {policy.outputscale}, {policy.mean}"
        )


def base_matrix(domain: Arms | Grid, kernel: Any, lengthscale: Any, default: Any, scale: float = 1.0) -> FloatArray:
    """The kernel matrix (K, K) on ``Arms`` (nothing is alike) or a ``Grid``; a ``kernel`` object brings its scales.

    Raises:
        SettingError: a kernel or length-scale on arms, or one that does not fit the grid.
    """
    if isinstance(domain, Grid):
        return kernel_matrix("rbf" if kernel is None else kernel, domain.points, lengthscale, scale)
    if kernel is not None:
        raise SettingError("Arms have no features for a kernel to read; give a Grid, or leave the kernel out")
    if not (is_real(lengthscale) and lengthscale == default):
        raise SettingError(f"on Arms nothing is alike: lengthscale={lengthscale} has no effect")
    return float(scale) * np.eye(domain.size)


def finite_prior(policy: Any) -> gp.Prior:
    """The one-sided Gaussian process of ``policy`` on its domain before any answer; raises as ``base_matrix`` does."""
    default = type(policy).lengthscale
    matrix = base_matrix(policy.domain, policy.kernel, policy.lengthscale, default, policy.outputscale)
    axes = policy.domain.axes if isinstance(policy.domain, Grid) else None
    return gp.make_prior(matrix, policy.mean, tuple(len(axis) for axis in axes or ()))


def json_able(made: Mapping[str, Any], stationary: Any = None, name: str = "kernel") -> dict[str, Any]:
    """Settings that JSON can hold: a kernel object as the fields of ``stationary``, or as its class name."""
    plain, kernel = dict(made), made[name]
    if not (kernel is None or isinstance(kernel, str | Mapping)):
        fields = {} if stationary is None else asdict(stationary)
        plain[name] = {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()} or type(kernel).__name__
    if not np.isscalar(made["lengthscale"]):
        plain["lengthscale"] = np.asarray(made["lengthscale"]).tolist()
    return plain
