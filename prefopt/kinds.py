"""What counts as a number: a bool does not; and numbers of things in words."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np


def is_whole(value: Any) -> TypeGuard[int]:
    """An int (a bool is none)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """A finite real number (a bool is none)."""
    return is_whole(value) or (isinstance(value, float | np.floating) and math.isfinite(value))


def counted(number: int, thing: str) -> str:
    """So many of a thing.

    >>> counted(1, "answer"), counted(0, "answer")
    ('1 answer', '0 answers')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def are_real(value: Any) -> bool:
    """One finite real number, or a list of them."""
    return is_real(value) or (np.ndim(value) == 1 and all(map(is_real, value)))
