"""A simulated person on the unit cube: a test function as utility."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.environments.person import Person
from prefopt.environments.problems import Problem, rescale
from prefopt.environments.world import as_answer, reply
from prefopt.errors import SettingError
from prefopt.seeding import stream

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class BoxEnvironment:
    """A person whose utility is a test function of a point in the unit cube.

    The largest utility is the problem's known one, or the best of 4,096 Sobol points after a local search.

    Attributes:
        name: shown in tables and on plots.
        problem: the function and its native bounds.
        person: link, noise, lapses, ties, biases.
        scale: "raw", "unit", "pm3" or "std".
    """

    name: str
    problem: Problem
    person: Person = field(default_factory=Person)
    scale: str = "raw"

    @property
    def domain(self) -> Box:
        """The unit cube."""
        return self.problem.domain

    @property
    def feedback(self) -> str:
        """What is observed of a slate."""
        return self.person.feedback

    @cached_property
    def sample(self) -> FloatArray:
        """Raw utilities of a dense Sobol sample, then the smallest and the largest one, for scaling and the optimum."""
        from scipy.stats import qmc  # takes most of a second, which `import prefopt` need not

        points = self.domain.project(qmc.Sobol(self.problem.dim, scramble=False).random_base2(12))
        u = self.problem.utility(points)
        start = points[int(np.argmax(u))]
        free = [(0.0, 1.0) if moves else (x, x) for moves, x in zip(self.domain.continuous, start, strict=True)]
        found = minimize(lambda x: -float(self.problem.utility(x[None])[0]), start, bounds=free)
        top = max(-float(found.fun), -self.problem.minimum if self.problem.minimum is not None else -np.inf)
        bottom = min(u.min(), -self.problem.maximum if self.problem.maximum is not None else np.inf)
        return np.append(u, (bottom, top))

    def utility(self, points: Any) -> FloatArray:
        """Utility of rows (n, d), on this environment's scale."""
        rows = np.atleast_2d(np.asarray(points, dtype=np.float64))
        u = self.problem.utility(rows)
        return u if self.scale == "raw" else self._rescaled(u)

    def _rescaled(self, u: FloatArray) -> FloatArray:
        """Raw utilities on this environment's scale; the mean and sd are those of the plain sample."""
        return rescale(u, self.scale, self.sample[:-2] if self.scale == "std" else self.sample)

    @cached_property
    def best_utility(self) -> float:
        """The largest utility over the cube."""
        return float(self._rescaled(self.sample).max())

    @cached_property
    def utility_range(self) -> float:
        """Largest minus smallest utility over the cube (the smallest is the problem's, or the Sobol sample's)."""
        return float(np.ptp(self._rescaled(self.sample)))

    def utility_gap(self, options: Any) -> FloatArray:
        """u(b1) - u(x) of rows (n, d), never below 0."""
        return np.maximum(self.best_utility - self.utility(options), 0.0)

    def advantage(self, options: Any) -> FloatArray:
        """phi(b1, x) = P(best beats x) - 1/2 of rows (n, d)."""
        best = np.full(len(np.atleast_2d(options)), self.best_utility)
        u = np.minimum(self.utility(options), self.best_utility)
        return self.person.chance(best, u) - 0.5

    def answer(self, slate: Any, t: int, rng: np.random.Generator) -> Answer:
        """What the person says of the rows (m, d) after ``t`` answers."""
        m = len(slate)
        wins = np.zeros((m, m))
        reply(self.person.world(self.utility(slate)), t, np.arange(m), m, wins, rng)
        return as_answer(wins, self.person.feedback)

    def with_feedback(self, feedback: str) -> BoxEnvironment:
        """The same person, observed otherwise."""
        return replace(self, person=replace(self.person, feedback=feedback))


def calibrated_scale(
    problem: Problem,
    *,
    error: float = 0.2,
    top: float = 0.01,
    scale: str = "raw",
    samples: int = 100_000,
    seed: int = 0,
) -> float:
    """The logistic noise scale at which random pairs among the best points are answered wrongly with ``error``.

    Args:
        problem: the test function.
        error: wanted mean chance of a wrong answer, between 0 and 1/2.
        top: share of uniform points, the best ones, from which pairs are drawn; 1 takes all points.
        scale: of the utilities, "raw", "unit", "pm3" or "std".
        samples: uniform points drawn.
        seed: of the draw.

    Raises:
        SettingError: ``error`` or ``top`` out of range, or too few samples for a pair.

    Source: Astudillo et al. 2023 (best 1 % of points).
    """
    if not (0 < error < 0.5 and 0 < top <= 1 and round(top * samples) >= 10):
        raise SettingError(
            f"expected 0 < error < 1/2, 0 < top <= 1 and at least 10 points among the best, got {error}, {top} and "
            f"{samples} samples"
        )
    rng = stream(seed, 0)
    u = BoxEnvironment("calibration", problem, scale=scale).utility(problem.domain.sample(samples, rng))
    return noise_scale(u, error=error, top=top, rng=rng)


def noise_scale(utility: FloatArray, *, error: float, top: float, rng: np.random.Generator) -> float:
    """The logistic scale at which random pairs among the best share ``top`` of ``utility`` (n,) are wrong by ``error``.

    >>> u = np.random.default_rng(0).random(10_000)
    >>> round(noise_scale(u, error=0.2, top=1.0, rng=np.random.default_rng(1)), 2)
    0.18
    """
    u = rng.permutation(np.sort(utility)[-max(2, round(top * len(utility))) :])
    if len(u) <= 200:  # few options: every pair
        gap = np.abs(u[:, None] - u)[np.triu_indices(len(u), 1)]
    else:
        gap = np.concatenate([np.abs(u - np.roll(u, k)) for k in range(1, 9)])
    low, high = 1e-9, 1e9
    for _ in range(70):
        middle = math.sqrt(low * high)
        wrong = float(expit(-gap / middle).mean())
        low, high = (middle, high) if wrong < error else (low, middle)
    return math.sqrt(low * high)
