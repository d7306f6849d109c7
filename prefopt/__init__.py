"""Find the best option when nobody can put a number on it, but a person can say which of a few is better."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Public names and where they live; imported at first use, so that ``import prefopt`` is instant.
_PUBLIC = {
    "Arms": "domain",
    "Grid": "domain",
    "Box": "domain",
    "Column": "domain",
    "Answer": "answer",
    "Space": "space",
    "Float": "space",
    "Int": "space",
    "Categorical": "space",
    "Linear": "space",
    "POLICIES": "policies",
    "make_policy": "policies",
    "REGRETS": "regret",
    "make_environment": "environments",
    "simulate": "simulation",
    "create_study": "study",
    "load_study": "study",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"prefopt.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'prefopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
