"""Processes over pairs: kernels, Laplace's approximation, exact draws, scores, acquisitions; with slow oracles."""

import numpy as np
import pytest
import torch
from gpytorch.kernels import ScaleKernel
from scipy.integrate import quad
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit

from prefopt.domain import Box, Column, Grid
from prefopt.errors import SettingError
from prefopt.models import grid_posterior as gp
from prefopt.models.copeland import (
    expected_improvement,
    logistic_moments,
    one_more_answer,
    pure_exploration,
    quick_probability,
    soft_copeland,
)
from prefopt.models.copeland_path import CopelandPath
from prefopt.models.duels import Duels
from prefopt.models.kernels import kernel_matrix, make_kernel
from prefopt.models.pairs import KINDS, PairDraw, PairPosterior, PairPrior, root_of
from prefopt.models.pairwise import DifferencePairKernel, PairGP, ProductPairKernel, SkewPairKernel, is_skew
from prefopt.models.stationary import as_stationary

CLASSES = {"se": ProductPairKernel, "skew": SkewPairKernel, "difference": DifferencePairKernel}
X = Grid.regular(7).points
ALL = np.arange(7)
A, B = np.repeat(ALL, 7), np.tile(ALL, 7)


def prior_of(kind, scale=4.0, points=X):
    return PairPrior(kind, scale, kernel_matrix("rbf", points))


def module(kind, scale=4.0, base=None):
    base = base or make_kernel("rbf")
    if kind == "sum":
        return module("skew", scale, base) + module("difference", scale, base)
    kernel = ScaleKernel(CLASSES[kind](base)).double()
    kernel.outputscale = torch.tensor(scale, dtype=torch.float64)
    return kernel


def told(prior, n, mirror=False, seed=0, K=7):
    """Duels of n random pairs, many of them repeated; smaller indices tend to win."""
    rng, duels, log = np.random.default_rng(seed), Duels(prior.skew, mirror), []
    for _ in range(n):
        i, j = rng.choice(K, 2, replace=False)
        won = rng.random() < expit((j - i) / 2)
        duels.learn(np.array([i, j]), np.array([[0.0, won], [1.0 - won, 0.0]]), prior)
        log.append((i, j) if won else (j, i))
    return duels, log


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_the_formulas(kind):
    def k(x, y):
        return np.exp(-((x - y) ** 2) / (2 * 0.2**2))

    def of(a, b, c, d):
        product, swapped = k(a, c) * k(b, d), k(a, d) * k(b, c)
        difference = k(a, c) + k(b, d) - k(a, d) - k(b, c)
        return {"se": product, "skew": product - swapped, "difference": difference}.get(
            kind, product - swapped + difference
        )

    x, prior = X[:, 0], prior_of(kind)
    expected = [[4 * of(x[a], x[b], x[c], x[d]) for c, d in zip(A, B, strict=True)] for a, b in zip(A, B, strict=True)]
    assert np.allclose(prior.covariance(A, B, A, B), expected, atol=1e-12)
    assert np.allclose(prior.variance(A, B), np.diag(expected), atol=1e-12)
    pairs = torch.tensor(np.hstack([X[A], X[B]]))
    with torch.no_grad():
        made = module(kind)(pairs)
        assert np.allclose(made.to_dense().numpy(), expected, atol=1e-12)
        assert np.allclose(module(kind)(pairs, diag=True).numpy(), np.diag(expected), atol=1e-12)
    assert np.linalg.eigvalsh(np.array(expected)).min() > -1e-10
    v, c, d = np.random.default_rng(0).standard_normal(5), np.array([0, 1, 2, 5, 6]), np.array([3, 3, 6, 0, 1])
    assert np.allclose(prior.combination(v, c, d, ALL, ALL[:4]).ravel(),
                       (prior.covariance(A, B, c, d) @ v).reshape(7, 7)[:, :4].ravel(), atol=1e-12)  # fmt: skip


