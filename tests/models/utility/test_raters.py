"""A noise of each rater's own, and shared utilities with individual deviations."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.laplace import laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Trend
from prefopt.models.utility.raters import (
    SHARED,
    SPREAD,
    deviating,
    individual,
    of_rater,
    rater_noise,
    shared_and_individual,
)

POINTS = np.linspace(0, 1, 12)[:, None]
HYPER = Hyper(Box(1))
PRIOR = HYPER.prior(HYPER.median)


def answers(n, utilities, noises, rng):
    """``n`` duels of each rater about two of ``POINTS`` drawn at random, logistic noise times the rater's own."""
    said = []
    for rater, (values, noise) in enumerate(zip(utilities, noises, strict=True)):
        for _ in range(n):
            i, j = rng.choice(len(POINTS), 2, replace=False)
            wins = rng.random() < 1 / (1 + np.exp(-(values[i] - values[j]) / noise))
            said.append(Said((int(i), int(j)), Answer.duel(0 if wins else 1), rater=rater))
    return said


def test_the_noise_of_every_rater_is_found():
    rng = np.random.default_rng(2)
    truth = 4 * np.sin(4 * POINTS[:, 0])
    said = answers(120, [truth] * 3, [0.5, 1.0, 4.0], rng)
    found = rater_noise(PRIOR, POINTS, Comparisons.of(said, len(POINTS)), Likelihood(), 3)
    # ratios of noises: a Laplace approximation and 120 duels each leave a factor of about 1.5
    assert found[2] / found[1] == pytest.approx(4, rel=0.5)
    assert found[0] < found[1] < found[2]


def test_a_rater_who_said_nothing_keeps_the_prior():
    said = answers(20, [POINTS[:, 0]], [1.0], np.random.default_rng(1))
    found = rater_noise(PRIOR, POINTS, Comparisons.of(said, len(POINTS)), Likelihood(), 2)
    assert found[1] == pytest.approx(1, abs=0.01)  # as exact as the search


def test_it_is_the_most_probable_noise():
    """No noise nearby is more probable, by a posterior computed without slopes."""
    said = answers(25, [4 * np.sin(4 * POINTS[:, 0])] * 2, [0.5, 3.0], np.random.default_rng(5))
    data = Comparisons.of(said, len(POINTS))
    m, K = PRIOR.of_differences(POINTS, data)

    def posterior(noise):
        evidence = laplace(K, m, data, Likelihood(noise=tuple(noise))).evidence
        return evidence - 0.5 * np.sum(np.log(noise) ** 2) / SPREAD**2

    found = rater_noise(PRIOR, POINTS, data, Likelihood(), 2)
    for factor in itertools.product((1 / 1.3, 1, 1.3), repeat=2):
        assert posterior(found * factor) <= posterior(found) + 1e-4 * abs(posterior(found))
    assert posterior(found) > posterior(np.ones(2)) + 1


def test_without_deviations_it_is_the_pooled_model():
    said = answers(15, [POINTS[:, 0], -POINTS[:, 0]], [1, 1], np.random.default_rng(3))
    pooled = Utility.after(PRIOR, POINTS, Comparisons.of(said, len(POINTS)), Likelihood())
    found, rho = shared_and_individual(PRIOR, POINTS, said, Likelihood(), ratios=(0.0,))
    assert rho == 0
    for rater in (SHARED, 0, 1):
        mean, covariance = found.joint(of_rater(POINTS, rater))
        # utilities of raters are one and the same, up to the ridge of the likelihood's curvature
        assert np.allclose(mean, pooled.joint(POINTS)[0], atol=1e-4)
        assert np.allclose(covariance, pooled.joint(POINTS)[1], atol=1e-4)


