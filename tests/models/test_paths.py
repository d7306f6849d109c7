"""Posterior paths: exact conditioning, the law of the draws, gradients, and their maxima."""

import numpy as np
import pytest
import torch

from prefopt.domain import Box, Column
from prefopt.errors import SettingError
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.exact import BlockCholesky, ExactGP
from prefopt.models.stationary import KERNELS, as_stationary
from prefopt.models.tried import Tried
from prefopt.seeding import stream

MIXED = Box([Column(), Column("category", (0.0, 0.5, 1.0)), Column("levels", (0.0, 0.25, 1.0)), Column()])


def tried(box: Box, q: int) -> Tried:
    rng = stream(1)
    tries = rng.integers(1, 5, q).astype(float)
    return Tried(box.sample(q, rng), tries, np.floor(tries * rng.random(q)))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("box", [Box(3), MIXED])
def test_kernel_equals_its_gpytorch_module_and_comes_back(name: str, box: Box) -> None:
    kernel = as_stationary(name, box, lengthscale=[0.3, 0.5, 0.4, 0.2][: box.dim], outputscale=1.7)
    a, b = box.sample(20, stream(2)), box.sample(30, stream(3))
    module = kernel.to_module()
    theirs = module(torch.tensor(a), torch.tensor(b)).to_dense().detach().numpy()
    np.testing.assert_allclose(kernel(a, b), theirs, atol=1e-8)
    np.testing.assert_allclose(as_stationary(module, box)(a, b), kernel(a, b), atol=1e-12)
    alone, (value, _) = kernel.matrix(a), kernel.matrix_and_decay(a)
    np.testing.assert_allclose(alone, value, atol=1e-12)
    np.testing.assert_allclose(alone, kernel(a, a), atol=1e-7)
    assert (alone == alone.T).all()


def test_unknown_kernels_are_refused_with_the_supported_ones() -> None:
    from gpytorch.kernels import LinearKernel, MaternKernel

    for kernel in ("cosine", LinearKernel(), MaternKernel(nu=0.5)):
        with pytest.raises(SettingError, match="rbf, matern32, matern52"):
            as_stationary(kernel, Box(2))


@pytest.mark.parametrize("name", KERNELS)
def test_posterior_equals_gpytorch(name: str) -> None:
    from botorch.models import SingleTaskGP
    from gpytorch.means import ZeroMean

    box, data = Box(2), tried(Box(2), 25)
    gp = ExactGP(as_stationary(name, box), box, 0.0, 0.05)
    points = box.sample(40, stream(4))
    outcome = torch.tensor(data.wins / data.tries)[:, None]
    model = SingleTaskGP(
        torch.tensor(data.X),
        outcome,
        torch.tensor(0.05 / data.tries)[:, None],
        covar_module=gp.kernel.to_module(),
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()
    with torch.no_grad():
        theirs = model(torch.tensor(points))
    mean, covariance = gp.posterior(data, points)
    np.testing.assert_allclose(mean, theirs.mean.numpy(), atol=1e-8)
    np.testing.assert_allclose(covariance, theirs.covariance_matrix.numpy(), atol=1e-8)


@pytest.mark.parametrize("box", [Box(2), MIXED])
@pytest.mark.parametrize("name", KERNELS)
def test_paths_have_the_posterior_law(box: Box, name: str) -> None:
    """6,000 paths over 120 feature sets: mean and covariance within Monte Carlo error (0.013 to 0.018 of the scale)."""
    data = tried(box, 12)
    gp = ExactGP(as_stationary(name, box, lengthscale=0.5), box, 0.3, 0.05)
    points = np.vstack([box.sample(8, stream(5)), data.X[:2]])
    draws = np.vstack([gp.paths(data, 50, stream(6, r), features=512).values(points) for r in range(120)])
    mean, covariance = gp.posterior(data, points)
    spread = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 6 * spread / np.sqrt(len(draws)) + 0.02 * spread)
    scale = np.outer(spread, spread)
    assert np.abs((np.cov(draws.T) - covariance) / scale).max() < 0.12
    assert np.abs((gp.kernel(points, points) - covariance) / scale).max() > 1.0, "the data must matter for this test"


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_and_values_agree(name: str) -> None:
    gp = ExactGP(as_stationary(name, MIXED), MIXED, 0.1, 0.05)
    paths = gp.paths(tried(MIXED, 30), 3, stream(7))
    points, which = MIXED.sample(9, stream(8)), np.repeat(np.arange(3), 3)
    value, gradient = paths.value_and_gradient(points, which)
    np.testing.assert_allclose(value, paths.values(points)[which, np.arange(9)], atol=1e-9)
    for j in np.flatnonzero(MIXED.continuous):
        step = np.eye(4)[j] * 1e-6
        up, down = (paths.value_and_gradient(points + s, which)[0] for s in (step, -step))
        np.testing.assert_allclose(gradient[:, j], (up - down) / 2e-6, atol=1e-5)
    assert not gradient[:, 1].any()


def test_a_grown_factor_equals_one_made_at_once_to_the_last_bit() -> None:
    box = Box(3)
    X, noise = box.sample(200, stream(9)), np.full(200, 0.05)
    kernel = as_stationary("rbf", box)
    grown = BlockCholesky(kernel)
    for q in (1, 63, 64, 65, 130, 200):
        L = grown.of(X[:q], noise[:q])
    noise = noise.copy()
    noise[100] /= 2
    L = grown.of(X, noise)
    np.testing.assert_array_equal(L, BlockCholesky(kernel).of(X, noise))
    np.testing.assert_allclose(L @ L.T, kernel(X, X) + np.diag(noise), atol=1e-12)


def test_peaks_reach_a_dense_search() -> None:
    box = Box(2)
    gp = ExactGP(as_stationary("rbf", box), box, 0.0, 0.05)
    paths = gp.paths(tried(box, 30), 4, stream(10))
    raw = raw_points(box, 512, np.zeros((0, 2)), stream(11))
    points, values = peaks(paths, box, raw, restarts=32, finish=8)
    axis = np.linspace(0, 1, 150)
    dense = paths.values(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    assert np.all(values[:, 0] >= dense.max(axis=1) - 1e-9)
    np.testing.assert_allclose(values[:, 0], paths.values(points[:, 0]).diagonal(), atol=1e-9)