def test_pair_kernels_take_any_kernel_and_refuse_odd_columns():
    base = make_kernel("matern52", [0.3, 0.6], 2.0)
    points = torch.rand(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        made = SkewPairKernel(base).double()(points).to_dense()
        swapped = SkewPairKernel(base).double()(points.roll(2, 1), points).to_dense()
    assert torch.allclose(made, -swapped, atol=1e-12)
    assert is_skew(SkewPairKernel(base), points[:, :2]) and not is_skew(ProductPairKernel(base), points[:, :2])
    with pytest.raises(SettingError, match="even number of columns"):
        SkewPairKernel(base)(points[:, :3]).to_dense()


@pytest.mark.parametrize("kind", KINDS)
def test_the_fast_posterior_is_that_of_gpytorch_and_the_plain_mode(kind):
    prior = prior_of(kind)
    mirror = kind == "se"
    duels, log = told(prior, 40, mirror)
    assert duels.tries.sum() == 40 * (1 + mirror) and len(duels.tries) == len(set(duels.at)) < 40 * (1 + mirror)
    posterior = duels.posterior(prior)
    mean, variance = posterior.table(ALL, ALL)
    model = PairGP(X, log, kernel=module(kind))
    different = A != B  # GPyTorch warns of variances that are 0
    a, b = A[different], B[different]
    pairs = torch.tensor(np.hstack([X[a], X[b]]))
    with torch.no_grad():
        exact = model.posterior(pairs)
        chance = model.probability(pairs).numpy()
    assert np.abs(exact.mean.numpy()[:, 0] - mean[a, b]).max() < 1e-8
    assert np.abs(exact.variance.numpy()[:, 0] - variance[a, b]).max() < 1e-8
    assert np.abs(exact.distribution.covariance_matrix.numpy() - posterior.covariance(a, b, a, b)).max() < 1e-8
    if prior.skew:
        assert np.allclose(mean, -mean.T, atol=1e-9) and np.allclose(variance, variance.T, atol=1e-9)
        swapped = np.lexsort((a, b))  # the order of the pairs [b, a]
        assert np.allclose(chance + chance[swapped], 1, atol=1e-9)
    c, d = duels.pairs
    L = np.linalg.cholesky(prior.covariance(c, d, c, d) + 1e-9 * np.eye(len(c)))

    def loss(z):  # an independent optimiser of the log posterior, f = L z
        f = L @ z
        slope = duels.tries * expit(f) - duels.wins
        return duels.tries @ np.logaddexp(0, f) - duels.wins @ f + z @ z / 2, L.T @ slope + z

    found = minimize(loss, np.zeros(len(c)), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-8})
    assert np.abs(L @ found.x - posterior.moments(c, d)[0]).max() < 1e-4


def test_a_warm_start_finds_the_same_mode():
    prior = prior_of("skew", 25.0)
    duels, log = told(prior, 60)
    again = Duels(True)
    for winner, loser in log:
        again.add(winner, loser, 1.0, 0.0)
    again.learn(np.array([0, 1]), np.zeros((2, 2)), prior)  # nothing compared: the mode from scratch
    assert again.at == duels.at and np.allclose(again.alpha, duels.alpha, atol=1e-9)


def test_self_duels_ties_and_mirrors():
    skew, plain, both = Duels(True), Duels(False), Duels(False, True)
    for duels in (skew, plain, both):
        duels.add(2, 2, 1.0, 0.0)
        duels.add(3, 1, 0.5, 0.5)
        duels.add(1, 3, 1.0, 0.0)
        duels.add(0, 1, 0.0, 0.0)
    assert skew.at == {(1, 3): 0} and skew.tries.tolist() == [2] and skew.wins.tolist() == [1.5]
    assert plain.at == {(2, 2): 0, (3, 1): 1, (1, 3): 2} and plain.wins.tolist() == [1, 0.5, 1]
    assert both.at == {(2, 2): 0, (3, 1): 1, (1, 3): 2} and both.wins.tolist() == [1, 0.5, 1.5]
    model = PairGP(X, [[0, 0], [0, 1], [1, 0], [0, 1]])
    assert len(model.X) == 1 and (model.tries.item(), model.wins.item()) == (3, 2)
    with pytest.raises(SettingError, match=r"rows \[winner, loser\] of 0 .. 6"):
        PairGP(X, [[0, 7]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 25])
