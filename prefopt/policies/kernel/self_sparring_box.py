"""KernelSelfSparring on a box: Sui, Zhuang, Burdick, Yue 2017, "Multi-dueling bandits with dependent arms".

Step numbers are those of Algorithm 4. A draw is a whole function (Wilson et al. 2020), maximised over the box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from prefopt.answer import Answer
from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models import grid_posterior as gp
from prefopt.models.beliefs import as_probability, joint_draws
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.exact import ExactGP
from prefopt.models.stationary import as_stationary
from prefopt.policies.kernel.awaiting import AwaitingBox
from prefopt.policies.kernel.choices import (
    check_choices,
    check_likelihood,
    check_scales,
    json_able,
    must_differ,
    variance_of,
)
from prefopt.seeding import stream

#: Two points of a slate that differ by no more than this in any column look the same (``distinct``).
APART = 0.01


@dataclass(kw_only=True)
class BoxKernelSelfSparring(AwaitingBox):
    """Self-sparring with one Gaussian process over a box, any slate size; state: tries and wins of distinct points.

    f(x) = P(x beats the environment) has a GP prior; every compared pair adds a 1 for the winner and a 0 for the
    loser.

    Args:
        domain: the box; categories enter the kernel by equality only, levels as numbers.
        slate_size: m, at least 2.
        horizon: not used.
        lengthscale: one, or one a column, in units of the cube.
        outputscale: signal variance.
        noise: variance of one 0/1 outcome; None takes 0.05, or 0.25 if ``feedback`` is "winner".
        likelihood: "gaussian" outcomes, as published, or "bernoulli": f is the sigmoid of a GP, by Laplace's
            approximation; without noise, and ``outputscale`` and ``mean`` are in logits.
        mean: prior mean.
        feedback: "pairs" or "winner": what answers will look like (sets the default noise only).
        self_duel: "coin" counts answers about two (nearly) equal points, "skip" ignores them.
        distinct: whether the two points of a slate must differ (the next best of the same draw); None: if m = 2.
        kernel: "rbf", "matern32", "matern52", a GPyTorch kernel of these (with its own scales), or its fields.
        features: random features of a draw.
        raw_samples: Sobol points at which draws are looked at first.
        restarts: of them, how many are climbed from, for each draw.
        merge: points closer than this in every continuous column are one option tried again.
        reuse: whether one option of every question, from the second on, is one that was shown before.

    Source: Sui et al. 2017, Algorithm 4; section 3 there names continuous spaces.
    """

    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 1.0
    noise: float | None = None
    likelihood: str = "gaussian"
    mean: float = 0.0
    feedback: str = "pairs"
    self_duel: str = "coin"
    distinct: bool | None = None
    kernel: Any = None
    features: int = 1024
    raw_samples: int = 1024
    restarts: int = 64
    merge: float = 1e-3

    #: Its factor and targets are remembered between questions, and follow from what was tried.
    memo: ClassVar[tuple[str, ...]] = ("model",)

    model: ExactGP = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales, noise and sizes are positive, choices known; makes the model."""
        check_choices(self.feedback, self.self_duel, self.distinct, self.slate_size)
        check_scales(self)
        check_likelihood(self.likelihood, self.noise)
        noise = variance_of(self)
        counts = (self.slate_size - 1, self.features, self.raw_samples, self.restarts)
        if not (min(counts) >= 1 and noise > 0 and self.merge >= 0 and np.isfinite(self.mean)):
            raise SettingError(
                f"expected slate_size >= 2, noise > 0, sizes >= 1, merge >= 0, a finite mean; got {self}"
            )
        kernel = as_stationary(self.kernel, self.domain, self.lengthscale, self.outputscale)
        self.model = ExactGP(kernel, self.domain, float(self.mean), None if self.likelihood == "bernoulli" else noise)

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a GPyTorch kernel as its fields."""
        return json_able(super().settings, self.model.kernel)

    def choose(self, rng: np.random.Generator) -> FloatArray:
        """The next slate (m, d): m independent draws, each at its own maximum; changes nothing."""
        paths = self.model.paths(self.data, self.slate_size, rng, features=self.features)  # 3-5
        raw = raw_points(self.domain, self.raw_samples, self.incumbents(32), rng)
        points = peaks(paths, self.domain, raw, restarts=self.restarts, finish=8)[0]
        slate = points[:, 0].copy()  # 6
        if must_differ(self):
            gap = np.abs(points[1] - slate[0]).max(axis=1)
            slate[1] = points[1, int(np.argmax(gap > APART))]
        return slate

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from ``answer`` to ``slate`` (m, d); a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, or a point is outside of the cube.
        """
        count = self.self_duel == "coin"
        self.tried = self.data.add(slate, answer, self.domain, merge=self.merge, count_self=count)  # 9-10

    def level(self, points: FloatArray) -> FloatArray:
        """Posterior mean of f at ``points`` (n, d), (n,)."""
        return self.posterior(points)[0]

    def incumbents(self, n: int) -> FloatArray:
        """The ``n`` tried points of largest posterior mean, best first."""
        X = self.data.X
        if not len(X):
            return X
        mean = self.model.mean_at_tried(self.data)
        return X[np.argsort(-mean, kind="stable")[:n]]

    def best(self, over: str = "tried") -> FloatArray:
        """The point (d,) of largest posterior mean among those tried, or ``over="box"`` in the whole box.

        A point nobody was shown is only as good as the model; before any answer: an allowed point near the centre.
        """
        if over not in ("tried", "box"):
            raise SettingError(f"expected over='tried' or 'box', got {over!r}")
        if not len(self.data.X):
            centre = self.domain.project(np.full((1, self.domain.dim), 0.5))
            raw = np.vstack([centre, self.domain.sample(64, stream(0))])
            raw = raw[self.domain.feasible(raw)]
            return np.array(raw[int(np.argmin(np.abs(raw - 0.5).max(axis=1)))])
        good = self.incumbents(32)
        if over == "tried":
            return np.array(good[0])
        raw = raw_points(self.domain, self.raw_samples, good, stream(0))
        path = self.model.mean_path(self.data)
        points, values = peaks(path, self.domain, raw, restarts=self.restarts, finish=8)
        return np.array(points[0, int(np.argmax(values[0]))])

    def posterior(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (n,) and covariance (n, n) of f, P(option beats the environment), at ``points`` (n, d)."""
        latent = self.latent(points)
        return latent if self.likelihood == "gaussian" else as_probability(*latent)

    def draws(self, points: ArrayLike, size: int, rng: np.random.Generator) -> FloatArray:
        """``size`` joint posterior draws of f at ``points`` (n, d), shape (size, n)."""
        drawn = joint_draws(*self.latent(points), size, rng)
        return drawn if self.likelihood == "gaussian" else np.asarray(expit(drawn))

    def prior_at(self, points: ArrayLike) -> gp.Prior:
        """The Gaussian process before any answer, at ``points`` (n, d)."""
        return gp.make_prior(self.model.kernel.matrix(np.asarray(points, dtype=np.float64)), self.mean)

    def latent(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (n,) and covariance (n, n) of the Gaussian process at ``points`` (n, d): f, or its logits."""
        return self.model.posterior(self.data, np.atleast_2d(np.asarray(points, dtype=np.float64)))
