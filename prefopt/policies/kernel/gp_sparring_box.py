"""GP-Sparring on a box: the baseline of Sui et al. 2017 with GP-UCB (Srinivas et al. 2010, Algorithm 1) per slot."""

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
from prefopt.models import grid_posterior as gp
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.exact import ExactGP
from prefopt.models.stationary import as_stationary
from prefopt.models.tried import Tried
from prefopt.models.upper_bound import UpperBound
from prefopt.policies.kernel.awaiting import AwaitingBox
from prefopt.policies.kernel.choices import check_choices, check_numbers, check_scales, json_able, variance_of
from prefopt.seeding import stream


@dataclass(kw_only=True)
class BoxGPSparring(AwaitingBox):
    """One GP-UCB learner per slot over a box; state: tries and wins of distinct points, of each slot and of all.

    The bound of Srinivas et al. 2010 for a continuous set (Theorem 2) has constants nobody knows, so beta is constant.
    A learner without any outcome plays a random point, since all are alike to it.

    Args:
        domain: the box; categories enter the kernel by equality only, levels as numbers.
        slate_size: m, at least 2.
        horizon: not used.
        lengthscale: one, or one a column, in units of the cube.
        outputscale: signal variance.
        noise: variance of one 0/1 outcome; None takes 0.05, or 0.25 if ``feedback`` is "winner".
        mean: prior mean.
        beta: the bound is mean + sqrt(beta) standard deviations.
        feedback: "pairs" or "winner": what answers will look like (sets the default noise only).
        self_duel: "coin" counts answers about two (nearly) equal points, "skip" ignores them.
        kernel: "rbf", "matern32", "matern52", a GPyTorch kernel of these (with its own scales), or its fields.
        raw_samples: Sobol points at which a bound is looked at first.
        restarts: of them, how many are climbed from.
        merge: points closer than this in every continuous column are one option tried again.
        reuse: whether one option of every question, from the second on, is one that was shown before.

    Source: Sui et al. 2017, section 5.
    """

    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 1.0
    noise: float | None = None
    mean: float = 0.0
    beta: float = 4.0
    feedback: str = "pairs"
    self_duel: str = "coin"
    kernel: Any = None
    raw_samples: int = 1024
    restarts: int = 16
    merge: float = 1e-3

    #: Their factors and targets are remembered between questions, and follow from what was tried.
    memo: ClassVar[tuple[str, ...]] = ("models",)

    models: tuple[ExactGP, ...] = field(init=False, repr=False, compare=False)
    mine: tuple[Tried, ...] = field(default=(), init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales, noise and sizes are positive, choices known; makes the models."""
        check_choices(self.feedback, self.self_duel, None, self.slate_size)
        check_scales(self)
        check_numbers(self)
        if not (min(self.raw_samples, self.restarts) >= 1 and self.merge >= 0 and self.beta >= 0):
            raise SettingError(
                "expected raw_samples >= 1, restarts >= 1, merge >= 0 and beta >= 0, got "
                f"{self.raw_samples}, {self.restarts}, {self.merge}, {self.beta}"
            )
        kernel = as_stationary(self.kernel, self.domain, self.lengthscale, self.outputscale)
        noise = variance_of(self)
        self.models = tuple(ExactGP(kernel, self.domain, float(self.mean), noise) for _ in range(self.slate_size))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a GPyTorch kernel as its fields."""
        return json_able(super().settings, self.models[0].kernel)

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything."""
        super().init(rng)
        self.mine = (Tried.none(self.domain.dim),) * self.slate_size

    def choose(self, rng: np.random.Generator) -> FloatArray:
        """The next slate (m, d): every learner's largest upper bound; changes nothing."""
        if self.tried is None:
            raise SettingError("ask before init: call policy.init(rng) first")
        return np.array([self._pull(j, rng) for j in range(self.slate_size)])

    def _pull(self, j: int, rng: np.random.Generator) -> FloatArray:
        data = self.mine[j]
        if not len(data.X):
            return np.array(self.domain.sample(1, rng)[0])
        bound = UpperBound(self.models[j], data, math.sqrt(self.beta))
        good = data.X[np.argsort(-self.models[j].mean_at_tried(data), kind="stable")[:32]]
        raw = raw_points(self.domain, self.raw_samples, good, rng)
        points, values = peaks(bound, self.domain, raw, restarts=self.restarts, finish=4)
        return np.array(points[0, int(np.argmax(values[0]))])

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from ``answer`` to ``slate`` (m, d), every learner of its own slot; a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, or a point is outside of the cube.
        """
        count, mine = self.self_duel == "coin", list(self.mine)
        self.tried = self.data.add(slate, answer, self.domain, merge=self.merge, count_self=count)
        for j in range(answer.size):
            slot = j % self.slate_size
            mine[slot] = mine[slot].add(slate, answer, self.domain, merge=self.merge, count_self=count, only=j)
        self.mine = tuple(mine)

    def level(self, points: FloatArray) -> FloatArray:
        """Posterior mean at ``points`` (n, d) of all learners on average, (n,)."""
        pairs = zip(self.models, self.mine, strict=True)
        return np.asarray(np.mean([model.mean_path(data).values(points)[0] for model, data in pairs], axis=0))

    def best(self) -> FloatArray:
        """The point (d,) tried with the largest posterior mean, summed over the learners; first, an allowed point."""
        X = self.data.X
        if not len(X):
            return np.array(self.domain.sample(1, stream(0))[0])
        return np.array(X[int(np.argmax(self.level(X)))])

    def prior_at(self, points: ArrayLike) -> gp.Prior:
        """The Gaussian process before any answer, at ``points`` (n, d)."""
        return gp.make_prior(self.models[0].kernel.matrix(np.asarray(points, dtype=np.float64)), self.mean)
