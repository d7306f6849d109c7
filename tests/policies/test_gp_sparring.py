"""GP-Sparring: the published constants, a slow oracle, regret of the paper, and the box."""

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Column, Grid
from prefopt.errors import SettingError
from prefopt.models.exact import ExactGP
from prefopt.models.stationary import as_stationary
from prefopt.models.tried import Tried
from prefopt.models.upper_bound import UpperBound
from prefopt.policies import make_policy
from prefopt.policies.kernel.gp_sparring import FiniteGPSparring, GPSparring, exploration
from prefopt.policies.kernel.gp_sparring_box import BoxGPSparring
from prefopt.seeding import stream
from prefopt.simulation import simulate


@pytest.mark.parametrize(("K", "t", "beta"), [(30, 1, 12.403), (30, 100, 30.824), (64, 1, 13.918), (64, 500, 38.777)])
def test_exploration_of_theorem_1(K, t, beta):
    assert exploration(K, t, 0.1, 1.0) == pytest.approx(beta, abs=5e-4)
    assert exploration(K, t, 0.1, 5.0) == pytest.approx(beta / 5, abs=5e-4)


@pytest.mark.parametrize("m", [2, 3])
def test_slates_are_those_of_a_slow_oracle(m):
    """Every learner conditions one outcome at a time on what its own slot was told."""
    grid, noise = Grid.regular(4, 3), 0.05
    policy = GPSparring(grid, slate_size=m, noise=noise, mean=0.1)
    policy.init(stream(0))
    distance = ((grid.points[:, None] - grid.points) ** 2).sum(axis=2)
    prior = np.exp(-distance / (2 * 0.2**2))
    means, covariances, told = [np.full(12, 0.1) for _ in range(m)], [prior.copy() for _ in range(m)], set()
    truth = np.random.default_rng(4)
    for t in range(1, 60):
        slate = policy.ask(stream(1, t))
        beta = 2 * math.log(12 * t**2 * math.pi**2 / (6 * 0.1)) / 5
        for j in range(m):
            upper = means[j] + np.sqrt(beta * np.diag(covariances[j]))
            assert upper[slate[j]] > upper.max() - 1e-9
        wins = np.triu(truth.integers(0, 2, (m, m)).astype(float), 1)
        wins += np.tril(1 - wins.T, -1)
        policy.tell(slate, Answer.pairs(wins), truth)
        told |= set(slate.tolist())
        for j in range(m):
            for k in set(range(m)) - {j}:
                i, c = slate[j], covariances[j][:, slate[j]]
                gain = c / (c[i] + noise)
                means[j] = means[j] + gain * (wins[j, k] - means[j][i])
                covariances[j] = covariances[j] - np.outer(gain, c)
        total = sum(means)
        assert total[policy.best()] > max(total[i] for i in told) - 1e-9 and policy.best() in told
    for j in range(m):
        mean, covariance = policy.posterior(j)
        assert np.allclose(mean, means[j], atol=1e-9) and np.allclose(covariance, covariances[j], atol=1e-9)


def test_ties_are_broken_at_random():
    policy = GPSparring(Grid.regular(5))
    policy.init(stream(0))
    first = np.array([policy.ask(stream(s)) for s in range(400)])
    counts = np.bincount(first.ravel(), minlength=5)
    assert counts.min() > 100  # of 160 expected; chance of a false alarm below 1e-6
    assert 0.1 < (first[:, 0] == first[:, 1]).mean() < 0.32


@pytest.mark.parametrize(("m", "expected", "within"), [(2, 33.0, 3.0), (4, 45.5, 3.5)])
def test_regret_of_the_paper(m, expected, within):
    """Measured over 1200 (m = 2) runs: 33.1; the standard error over 200 is 0.6."""
    run = simulate(
        "gp-sparring", "forrester-30", rounds=100, repetitions=200, slate_size=m, settings={"preset": "sui2017"}
    )
    assert abs(run.mean()[-1] - expected) < within


def test_compiled_equals_plain_on_a_grid():
    fast, slow = (
        simulate("gp-sparring", "camel-64", rounds=150, slate_size=3, compiled=c, record=True, seed=3)
        for c in (True, False)
    )
    assert np.array_equal(fast.slates[0], slow.slates[0])


def test_more_options_than_slots_teach_too():
    policy = GPSparring(Arms(5))
    policy.init(stream(0))
    policy.tell(np.array([0, 1, 2]), Answer.ranking([0, 1, 2], 3), stream(1))
    assert policy.state.n.tolist() == [[2, 0, 2, 0, 0], [0, 2, 0, 0, 0]]
    assert policy.state.s.tolist() == [[2, 0, 0, 0, 0], [0, 1, 0, 0, 0]]


