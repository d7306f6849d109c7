"""The tournament's problems: utilities in [0, 1] over a box or a list, and how noisily they are compared.

Names with a number of dimensions ("anywhere-4") and "sushi-like" are drawn anew with every seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Domain
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.box import BoxEnvironment, noise_scale
from prefopt.environments.candy import candy_environment
from prefopt.environments.placed import placed
from prefopt.environments.problems import PROBLEMS
from prefopt.environments.sushi_like import sushi_like
from prefopt.errors import SettingError, did_you_mean
from prefopt.seeding import stream

FloatArray = NDArray[np.float64]

#: Share of the best options over which a fifth of random pairs is answered wrongly: all of them, or (the calibration
#: of Astudillo et al. 2023) the best hundredth; of a list's options the best tenth.
NOISES = {"random-pairs": 1.0, "top": 0.01}
WRONG, TOP_OF_LIST = 0.2, 0.1

#: Test functions that are the same for every seed, by their names in ``prefopt.environments.problems``.
FIXED = {
    "forrester": "forrester",
    "camel": "camel-core",
    "branin": "branin",
    "goldstein": "log-goldstein",
    "hartmann3": "hartmann3",
    "rosenbrock3": "log-rosenbrock3",
    "ackley4": "ackley4",
    "levy4": "levy4",
    "hartmann6": "hartmann6",
    "candy": "candy",
    "coffee": "coffee",
}
#: Drawn with the seed: hills with their top anywhere, on a face and in a corner.
PLACED = [f"{place}-{dim}" for place in ("anywhere", "face", "corner") for dim in (2, 3, 4, 6)]
#: Lists of options with features.
LISTS = ["candy-list", "sushi-like"]
SUITE = [*FIXED, *PLACED, *LISTS]

#: Noise scales of the fixed problems, from ``calibrate`` with 400,000 points: random pairs, best hundredth.
SCALES: dict[str, tuple[float, float]] = {
    "forrester": (0.06817, 0.000104),
    "camel": (0.10828, 0.00193),
    "branin": (0.08137, 0.000305),
    "goldstein": (0.11984, 0.02632),
    "hartmann3": (0.11849, 0.01214),
    "rosenbrock3": (0.08336, 0.02853),
    "ackley4": (0.02079, 0.03691),
    "levy4": (0.06201, 0.00195),
    "hartmann6": (0.03292, 0.04858),
    "candy": (0.11611, 0.02055),
    "coffee": (0.08281, 0.00251),
    "candy-list": (0.13670, 0.05963),
}


@dataclass(frozen=True)
class Person:
    """A problem as one simulated person sees it.

    Attributes:
        problem, seed, noise: what was asked for.
        environment: knows the utility, in [0, 1] over its domain.
        scale: of the logistic (Gumbel) noise on utilities.
    """

    problem: str
    seed: int
    noise: str
    environment: BoxEnvironment | FiniteEnvironment
    scale: float

    @property
    def domain(self) -> Domain:
        """What can be chosen."""
        return self.environment.domain

    def utility(self, options: Any) -> FloatArray:
        """Utilities (m,) in [0, 1] of rows (m, d) of the unit cube, or of indices (m,) of a list."""
        return utility_of(self.environment, options)

    def choose(self, options: Any, t: int) -> int:
        """Which of the m options is preferred in question ``t`` (from 0): Plackett-Luce, by Gumbel noise.

        The noise depends on problem, seed and question only, so that all methods meet the same luck.
        """
        u = self.utility(options)
        luck = stream(self.seed, key_of(self.problem), t).gumbel(size=len(u))
        return int(np.argmax(u / self.scale + luck))


def key_of(problem: str) -> int:
    """A number that stands for the problem's name in random streams."""
    return crc32(problem.encode())


def utility_of(environment: BoxEnvironment | FiniteEnvironment, options: Any) -> FloatArray:
    """Utilities (m,) of options."""
    if isinstance(environment, FiniteEnvironment):
        return np.asarray(environment.utility[np.asarray(options, dtype=np.int64)])
    return environment.utility(options)


def build(problem: str, seed: int) -> BoxEnvironment | FiniteEnvironment:
    """The environment of that name; utilities are scaled to [0, 1].

    Raises:
        SettingError: an unknown name.
    """
    if problem in FIXED:
        return BoxEnvironment(problem, PROBLEMS[FIXED[problem]], scale="unit")
    if match := re.fullmatch(r"(anywhere|face|corner)-(\d+)", problem):
        return BoxEnvironment(problem, placed(match[1], int(match[2]), seed), scale="unit")
    lists: dict[str, Callable[[], FiniteEnvironment]] = {
        "candy-list": candy_environment,
        "sushi-like": lambda: sushi_like(stream(seed, key_of("sushi-like"))),
    }
    if problem not in lists:
        raise SettingError(f"unknown problem {problem!r}; expected {', '.join(SUITE)}{did_you_mean(problem, SUITE)}")
    found = lists[problem]()
    u = found.utility
    return replace(found, utility=(u - u.min()) / np.ptp(u))


def calibrate(environment: BoxEnvironment | FiniteEnvironment, noise: str, samples: int, seed: int = 0) -> float:
    """The noise scale at which ``WRONG`` of the pairs that ``noise`` speaks of are answered wrongly."""
    rng = stream(seed, 1)
    top = NOISES[noise]
    if isinstance(environment, FiniteEnvironment):
        return noise_scale(environment.utility, error=WRONG, top=max(top, TOP_OF_LIST), rng=rng)
    return noise_scale(environment.utility(environment.domain.sample(samples, rng)), error=WRONG, top=top, rng=rng)


@lru_cache(maxsize=64)
def person(problem: str, seed: int, noise: str = "random-pairs") -> Person:
    """Who answers in run ``seed`` of ``problem``.

    Raises:
        SettingError: an unknown problem or noise.
    """
    if noise not in NOISES:
        raise SettingError(f"unknown noise {noise!r}; expected {' or '.join(NOISES)}")
    environment = build(problem, seed)
    known = SCALES.get(problem)
    scale = known[list(NOISES).index(noise)] if known else calibrate(environment, noise, 40_000)
    return Person(problem, seed, noise, environment, scale)
