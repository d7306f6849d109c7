"""KernelSelfSparring with Bernoulli outcomes, on finite domains and boxes."""

import json

import numpy as np
import pytest
import torch
from scipy.special import logit

from prefopt import create_study, simulate
from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Grid
from prefopt.errors import SettingError
from prefopt.models.bernoulli import BernoulliOneSidedGP
from prefopt.models.kernels import make_kernel
from prefopt.policies import make_policy
from prefopt.policies.kernel.self_sparring_bernoulli import BernoulliKernelSelfSparring, draw, fit, latent_mean
from prefopt.testing import check_policy

BERNOULLI = {"likelihood": "bernoulli", "outputscale": 3.0}
QUICK = {"features": 128, "raw_samples": 64, "restarts": 8}


def answered(policy, rounds=25, target=0.3):
    """A person who likes options near ``target``; the policy after her answers."""
    policy.init(np.random.default_rng(0))
    for t in range(rounds):
        slate = policy.ask(np.random.default_rng([1, t]))
        x = slate if isinstance(policy.domain, Box) else policy.domain.points[slate]
        u = -8 * np.abs(x[:, 0] - target) + np.random.default_rng([2, t]).gumbel(size=len(x))
        policy.tell(slate, Answer.best(int(np.argmax(u)), len(x)), np.random.default_rng(0))
    return policy


def exact(X, tries, wins, points):
    """Latent mean and covariance, and the mean probability, of the GPyTorch model."""
    model = BernoulliOneSidedGP(X, tries, wins, kernel=make_kernel("rbf", 0.2, 3.0))
    points = torch.tensor(points)
    with torch.no_grad():
        latent = model.posterior(points)
    covariance = latent.distribution.covariance_matrix.numpy()
    return latent.mean.numpy()[:, 0], covariance, model.probability(points).numpy()


def test_grid_equals_the_gpytorch_model():
    policy = answered(make_policy("kernel-self-sparring", Grid.regular(5, 4), **BERNOULLI))
    state, points = policy.state, policy.domain.points
    assert isinstance(policy, BernoulliKernelSelfSparring) and state.n.sum() == 50
    mean, covariance, probability = exact(points, state.n, state.s, points)
    found, spread = policy.latent()
    np.testing.assert_allclose(found, mean, atol=1e-8)
    np.testing.assert_allclose(spread, covariance, atol=1e-8)
    np.testing.assert_allclose(policy.posterior()[0], probability, atol=1e-9)
    tried = np.flatnonzero(state.n)
    assert policy.best() == tried[np.argmax(mean[tried])]


def test_box_equals_the_gpytorch_model():
    policy = answered(make_policy("kernel-self-sparring", Box(2), **BERNOULLI, **QUICK), 15)
    points = np.random.default_rng(3).random((9, 2))
    mean, covariance, probability = exact(policy.data.X, policy.data.tries, policy.data.wins, points)
    found, spread = policy.latent(points)
    np.testing.assert_allclose(found, mean, atol=1e-7)
    np.testing.assert_allclose(spread, covariance, atol=1e-7)
    np.testing.assert_allclose(policy.posterior(points)[0], probability, atol=1e-8)


def test_draws_have_the_posterior_law():
    policy = answered(make_policy("kernel-self-sparring", Grid.regular(6), **BERNOULLI))
    at, rng, n = fit(policy.state), np.random.default_rng(4), 6000
    mean, covariance = policy.latent()
    np.testing.assert_array_equal(mean, latent_mean(policy.state, at))
    assert np.abs(covariance - policy.prior.covariance).max() > 1, "the data must matter for this test"
    spread = np.sqrt(np.diag(covariance))
    for draws in (np.array([draw(policy.state, at, rng) for _ in range(n)]), logit(policy.draws(n, rng))):
        assert np.all(np.abs(draws.mean(axis=0) - mean) < 6 * spread / np.sqrt(n))
        assert np.abs((np.cov(draws.T) - covariance) / np.outer(spread, spread)).max() < 6 * np.sqrt(2 / n)


def test_paths_of_a_box_have_the_posterior_law():
    policy = answered(make_policy("kernel-self-sparring", Box(1), **BERNOULLI, **QUICK), 12)
    points = np.linspace(0, 1, 6)[:, None]
    rng, runs = np.random.default_rng(5), 120
    draws = np.vstack([policy.model.paths(policy.data, 50, rng, features=512).values(points) for _ in range(runs)])
    mean, covariance = policy.latent(points)
    spread = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 6 * spread / np.sqrt(len(draws)) + 0.03 * spread)
    assert np.abs((np.cov(draws.T) - covariance) / np.outer(spread, spread)).max() < 0.15


@pytest.mark.parametrize("domain", [Grid.regular(4, 3), Box(1)])
def test_conformance(domain):
    check_policy("kernel-self-sparring", domain, **BERNOULLI, **(QUICK if isinstance(domain, Box) else {}))


def test_conformance_and_learning_on_arms():
    check_policy("kernel-self-sparring", Arms(6), horizon=200, **BERNOULLI)


@pytest.mark.parametrize(("domain", "tolerance"), [(Grid.regular(21), 0.1), (Box(1), 0.1)])
def test_finds_the_target(domain, tolerance):
    policy = answered(make_policy("kernel-self-sparring", domain, **BERNOULLI), 60)
    best = policy.best()
    x = best if isinstance(domain, Box) else domain.points[best]
    assert abs(x[0] - 0.3) < tolerance
    p = policy.posterior(np.atleast_2d(x))[0] if isinstance(domain, Box) else policy.posterior()[0]
    assert 0.4 < p.max() < 1


def test_simulation_runs_it_as_plain_python():
    run = simulate("kernel-self-sparring", "forrester-30", rounds=40, repetitions=3, seed=1, settings=BERNOULLI)
    uniform = simulate("random", "forrester-30", rounds=40, repetitions=3, seed=1)
    assert run.mean()[-1] < 0.85 * uniform.mean()[-1]
    assert run.manifest["settings"]["likelihood"] == "bernoulli"
    plain = simulate(
        "kernel-self-sparring", "forrester-30", rounds=40, repetitions=1, seed=1, settings=BERNOULLI, compiled=False
    )
    np.testing.assert_array_equal(plain.regret, run.regret[:1])


def test_a_study_recommends_a_probability():
    study = create_study(Grid.regular(7), strategy="kernel-self-sparring", settings=BERNOULLI, seed=1)
    for _ in range(6):
        query = study.ask()
        study.tell(query, best=query.shown[0])
    found = study.recommend()
    assert 0 < found.mean < 1 and 0 < found.sd < 0.5


def test_counts_restore_it():
    live = answered(make_policy("kernel-self-sparring", Grid.regular(9), **BERNOULLI))
    copy = make_policy("kernel-self-sparring", Grid.regular(9), **json.loads(json.dumps(live.settings)))
    copy.restore(live.state.n, live.state.s)
    assert (live.ask(np.random.default_rng(1)) == copy.ask(np.random.default_rng(1))).all()
    with pytest.raises(SettingError, match="wins <= tries"):
        copy.restore(np.zeros(9), np.ones(9))


@pytest.mark.parametrize("domain", [Arms(3), Grid.regular(4), Box(1)])
def test_settings_that_do_not_apply(domain):
    with pytest.raises(SettingError, match=r"noise=0\.1 does not apply to likelihood 'bernoulli'"):
        make_policy("kernel-self-sparring", domain, likelihood="bernoulli", noise=0.1)
    with pytest.raises(SettingError, match="unknown likelihood 'poisson'"):
        make_policy("kernel-self-sparring", domain, likelihood="poisson")
