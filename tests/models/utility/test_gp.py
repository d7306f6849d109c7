"""The model for GPyTorch and BoTorch: equal to the arrays, differentiable, and of use to acquisition functions."""

from __future__ import annotations

import math
from typing import Any

import gpytorch
import numpy as np
import pytest
import torch
from botorch.acquisition import qLogNoisyExpectedImprovement
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption, qExpectedUtilityOfBestOption
from botorch.models.pairwise_gp import PairwiseGP
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from gpytorch.priors import LogNormalPrior
from numpy.testing import assert_allclose

from prefopt.answer import Answer
from prefopt.domain import Box, Column
from prefopt.errors import SettingError
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.given import default_hyper
from prefopt.models.utility.gp import UtilityGP
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.laplace import laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.pairwise import to_pairwise_gp
from prefopt.models.utility.posterior import Utility
from tests.models.utility.test_core import example, trend

INFER = {"laplace": laplace, "ep": expectation_propagation}


def some_said(q: int, seed: int = 0) -> list[Said]:
    rng = np.random.default_rng(seed)
    said = [Said(tuple(rng.choice(q, 2, replace=False).tolist()), Answer.duel(int(rng.integers(2)))) for _ in range(12)]
    said += [Said((0, 1, 2), Answer.best(1, 3)), Said((3, 4), Answer.tie()), Said((4, 5, 6), Answer.ranking([2, 0], 3))]
    return said


@pytest.mark.parametrize("inference", ["laplace", "ep"])
@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern52"])
@pytest.mark.parametrize("centred", [True, False])
def test_it_is_the_numpy_model(kernel: str, inference: str, centred: bool) -> None:
    box, X, _ = example(3, 1, 2)
    said = some_said(len(X))
    hyper = Hyper(box, kernel, trend=trend(box) if centred else None)
    model = UtilityGP(X, said, hyper=hyper, inference=inference)
    utility = Utility.after(
        hyper.prior(hyper.median), X, Comparisons.of(said, len(X)), Likelihood(), infer=INFER[inference]
    )
    Z = box.sample(7, np.random.default_rng(1))
    mean, C = utility.joint(Z)
    with torch.no_grad():
        found = model.posterior(torch.tensor(Z))
    assert_allclose(found.mean.squeeze(-1).numpy(), mean, atol=1e-8)
    assert_allclose(found.distribution.covariance_matrix.numpy(), C, atol=1e-8)
    assert model.evidence().item() == pytest.approx(utility.found.evidence, abs=1e-6)
    expected = utility.win_probability(Z[:3], Z[3:6], Likelihood())
    assert_allclose(model.win_probability(Z[:3], Z[3:6]).numpy(), expected, atol=1e-7)


def test_batches_and_gradients_along_the_options() -> None:
    X = torch.rand(10, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    model = UtilityGP(X, some_said(10))
    Z = torch.rand(4, 3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2), requires_grad=True)
    whole = model.posterior(Z)
    assert whole.mean.shape == (4, 3, 1)
    for i in range(4):
        one = model.posterior(Z[i])
        torch.testing.assert_close(one.mean, whole.mean[i])
        torch.testing.assert_close(
            one.distribution.covariance_matrix, whole.distribution.covariance_matrix[i], atol=1e-9, rtol=1e-9
        )

    def both(z: torch.Tensor) -> torch.Tensor:
        at = model.posterior(z)
        return torch.cat([at.mean.flatten(), at.distribution.covariance_matrix.flatten()])

    assert torch.autograd.gradcheck(both, (Z[:2],), atol=1e-5)


def test_equal_options_have_a_posterior() -> None:
    model = UtilityGP(np.random.default_rng(2).random((10, 2)), some_said(10))
    Z = torch.full((3, 2, 2), 0.3, dtype=torch.float64, requires_grad=True)  # a singular covariance
    value = AnalyticExpectedUtilityOfBestOption(pref_model=model)(Z)
    value.sum().backward()
    assert torch.isfinite(value).all() and torch.isfinite(Z.grad).all()


def test_comparisons_of_botorch_are_duels() -> None:
    X, pairs = np.random.default_rng(3).random((6, 2)), [[0, 1], [2, 3], [5, 1]]
    a = UtilityGP(X, torch.tensor(pairs))
    b = UtilityGP(X, [Said((w, loser), Answer.duel(0)) for w, loser in pairs])
    torch.testing.assert_close(a.posterior(a.datapoints).mean, b.posterior(b.datapoints).mean)


@pytest.mark.parametrize("slate", [[2, 0], np.array([2, 0])])
def test_a_slate_may_be_any_sequence(slate: Any) -> None:
    X = np.linspace(0, 1, 3)[:, None]
    made = [UtilityGP(X, [Said(one, Answer.duel(1))]).data for one in (slate, (2, 0))]
    assert [(data.ahead.tolist(), data.behind.tolist()) for data in made] == [([0], [2])] * 2