def test_draws_have_the_exact_mean_and_covariance(kind, n):
    """The prior's draw of K^2 values from a K x K normal matrix, and its correction by the data."""
    prior = prior_of(kind)
    posterior = told(prior, n, kind == "se")[0].posterior(prior)
    R = root_of(gp.make_prior(prior.k))
    assert np.allclose(R.T @ R, prior.k, atol=1e-11)
    rng, size = np.random.default_rng(1), 1500
    draws = np.array([posterior.draw(R, ALL, ALL, rng).ravel() for _ in range(size)])
    mean, covariance = posterior.table(ALL, ALL)[0].ravel(), posterior.covariance(A, B, A, B)
    sd = np.sqrt(np.maximum(np.diag(covariance), 0))
    assert (np.abs(draws.mean(axis=0) - mean) < 6 * sd / np.sqrt(size) + 1e-9).all()
    error = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / size)  # of a sample covariance, sd
    assert (np.abs(np.cov(draws.T) - covariance) < 6.5 * error + 1e-9).all()
    if prior.skew:
        square = draws[0].reshape(7, 7)
        assert np.allclose(square, -square.T, atol=1e-8)


def test_a_low_rank_root_of_many_options():
    prior = gp.make_prior(kernel_matrix("rbf", Grid.regular(23, 23).points, 0.35))
    assert 128 < len(root_of(prior)) < 529 and np.allclose(
        root_of(prior).T @ root_of(prior), prior.covariance, atol=1e-10
    )
    product = gp.make_prior(kernel_matrix("matern32", Grid.regular(3, 2).points), sizes=(3, 2))
    assert np.allclose(root_of(product).T @ root_of(product), product.covariance, atol=1e-10)
    assert (root_of(gp.make_prior(4 * np.eye(3))) == 2 * np.eye(3)).all()


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.0), (0.3, 1.0), (-2.0, 9.0), (4.0, 36.0)])
def test_logistic_moments_are_integrals(mean, variance):
    first, spread = logistic_moments(np.array(mean), np.array(variance))
    sd = max(np.sqrt(variance), 1e-6)

    def moment(power):
        return quad(lambda z: expit(mean + sd * z) ** power * np.exp(-z * z / 2) / np.sqrt(2 * np.pi), -9, 9)[0]

    assert abs(first - moment(1)) < 2e-3 and abs(spread - (moment(2) - moment(1) ** 2)) < 4e-3
    assert abs(quick_probability(np.array(mean), np.array(variance)) - moment(1)) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_exploration_are_what_draws_say(kind):
    prior = prior_of(kind)
    posterior = told(prior, 15, kind == "se")[0].posterior(prior)
    rng = np.random.default_rng(2)
    mean, covariance = posterior.table(ALL, ALL)[0].ravel(), posterior.covariance(A, B, A, B)
    drawn = expit(rng.multivariate_normal(mean, covariance, 20000, method="eigh"))
    assert np.allclose(soft_copeland(posterior, ALL, ALL), drawn.reshape(-1, 7, 7).mean(axis=(0, 2)), atol=0.01)
    assert np.allclose(pure_exploration(posterior, A, B), drawn.var(axis=0), atol=0.01)


@pytest.mark.parametrize("won", [0.0, 1.0])
def test_one_more_answer_solves_its_equation(won):
    mean, variance = np.meshgrid(np.linspace(-30, 30, 13), np.array([1e-6, 1.0, 30.0, 400.0]))
    step, weight = one_more_answer(mean.ravel(), variance.ravel(), won)
    p = expit(mean.ravel() + variance.ravel() * step)
    assert np.allclose(step, won - p, atol=1e-9) and np.allclose(weight, p * (1 - p), atol=1e-9)


@pytest.mark.parametrize(("kind", "scale"), [("skew", 16.0), ("difference", 4.0), ("se", 1.0)])
@pytest.mark.parametrize("n", [0, 4, 30])
def test_expected_improvement_is_that_of_refits(kind, scale, n):
    """One step against two refits per pair; exact without data, since then no old curvature can change."""
    some, prior = np.arange(5), prior_of(kind, scale, Grid.regular(5).points)
    log = told(prior, n, K=5)[1]

    def after(*more):
        duels = Duels(prior.skew)
        for duel in [(winner, loser, 1.0, 0.0) for winner, loser in log] + list(more):
            duels.add(*duel)
        duels.learn(some, np.zeros((5, 5)), prior)  # nothing compared: finds the mode
        posterior = duels.posterior(prior)
        return posterior, quick_probability(*posterior.table(some, some)).mean(axis=1).max()

    posterior, now = after()
    a, b = np.triu_indices(5, 1)
    value = expected_improvement(posterior, a, b, some, some)
    chance, slow = quick_probability(*posterior.moments(a, b)), np.zeros(len(a))
    for m, (i, j) in enumerate(zip(a, b, strict=True)):
        slow[m] += chance[m] * max(after((i, j, 1.0, 0.0))[1] - now, 0)
        slow[m] += (1 - chance[m]) * max(after((i, j, 0.0, 1.0))[1] - now, 0)
    assert slow.max() > 1e-4
    assert np.abs(value - slow).max() < (1e-9 if n == 0 else 0.2 * slow.max())
    assert slow[np.argmax(value)] > 0.9 * slow.max()


