"""Chances to win from counts: exact conditioning, and the share of draws in which an option is best."""

import numpy as np
import pytest

from prefopt.domain import Grid
from prefopt.models.beliefs import BLOCKS, CHANCE, OUTCOME, PAIRS, chances, deviations
from prefopt.models.grid_posterior import make_prior
from prefopt.models.kernels import kernel_matrix

LINE, PLANE = Grid.regular(40), Grid.regular(4, 3)
SCATTERED = np.random.default_rng(0).random((9, 5))
PRIORS = {
    "independent": make_prior(2.0 * np.eye(6), 0.3),
    "low rank": make_prior(kernel_matrix("rbf", LINE.points, 0.3, 3.0)),
    "product": make_prior(kernel_matrix("rbf", PLANE.points, 0.2, 0.5), 1.0, (4, 3)),
    "dense": make_prior(kernel_matrix("matern32", SCATTERED, 0.5)),
}


def counts(size):
    tries = np.where(np.arange(size) % 3 == 1, 4.0, 0.0)
    return tries, tries * np.linspace(0, 1, size)


@pytest.mark.parametrize("name", PRIORS)
def test_deviations_have_the_prior_covariance(name):
    """Largest of at most 1,600 entries, false alarm below 1e-6 each: six standard errors."""
    prior, n = PRIORS[name], 20_000
    drawn, size = deviations(prior, n, np.random.default_rng(1)), np.diag(prior.covariance)
    assert np.all(np.abs(drawn.mean(axis=0)) < 6 * np.sqrt(size / n))
    assert np.abs((drawn.T @ drawn / n - prior.covariance) / np.sqrt(np.outer(size, size))).max() < 6 * np.sqrt(2 / n)


@pytest.mark.parametrize("name", PRIORS)
def test_chances_are_those_of_a_plain_gaussian_process(name):
    prior = PRIORS[name]
    tries, wins = counts(len(prior.mean))
    mean, sd, best = chances(prior, tries, wins, np.random.default_rng(2))
    K = prior.covariance * CHANCE[1] / prior.covariance[0, 0]
    rows = np.repeat(np.arange(len(tries)), tries.astype(int))  # one row an outcome, the mean outcome of its option
    cross = K[:, rows]
    solved = np.linalg.solve(cross[rows] + OUTCOME * np.eye(len(rows)), cross.T)
    exact, spread = CHANCE[0] + (wins / np.maximum(tries, 1) - CHANCE[0])[rows] @ solved, K - cross @ solved
    np.testing.assert_allclose(mean, exact, atol=1e-8)
    np.testing.assert_allclose(sd, np.sqrt(np.diag(spread)), atol=1e-8)
    draws = np.random.default_rng(3).multivariate_normal(exact, spread, 20_000, method="svd")
    share = np.bincount(np.argmax(draws, axis=1), minlength=len(mean)) / len(draws)
    assert best.sum() == pytest.approx(1)
    assert np.abs(best - share).max() < 6 * np.sqrt(0.25 / (BLOCKS * PAIRS))


def test_before_any_answer_nothing_is_known():
    mean, sd, best = chances(PRIORS["independent"], np.zeros(6), np.zeros(6), np.random.default_rng(4))
    np.testing.assert_allclose([mean, sd**2], [[CHANCE[0]] * 6, [CHANCE[1]] * 6])
    assert np.abs(best - 1 / 6).max() < 6 * np.sqrt(5 / 36 / (BLOCKS * PAIRS))
