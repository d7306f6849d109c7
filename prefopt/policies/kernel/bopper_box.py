"""Preferential Bayesian optimisation (BOPPER) on a box: Gonzalez, Dai, Damianou, Lawrence 2017."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefopt.answer import Answer
from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.models import grid_posterior as gp
from prefopt.models.box_search import NEAR, near, peaks, raw_points
from prefopt.models.copeland import expected_improvement, pure_exploration, soft_copeland
from prefopt.models.copeland_path import CopelandPath
from prefopt.models.duels import Duels
from prefopt.models.pairs import IntArray, PairPosterior, PairPrior
from prefopt.models.stationary import Stationary, as_stationary
from prefopt.models.tried import place
from prefopt.policies.kernel.awaiting import AwaitingBox
from prefopt.policies.kernel.bopper import mutual
from prefopt.policies.kernel.choices import json_able
from prefopt.policies.kernel.pair_choices import check_pair_choices, is_mirrored
from prefopt.seeding import stream

#: Value of pairs of options, given f and two index arrays.
Value = Callable[[PairPosterior, IntArray, IntArray], FloatArray]
#: Points among which Copeland expected improvement looks for a pair, and whose scores it wants to improve.
FEW = 32
#: Points tried around each option of the best pair found, and how often, ten times closer each time.
AROUND, CLOSER = 24, 2


@dataclass(kw_only=True)
class BoxBOPPER(AwaitingBox):
    """Preferential Bayesian optimisation over a box; state: distinct points and the duels between them.

    Dueling Thompson sampling climbs the soft-Copeland score of a drawn function; opponents, and the pairs of the other
    acquisitions, are the best of many points and then of points nearby.

    Args:
        domain: the box; categories enter the kernel by equality only, levels as numbers.
        slate_size: 2.
        horizon: not used.
        acquisition: "dts", "cei", "pe" or "random", see ``BOPPER``.
        kernel: of pairs: "se", "skew", "difference" or "sum".
        base: the kernel of options it is made of: "rbf", "matern32", "matern52", a GPyTorch kernel of these (with its
            own scales), or its fields.
        lengthscale: of a named base; one, or one a column, in units of the cube.
        outputscale: of f, in squared logits.
        mirror: None: true for "se".
        initial: random questions first.
        landmarks: points over which scores are means.
        pairs: about so many pairs are looked at.
        features: random features of a draw.
        raw_samples: Sobol points at which a draw is looked at first.
        restarts: of them, how many are climbed from.
        merge: points closer than this in every continuous column are one option tried again.
        reuse: whether one option of every question, from the second on, is one that was shown before.

    Source: Gonzalez et al. 2017, sections 2 and 3.
    """

    acquisition: str = "dts"
    kernel: str = "skew"
    base: Any = None
    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 16.0
    mirror: bool | None = None
    initial: int = 0
    landmarks: int = 128
    pairs: int = 4096
    features: int = 512
    raw_samples: int = 512
    restarts: int = 16
    merge: float = 1e-3

    k: Stationary = field(init=False, repr=False, compare=False)
    duels: Duels = field(init=False, repr=False, compare=False)
    X: FloatArray = field(init=False, repr=False, compare=False)
    asked: int = field(default=0, init=False, repr=False, compare=False)

    def check(self) -> None:
        """Two options, choices known, scales and sizes positive; makes the kernel."""
        if self.slate_size != 2:
            raise SettingError(f"BOPPER compares two options at a time, got slate_size={self.slate_size}")
        check_pair_choices(self)
        if min(self.features, self.raw_samples, self.restarts) < 1 or self.merge < 0:
            raise SettingError(
                "expected features >= 1, raw_samples >= 1, restarts >= 1 and merge >= 0, got "
                f"{self.features}, {self.raw_samples}, {self.restarts}, {self.merge}"
            )
        self.k = as_stationary(self.base, self.domain, self.lengthscale, 1.0)

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a GPyTorch kernel as its fields."""
        return json_able(super().settings, self.k, "base")

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything."""
        super().init(rng)
        self.X, self.asked = np.zeros((0, self.domain.dim)), 0
        self.duels = Duels(self.kernel != "se", is_mirrored(self))

    def choose(self, rng: np.random.Generator) -> FloatArray:
        """Two points (2, d); changes nothing."""
        if self.tried is None:
            raise SettingError("ask before init: call policy.init(rng) first")
        if self.acquisition == "random" or self.asked < self.initial:
            return np.asarray(self.domain.sample(2, rng))
        if self.acquisition == "dts":  # section 3.3
            first = self._best_of_a_draw(rng)[None]
            raw = raw_points(self.domain, self.raw_samples, self.X[-8:], rng)
            return self._best_pair(first, raw, _explore, rng, keep=True)
        if self.acquisition == "pe":  # section 3.1
            some = raw_points(self.domain, max(8, int(np.sqrt(self.pairs)) // 2), self.X[-4:], rng)
            return self._best_pair(some, some, _explore, rng)
        some = self._leading(FEW, rng)  # section 3.2
        n = len(self.X) + np.arange(len(some))
        return self._best_pair(some, some, lambda f, a, b: expected_improvement(f, a, b, n, n), rng, closer=0)

    def shown(self) -> FloatArray:
        """The allowed points compared so far, (q, d)."""
        return np.asarray(self.X[self.domain.feasible(self.X)])

    def level(self, points: FloatArray) -> FloatArray:
        """Soft-Copeland scores of ``points`` (n, d), (n,)."""
        f, (here, landmarks) = self._on(points, self.domain.sample(self.landmarks, stream(0)))
        return soft_copeland(f, here, landmarks)

    def expected(self, slate: FloatArray) -> FloatArray:
        """The chance that each option of ``slate`` (m, d) beats each other one, (m, m), zeros on the diagonal."""
        f, (here,) = self._on(self.domain.project(slate))
        return mutual(f, here)

    def _on(self, *points: FloatArray) -> tuple[PairPosterior, list[IntArray]]:
        """The process f on the points compared so far and more, and the indices of each of the more."""
        ends = len(self.X) + np.cumsum([0, *map(len, points)])
        k = self.k.matrix(np.concatenate([self.X, *points]))
        posterior = self.duels.posterior(PairPrior(self.kernel, float(self.outputscale), k))
        return posterior, [np.arange(*span) for span in pairwise(ends)]

    def _best_of_a_draw(self, rng: np.random.Generator) -> FloatArray:
        """The point (d,) of largest soft-Copeland score of one posterior draw."""
        landmarks = self.domain.sample(self.landmarks, stream(0))
        posterior, _ = self._on()
        score = CopelandPath.draw(posterior, self.k, self.domain, self.X, landmarks, self.features, rng)
        raw = raw_points(self.domain, self.raw_samples, self.X[-32:], rng)
        points, values = peaks(score, self.domain, raw, restarts=self.restarts, finish=4)
        return np.array(points[0, int(np.argmax(values[0]))])

    def _leading(self, most: int, rng: np.random.Generator) -> FloatArray:
        """``most`` points: half of them those of largest score, of those compared so far, the others anywhere."""
        raw = raw_points(self.domain, most, self.X[:0], rng)
        return np.concatenate([self._ranked(self.X)[: most // 2], raw])[:most]

    def _ranked(self, points: FloatArray) -> FloatArray:
        """``points`` (n, d) by their soft-Copeland scores, best first."""
        if not len(points):
            return points
        return np.asarray(points[np.argsort(-self.level(points), kind="stable")])

    def _best_pair(
        self,
        left: FloatArray,
        right: FloatArray,
        value: Value,
        rng: np.random.Generator,
        *,
        keep: bool = False,
        closer: int = CLOSER,
    ) -> FloatArray:
        """The pair (2, d) of largest ``value`` of a row of ``left`` and one of ``right``, then nearby (``keep``: left).

        Pairs of one point are left out while there are others.
        """
        for step in range(closer + 1):
            f, (a, b) = self._on(left, right)
            a, b = np.repeat(a, len(right)), np.tile(b, len(left))
            points = np.concatenate([self.X, left, right])
            differ = np.abs(points[a] - points[b]).max(axis=1) > self.merge
            a, b = (a[differ], b[differ]) if differ.any() else (a, b)
            i = int(np.argmax(value(f, a, b)))
            best = points[[a[i], b[i]]]
            spread = NEAR / 10**step
            left = best[:1] if keep else np.concatenate([best[:1], near(self.domain, best[:1], AROUND, spread, rng)])
            right = np.concatenate([best[1:], near(self.domain, best[1:], AROUND, spread, rng)])
        return np.asarray(best)

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator) -> None:
        """Learn from ``answer`` to ``slate`` (m, d); a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, or a point is outside of the cube.
        """
        X, options = place(self.X, slate, answer, self.domain, merge=self.merge)
        if answer.kind == "skip":
            return
        self.X = X
        prior = PairPrior(self.kernel, float(self.outputscale), self.k.matrix(X))
        self.duels.learn(options, answer.wins, prior)
        self.asked += 1

    def best(self, over: str = "tried") -> FloatArray:
        """The point (d,) of largest soft-Copeland score of those compared, or ``over="box"`` in the whole box.

        A point nobody was shown is only as good as the model; before any answer: an allowed point.
        """
        if over not in ("tried", "box"):
            raise SettingError(f"expected over='tried' or 'box', got {over!r}")
        if over == "tried" and len(self.X):
            return np.array(self._ranked(self.X)[0])
        rng = stream(0)
        if not len(self.X):
            return np.array(self.domain.sample(1, rng)[0])
        found = self._ranked(raw_points(self.domain, self.raw_samples, self.X, rng))[:1]
        for step in range(CLOSER):
            spread = NEAR / 10**step
            found = self._ranked(np.concatenate([found, near(self.domain, found, AROUND, spread, rng)]))[:1]
        return np.array(found[0])

    def prior_at(self, points: ArrayLike) -> gp.Prior:
        """The Gaussian process of single options before any answer, at ``points`` (n, d)."""
        return gp.make_prior(self.k.matrix(np.asarray(points, dtype=np.float64)))


def _explore(f: PairPosterior, a: IntArray, b: IntArray) -> FloatArray:
    return pure_exploration(f, a, b)
