"""What KernelSelfSparring lets one choose on every domain, and the checks of it."""

from __future__ import annotations

from typing import Any

from prefopt.errors import SettingError
from prefopt.kinds import is_real

#: Variance of one 0/1 outcome that does not lock in, by the kind of answer (the paper's 0.025 does: preset ``paper``).
NOISE = {"pairs": 0.05, "winner": 0.25}


def check_choices(feedback: str, self_duel: str, distinct: bool | None, slate_size: int) -> None:
    """Raise ``SettingError`` for an unknown choice, or ``distinct`` with more than two slots."""
    if feedback not in NOISE or self_duel not in ("coin", "skip"):
        raise SettingError(
            "kernel-self-sparring expects feedback 'pairs' or 'winner' and self_duel 'coin' or 'skip', got "
            f"{feedback!r} and {self_duel!r}"
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
