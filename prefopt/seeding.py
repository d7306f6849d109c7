"""Randomness is always an argument: streams are spawned from one seed by name, never taken from global state."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def stream(seed: int, *key: int) -> np.random.Generator:
    """The random stream that belongs to ``seed`` and ``key``, the same in every process.

    Args:
        seed: any non-negative integer.
        key: what the stream is for, such as (question number, 0 for ask).

    >>> bool(stream(7, 3, 0).random() == stream(7, 3, 0).random())
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


@contextmanager
def fixed_global_seed(rng: np.random.Generator) -> Iterator[None]:
    """Seed the global generators of numpy and torch from ``rng`` and put them back afterwards.

    For library calls that insist on global state (BoTorch's fits do), and only around those.
    """
    value = int(rng.integers(0, 2**31 - 1))
    numpy_state = np.random.get_state()
    torch = sys.modules.get("torch")
    torch_state = torch.random.get_rng_state() if torch else None
    np.random.seed(value)
    if torch:
        torch.manual_seed(value)
    try:
        yield
    finally:
        np.random.set_state(numpy_state)
        if torch:
            torch.random.set_rng_state(torch_state)
