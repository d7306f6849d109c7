"""The core of the utility models: derivatives, posterior paths, robustness."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefopt.answer import Answer
from prefopt.domain import Box, Column
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Trend

CATEGORY = Column("category", (0.0, 0.5, 1.0))


def trend(box: Box) -> Trend:
    numeric = tuple(j for j, c in enumerate(box.columns) if c.kind != "category")
    return Trend(numeric, (0.4,) * len(numeric), (0.3,) * len(numeric))


def example(d: int, categories: int, m: int, seed: int = 0) -> tuple[Box, np.ndarray, Comparisons]:
    """A box, 30 points on it, and 15 answers of several kinds about m of them."""
    rng = np.random.default_rng(seed)
    box = Box([CATEGORY if j < categories else Column() for j in range(d)])
    X = box.sample(30, rng)
    said = []
    for t in range(15):
        slate = tuple(rng.choice(30, m, replace=False).tolist())
        kinds = (
            Answer.best(int(np.argmax(-((X[list(slate)] - 0.3) ** 2).sum(axis=1))), m),
            Answer.tie(m),
            Answer.ranking([int(i) for i in rng.permutation(m)], m),
            Answer.worst(0, m),
        )
        said.append(Said(slate, kinds[t % 4], 1.0 + t % 2, t % 2))
    return box, X, Comparisons.of(said, len(X))


LIKELIHOODS = [
    (2, Likelihood()),
    (4, Likelihood()),
    (3, Likelihood(jnd=0.3, noise=(1.0, 2.0))),
    (4, Likelihood(lapse=0.2)),
    (2, Likelihood("probit", jnd=0.2)),
    (2, Likelihood("probit", lapse=0.1)),
]


@pytest.mark.parametrize(("m", "likelihood"), LIKELIHOODS)
def test_the_gradient_of_the_likelihood(m: int, likelihood: Likelihood) -> None:
    data = example(3, 1, m)[2]
    h = np.random.default_rng(1).standard_normal(len(data))
    numeric = [
        (likelihood.terms(h + e, data).value - likelihood.terms(h - e, data).value) / 2e-6
        for e in 1e-6 * np.eye(len(h))
    ]
    assert_allclose(likelihood.terms(h, data).gradient, numeric, atol=1e-7)


@pytest.mark.parametrize(("m", "likelihood"), [case for case in LIKELIHOODS if not case[1].lapse])
def test_curvature_is_the_slope_of_the_gradient_and_third_that_of_curvature(m: int, likelihood: Likelihood) -> None:
    data = example(3, 1, m)[2]
    rng = np.random.default_rng(2)
    h, towards = rng.standard_normal(len(data)), rng.standard_normal(len(data))
    up, down = (likelihood.terms(h + s * 1e-5 * towards, data) for s in (1, -1))
    here = likelihood.terms(h, data)
    S, along = [], 0.0
    for (_, rows), W, W_up, W_down in zip(data.groups, here.blocks, up.blocks, down.blocks, strict=True):
        slope = (up.gradient - down.gradient)[rows] / 2e-5
        assert_allclose(np.einsum("nkl,nl->nk", W, towards[rows]), -slope, atol=1e-6)
        block = rng.standard_normal(W.shape)
        S.append(block + block.transpose(0, 2, 1))
        along += float(np.sum(S[-1] * (W_up - W_down))) / 2e-5
    assert likelihood.third(here, data, tuple(S)) @ towards == pytest.approx(along, abs=1e-5)


@pytest.mark.parametrize(("d", "categories"), [(1, 0), (3, 1)])
@pytest.mark.parametrize(("m", "likelihood"), [case for case in LIKELIHOODS if not case[1].lapse])
def test_the_gradient_of_the_evidence(m: int, likelihood: Likelihood, d: int, categories: int) -> None:
    box, X, data = example(d, categories, m)
    hyper = Hyper(box, trend=trend(box))
    objective = hyper.objective(X, data, likelihood)
    theta = hyper.median + 0.3 * np.random.default_rng(3).standard_normal(d + 2)
    numeric = [(objective(theta + e)[0] - objective(theta - e)[0]) / 2e-5 for e in 1e-5 * np.eye(d + 2)]
    assert_allclose(objective(theta)[1], numeric, atol=1e-6)


def test_paths_have_the_posterior_as_their_law_and_their_gradients_are_right() -> None:
    box, X, data = example(3, 1, 4)
    hyper = Hyper(box, trend=trend(box))
    utility = Utility.after(hyper.prior(hyper.median), X, data, Likelihood())
    rng = np.random.default_rng(4)
    Z = box.sample(6, rng)
    mean, covariance = utility.joint(Z)
    values = np.concatenate([utility.paths(box, 100, rng).values(Z) for _ in range(100)])
    assert_allclose(values.mean(axis=0), mean, atol=6 * np.sqrt(covariance.max() / 1e4) + 0.02)
    assert_allclose(np.cov(values.T), covariance, atol=0.08 * covariance.max())
    paths, which = utility.paths(box, 6, rng), np.arange(6)
    value, gradient = paths.value_and_gradient(Z, which)
    assert_allclose(value, np.diag(paths.values(Z)), atol=1e-10)
    for j in (1, 2):
        e = 1e-6 * np.eye(3)[j]
        up, down = paths.value_and_gradient(Z + e, which)[0], paths.value_and_gradient(Z - e, which)[0]
        assert_allclose(gradient[:, j], (up - down) / 2e-6, atol=1e-6)
    assert_allclose(utility.mean_path(box).values(Z)[0], mean, atol=1e-9)


def test_differences_follow_from_the_joint_posterior() -> None:
    box, X, data = example(3, 1, 3)
    hyper = Hyper(box, trend=trend(box))
    utility = Utility.after(hyper.prior(hyper.median), X, data, Likelihood())
    Z = box.sample(8, np.random.default_rng(5))
    mean, C = utility.joint(Z)
    found, sd = utility.difference(Z[:4], Z[4:])
    assert_allclose(found, mean[:4] - mean[4:], atol=1e-10)
    variance = np.diag(C)[:4] + np.diag(C)[4:] - 2 * np.diag(C[:4, 4:])
    assert_allclose(sd**2, variance, atol=1e-9)


@pytest.mark.parametrize(
    "said",
    [
        [(i, i + 1) for i in range(29)],  # a clean chain
        [(0, 1), (1, 2), (2, 0)] * 10,  # a cycle
        [(0, 1)] * 200,  # repeats
        [(0, 1), (1, 0)] * 50,  # contradictions
    ],
)
def test_chains_cycles_and_repeats_are_learned_from(said: list[tuple[int, int]]) -> None:
    box = Box(2)
    X = box.sample(30, np.random.default_rng(6))
    X[1] = X[0] + 1e-9  # near-duplicates
    data = Comparisons.of([Said(pair, Answer.duel(0)) for pair in said], len(X))
    hyper = Hyper(box, trend=trend(box))
    theta = hyper.learn(X, data, Likelihood())
    mean, C = Utility.after(hyper.prior(theta), X, data, Likelihood()).joint(X)
    assert np.isfinite(mean).all() and np.linalg.eigvalsh(C).min() > -1e-6
    assert np.isfinite(theta).all()


def test_equal_answers_are_one_stage_with_their_weight() -> None:
    once = Comparisons.of([Said((0, 1), Answer.duel(0), weight=3.0), Said((1, 2), Answer.duel(1))])
    thrice = Comparisons.of(
        [Said((0, 1), Answer.duel(0)), Said((1, 2), Answer.duel(1)), *[Said((0, 1), Answer.duel(0))] * 2]
    )
    assert once.weight.tolist() == thrice.weight.tolist() == [3.0, 1.0]
    assert once.ahead.tolist() == thrice.ahead.tolist()
