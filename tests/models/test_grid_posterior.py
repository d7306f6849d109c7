import gpytorch
import numpy as np
import pytest
import torch
from numba import njit

from prefopt.domain import Grid
from prefopt.errors import SettingError
from prefopt.models import arrays
from prefopt.models import grid_posterior as gp
from prefopt.models.kernels import kernel_matrix, make_kernel
from prefopt.models.one_sided import OneSidedGP


def rbf(points):
    return kernel_matrix(make_kernel("rbf"), points)


def posterior_mean(posterior):
    mean = np.empty(len(posterior.n))
    gp.mean_into(posterior, mean)
    return mean


def test_reference_values():
    posterior = gp.start_posterior(gp.make_prior(rbf(np.array([[0.0], [0.5], [1.0]]))), 0.025)
    gp.observe(posterior, 0, 1.0, 1.0)
    gp.observe(posterior, 1, 1.0, 0.0)
    gp.settle(posterior)
    assert np.allclose(posterior_mean(posterior), [0.97556486, 0.00104742, -0.00183717], atol=1e-8)
    assert np.allclose(np.diag(gp.covariance_of(posterior)), [0.02438912, 0.02438912, 0.99811318], atol=1e-8)


@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_equals_gpytorch_after_hundreds_of_updates(mean):
    grid = Grid.regular(6, 5)
    kernel = make_kernel("matern52", 0.3, 0.7)
    posterior = gp.start_posterior(gp.make_prior(kernel_matrix(kernel, grid.points), mean, (6, 5)), 0.025)
    rng = np.random.default_rng(3)
    for _ in range(700):  # passes a rebuild
        gp.observe(posterior, int(rng.integers(20)), 1.0, float(rng.integers(3)) / 2)
    gp.settle(posterior)
    constant = gpytorch.means.ConstantMean()
    constant.initialize(constant=mean)
    model = OneSidedGP(grid.points, posterior.n, posterior.s, kernel=kernel, mean=constant.double())
    with torch.no_grad():
        exact = model.posterior(torch.tensor(grid.points))
    assert np.abs(posterior_mean(posterior) - exact.mean.numpy()[:, 0]).max() < 1e-8
    assert np.abs(gp.covariance_of(posterior) - exact.distribution.covariance_matrix.numpy()).max() < 1e-8
    again = gp.posterior_of(posterior.prior, 0.025, posterior.n, posterior.s)
    assert np.abs(gp.covariance_of(again) - gp.covariance_of(posterior)).max() < 1e-11


@pytest.mark.parametrize(("name", "axes"), [("rbf", 3), ("matern32", 1)])
def test_roots_reproduce_the_kernel_matrix(name, axes):
    grid = Grid.regular(4, 3, 2)
    K = kernel_matrix(make_kernel(name, 0.3, 2.0), grid.points)
    prior = gp.make_prior(K, sizes=(4, 3, 2))
    assert len(prior.sizes) == axes
    root = np.eye(24)
    for column in root:
        arrays.apply_roots(prior.roots, prior.sizes, column)
    assert np.allclose(prior.scale**2 * root.T @ root, K, atol=1e-10)


def test_a_smooth_kernel_on_a_fine_grid_has_a_root_of_low_rank():
    K = rbf(np.linspace(0, 1, 200)[:, None])
    prior = gp.make_prior(K)
    assert prior.rows.shape[0] < 40 and prior.roots.size == 0
    assert np.abs(prior.rows.T @ prior.rows - K).max() < 1e-11
    rough = gp.make_prior(kernel_matrix(make_kernel("matern32"), np.linspace(0, 1, 200)[:, None]))
    assert rough.rows.shape[0] == 0 and rough.roots.shape == (1, 200, 200)


@pytest.mark.parametrize(("kernel", "points"), [("matern52", 6), ("rbf", 30)])
def test_joint_draws_have_the_posterior_law(kernel, points):
    K = kernel_matrix(make_kernel(kernel), np.linspace(0, 1, points)[:, None])
    posterior = gp.start_posterior(gp.make_prior(K, 0.3), 0.1)
    for i, wins in ((0, 1.0), (0, 0.5), (3, 0.0)):
        gp.observe(posterior, i, 1.0, wins)
    gp.settle(posterior)
    rng, draws = np.random.default_rng(0), np.empty((20000, points))
    for row in draws:
        gp.draw_into(posterior, rng, row)
    # six standard errors of a mean and of a covariance entry (variances are at most 1)
    assert np.abs(draws.mean(axis=0) - posterior_mean(posterior)).max() < 6 / np.sqrt(20000)
    assert np.abs(np.cov(draws.T) - gp.covariance_of(posterior)).max() < 6 * np.sqrt(2 / 20000)


def test_near_duplicates_and_unfit_kernels():
    points = np.r_[np.linspace(0, 1, 300), np.linspace(0, 1, 300)[1:-1] + 1e-9][:, None]
    posterior = gp.start_posterior(gp.make_prior(rbf(points)), 0.025)
    for k in range(600):
        gp.observe(posterior, k % len(points), 1.0, float(k % 2))
    gp.settle(posterior)
    out = np.empty(len(points))
    assert posterior.prior.rows.shape[0] < 60
    gp.draw_into(posterior, np.random.default_rng(0), out)
    assert np.isfinite(out).all()
    assert np.diag(gp.covariance_of(posterior)).min() > -1e-10
    assert np.abs(out).max() < 5
    with pytest.raises(SettingError, match="positive semi-definite"):
        gp.make_prior(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4), (1,)])
def test_compiled_steps_equal_plain_ones(shape):
    @njit
    def compiled(posterior, rng, out):
        gp.observe(posterior, 0, 2.0, 1.5)
        gp.observe(posterior, posterior.n.size - 1, 1.0, 0.0)
        gp.settle(posterior)
        gp.draw_into(posterior, rng, out)
        for _ in range(gp.REBUILD):
            gp.observe(posterior, 0, 1.0, 0.5)
            gp.settle(posterior)

    grid, made = Grid.regular(*shape), []
    for run in (compiled, compiled.py_func):
        posterior = gp.start_posterior(gp.make_prior(rbf(grid.points), 0.2, shape), 0.05)
        out = np.empty(grid.size)
        run(posterior, np.random.default_rng(5), out)
        made.append((out, gp.covariance_of(posterior)))
    assert np.allclose(made[0][0], made[1][0], rtol=0, atol=1e-13)
    assert np.allclose(made[0][1], made[1][1], rtol=0, atol=1e-14)
