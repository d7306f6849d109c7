"""Every policy by name. The table is literal and imports nothing, so that listing it costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from prefopt.errors import SettingError

__all__ = ["POLICIES", "Entry", "make_policy", "resolve_settings"]


@dataclass(frozen=True)
class Entry:
    """What is known of a policy before it is imported.

    Attributes:
        module: below ``prefopt.policies``.
        cls: name of the class (or function that makes it) in the module.
        regret: the regret it aims at, a name in ``prefopt.regret.REGRETS``, or "".
        assumes: what must hold for its guarantee: "total order", "Condorcet", "Copeland", "utility", ...
        source: author, year, where.
        domains: kinds of domain it takes: "arms" (options are only indices), "grid", "box".
        slates: "2", "any", or "varies".
        needs_horizon: whether the number of rounds must be told.
        presets: named settings.
        takes_feedback: whether it has a setting ``feedback`` that says what kind of answer will come.
    """

    module: str
    cls: str
    regret: str
    assumes: str
    source: str
    domains: tuple[str, ...] = ("arms",)
    slates: str = "2"
    needs_horizon: bool = False
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes_feedback: bool = False

    def load(self) -> Any:
        """The class itself; this is what imports."""
        return getattr(import_module(f"prefopt.policies.{self.module}"), self.cls)


POLICIES: dict[str, Entry] = {
    "random": Entry("arms.random", "Random", "", "nothing", "null baseline", slates="any"),
    "ind-self-sparring": Entry(
        "arms.ind_self_sparring",
        "IndSelfSparring",
        "strong-sum",
        "total order, approximate linearity",
        "Sui et al. 2017, Algorithm 3",
        slates="any",
        presets={"sui2017": {"eta": 3.5}},
    ),
}


def get_entry(name: str) -> Entry:
    """The entry called ``name``; raises SettingError with the list of names."""
    if name not in POLICIES:
        raise SettingError(f"unknown policy {name!r}; expected one of {', '.join(sorted(POLICIES))}")
    return POLICIES[name]


def resolve_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with a ``preset`` among them replaced by what it stands for (explicit settings win)."""
    rest = dict(settings)
    preset = rest.pop("preset", None)
    if preset in (None, "default"):
        return rest
    presets = get_entry(name).presets
    if preset not in presets:
        raise SettingError(f"{name} has no preset {preset!r}; expected one of {', '.join(['default', *presets])}")
    return {**presets[preset], **rest}


def make_policy(name: str, domain: Any, **settings: Any) -> Any:
    """The policy called ``name`` on ``domain``.

    Args:
        name: a key of ``POLICIES``.
        domain: ``Arms``, ``Grid`` or ``Box``.
        settings: ``slate_size``, ``horizon``, hyper-parameters, or ``preset="..."``.

    Raises:
        SettingError: unknown name, preset or setting, or one out of range.
    """
    entry = get_entry(name)
    if entry.needs_horizon and settings.get("horizon") is None:
        raise SettingError(f"{name} needs the number of rounds it will play: pass horizon=...")
    try:
        return entry.load()(domain, **resolve_settings(name, settings))
    except TypeError as error:
        raise SettingError(f"{name}: {error}") from error