def test_raters_who_agree_share_and_those_who_do_not_deviate():
    rng = np.random.default_rng(4)
    slope = 6 * POINTS[:, 0]
    alike, alike_rho = shared_and_individual(PRIOR, POINTS, answers(40, [slope] * 2, [1, 1], rng), Likelihood())
    opposite, rho = shared_and_individual(PRIOR, POINTS, answers(40, [slope, -slope], [1, 1], rng), Likelihood())
    assert alike_rho < rho
    assert rho >= 1
    first, second = (opposite.mean(of_rater(POINTS, rater)) for rater in (0, 1))
    assert np.corrcoef(first, slope)[0, 1] > 0.8  # the pull of the centre is everybody's
    assert np.corrcoef(second, slope)[0, 1] < -0.8
    assert np.ptp(opposite.mean(of_rater(POINTS, SHARED))) < 0.5 * np.ptp(first)
    assert np.corrcoef(alike.mean(of_rater(POINTS, SHARED)), slope)[0, 1] > 0.95


@pytest.mark.parametrize("trend", [None, Trend((0,), (0.5,), (0.5,))])
def test_the_shared_utility_alone_is_the_same_as_beside_the_deviations(trend):
    """Rows (x, rater) with a kernel of their own, and differences with a covariance of their own: one posterior."""
    rng = np.random.default_rng(6)
    said = answers(10, [4 * POINTS[:, 0], -2 * POINTS[:, 0], 0 * POINTS[:, 0]], [1, 1, 1], rng)
    data = Comparisons.of(said, len(POINTS))
    hyper = deviating(replace(HYPER, trend=trend), 0.5)
    short = Utility.after(hyper.prior(hyper.median), POINTS, data, Likelihood())
    full = shared_and_individual(replace(HYPER, trend=trend).prior(HYPER.median), POINTS, said, Likelihood(), (0.5,))[0]
    for one, other in zip(short.joint(POINTS), full.joint(of_rater(POINTS, SHARED)), strict=True):
        assert np.allclose(one, other, atol=1e-6)
    drawn = short.paths(Box(1), 4000, rng, features=2000).values(POINTS)
    mean, covariance = short.joint(POINTS)
    # standard errors of 4000 draws: sd / 63, and as much of a variance times 1.4; five of them, and the features' error
    spread = np.sqrt(np.diag(covariance)).max()
    assert np.abs(drawn.mean(axis=0) - mean).max() < 0.1 * spread
    assert np.abs(np.cov(drawn.T) - covariance).max() < 0.15 * spread**2


def test_the_slopes_of_the_evidence_know_the_deviations():
    said = answers(8, [4 * POINTS[:, 0], -2 * POINTS[:, 0]], [1, 1], np.random.default_rng(7))
    hyper = deviating(HYPER, 1.0)
    objective = hyper.objective(POINTS, Comparisons.of(said, len(POINTS)), Likelihood())
    theta = hyper.median + 0.2
    slope = objective(theta)[1]
    for j, step in enumerate(1e-5 * np.eye(len(theta))):
        assert slope[j] == pytest.approx((objective(theta + step)[0] - objective(theta - step)[0]) / 2e-5, rel=1e-4)


def test_the_prior_covariance_is_the_one_of_the_formula():
    prior = individual(PRIOR, 0.3)
    a, b = of_rater(POINTS[:3], 0), of_rater(POINTS[2:6], 1)
    plain = PRIOR.kernel(POINTS[:3], POINTS[2:6])
    assert np.allclose(prior.kernel(a, b), plain)
    assert np.allclose(prior.kernel(a, of_rater(POINTS[2:6], 0)), 1.3 * plain)
    assert np.allclose(prior.kernel(a, of_rater(POINTS[2:6], SHARED)), plain)
    both = np.vstack([a, b, of_rater(POINTS[:2], SHARED)])
    assert np.allclose(prior.kernel.matrix(both), prior.kernel(both, both))
    assert np.linalg.eigvalsh(prior.kernel.matrix(both)).min() > -1e-9
    with pytest.raises(SettingError, match="rho"):
        individual(PRIOR, -1)
