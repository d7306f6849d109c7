"""Borda-GP on a box: Xu et al. 2020 (COMP-GP-UCB), Mehta et al. 2023; see ``borda_gp``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prefopt.answer import Answer
from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.exact import ExactGP
from prefopt.models.paths import Paths
from prefopt.models.stationary import as_stationary
from prefopt.models.upper_bound import UpperBound
from prefopt.policies.kernel.awaiting import AwaitingBox
from prefopt.policies.kernel.borda_gp import check_borda
from prefopt.policies.kernel.choices import json_able
from prefopt.seeding import stream


@dataclass(kw_only=True)
class BoxBordaGP(AwaitingBox):
    """Borda-GP over a box; state: tries and wins of the points shown in the first place.

    Args:
        domain: the box; categories enter the kernel by equality only, levels as numbers.
        slate_size: m, at least 2; all but the first option are random.
        horizon: not used.
        acquisition: "ts" or "ucb".
        beta: the bound is mean + sqrt(beta) standard deviations.
        lengthscale: one, or one a column, in units of the cube.
        outputscale: signal variance.
        noise: variance of one 0/1 outcome.
        mean: prior mean.
        kernel: "rbf", "matern32", "matern52", a GPyTorch kernel of these (with its own scales), or its fields.
        features: random features of a draw.
        raw_samples: Sobol points at which a draw or a bound is looked at first.
        restarts: of them, how many are climbed from.
        merge: points closer than this in every continuous column are one option tried again.
        reuse: whether one option of every question, from the second on, is one that was shown before.
    """

    acquisition: str = "ts"
    beta: float = 4.0
    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 0.1
    noise: float = 0.25
    mean: float = 0.5
    kernel: Any = None
    features: int = 1024
    raw_samples: int = 512
    restarts: int = 12
    merge: float = 1e-3

    #: Its factor and targets are remembered between questions, and follow from what was tried.
    memo: ClassVar[tuple[str, ...]] = ("model",)

    model: ExactGP = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales, noise and sizes are positive, choices known; makes the model."""
        check_borda(self)
        if not (min(self.features, self.raw_samples, self.restarts) >= 1 and self.merge >= 0):
            raise SettingError(
                "expected features, raw_samples and restarts >= 1 and merge >= 0, got "
                f"{self.features}, {self.raw_samples}, {self.restarts} and {self.merge}"
            )
        kernel = as_stationary(self.kernel, self.domain, self.lengthscale, self.outputscale)
        self.model = ExactGP(kernel, self.domain, float(self.mean), float(self.noise))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a GPyTorch kernel as its fields."""
        return json_able(super().settings, self.model.kernel)

    def choose(self, rng: np.random.Generator) -> FloatArray:
        """The next slate (m, d): the top of a draw or of the upper bound, and random points; changes nothing."""
        surface: Paths | UpperBound = UpperBound(self.model, self.data, math.sqrt(self.beta))
        if self.acquisition == "ts":
            surface = self.model.paths(self.data, 1, rng, features=self.features)
        first = self._top(surface, rng)[None]
        return np.vstack([first, self.domain.sample(self.slate_size - 1, rng)])

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from ``answer`` to ``slate`` (m, d) of its first option; a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, or a point is outside of the cube.
        """
        self.tried = self.data.add(slate, answer, self.domain, merge=self.merge, count_self=False, only=0)

    def level(self, points: FloatArray) -> FloatArray:
        """Posterior mean of the Borda scores of ``points`` (n, d), (n,)."""
        return np.asarray(self.model.mean_path(self.data).values(points)[0])

    def best(self) -> FloatArray:
        """The point (d,) of largest posterior mean in the whole box."""
        return self._top(self.model.mean_path(self.data), stream(0))

    def _top(self, surface: Paths | UpperBound, rng: np.random.Generator) -> FloatArray:
        good = self.data.X
        if len(good):
            good = good[np.argsort(-self.model.mean_at_tried(self.data), kind="stable")[:32]]
        raw = raw_points(self.domain, self.raw_samples, good, rng)
        points, values = peaks(surface, self.domain, raw, restarts=self.restarts, finish=4)
        return np.array(points[0, int(np.argmax(values[0]))])
