"""Formulas of test functions that are minimised, on rows (n, d) of native coordinates (Surjanovic and Bingham 2013)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: BoTorch test functions whose optimum is a maximum.
MAXIMISED = ("Cosine8",)


def forrester(x: FloatArray) -> FloatArray:
    """(6x-2)^2 sin(12x-4) on [0, 1]; Forrester, Sobester, Keane 2008."""
    return np.asarray((6 * x[:, 0] - 2) ** 2 * np.sin(12 * x[:, 0] - 4))


def six_hump_camel(x: FloatArray) -> FloatArray:
    """Six-Hump Camel; two minima of -1.0316."""
    a, b = x.T
    return np.asarray((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


def goldstein_price(x: FloatArray) -> FloatArray:
    """Goldstein-Price; minimum 3 at (0, -1)."""
    a, b = x.T
    first = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    second = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return np.asarray(first * second)


def log_goldstein_price(x: FloatArray) -> FloatArray:
    """Natural logarithm of Goldstein-Price, whose raw range is a million."""
    return np.asarray(np.log(goldstein_price(x)))


def log_rosenbrock(x: FloatArray) -> FloatArray:
    """log(1 + Rosenbrock's valley), whose raw range is several thousand; minimum 0 at (1, ..., 1)."""
    a, b = x[:, :-1], x[:, 1:]
    return np.asarray(np.log1p((100 * (b - a**2) ** 2 + (1 - a) ** 2).sum(axis=1)))


def levy(x: FloatArray) -> FloatArray:
    """Levy; minimum 0 at (1, ..., 1)."""
    w = 1 + (x - 1) / 4
    middle = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(axis=1)
    last = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
    return np.asarray(np.sin(np.pi * w[:, 0]) ** 2 + middle + last)


def levy13(x: FloatArray) -> FloatArray:
    """Levy function 13; minimum 0 at (1, 1)."""
    a, b = x.T
    return np.asarray(
        np.sin(3 * np.pi * a) ** 2
        + (a - 1) ** 2 * (1 + np.sin(3 * np.pi * b) ** 2)
        + (b - 1) ** 2 * (1 + np.sin(2 * np.pi * b) ** 2)
    )


def cross_in_tray(x: FloatArray) -> FloatArray:
    """Cross-in-tray; four minima of -2.0626 at (+-1.3494, +-1.3494)."""
    a, b = x.T
    tray = np.abs(np.sin(a) * np.sin(b) * np.exp(np.abs(100 - np.hypot(a, b) / np.pi)))
    return np.asarray(-1e-4 * (tray + 1) ** 0.1)


def langermann(x: FloatArray) -> FloatArray:
    """Langermann with the usual five centres; minimum -4.1558 at (2.7934, 1.5972)."""
    weight = np.array([1.0, 2.0, 5.0, 2.0, 3.0])
    centre = np.array([[3.0, 5.0], [5.0, 2.0], [2.0, 1.0], [1.0, 4.0], [7.0, 9.0]])
    square = ((x[:, None, :] - centre) ** 2).sum(axis=2)
    return np.asarray((weight * np.exp(-square / np.pi) * np.cos(np.pi * square)).sum(axis=1))


def shubert(x: FloatArray) -> FloatArray:
    """Shubert; eighteen minima of -186.7309."""
    j = np.arange(1, 6)
    return np.asarray((j * np.cos((j + 1) * x[:, :, None] + j)).sum(axis=2).prod(axis=1))


def currin(x: FloatArray) -> FloatArray:
    """Minus Currin's exponential function, which is maximised: 13.7987 at (0.2167, 0); Currin et al. 1988."""
    a, b = x.T
    fade = 1 - np.exp(-1 / (2 * np.maximum(b, 1e-300)))
    return np.asarray(-fade * (2300 * a**3 + 1900 * a**2 + 2092 * a + 60) / (100 * a**3 + 500 * a**2 + 4 * a + 20))


def alpine1(x: FloatArray) -> FloatArray:
    """Sum of |x sin x + 0.1 x|; minimum 0 at 0."""
    return np.asarray(np.abs(x * np.sin(x) + 0.1 * x).sum(axis=1))


def from_botorch(name: str, **keywords: Any) -> Callable[[FloatArray], FloatArray]:
    """The BoTorch test function of that class name, on native coordinates; imported at first call."""

    def f(x: FloatArray) -> FloatArray:
        return np.asarray(problem(name, **keywords)(x))

    return f


@cache
def problem(name: str, **keywords: Any) -> Callable[[FloatArray], FloatArray]:
    """A BoTorch test function as a function of numpy rows (n, d), negated if it is one to maximise."""
    import torch
    from botorch.test_functions import synthetic

    made = getattr(synthetic, name)(**keywords)
    sign = -1.0 if name in MAXIMISED else 1.0
    return lambda x: np.asarray(sign * made.evaluate_true(torch.as_tensor(x, dtype=torch.float64)).numpy())
