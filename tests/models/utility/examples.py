"""Random data sets for the tests of approximations: answers drawn from the prior they are judged with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.prior import Prior, Trend


class Example(NamedTuple):
    prior: Prior
    points: np.ndarray  # (q, d)
    data: Comparisons
    likelihood: Likelihood
    held_out: np.ndarray  # (60, d): pairs (i, 30 + i)


def draw(likelihood: Likelihood, m: int, seed: int, answers: int | None = None) -> Example:
    """1 to 4 dimensions, the default hyper-parameters with a centre, best of m, 10 to 60 answers unless told."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    n = int(rng.integers(10, 61)) if answers is None else answers
    box = Box(d)
    trend = Trend(tuple(range(d)), (0.5,) * d, (0.5,) * d)
    hyper = Hyper(box, trend=trend)
    prior = hyper.prior(hyper.median)
    X, held_out = box.sample(n + 3, rng), box.sample(60, rng)
    f = joint_draws(prior.mean(X), prior.covariance(X, X), 1, rng)[0]
    said = []
    for _ in range(n):
        slate = rng.choice(len(X), m, replace=False)
        noise = rng.gumbel(size=m) if likelihood.link == "logit" else rng.standard_normal(m) / np.sqrt(2)
        best = int(rng.integers(m)) if rng.random() < likelihood.lapse else int(np.argmax(f[slate] + noise))
        said.append(Said(tuple(slate.tolist()), Answer.best(best, m)))
    return Example(prior, X, Comparisons.of(said, len(X)), likelihood, held_out)