@pytest.mark.parametrize("self_duel", ["coin", "skip"])
def test_a_duel_of_an_option_with_itself(self_duel):
    policy = GPSparring(Arms(3), self_duel=self_duel)
    policy.init(stream(0))
    policy.tell(np.array([1, 1]), Answer.duel(0), stream(1))
    assert policy.state.n.sum() == (2 if self_duel == "coin" else 0)
    assert policy.state.t[0] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delta": 1.0}, "0 < delta < 1"),
        ({"beta_scale": 0}, "beta_scale > 0"),
        ({"noise": 0.0}, "noise > 0"),
        ({"self_duel": "maybe"}, "self_duel 'coin' or 'skip'"),
        ({"lengthscale": 0.3}, "nothing is alike"),
        ({"distinct": True}, "no setting 'distinct'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(SettingError, match=message) as caught:
        make_policy("gp-sparring", Arms(3), **settings)
    assert "gp-sparring" in str(caught.value)


MIXED = Box([Column(), Column("category", (0.0, 1.0)), Column("levels", (0.0, 0.3, 1.0))])


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern52"])
def test_the_bound_and_its_gradient(kernel):
    rng = np.random.default_rng(2)
    X = MIXED.sample(9, rng)
    data = Tried(X, rng.integers(1, 4, 9).astype(float), np.ones(9))
    model = ExactGP(as_stationary(kernel, MIXED, 0.3, 1.7), MIXED, 0.2, 0.05)
    bound, points = UpperBound(model, data, 1.5), MIXED.sample(5, rng)
    mean, covariance = model.posterior(data, points)
    values = bound.values(points)[0]
    assert np.allclose(values, mean + 1.5 * np.sqrt(np.diag(covariance)), atol=1e-10)
    again, gradient = bound.value_and_gradient(points, np.zeros(5, dtype=np.int64))
    assert np.allclose(again, values, atol=1e-12) and (gradient[:, 1] == 0).all()
    for x, slope in zip(points, gradient, strict=True):
        numeric = approx_fprime(x, lambda z: bound.values(z[None])[0, 0], 1e-7)
        assert np.allclose(slope[[0, 2]], numeric[[0, 2]], atol=2e-5)
    empty = UpperBound(model, Tried.none(3), 1.5)
    assert np.allclose(empty.value_and_gradient(points, np.zeros(5, dtype=np.int64))[0], 0.2 + 1.5 * math.sqrt(1.7))


QUICK = {"raw_samples": 64, "restarts": 4}


@pytest.mark.parametrize("box", [Box(1), MIXED, Box(2, ["x0 + x1 <= 0.7"]), Box([Column("levels", (0.5,))])])
def test_slates_on_boxes(box):
    policy = BoxGPSparring(box, slate_size=3, **QUICK)
    with pytest.raises(SettingError, match="before init"):
        policy.ask(stream(0))
    policy.init(stream(0))
    assert box.contains(policy.best())
    for t in range(10):
        slate = policy.ask(stream(1, t))
        assert slate.shape == (3, box.dim) and all(box.contains(row) for row in slate)
        policy.tell(slate, Answer.ranking(np.argsort(-slate[:, 0], kind="stable").tolist(), 3), stream(2, t))
    assert box.contains(policy.best())
    assert policy.data.tries.sum() == sum(data.tries.sum() for data in policy.mine) == 60


def test_the_first_points_differ_and_a_slot_learns_of_itself():
    policy = BoxGPSparring(Box(2), **QUICK)
    policy.init(stream(0))
    slate = policy.ask(stream(1))
    assert np.abs(slate[0] - slate[1]).max() > 1e-3
    policy.tell(slate, Answer.duel(1), stream(2))
    assert [data.X.tolist() for data in policy.mine] == [[slate[0].tolist()], [slate[1].tolist()]]
    assert [data.wins.tolist() for data in policy.mine] == [[0.0], [1.0]]


def test_it_learns_on_a_box():
    late = simulate("gp-sparring", "forrester", rounds=60, repetitions=6, settings=QUICK, checkpoints=[40, 60])
    chance = simulate("random", "forrester", rounds=60, repetitions=6, checkpoints=[40, 60])
    assert np.diff(late.mean())[0] < 0.5 * np.diff(chance.mean())[0]


def test_the_right_class_for_every_domain():
    assert isinstance(GPSparring(Box(1)), BoxGPSparring)
    assert isinstance(GPSparring(Arms(3)), FiniteGPSparring)