def test_acquisition_functions_of_botorch_find_good_pairs() -> None:
    rng = np.random.default_rng(4)
    X = rng.random((24, 2))
    pairs = rng.permutation(24).reshape(12, 2)
    worth = -((X - [0.3, 0.6]) ** 2).sum(axis=1)
    said = [[a, b] if worth[a] > worth[b] else [b, a] for a, b in pairs] + [[0, 1] if worth[0] > worth[1] else [1, 0]]
    model = UtilityGP(X, said).fit()
    bounds = torch.tensor([[0.0] * 2, [1.0] * 2], dtype=torch.float64)
    for acquisition in (
        AnalyticExpectedUtilityOfBestOption(pref_model=model),
        qExpectedUtilityOfBestOption(pref_model=model),
        qLogNoisyExpectedImprovement(model, model.datapoints, prune_baseline=False),
    ):
        torch.manual_seed(0)
        pair, value = optimize_acqf(acquisition, bounds, q=2, num_restarts=2, raw_samples=32, options={"maxiter": 20})
        with torch.no_grad():
            random = acquisition(torch.rand(64, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(5)))
        assert value >= random.max() - 1e-6
        assert model.posterior(pair).mean.max() > model.posterior(model.datapoints).mean.median()


def numeric_slope(model: UtilityGP, parameter: torch.nn.Parameter, step: float = 1e-4) -> float:
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            parameter += sign * step
        values.append(model.evidence().item())
        with torch.no_grad():
            parameter -= sign * step
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize(("inference", "close"), [("laplace", 1e-5), ("ep", 2e-3)])
def test_gradients_of_the_evidence_along_any_module(inference: str, close: float) -> None:
    X = np.random.default_rng(6).random((8, 1))
    mean = gpytorch.means.LinearMean(1)
    model = UtilityGP(X, some_said(8), kernel=ScaleKernel(PeriodicKernel()), mean=mean, inference=inference)
    model.covar_module.outputscale = 5.0
    model.evidence().backward()
    for parameter in (model.covar_module.base_kernel.raw_lengthscale, model.covar_module.raw_outputscale, mean.weights):
        assert parameter.grad.sum().item() == pytest.approx(numeric_slope(model, parameter), abs=close)


def test_fit_climbs_with_the_priors_of_a_given_kernel() -> None:
    X = np.random.default_rng(7).random((12, 2))
    base = RBFKernel(ard_num_dims=2, lengthscale_prior=LogNormalPrior(math.log(0.4), 0.5))
    kernel = ScaleKernel(base, outputscale_prior=LogNormalPrior(math.log(8.0), 0.5))
    model = UtilityGP(X, some_said(12), kernel=kernel)

    def top() -> float:
        with torch.no_grad():
            own = base.lengthscale_prior.log_prob(base.lengthscale).sum() + kernel.outputscale_prior.log_prob(
                kernel.outputscale
            )
            return (model.evidence() + own).item()

    before = top()
    model.fit()
    assert top() > before + 0.1
    for raw in (base.raw_lengthscale, kernel.raw_outputscale):
        old = raw.detach().clone()
        best = top()
        for sign in (1, -1):
            with torch.no_grad():
                raw.copy_(old + sign * 0.3)
            assert top() < best + 1e-3
        with torch.no_grad():
            raw.copy_(old)


def test_fit_of_the_default_is_that_of_the_policies() -> None:
    box, X, _ = example(2, 0, 2)
    said = some_said(len(X))
    hyper = default_hyper(box)
    theta = hyper.learn(X, Comparisons.of(said, len(X)), Likelihood())
    model = UtilityGP(X, said).fit(iterations=15)
    assert_allclose(model.theta, theta, atol=1e-6)
    paths = model.paths(400, np.random.default_rng(8)).values(X[:3])
    at = model.posterior(torch.tensor(X[:3]))
    C = at.distribution.covariance_matrix.detach().numpy()
    assert_allclose(paths.mean(axis=0), at.mean.squeeze(-1).detach().numpy(), atol=6 * np.sqrt(C.max() / 400) + 0.02)


def test_more_answers_are_those_all_at_once_and_leave_the_old_model() -> None:
    X = np.random.default_rng(9).random((9, 2))
    model = UtilityGP(X[:6], [[0, 1], [2, 3], [4, 5]])
    before = model.posterior(torch.tensor(X)).mean.detach()
    more = model.condition_on_observations(X[6:], [[0, 1], [2, 1]])
    again = UtilityGP(X, [[0, 1], [2, 3], [4, 5], [6, 7], [8, 7]])
    torch.testing.assert_close(
        more.posterior(torch.tensor(X)).mean, again.posterior(torch.tensor(X)).mean, atol=1e-3, rtol=0
    )
    torch.testing.assert_close(model.posterior(torch.tensor(X)).mean.detach(), before)


