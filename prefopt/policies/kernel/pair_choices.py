"""What preferential Bayesian optimisation lets one choose on every domain, and the checks of it."""

from __future__ import annotations

from typing import Any

from prefopt.errors import SettingError
from prefopt.kinds import is_real
from prefopt.models.pairs import KINDS

ACQUISITIONS = ("dts", "cei", "pe", "random")


def check_pair_choices(policy: Any) -> None:
    """Raise ``SettingError`` for an unknown choice, a size or scale out of range, or a setting without effect."""
    if policy.acquisition not in ACQUISITIONS or policy.kernel not in KINDS:
        raise SettingError(
            f"expected acquisition {', '.join(ACQUISITIONS)} and kernel {', '.join(KINDS)}, got "
            f"{policy.acquisition!r} and {policy.kernel!r} (a kernel of options, such as 'matern52', is base=...)"
        )
    if policy.kernel != "se" and policy.mirror is not None:
        raise SettingError(f"mirror={policy.mirror} has no effect on kernel {policy.kernel!r}, which is skew already")
    if not 0 < policy.outputscale < float("inf"):
        raise SettingError(f"expected outputscale > 0, got {policy.outputscale}")
    if policy.initial < 0 or min(policy.landmarks, policy.pairs) < 1:
        raise SettingError(
            f"expected initial >= 0, landmarks >= 1 and pairs >= 1, got {policy.initial}, {policy.landmarks}, "
            f"{policy.pairs}"
        )
    own = not (policy.base is None or isinstance(policy.base, str))
    if own and not (is_real(policy.lengthscale) and policy.lengthscale == type(policy).lengthscale):
        raise SettingError(f"lengthscale={policy.lengthscale} has no effect beside a base with its own; leave it out")


def is_mirrored(policy: Any) -> bool:
    """Whether every duel is told in both orders: as given, or if the kernel does not know."""
    return policy.kernel == "se" if policy.mirror is None else bool(policy.mirror)
