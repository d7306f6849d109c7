"""What the report believes: one utility model of all answers, whatever policy chose the questions."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Column, FloatArray, Grid
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.given import default_hyper
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.raters import SHARED, distinguishable, rater_noise, with_noise
from prefopt.seeding import stream

#: What the random stream (seed, answers, REPORT, ...) is for.
REPORT = 77
#: Posterior draws behind the credible region, and points of a box at which each is maximised.
DRAWS, POINTS = 400, 4096
#: Options of a finite space that enter a joint draw: those that may be the best.
MOST = 600
#: Mass of a credible region.
CREDIBLE = 0.95

SaidOfIds = Sequence[tuple[tuple[int, ...], Answer]]


@dataclass(frozen=True)
class Options:
    """The options of a study as rows that a utility model takes.

    A list of options without features is one column of categories, all equally far apart.

    Args:
        domain: ``Arms``, ``Grid`` or ``Box``.
    """

    domain: Arms | Grid | Box
    box: Box = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.domain, Arms):
            column = Column("category", tuple(np.linspace(0, 1, max(2, self.domain.size)).tolist()))
            object.__setattr__(self, "box", Box([column]))
        else:
            object.__setattr__(self, "box", Box(self.domain.dim) if isinstance(self.domain, Grid) else self.domain)

    def rows(self, options: Sequence[Any]) -> FloatArray:
        """Rows (n, d) of options as the domain names them: indices, or points of a box."""
        if isinstance(self.domain, Box):
            return np.array(options, dtype=np.float64).reshape(len(options), self.domain.dim)
        index = np.array(options, dtype=np.int64)
        if isinstance(self.domain, Arms):
            return (index / max(1, self.domain.size - 1)).reshape(-1, 1)
        return np.asarray(self.domain.points[index])


@dataclass(frozen=True)
class Belief:
    """A utility model of what was said.

    Attributes:
        options: how options become rows.
        utility: the posterior.
        likelihood: how answers come about, with the noise of every rater; the last one is that of anybody.
    """

    options: Options
    utility: Utility
    likelihood: Likelihood

    @classmethod
    def of(cls, options: Options, compared: Sequence[Any], said: Sequence[Said]) -> Belief:
        """Learned from ``said``, whose slates name places in ``compared`` (options); hyper-parameters too.

        Skips say nothing; a tie is one half of each side. If two raters can be told apart, every rater has a noise
        of their own.
        """
        rows, likelihood = options.rows(compared), Likelihood()
        said = [one for one in said if one.answer.kind != "skip"]
        data, answers = Comparisons.of(said, len(rows)), np.bincount([one.rater for one in said])
        hyper: Hyper = default_hyper(options.box)
        if distinguishable(answers):
            noise = rater_noise(hyper.prior(hyper.median), rows, data, likelihood, len(answers))
            likelihood = with_noise(likelihood, noise.tolist(), len(answers))
        theta = hyper.learn(rows, data, likelihood)
        return cls(options, Utility.after(hyper.prior(theta), rows, data, likelihood), likelihood)

    def chance(self, a: Any, b: Any, rater: int = SHARED) -> float:
        """The chance that ``rater``, or anybody, is seen to prefer option ``a`` to ``b``."""
        rows = self.options.rows([a, b])
        if rater >= len(self.likelihood.noise):  # one of whom nothing is known
            rater = SHARED
        return float(self.utility.win_probability(rows[:1], rows[1:], self.likelihood, rater)[0])

    def against(self, options: Sequence[Any], other: Any) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and standard deviation (n,) of the utility of each option less that of ``other``."""
        rows = self.options.rows(options)
        return self.utility.difference(rows, np.repeat(self.options.rows([other]), len(rows), axis=0))

    def best(self, seed: int, extra: Sequence[Any] = (), without: Collection[int] = ()) -> tuple[list[Any], FloatArray]:
        """Where the best option may be: options, and the posterior probability (n,) that each is the best.

        Of a finite space these are its options; of a box the maxima of posterior draws over points spread in it.

        Args:
            seed: of the study.
            extra: options of a box that are compared too, such as those shown.
            without: options of a finite space that cannot be made.
        """
        domain, rng = self.options.domain, stream(seed, len(self.utility.data), REPORT)
        if not isinstance(domain, Box):
            possible = np.array([i for i in range(domain.size) if i not in without])
            rows = self.options.rows(possible.tolist())
            mean, root = self.utility.mean_and_root(rows)
            sd = np.sqrt(np.maximum(np.diag(self.utility.prior.covariance(rows[:1], rows[:1])) - (root**2).sum(1), 0))
            kept = np.sort(np.argsort(-(mean + 2 * sd), kind="stable")[:MOST])
            return possible[kept].tolist(), self.utility.probability_best(rows[kept], rng)
        points = np.vstack([self.options.rows(list(extra)), domain.sample(POINTS, rng)])
        values = self.utility.paths(domain, DRAWS, rng).values(points)
        found, count = np.unique(values.argmax(axis=1), return_counts=True)
        return [points[i] for i in found], count / DRAWS


def said_of(ids: Sequence[int], said: SaidOfIds, by: Sequence[Hashable]) -> list[Said]:
    """Answers about candidate ids, as answers about places in ``ids``; ``by``: who gave each, numbered as they come."""
    place = {number: i for i, number in enumerate(ids)}
    rater = {who: i for i, who in enumerate(dict.fromkeys(by))}
    return [
        Said(tuple(place[i] for i in slate), answer, rater=rater[who])
        for (slate, answer), who in zip(said, by, strict=True)
    ]


def smallest_set(probability: FloatArray, mass: float = CREDIBLE) -> list[int]:
    """Places of the smallest set with at least this posterior probability, most probable first.

    >>> smallest_set(np.array([0.1, 0.6, 0.04, 0.26]), 0.8)
    [1, 3]
    """
    order = np.argsort(-probability, kind="stable")
    size = int(np.searchsorted(np.cumsum(probability[order]), mass - 1e-12)) + 1
    return [int(i) for i in order[: min(size, len(order))]]
