"""Test functions as utilities to maximise, on the unit cube (u = -f of the minimised original)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import SettingError

FloatArray = NDArray[np.float64]


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


def levy(x: FloatArray) -> FloatArray:
    """Levy; minimum 0 at (1, ..., 1)."""
    w = 1 + (x - 1) / 4
    middle = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(axis=1)
    last = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
    return np.asarray(np.sin(np.pi * w[:, 0]) ** 2 + middle + last)


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
    """A BoTorch test function as a function of numpy rows (n, d)."""
    import torch
    from botorch.test_functions import synthetic

    made = getattr(synthetic, name)(**keywords)
    return lambda x: np.asarray(made.evaluate_true(torch.as_tensor(x, dtype=torch.float64)).numpy())


@dataclass(frozen=True)
class Problem:
    """A minimised function and its native domain.

    Attributes:
        f: rows (n, d) in native coordinates to values (n,).
        low, high: native bounds, one per dimension.
        minimum: the smallest value, if known in closed form.
    """

    f: Callable[[FloatArray], FloatArray]
    low: tuple[float, ...]
    high: tuple[float, ...]
    minimum: float | None = None

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return len(self.low)

    def utility(self, unit: FloatArray) -> FloatArray:
        """-f at rows (n, d) of the unit cube."""
        low, high = np.array(self.low), np.array(self.high)
        return np.asarray(-self.f(low + (high - low) * unit))


def cube(f: Callable[[FloatArray], FloatArray], low: float, high: float, d: int, best: float | None = None) -> Problem:
    """A problem on [low, high]^d."""
    return Problem(f, (low,) * d, (high,) * d, best)


PROBLEMS: dict[str, Problem] = {
    "forrester": cube(forrester, 0, 1, 1),
    "camel": Problem(six_hump_camel, (-3, -2), (3, 2), -1.031628453489877),
    "goldstein": cube(goldstein_price, -2, 2, 2, 3.0),
    "log-goldstein": cube(log_goldstein_price, -2, 2, 2, float(np.log(3.0))),
    "levy": cube(levy, -10, 10, 2, 0.0),
    "levy4": cube(levy, -10, 10, 4, 0.0),
    "alpine7": cube(alpine1, -10, 10, 7, 0.0),
    "branin": Problem(from_botorch("Branin"), (-5, 0), (10, 15), 0.397887),
    "holder": cube(from_botorch("HolderTable"), -10, 10, 2, -19.2085),
    "rosenbrock": cube(from_botorch("Rosenbrock", dim=2), -5, 10, 2, 0.0),
    "hartmann3": cube(from_botorch("Hartmann", dim=3), 0, 1, 3, -3.86278),
    "hartmann4": cube(from_botorch("Hartmann", dim=4), 0, 1, 4),
    "hartmann6": cube(from_botorch("Hartmann", dim=6), 0, 1, 6, -3.32237),
    "ackley6": cube(from_botorch("Ackley", dim=6), -2, 2, 6, 0.0),
    "beale": cube(from_botorch("Beale"), -4.5, 4.5, 2, 0.0),
    "bukin": Problem(from_botorch("Bukin"), (-15, -3), (-5, 3), 0.0),
    "eggholder": cube(from_botorch("EggHolder"), -512, 512, 2, -959.6407),
    "styblinski-tang": cube(from_botorch("StyblinskiTang", dim=2), -5, 5, 2, -78.33233140754282),
    "michalewicz": cube(from_botorch("Michalewicz", dim=2), 0, float(np.pi), 2),
    "drop-wave": cube(from_botorch("DropWave"), -5.12, 5.12, 2, -1.0),
    "griewank": cube(from_botorch("Griewank", dim=2), -600, 600, 2, 0.0),
    "powell": cube(from_botorch("Powell", dim=4), -4, 5, 4, 0.0),
    "shekel": cube(from_botorch("Shekel"), 0, 10, 4),
    "rastrigin": cube(from_botorch("Rastrigin", dim=2), -5.12, 5.12, 2, 0.0),
    "cosine8": cube(from_botorch("Cosine8"), -1, 1, 8),
    "dixon-price": cube(from_botorch("DixonPrice", dim=2), -10, 10, 2, 0.0),
    "three-hump-camel": cube(from_botorch("ThreeHumpCamel"), -5, 5, 2, 0.0),
}


def get_problem(name: str) -> Problem:
    """The problem called ``name``; raises SettingError with the list of names."""
    if name not in PROBLEMS:
        raise SettingError(f"unknown function {name!r}; expected one of {', '.join(PROBLEMS)}")
    return PROBLEMS[name]


def rescale(u: FloatArray, scale: str, over: FloatArray) -> FloatArray:
    """Utilities on another scale, learned from the utilities ``over`` the domain.

    Args:
        u: utilities.
        scale: "raw", "unit" ([0, 1]), "pm3" ([-3, 3]) or "std" (mean 0, sd 1).
        over: utilities of the whole grid, or of a dense sample of the cube.
    """
    low, high = float(over.min()), float(over.max())
    if scale == "raw":
        return u
    if scale == "unit":
        return (u - low) / ((high - low) or 1.0)
    if scale == "pm3":
        return 6 * (u - low) / ((high - low) or 1.0) - 3
    if scale == "std":
        return (u - float(over.mean())) / (float(over.std()) or 1.0)
    raise SettingError(f"unknown scale {scale!r}; expected raw, unit, pm3 or std")
