"""The check of settings that every policy shares: each has the type that its dataclass field is annotated with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any

import numpy as np

from prefopt.errors import SettingError
from prefopt.kinds import are_real, is_real, is_whole

#: What is expected of a field, by its annotation; other annotations are left to the policy itself.
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", is_whole),
    "float": ("a finite number", is_real),
    "float | Sequence[float]": ("a finite number, or a list of them", are_real),
    "bool": ("true or false", lambda value: isinstance(value, bool | np.bool_)),
    "str": ("a word", lambda value: isinstance(value, str)),
}


def check_settings(policy: Any) -> None:
    """Raise ``SettingError`` unless the settings of a dataclass have the types of its fields; make them JSON-able.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Mine:
    ...     slate_size: int = 2
    >>> check_settings(Mine(slate_size=2.5))
    Traceback (most recent call last):
    prefopt.errors.SettingError: Mine expects slate_size to be a whole number, got 2.5
    """
    for field in fields(policy):
        if field.init and field.name != "domain":
            _check_field(policy, field)
    if policy.slate_size < 2:
        raise SettingError(f"a slate has at least two places, got slate_size={policy.slate_size}")
    if getattr(policy, "horizon", None) is not None and policy.horizon < 1:
        raise SettingError(f"a horizon is at least one round, got horizon={policy.horizon}")


def _check_field(policy: Any, field: Field[Any]) -> None:
    value = getattr(policy, field.name)
    annotation = field.type.__name__ if isinstance(field.type, type) else str(field.type)
    kind = annotation.removesuffix(" | None")
    if kind not in KINDS or (value is None and kind != annotation):
        return
    expected, fits = KINDS[kind]
    if not fits(value):
        also = "" if kind == annotation else " or None"
        name = type(policy).__name__
        raise SettingError(f"{name} expects {field.name} to be {expected}{also}, got {value!r}")
    if isinstance(value, np.generic):
        setattr(policy, field.name, value.item())
