"""Expectation propagation, and exact draws, against quadrature and against each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import expit, ndtr

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.models.stationary import Stationary
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.laplace import Approximation, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Prior
from prefopt.models.utility.sampling import posterior_draws
from prefopt.models.utility.skew import above, gibbs_draws
from prefopt.models.utility.win import win_probability
from tests.models.utility.examples import Example, draw

LINK = {"logit": expit, "probit": ndtr}
#: Draws whose standard error is about 0.001 of a probability (measured). The chains begin at the approximation and move
#: along its ellipses, so that few steps are lost before they count, and every one counts after.
MANY = {"chains": 768, "warm": 20, "thin": 1}


def cube(m: np.ndarray, K: np.ndarray, data: Comparisons, likelihood: Likelihood, nodes: int) -> tuple:
    """Evidence, mean and covariance of the differences by a trapezoid rule in every direction."""
    line = np.linspace(-7, 7, nodes)
    z = np.array(list(itertools.product(line, repeat=len(m)))).T
    h = m[:, None] + np.linalg.cholesky(K) @ z
    weight = np.exp(-0.5 * (z**2).sum(axis=0) + likelihood.log_probability(h, data))
    total = weight.sum() * ((line[1] - line[0]) / np.sqrt(2 * np.pi)) ** len(m)
    mean = h @ weight / weight.sum()
    return np.log(total), mean, np.cov(h, aweights=weight, bias=True).reshape(len(m), len(m))


ONE_STAGE = [
    (2, Answer.duel(1), Likelihood(), 1.0, 400),
    (2, Answer.duel(1), Likelihood("probit"), 1.0, 400),
    (2, Answer.duel(0), Likelihood(lapse=0.3, jnd=0.5, noise=(0.7,)), 1.0, 400),
    (2, Answer.duel(0), Likelihood("probit", lapse=0.1), 3.0, 400),
    (3, Answer.best(2, 3), Likelihood(), 1.0, 120),
    (3, Answer.best(0, 3), Likelihood(jnd=0.5, noise=(0.8,)), 2.0, 120),
    (3, Answer.worst(0, 3), Likelihood(lapse=0.1), 1.0, 120),
    (4, Answer.best(1, 4), Likelihood(), 1.0, 50),
    (5, Answer.best(1, 5), Likelihood(), 1.0, 22),
]


@pytest.mark.parametrize(("m", "answer", "likelihood", "weight", "nodes"), ONE_STAGE)
def test_ep_has_the_moments_and_the_evidence_of_one_answer(
    m: int, answer: Answer, likelihood: Likelihood, weight: float, nodes: int
) -> None:
    X = Box(2).sample(m, np.random.default_rng(1))
    prior = Prior(Stationary.on(Box(2), "matern52", 0.5, 10.0))
    data = Comparisons.of([Said(tuple(range(m)), answer, weight)])
    K, mean = prior.of_differences(X, data)[1], np.linspace(-1, 1, m - 1)
    evidence, exact, covariance = cube(mean, K, data, likelihood, nodes)
    found = expectation_propagation(K, mean, data, likelihood)
    close, sd = (1e-4, 8e-3, 5e-3, 0.03)[m - 2], np.sqrt(covariance.max())  # of standard deviations
    assert_allclose(found.h, exact, atol=close * sd)
    assert_allclose(K - (found.half @ K).T @ (found.half @ K), covariance, atol=8 * close * sd**2)
    assert found.evidence == pytest.approx(evidence, abs=close)
    assert_allclose(found.alpha, np.linalg.solve(K, found.h - mean), atol=1e-6)


@pytest.mark.parametrize("likelihood", [Likelihood(), Likelihood("probit"), Likelihood(lapse=0.2)])
def test_draws_and_ep_against_quadrature_of_two_answers(likelihood: Likelihood) -> None:
    X = np.array([[0.1], [0.4], [0.9]])
    prior = Prior(Stationary.on(Box(1), "rbf", 0.4, 10.0))
    data = Comparisons.of([Said((0, 1), Answer.duel(0)), Said((1, 2), Answer.duel(1))])
    m, K = prior.of_differences(X, data)
    evidence, mean, covariance = cube(m, K, data, likelihood, 300)
    found = expectation_propagation(K, m, data, likelihood)
    assert found.evidence == pytest.approx(evidence, abs=0.02)
    assert_allclose(found.h, mean, atol=0.06)
    rng = np.random.default_rng(2)
    draws = {"ep": posterior_draws(prior, X, data, likelihood, X, rng, around=found, chains=1000)}
    draws["prior"] = posterior_draws(prior, X, data, likelihood, X, rng, chains=1000, warm=100)
    if likelihood.link == "probit":
        draws["gibbs"] = gibbs_draws(prior, X, data, likelihood, X, rng, chains=1000)
    for f in draws.values():
        h = data.differences(f.T)
        assert_allclose(h.mean(axis=1), mean, atol=0.17)  # six standard errors if one step in five counts
        assert_allclose(np.cov(h), covariance, atol=0.06 * covariance.max())


def test_elliptical_slices_and_gibbs_agree_on_probit_duels() -> None:
    prior, X, data, likelihood, Z = draw(Likelihood("probit"), 2, 3, answers=20)
    found = expectation_propagation(*reversed(prior.of_differences(X, data)), data, likelihood)
    rng = np.random.default_rng(4)
    f = posterior_draws(prior, X, data, likelihood, Z, rng, around=found, chains=512)
    g = gibbs_draws(prior, X, data, likelihood, Z, rng, chains=512)
    p, q = (ndtr(x[:, :30] - x[:, 30:]).mean(axis=0) for x in (f, g))
    assert_allclose(p, q, atol=0.04)
    assert np.abs(p - q).mean() < 0.012


def errors(example: Example, found: Approximation, seed: int) -> np.ndarray:
    """Of the win probabilities of the held-out pairs, (30,)."""
    prior, X, data, likelihood, Z = example
    f = posterior_draws(prior, X, data, likelihood, Z, np.random.default_rng(seed), around=found, **MANY)
    exact = LINK[likelihood.link](f[:, :30] - f[:, 30:]).mean(axis=0)
    return np.abs(Utility(prior, X, data, found).win_probability(Z[:30], Z[30:], likelihood) - exact)


CASES = [("logit", 2), ("probit", 2), ("logit", 4)]


@pytest.mark.parametrize(("link", "m"), CASES)
def test_probabilities_of_ep_against_the_sampler(link: str, m: int) -> None:
    example = draw(Likelihood(link), m, 12, answers=20)
    mean, K = example.prior.of_differences(example.points, example.data)
    assert errors(example, expectation_propagation(K, mean, example.data, example.likelihood), 5).max() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("link", "m"), CASES)
def test_laplace_and_ep_against_the_sampler_on_twenty_data_sets(link: str, m: int) -> None:
    rough, close = [], []
    for seed in range(100, 120):
        example = draw(Likelihood(link), m, seed)
        prior, X, data, likelihood, Z = example
        mean, K = prior.of_differences(X, data)
        found = expectation_propagation(K, mean, data, likelihood)
        f = posterior_draws(prior, X, data, likelihood, Z, np.random.default_rng(seed), around=found, **MANY)
        exact = LINK[link](f[:, :30] - f[:, 30:]).mean(axis=0)
        for made, into in ((laplace(K, mean, data, likelihood), rough), (found, close)):
            into.append(np.abs(Utility(prior, X, data, made).win_probability(Z[:30], Z[30:], likelihood) - exact))
    rough, close = np.array(rough), np.array(close)
    print(f"{link} {m}: Laplace {rough.mean():.4f} {rough.max():.4f}, EP {close.mean():.4f} {close.max():.4f}")
    assert close.max() < 0.03 and close.mean() < 0.006
    assert rough.mean() < 0.05  # what Laplace is good for: the mean, not a promise


def test_truncated_draws_are_right_in_the_far_tail() -> None:
    rng = np.random.default_rng(6)
    lower = np.array([-3.0, 0.0, 5.0, 40.0])
    drawn = above(np.tile(lower, (20_000, 1)), rng)
    assert (drawn > lower).all() and np.isfinite(drawn).all()
    exact = [np.exp(-0.5 * a * a) / np.sqrt(2 * np.pi) / ndtr(-a) for a in lower[:3]]
    assert_allclose(drawn.mean(axis=0), [*exact, 40.0], atol=0.03)
    assert drawn[:, 3].mean() == pytest.approx(40.02498, abs=0.001)


@pytest.mark.parametrize("likelihood", [Likelihood(), Likelihood(lapse=0.2, jnd=0.4, noise=(1.0, 2.0))])
def test_win_probability_is_the_integral(likelihood: Likelihood) -> None:
    def integral(mean: float, sd: float) -> float:
        c, t, e = 0.5 if likelihood.noise else 1.0, likelihood.jnd, likelihood.lapse
        density = 1 / (sd * np.sqrt(2 * np.pi))

        def over(side: float) -> float:
            return quad(
                lambda h: expit(side * c * h - t) * density * np.exp(-0.5 * ((h - mean) / sd) ** 2),
                mean - 10 * sd, mean + 10 * sd, points=[0.0] if abs(mean) < 10 * sd else None, limit=200,
            )[0]  # fmt: skip

        return (1 - e) * over(1) / (over(1) + over(-1)) + e / 2

    for mean, sd in itertools.product((-6.0, -1.0, 0.0, 0.5), (0.01, 1.0, 5.0, 30.0)):
        found = win_probability(np.array([mean]), np.array([sd]), likelihood, rater=1 if likelihood.noise else 0)
        assert found[0] == pytest.approx(integral(mean, sd), abs=1e-5)


def test_the_chance_of_being_best_of_two_is_that_of_their_difference() -> None:
    prior, X, data, likelihood, Z = draw(Likelihood(), 2, 7, answers=10)
    utility = Utility.after(prior, X, data, likelihood)
    mean, sd = utility.difference(Z[:1], Z[1:2])
    found = utility.probability_best(Z[:2], np.random.default_rng(8), draws=100_000)
    assert found[0] == pytest.approx(float(ndtr(mean / sd)[0]), abs=0.01)
    assert found.sum() == pytest.approx(1.0)


def test_paths_follow_ep() -> None:
    prior, X, data, likelihood, Z = draw(Likelihood(), 3, 9, answers=15)
    utility = Utility.after(prior, X, data, likelihood, infer=expectation_propagation)
    rng = np.random.default_rng(10)
    mean, covariance = utility.joint(Z[:5])
    box = Box(X.shape[1])
    values = np.concatenate([utility.paths(box, 100, rng).values(Z[:5]) for _ in range(60)])
    assert_allclose(values.mean(axis=0), mean, atol=7 * np.sqrt(covariance.max() / 6000) + 0.02)
    assert_allclose(np.cov(values.T), covariance, atol=0.12 * covariance.max())


@pytest.mark.parametrize(
    "said",
    [
        [(i, i + 1) for i in range(29)],
        [(0, 1), (1, 2), (2, 0)] * 10,
        [(0, 1)] * 200,
        [(0, 1), (1, 0)] * 50,
    ],
)
@pytest.mark.parametrize("likelihood", [Likelihood(), Likelihood("probit"), Likelihood(lapse=0.3)])
def test_ep_of_chains_cycles_and_repeats(said: list[tuple[int, int]], likelihood: Likelihood) -> None:
    prior, X, *_ = draw(Likelihood(), 2, 11, answers=40)
    X[1] = X[0] + 1e-9  # near-duplicates
    data = Comparisons.of([Said(pair, Answer.duel(0)) for pair in said], len(X))
    mean, K = prior.of_differences(X, data)
    found = expectation_propagation(K, mean, data, likelihood)
    at, C = Utility(prior, X, data, found).joint(X)
    assert np.isfinite(at).all() and np.isfinite(found.evidence) and np.linalg.eigvalsh(C).min() > -1e-6


@pytest.mark.parametrize("m", [3, 4, 6])
def test_ep_of_choices_between_near_duplicates(m: int) -> None:
    prior, X, *_ = draw(Likelihood(), 2, 11, answers=40)
    X[:3] = X[0] + 1e-9 * np.arange(3)[:, None]
    rng = np.random.default_rng(14)
    said = [Said(tuple(range(m)), Answer.best(i % m, m)) for i in range(8)]
    said += [Said(tuple(rng.choice(40, m, replace=False).tolist()), Answer.ranking(range(m), m)) for _ in range(3)]
    data = Comparisons.of(said, len(X))
    mean, K = prior.of_differences(X, data)
    found = expectation_propagation(K, mean, data, Likelihood())
    _, C = Utility(prior, X, data, found).joint(X)
    assert np.isfinite(found.h).all() and np.linalg.eigvalsh(C).min() > -1e-6


def test_gibbs_refuses_what_it_cannot_sample() -> None:
    prior, X, data, _, Z = draw(Likelihood(), 2, 13, answers=10)
    with pytest.raises(SettingError, match="link='probit'"):
        gibbs_draws(prior, X, data, Likelihood(), Z, np.random.default_rng(0))
