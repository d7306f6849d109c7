"""Hyper-parameters by sampling: against a grid over them, and as a model of BoTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption, qExpectedUtilityOfBestOption
from gpytorch.kernels import RBFKernel
from numpy.testing import assert_allclose
from scipy.stats import beta

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.given import default_hyper
from prefopt.models.utility.gp import UtilityGP
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.hyper_sampling import hyper_draws
from prefopt.models.utility.laplace import laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility

HALF = np.array([[0.5]])


def wiggly(q: int = 12) -> tuple[np.ndarray, Comparisons]:
    """Two hills, which want a short length-scale, and clear answers about them."""
    X = np.linspace(0, 1, q)[:, None]
    rng = np.random.default_rng(0)
    worth = np.cos(4 * np.pi * X[:, 0])
    pairs = [rng.choice(q, 2, replace=False) for _ in range(20)]
    return X, Comparisons.of([Said((int(a), int(b)), Answer.duel(int(worth[b] > worth[a]))) for a, b in pairs], q)


def told(wrong: int, n: int = 20) -> tuple[np.ndarray, Comparisons]:
    """Duels of the centre against the edge, ``wrong`` of them answered the other way."""
    X = np.concatenate([[[0.5]], np.linspace(0, 0.1, n)[:, None]])
    return X, Comparisons.of([Said((0, 1 + i), Answer.duel(int(i < wrong))) for i in range(n)], len(X))


def test_draws_have_the_moments_of_a_grid_over_two_hyper_parameters() -> None:
    hyper = Hyper(Box(1), spread=0.5, deviation=0.5, outputscale_spread=0.8)
    (X, data), heard = wiggly(), Likelihood()
    away = np.linspace(-4, 4, 17)
    length_sd = float(np.hypot(hyper.sd[0], hyper.sd[1]))  # a + b_1 is all that one column shows
    log_p, wins = np.empty((17, 17)), np.empty((17, 17))
    for i, u in enumerate(away):
        for j, v in enumerate(away):
            theta = hyper.median + np.array([length_sd * u, 0.0, hyper.sd[-1] * v])
            utility = Utility.after(hyper.prior(theta), X, data, heard)
            log_p[i, j] = utility.found.evidence - 0.5 * (u * u + v * v)
            wins[i, j] = utility.win_probability(HALF, HALF + 0.22, heard)[0]
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    drawn = hyper_draws(hyper, X, data, heard, 480, np.random.default_rng(1), chains=8, thin=2)
    thetas = (np.array([theta for theta, _ in drawn]) - hyper.median) / hyper.sd
    length = (thetas[:, 0] * hyper.sd[0] + thetas[:, 1] * hyper.sd[1]) / length_sd
    for found, weight in ((length, p.sum(axis=1)), (thetas[:, -1], p.sum(axis=0))):
        mean = float(weight @ away)
        sd = float(np.sqrt(weight @ (away - mean) ** 2))
        assert abs(mean) > 0.3, "the answers say something of it"
        assert found.mean() == pytest.approx(mean, abs=0.2 * sd)
        assert found.std() == pytest.approx(sd, rel=0.2)
    said = [
        Utility.after(hyper.prior(t), X, data, heard).win_probability(HALF, HALF + 0.22, heard)[0]
        for t, _ in drawn[::3]
    ]
    assert np.mean(said) == pytest.approx(float((p * wins).sum()), abs=0.02)


def test_the_lapse_rate_has_the_moments_of_a_grid_over_it() -> None:
    hyper = default_hyper(Box(1))
    X, data = told(5)
    rates = np.linspace(0.01, 0.99, 50)
    m, K = hyper.prior(hyper.median).of_differences(X, data)
    log_p = np.array([laplace(K, m, data, Likelihood(lapse=r)).evidence for r in rates]) + beta.logpdf(rates, 1, 4)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    sure = Hyper(Box(1), spread=1e-6, deviation=1e-6, outputscale_spread=1e-6, trend=hyper.trend)
    drawn = hyper_draws(sure, X, data, Likelihood(), 320, np.random.default_rng(2), lapse=(1, 4), chains=8, thin=2)
    found = np.array([heard.lapse for _, heard in drawn])
    mean = float(p @ rates)
    assert mean > 0.3
    assert found.mean() == pytest.approx(mean, abs=0.03)
    assert found.std() == pytest.approx(float(np.sqrt(p @ (rates - mean) ** 2)), rel=0.2)


def test_without_answers_the_draws_are_those_of_the_prior() -> None:
    hyper = default_hyper(Box(2))
    nothing = Comparisons.of([], 3)
    drawn = hyper_draws(
        hyper, np.zeros((3, 2)), nothing, Likelihood(), 400, np.random.default_rng(3), lapse=(2, 6), thin=1
    )
    thetas = (np.array([theta for theta, _ in drawn]) - hyper.median) / hyper.sd
    assert_allclose(thetas.mean(axis=0), 0, atol=0.2)
    assert_allclose(thetas.std(axis=0), 1, atol=0.2)
    assert np.mean([heard.lapse for _, heard in drawn]) == pytest.approx(0.25, abs=0.03)


def model(inference: str = "laplace", **other: object) -> UtilityGP:
    X, _ = told(3)
    said = [Said((0, 1 + i), Answer.duel(int(i < 3))) for i in range(len(X) - 1)]
    return UtilityGP(X, said, inference=inference, **other)  # type: ignore[arg-type]


@pytest.mark.parametrize("inference", ["laplace", "ep"])
def test_the_mixture_is_the_mean_of_its_members(inference: str) -> None:
    mixture = model(inference).sample(4, np.random.default_rng(0), lapse=(1, 9))
    Z = torch.tensor([[0.5], [0.3], [0.0]], dtype=torch.float64)
    at = mixture.posterior(Z)
    each = torch.stack([member.posterior(Z).mean for member in mixture.members])
    assert at.mean.shape == (4, 3, 1) and mixture.batch_shape == (4,)
    torch.testing.assert_close(at.mixture_mean, each.mean(dim=0))
    spread = torch.stack([member.posterior(Z).variance for member in mixture.members]).mean(dim=0)
    torch.testing.assert_close(at.mixture_variance, spread + each.var(dim=0, correction=0))
    averaged = mixture.averaged()
    assert_allclose(averaged.mean(Z.numpy()), at.mixture_mean.squeeze(-1).detach().numpy(), atol=1e-8)
    wins = mixture.win_probability(Z[:1], Z[2:])
    assert_allclose(wins.numpy(), averaged.win_probability(Z[:1].numpy(), Z[2:].numpy()), atol=1e-7)
    assert 0 < averaged.lapse < 1 and len({float(member.theta[0]) for member in mixture.members}) > 1


def test_acquisition_functions_average_over_the_members() -> None:
    mixture = model().sample(3)
    pairs = torch.rand(5, 2, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    mean = torch.stack(
        [AnalyticExpectedUtilityOfBestOption(pref_model=member)(pairs) for member in mixture.members]
    ).mean(dim=0)
    torch.testing.assert_close(AnalyticExpectedUtilityOfBestOption(pref_model=mixture)(pairs), mean)
    assert_allclose(qExpectedUtilityOfBestOption(pref_model=mixture)(pairs).detach(), mean.detach(), atol=0.5)


def test_it_learns_from_more_answers_and_the_same_stream_is_the_same_mixture() -> None:
    first, second = (model().sample(3, np.random.default_rng(7)) for _ in range(2))
    Z = torch.tensor([[0.5], [0.8]], dtype=torch.float64)
    torch.testing.assert_close(first.posterior(Z).mean, second.posterior(Z).mean)
    more = first.condition_on_observations([[0.8], [0.5]], [[0, 1]] * 5)
    before, after = (m.posterior(Z).mixture_mean.squeeze(-1).detach() for m in (first, more))
    assert after[1] - after[0] > before[1] - before[0]
    assert [m.theta.tolist() for m in more.members] == [m.theta.tolist() for m in first.members]


def test_what_it_cannot_do_is_said() -> None:
    with pytest.raises(SettingError, match="without a kernel"):
        model(kernel=RBFKernel()).sample(2)
    for lapse in ((0, 1), (1, math.nan), (1, math.inf), ("1", "9"), 0.1, (1, 2, 3)):
        with pytest.raises(SettingError, match="two finite numbers above 0"):
            model().sample(2, lapse=lapse)
    for size in (0, 2.5, "8", True):
        with pytest.raises(SettingError, match="whole numbers size"):
            model().sample(size)
