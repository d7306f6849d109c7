"""Test functions by name, as utilities to maximise on the unit cube (u = -f of the minimised original)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box, Column
from prefopt.environments.candy import candy_surface
from prefopt.environments.functions import (
    alpine1,
    cross_in_tray,
    currin,
    forrester,
    from_botorch,
    goldstein_price,
    langermann,
    levy,
    levy13,
    log_goldstein_price,
    log_rosenbrock,
    shubert,
    six_hump_camel,
)
from prefopt.environments.mixed import COLUMNS, coffee
from prefopt.errors import SettingError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A minimised function and its native domain.

    Attributes:
        f: rows (n, d) in native coordinates to values (n,).
        low, high: native bounds, one per dimension.
        minimum: the smallest value, if known.
        columns: of the unit cube, where some are not continuous.
        maximum: the largest value on the domain, if known.
    """

    f: Callable[[FloatArray], FloatArray]
    low: tuple[float, ...]
    high: tuple[float, ...]
    minimum: float | None = None
    columns: tuple[Column, ...] = ()
    maximum: float | None = None

    @property
    def domain(self) -> Box:
        """The unit cube."""
        return Box(self.columns or self.dim)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return len(self.low)

    def utility(self, unit: FloatArray) -> FloatArray:
        """-f at rows (n, d) of the unit cube, at the nearest levels of columns that have levels."""
        unit = self.domain.project(unit) if self.columns else unit
        low, high = np.array(self.low), np.array(self.high)
        return np.asarray(-self.f(low + (high - low) * unit))


def cube(
    f: Callable[[FloatArray], FloatArray],
    low: float,
    high: float,
    d: int,
    best: float | None = None,
    worst: float | None = None,
) -> Problem:
    """A problem on [low, high]^d."""
    return Problem(f, (low,) * d, (high,) * d, best, maximum=worst)


#: 50 columns that are 0 or 1, and three continuous ones.
MIXED = (Column("levels", (0.0, 1.0)),) * 50 + (Column(),) * 3

PROBLEMS: dict[str, Problem] = {
    "forrester": cube(forrester, 0, 1, 1, -6.020740055767083, 15.829731945974109),
    "camel": Problem(six_hump_camel, (-3, -2), (3, 2), -1.031628453489877),
    "camel-core": Problem(six_hump_camel, (-2, -1), (2, 1), -1.031628453489877, maximum=5.733333333333333),
    "goldstein": cube(goldstein_price, -2, 2, 2, 3.0),
    "log-goldstein": cube(log_goldstein_price, -2, 2, 2, float(np.log(3.0)), 13.831079010051715),
    "levy": cube(levy, -10, 10, 2, 0.0),
    "levy4": cube(levy, -10, 10, 4, 0.0, 254.89842685553828),
    "levy10": cube(levy, -10, 10, 10, 0.0),
    "levy13": cube(levy13, -10, 10, 2, 0.0),
    "alpine7": cube(alpine1, -10, 10, 7, 0.0),
    "branin": Problem(from_botorch("Branin"), (-5, 0), (10, 15), 0.397887, maximum=308.12909601160663),
    "holder": cube(from_botorch("HolderTable"), -10, 10, 2, -19.2085),
    "rosenbrock": cube(from_botorch("Rosenbrock", dim=2), -5, 10, 2, 0.0),
    "log-rosenbrock3": cube(log_rosenbrock, -2, 2, 3, 0.0, 8.88447171813916),
    "hartmann3": cube(from_botorch("Hartmann", dim=3), 0, 1, 3, -3.8627798609743, -3.772718514163315e-05),
    "hartmann4": cube(from_botorch("Hartmann", dim=4), 0, 1, 4, -3.1344941447601555),
    "hartmann6": cube(from_botorch("Hartmann", dim=6), 0, 1, 6, -3.322368004440184, -2.8124505351132234e-08),
    "ackley4": cube(from_botorch("Ackley", dim=4, bounds=((-25.0, 35.0),) * 4), -25, 35, 4, 0.0, 22.33024723812413),
    "ackley6": cube(from_botorch("Ackley", dim=6), -2, 2, 6, 0.0),
    "ackley20": cube(from_botorch("Ackley", dim=20), -32.768, 32.768, 20, 0.0),
    "coffee": Problem(coffee, (0,) * 4, (1,) * 4, 0.0, COLUMNS, 5.2605),
    "candy": Problem(candy_surface, (0,) * 2, (1,) * 2, -1.7734430692492107, maximum=1.3638330069841864),
    "ackley-mixed": Problem(from_botorch("AckleyMixed", dim=53), (0,) * 53, (1,) * 53, 0.0, MIXED),
    "beale": cube(from_botorch("Beale"), -4.5, 4.5, 2, 0.0),
    "bukin": Problem(from_botorch("Bukin"), (-15, -3), (-5, 3), 0.0),
    "cross-in-tray": cube(cross_in_tray, -10, 10, 2, -2.0626118708227397),
    "currin": cube(currin, 0, 1, 2, -13.798722044728438),
    "langermann": cube(langermann, 0, 10, 2, -4.155809291847786),
    "shubert": cube(shubert, -5.12, 5.12, 2, -186.73090883102392),
    "eggholder": cube(from_botorch("EggHolder"), -512, 512, 2, -959.6407),
    "styblinski-tang": cube(from_botorch("StyblinskiTang", dim=2), -5, 5, 2, -78.33233140754282),
    "michalewicz": cube(from_botorch("Michalewicz", dim=2), 0, float(np.pi), 2, -1.801303410098554),
    "drop-wave": cube(from_botorch("DropWave"), -5.12, 5.12, 2, -1.0),
    "griewank": cube(from_botorch("Griewank", dim=2), -600, 600, 2, 0.0),
    "powell": cube(from_botorch("Powell", dim=4), -4, 5, 4, 0.0),
    "shekel": cube(from_botorch("Shekel"), 0, 10, 4, -10.536443153483534),
    "rastrigin": cube(from_botorch("Rastrigin", dim=2), -5.12, 5.12, 2, 0.0),
    "cosine8": cube(from_botorch("Cosine8"), -1, 1, 8, -0.8),
    "dixon-price": cube(from_botorch("DixonPrice", dim=2), -10, 10, 2, 0.0),
    "three-hump-camel": cube(from_botorch("ThreeHumpCamel"), -5, 5, 2, 0.0),
}


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
