import gpytorch
import numpy as np
import pytest
import torch
from botorch.acquisition import PosteriorMean, UpperConfidenceBound, qSimpleRegret
from botorch.optim import optimize_acqf

from prefopt.errors import SettingError
from prefopt.models.bernoulli import BernoulliOneSidedGP
from prefopt.models.kernels import make_kernel
from prefopt.models.one_sided import OneSidedGP

X = torch.tensor([[0.0], [0.5], [1.0]], dtype=torch.float64)


def test_reference_values():
    posterior = OneSidedGP(X[:2], [1, 1], [1, 0]).posterior(X)
    assert np.allclose(posterior.mean.detach().numpy()[:, 0], [0.97556486, 0.00104742, -0.00183717], atol=1e-8)
    assert np.allclose(posterior.variance.detach().numpy()[:, 0], [0.02438912, 0.02438912, 0.99811318], atol=1e-8)


def test_no_data_gives_the_prior():
    for model in (OneSidedGP(X[:0], [], []), BernoulliOneSidedGP(X, [0, 0, 0], [0, 0, 0])):
        posterior = model.posterior(X)
        assert torch.allclose(posterior.mean, torch.zeros(3, 1, dtype=torch.float64))
        assert torch.allclose(posterior.variance, torch.ones(3, 1, dtype=torch.float64))


def test_evidence_equals_that_of_single_outcomes():
    n, s, noise = np.array([3, 1, 4]), np.array([2, 0, 3]), 0.3
    model = OneSidedGP(X, n, s, noise=noise)
    rows, y = np.repeat(np.arange(3), n), np.array([1, 1, 0, 0, 1, 1, 1, 0], dtype=float)
    K = model.covar_module(X).to_dense().detach().numpy()[np.ix_(rows, rows)] + noise * np.eye(8)
    full = -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(2 * np.pi * K)[1]
    assert abs(model.evidence().item() - full) < 1e-10


def test_dtypes_mix_and_a_new_outcome_is_noisier():
    model = OneSidedGP(X[:2].float(), np.array([1, 2], dtype=np.int32), [1.0, 0.5], noise=0.1)
    posterior = model.posterior(X.float())
    assert posterior.mean.dtype == torch.float64
    noisy = model.posterior(X, observation_noise=True)
    assert torch.allclose(noisy.variance, posterior.variance + 0.1)


@pytest.mark.parametrize("make", [lambda *a: OneSidedGP(*a, learn_noise=True), BernoulliOneSidedGP])
def test_fit_raises_evidence_plus_priors(make):
    grid = torch.linspace(0, 1, 12, dtype=torch.float64)[:, None]
    model = make(grid, np.full(12, 10), np.r_[np.zeros(6), np.full(6, 9)])

    def objective():
        return (model.evidence() + sum(p.log_prob(v(m)).sum() for _, m, p, v, _ in model.named_priors())).item()

    before = objective()
    model.fit()
    assert objective() > before + 0.5


def test_laplace_mode_is_stationary_and_the_posterior_mean():
    n, s = torch.tensor([5.0, 3.0, 9.0], dtype=torch.float64), torch.tensor([5.0, 0.0, 6.0], dtype=torch.float64)
    model = BernoulliOneSidedGP(X, n, s, kernel=make_kernel("matern52", 0.4, 4.0))
    g = model.mode()
    K = model.covar_module(X).to_dense().detach()
    assert torch.allclose(torch.linalg.solve(K, g), s - n * torch.sigmoid(g), atol=1e-9)
    assert torch.allclose(model.posterior(X).mean[:, 0].detach(), g, atol=1e-8)
    p = model.probability(X)
    assert bool(((p > 0) & (p < 1)).all())
    assert p[0] > p[2] > p[1]


def test_laplace_evidence_gradient_follows_the_mode():
    model = BernoulliOneSidedGP(X, [5, 3, 9], [5, 0, 6])
    raw = model.covar_module.raw_outputscale
    (slope,) = torch.autograd.grad(model.evidence(), raw)
    values = []
    for h in (1e-4, -1e-4):
        with torch.no_grad():
            raw += h
            values.append(model.evidence().item())
            raw -= h
    assert abs(slope.item() - (values[0] - values[1]) / 2e-4) < 1e-5


def test_mean_is_swappable():
    mean = gpytorch.means.ConstantMean()
    mean.initialize(constant=0.5)
    assert torch.allclose(OneSidedGP(X[:0], [], [], mean=mean).posterior(X).mean, torch.tensor(0.5).double())


