"""One decorator for functions that run as plain Python and also inside compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])


#: How functions that only compiled loops call are compiled: into the caller, with nothing for Python or C to call.
JIT_OPTIONS = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def jitable(function: F) -> F:
    """Mark ``function``: plain Python when called from Python, compiled when called from a compiled loop."""
    register_jitable(**JIT_OPTIONS)(function)
    return function