def test_no_answers_are_the_prior() -> None:
    model = UtilityGP(np.zeros((0, 2)), [])
    at = model.posterior(torch.tensor([[0.5, 0.5], [0.0, 0.0]]))
    assert at.mean.flatten().tolist() == pytest.approx([0.0, -4.0])
    assert model.fit() is model and len(model.paths(3, np.random.default_rng(0)).values(np.zeros((2, 2)))) == 3


@pytest.mark.parametrize("inference", ["laplace", "ep"])
@pytest.mark.parametrize("kind", ["chain", "cycle", "repeats", "near-duplicates", "many"])
def test_it_is_stable(kind: str, inference: str) -> None:
    rng = np.random.default_rng(10)
    X = rng.random((30, 1 if kind == "chain" else 2))
    if kind == "chain":
        order = np.argsort(X[:, 0])
        said = [[int(order[i + 1]), int(order[i])] for i in range(29)]
    elif kind == "cycle":
        said = [[0, 1], [1, 2], [2, 0]] * 20
    elif kind == "repeats":
        said = [[0, 1]] * 300
    elif kind == "near-duplicates":
        X = np.repeat(X[:3], 10, axis=0) + 1e-9 * rng.standard_normal((30, 2))
        said = [[i, (i + 1) % 30] for i in range(30)]
    else:
        X = rng.random((400, 2))
        a, b = rng.integers(400, size=1000), rng.integers(400, size=1000)
        win = rng.random(1000) < 1 / (1 + np.exp(5 * (X[b, 0] - X[a, 0])))
        said = [[i, j] if w else [j, i] for i, j, w in zip(a.tolist(), b.tolist(), win, strict=True) if i != j]
    model = UtilityGP(X, said, inference=inference)
    if kind != "many":
        model.fit()
    at = model.posterior(torch.tensor(rng.random((5, X.shape[1]))))
    assert torch.isfinite(at.mean).all() and math.isfinite(model.found.evidence)
    assert torch.linalg.eigvalsh(at.distribution.covariance_matrix).min() > -1e-6
    assert torch.isfinite(at.rsample(torch.Size([4]))).all()


def test_pairwise_gp_of_botorch_agrees_with_laplace_and_logistic_duels() -> None:
    rng = np.random.default_rng(11)
    X = rng.random((12, 1))
    pairs = [[int(a), int(b)] for a, b in rng.integers(12, size=(25, 2)) if a != b]
    kernel = ScaleKernel(MaternKernel(nu=2.5)).double()
    kernel.outputscale, kernel.base_kernel.lengthscale = 4.0, 0.3
    own = UtilityGP(X, pairs, inference="laplace", kernel=kernel)
    theirs = to_pairwise_gp(X, pairs, link="logit", kernel=kernel).eval()
    Z = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None]
    with torch.no_grad():
        a, b = own.posterior(Z), theirs.posterior(Z)
    torch.testing.assert_close(a.mean, b.mean, atol=1e-8, rtol=0)
    torch.testing.assert_close(a.distribution.covariance_matrix, b.distribution.covariance_matrix, atol=1e-5, rtol=0)


def test_the_adapter_leaves_out_ties_and_repeats_weights() -> None:
    X = np.random.default_rng(12).random((5, 2))
    said = [Said((0, 1), Answer.duel(1)), Said((0, 1), Answer.tie()), Said((2, 3, 4), Answer.best(0, 3), weight=2.0)]
    theirs = to_pairwise_gp(X, said)
    assert isinstance(theirs, PairwiseGP)
    assert theirs.comparisons.tolist() == [[1, 0], [2, 3], [2, 3], [2, 4], [2, 4]]
    with pytest.raises(SettingError, match="at least one comparison"):
        to_pairwise_gp([[0.0], [1.0]], [Said((0, 1), Answer.tie())])
    with pytest.raises(SettingError, match="unknown link"):
        to_pairwise_gp(X, said, link="cauchit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inference": "mcmc"}, "expected 'ep' or 'laplace'"),
        ({"X": [[0.0], [np.nan]]}, "row 1, column 0"),
        ({"said": [[0, 7]]}, "answer 0 is about rows"),
        ({"said": [[0.5, 1.5]]}, "rows \\[winner, loser\\]"),
        ({"said": [Said((0, 1), Answer.best(0, 3))]}, "expected 3 of the 2"),
        ({"kernel": RBFKernel(), "hyper": default_hyper(Box(1))}, "not both"),
    ],
)
def test_errors_say_what_was_expected(change: dict, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        UtilityGP(**{"X": [[0.0], [1.0]], "said": [[0, 1]], **change})
    with pytest.raises(SettingError, match="default prior"):
        UtilityGP([[0.0], [1.0]], [[0, 1]], kernel=RBFKernel()).utility()


def test_a_category_needs_no_centre() -> None:
    box = Box([Column("category", (0.0, 0.5, 1.0))])
    assert default_hyper(box).trend is None
    model = UtilityGP([[0.0], [0.5], [1.0]], [[0, 1], [0, 2]], hyper=default_hyper(box)).fit()
    assert model.posterior(model.datapoints).mean.argmax() == 0