def test_evidence_tells_cycles_from_utilities():
    """The sum of a skew and a difference kernel against the difference kernel alone, 300 duels each."""
    rng, position = np.random.default_rng(3), X[:, 0]
    gap = position[:, None] - position
    for kind, truth, sign in (("cycle", 2.5 * np.sin(2 * np.pi * gap), 1), ("utility", 5 * gap, -1)):
        a, b = rng.integers(0, 7, (2, 300))
        won = rng.random(300) < expit(truth[a, b])
        log = np.where(won[:, None], np.stack([a, b], axis=1), np.stack([b, a], axis=1))
        factor = (
            PairGP(X, log, kernel=module("sum")).evidence() - PairGP(X, log, kernel=module("difference")).evidence()
        )
        assert sign * factor.item() > 1.5, kind


MIXED = Box([Column(), Column("category", (0.0, 1.0)), Column("levels", (0.0, 0.3, 1.0))])


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_on_a_box_and_its_gradient(kind):
    rng = np.random.default_rng(5)
    kernel = as_stationary("matern52", MIXED, 0.4, 1.3)
    points, landmarks, at = (MIXED.sample(n, rng) for n in (7, 6, 5))
    prior = PairPrior(kind, 3.0, kernel(points, points))
    posterior = told(prior, 12, kind == "se")[0].posterior(prior)
    score = CopelandPath.draw(posterior, kernel, MIXED, points, landmarks, 64, rng)
    values, gradient = score.value_and_gradient(at, np.zeros(5, dtype=np.int64))
    assert np.allclose(values, score.values(at)[0], atol=1e-12) and (gradient[:, 1] == 0).all()
    for x, slope in zip(at, gradient, strict=True):
        numeric = approx_fprime(x, lambda z: score.values(z[None])[0, 0], 1e-7)
        assert np.allclose(slope[[0, 2]], numeric[[0, 2]], atol=1e-5)


@pytest.mark.parametrize("kind", ["se", "sum"])
def test_draws_on_a_box_are_those_of_the_posterior(kind):
    """Mean and variance of f([x, b]) over many draws, at points and landmarks, by 128 random features."""
    rng, box = np.random.default_rng(6), Box(2)
    kernel = as_stationary("rbf", box, 0.5, 1.0)
    points, landmarks, at = box.sample(5, rng), box.sample(2, rng), box.sample(3, rng)
    everything = np.concatenate([points, at, landmarks])
    prior = PairPrior(kind, 2.0, kernel(everything, everything))
    posterior = told(prior, 10, kind == "se", K=5)[0].posterior(prior)
    size, draws = 250, []
    for _ in range(size):
        path = CopelandPath.draw(posterior, kernel, box, points, landmarks, 128, rng)
        draws.append((path.paths.values(at) + path.offset[:, None]).T)
    mean, variance = posterior.table(np.arange(5, 8), np.arange(8, 10))
    assert (np.abs(np.mean(draws, axis=0) - mean) < 6 * np.sqrt(variance / size)).all()
    assert np.allclose(np.var(draws, axis=0), variance, rtol=6.5 * np.sqrt(2 / size), atol=0.02)


def test_a_draw_needs_only_what_its_kind_has():
    rng = np.random.default_rng(0)
    assert not PairDraw.of(prior_of("difference"), 4, rng).Z.any() and not PairDraw.of(prior_of("se"), 4, rng).z.any()
    assert PairPosterior(prior_of("skew"), ALL[:0], ALL[:0], *np.zeros((3, 0))).table(ALL, ALL)[0].shape == (7, 7)