def test_bad_counts_are_named():
    with pytest.raises(SettingError, match="wins <= tries"):
        OneSidedGP(X, [1, 1, 1], [2, 0, 0])
    with pytest.raises(SettingError, match="noise"):
        OneSidedGP(X, [1, 1, 1], [1, 0, 0], noise=0.0)


def test_posterior_equals_gpytorch_on_every_single_outcome():
    """Tries and wins say all: the same posterior as one row per 0/1 outcome, prior mean and kernel as given."""
    grid, rng = torch.linspace(0, 1, 9, dtype=torch.float64)[:, None], np.random.default_rng(0)
    n = rng.integers(0, 12, 9)
    s = rng.binomial(n, 0.6)
    kernel, mean = make_kernel("matern52", 0.3, 0.6), gpytorch.means.ConstantMean().double()
    mean.initialize(constant=0.4)

    class Plain(gpytorch.models.ExactGP):
        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(mean(x), kernel(x))

    rows = np.repeat(np.arange(9), n)
    y = np.concatenate([np.r_[np.ones(b), np.zeros(a - b)] for a, b in zip(n, s, strict=True)])
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.07
    plain = Plain(grid[rows], torch.tensor(y), likelihood).double().eval()
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        theirs = plain(grid)
        ours = OneSidedGP(grid, n, s, kernel=kernel, mean=mean, noise=0.07).posterior(grid)
        assert (ours.mean[:, 0] - theirs.mean).abs().max() < 1e-8
        assert (ours.distribution.covariance_matrix - theirs.covariance_matrix).abs().max() < 1e-8


@pytest.mark.parametrize("make", [OneSidedGP, BernoulliOneSidedGP])
def test_botorch_acquisition_functions_run_on_it(make):
    grid = torch.linspace(0, 1, 7, dtype=torch.float64)[:, None]
    model = make(grid, [4] * 7, [0, 1, 2, 4, 2, 1, 0])
    posterior = model.posterior(torch.rand(5, 3, 1, dtype=torch.float64))  # a batch of five triples
    assert posterior.mean.shape == posterior.variance.shape == (5, 3, 1)
    assert posterior.rsample(torch.Size([8])).shape == (8, 5, 3, 1)
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    for acquisition in (PosteriorMean(model), UpperConfidenceBound(model, beta=0.01), qSimpleRegret(model)):
        point, value = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=32, options={"seed": 0})
        assert abs(point.item() - 0.5) < 0.05
        assert value.item() >= acquisition(grid[:, None]).max().item() - 1e-6
    slopes = torch.rand(4, 1, 1, dtype=torch.float64, requires_grad=True)
    PosteriorMean(model)(slopes).sum().backward()
    assert bool((slopes.grad != 0).all())


@pytest.mark.parametrize("make", [lambda *a: OneSidedGP(*a, learn_noise=True), BernoulliOneSidedGP])
def test_fit_tells_a_rough_function_from_a_smooth_one(make):
    grid, found = torch.linspace(0, 1, 40, dtype=torch.float64)[:, None], []
    for period in (0.2, 2.0):
        p = 0.5 + 0.4 * np.sin(2 * np.pi * grid[:, 0].numpy() / period)
        model = make(grid, np.full(40, 30), np.random.default_rng(1).binomial(30, p))
        model.fit()
        found.append(model.covar_module.base_kernel.lengthscale.item())
        truth = torch.tensor(p)
        at = model.probability(grid) if isinstance(model, BernoulliOneSidedGP) else model.posterior(grid).mean[:, 0]
        assert (at - truth).abs().mean() < 0.06
    assert found[0] < 0.15 < found[1]


def test_priors_hold_the_hyperparameters_where_answers_say_nothing():
    """One lost comparison is likeliest without any variance at all; the priors keep some."""
    model = OneSidedGP(X[:1], [1], [0], learn_noise=True).fit()
    assert 0.05 < model.covar_module.base_kernel.lengthscale.item() < 1
    assert 0.05 < model.covar_module.outputscale.item() < 5
    assert 0.005 < model.noise.item() < 1


def test_fixed_hyperparameters_stay_fixed():
    model = OneSidedGP(X, [3, 1, 2], [3, 0, 1])
    for parameter in model.covar_module.parameters():
        parameter.requires_grad_(False)
    model.covar_module.base_kernel.raw_lengthscale.requires_grad_(True)
    model.fit()
    assert model.noise.item() == pytest.approx(0.025) and model.covar_module.outputscale.item() == pytest.approx(1)
