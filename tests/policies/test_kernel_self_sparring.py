import json

import numpy as np
import pytest
from gpytorch.kernels import RBFKernel

from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.errors import SettingError
from prefopt.models.one_sided import OneSidedGP
from prefopt.policies import make_policy
from prefopt.policies.kernel.self_sparring import KernelSelfSparring
from prefopt.regret import score
from prefopt.simulation.driver import compiled_loop, make_loop, run_finite


def forrester():
    grid = Grid.regular(30)
    x = grid.points[:, 0]
    u = -((6 * x - 2) ** 2) * np.sin(12 * x - 4)
    return FiniteEnvironment("forrester", grid, 1 / (1 + np.exp(u[None] - u[:, None])), utility=u)


def run(policy, rounds, seed, plain=False):
    person = forrester()
    loop = make_loop(policy.rules) if plain else compiled_loop(policy.rules, person.world)
    rngs = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    scored = score(person, ["strong-sum"], np.arange(30))
    return run_finite(loop, policy, person.world, scored, *rngs, np.array([rounds]), record=True)


def answered(policy, rounds=12, seed=0):
    policy.init(np.random.default_rng(0))
    for t in range(rounds):
        slate = policy.ask(np.random.default_rng([seed, t]))
        policy.tell(slate, Answer.best(t % policy.slate_size, policy.slate_size), np.random.default_rng(0))
    return policy


@pytest.mark.parametrize("settings", [{"preset": "paper"}, {}, {"slate_size": 4, "self_duel": "skip"}])
def test_compiled_equals_plain(settings):
    policy = make_policy("kernel-self-sparring", forrester().domain, **settings)
    fast, slow = run(policy, 60, 1), run(policy, 60, 1, plain=True)
    assert (fast.slates == slow.slates).all()
    assert fast.recommended == slow.recommended


@pytest.mark.parametrize(("settings", "expected"), [({}, 27.5), ({"slate_size": 4}, 23.5)])
def test_regret_of_the_paper(settings, expected):
    policy = make_policy("kernel-self-sparring", forrester().domain, preset="paper", **settings)
    regret = [run(policy, 100, seed).regret[0, 0] for seed in range(200)]
    assert abs(np.mean(regret) - expected) < 5


def test_arms_are_independent_conjugate_gaussians_slate_for_slate():
    K, noise, scale, mean = 6, 0.05, 1.3, 0.2
    policy = KernelSelfSparring(Arms(K), slate_size=3, noise=noise, outputscale=scale, mean=mean)
    policy.init(np.random.default_rng(0))
    n, s, truth = np.zeros(K), np.zeros(K), np.random.default_rng(9)
    for t in range(60):
        slate = policy.ask(np.random.default_rng(t))
        rng, legal = np.random.default_rng(t), []
        for _ in range(3):  # Kalman form, arm by arm, with the same normals
            z = rng.standard_normal(K)
            f = [mean + scale**0.5 * z[i] for i in range(K)]
            for i in range(K):
                if n[i]:
                    gain = scale / (scale + noise / n[i])
                    f[i] += gain * (s[i] / n[i] - f[i] - (noise / n[i]) ** 0.5 * rng.standard_normal())
            legal.append(int(np.argmax(f)))
        assert slate.tolist() == legal
        wins = np.triu(truth.integers(0, 2, (3, 3)).astype(float), 1)
        wins += np.tril(1 - wins.T, -1)
        policy.tell(slate, Answer.pairs(wins), truth)
        for j in range(3):
            n[slate[j]] += 2
            s[slate[j]] += wins[j].sum()
    posterior_mean, covariance = policy.posterior()
    precision = 1 / scale + n / noise
    assert np.allclose(posterior_mean, (mean / scale + s / noise) / precision)
    assert np.allclose(covariance, np.diag(1 / precision))


def test_ask_changes_nothing():
    policy = answered(KernelSelfSparring(Grid.regular(4, 4)))
    before = [policy.posterior()[1], policy.state.posterior.n.copy(), policy.best()]
    slates = [policy.ask(np.random.default_rng(3)).tolist() for _ in range(3)]
    assert slates[0] == slates[1] == slates[2]
    assert (before[0] == policy.posterior()[1]).all()
    assert (policy.state.posterior.n == before[1]).all()
    assert policy.best() == before[2]


def test_restore_from_counts_is_the_same_posterior():
    live = answered(KernelSelfSparring(Grid.regular(20)), 40)
    copy = KernelSelfSparring(Grid.regular(20))
    copy.restore(live.state.posterior.n, live.state.posterior.s)
    for a, b in zip(live.posterior(), copy.posterior(), strict=True):
        assert np.allclose(a, b, rtol=0, atol=1e-11)
    assert (live.ask(np.random.default_rng(1)) == copy.ask(np.random.default_rng(1))).all()
    assert live.best() == copy.best()
    with pytest.raises(SettingError, match="wins <= tries"):
        copy.restore(np.zeros(20), np.ones(20))


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("make", [Arms, Grid.regular])
def test_survives_few_options(size, make):
    policy = answered(KernelSelfSparring(make(size)))
    assert 0 <= policy.best() < size


def test_distinct_shows_two_options_and_ties_are_halves():
    policy = answered(KernelSelfSparring(Grid.regular(3)), 30)
    for seed in range(50):
        first, second = policy.ask(np.random.default_rng(seed))
        assert first != second
    policy.init(np.random.default_rng(0))
    policy.tell(np.array([0, 2]), Answer.tie(2), np.random.default_rng(0))
    policy.tell(np.array([0, 1]), Answer.skip(), np.random.default_rng(0))
    assert policy.state.posterior.n.tolist() == [1, 0, 1]
    assert policy.state.posterior.s.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("settings", [{}, {"likelihood": "bernoulli"}])
@pytest.mark.parametrize(
    ("slate", "answer", "self_duel", "tries", "wins"),
    [
        ([0, 1, 2], Answer.ranking([2, 0, 1], 3), "coin", [2, 2, 2, 0], [1, 0, 2, 0]),
        ([0, 1, 2], Answer.best(1, 3), "coin", [1, 2, 1, 0], [0, 2, 0, 0]),  # winner only: losers are not compared
        ([0, 1, 2], Answer.worst(0, 3), "coin", [2, 1, 1, 0], [0, 1, 1, 0]),
        ([0, 1, 2], Answer.ranking([2, 0], 3), "coin", [1, 0, 1, 0], [0, 0, 1, 0]),  # partial
        ([0, 1, 2], Answer.pairs([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), "coin", [1, 1, 0, 0], [1, 0, 0, 0]),
        ([0, 1, 2], Answer.tie(3), "coin", [2, 2, 2, 0], [1, 1, 1, 0]),
        ([3, 3], Answer.duel(0), "coin", [0, 0, 0, 2], [0, 0, 0, 1]),  # a fair coin: one of each
        ([3, 3], Answer.duel(0), "skip", [0, 0, 0, 0], [0, 0, 0, 0]),
        ([3, 3, 1], Answer.ranking([0, 1, 2], 3), "skip", [0, 2, 0, 2], [0, 0, 0, 2]),
    ],
)
def test_what_every_kind_of_answer_adds(slate, answer, self_duel, tries, wins, settings):
    policy = KernelSelfSparring(Grid.regular(4), slate_size=len(slate), self_duel=self_duel, distinct=False, **settings)
    policy.init(np.random.default_rng(0))
    policy.tell(np.array(slate), answer, np.random.default_rng(0))
    counts = policy.state if settings else policy.state.posterior
    assert counts.n.tolist() == tries
    assert counts.s.tolist() == wins


@pytest.mark.parametrize("settings", [{}, {"likelihood": "bernoulli"}])
def test_a_grid_is_a_box_at_its_points(settings):
    """Special case equals general case: the same answers, the same posterior."""
    grid = Grid.regular(5, 4)
    one, two = KernelSelfSparring(grid, slate_size=3, **settings), KernelSelfSparring(Box(2), slate_size=3, **settings)
    rng = np.random.default_rng(1)
    for policy in (one, two):
        policy.init(rng)
    for _ in range(12):
        slate = rng.choice(20, 3, replace=False)
        answer = Answer.ranking(rng.permutation(3).tolist(), 3)
        one.tell(slate, answer, rng)
        two.tell(grid.points[slate], answer, rng)
    for a, b in zip(one.posterior(), two.posterior(grid.points), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)
    np.testing.assert_allclose(grid.points[one.best()], two.best())


@pytest.mark.parametrize("slate_size", [2, 3, 4, 7])
def test_slates_of_any_size(slate_size):
    policy = answered(KernelSelfSparring(Grid.regular(9), slate_size=slate_size))
    assert len(policy.ask(np.random.default_rng(5))) == slate_size


def test_best_is_an_option_that_was_tried():
    policy = KernelSelfSparring(Grid.regular(9), mean=0.9)
    policy.init(np.random.default_rng(0))
    policy.tell(np.array([3, 4]), Answer.duel(0), np.random.default_rng(0))
    assert policy.best() == 3


def test_settings_survive_json_and_defaults_follow_feedback():
    policy = KernelSelfSparring(Grid.regular(5), kernel="matern52", feedback="winner")
    assert policy.variance == 0.25
    again = KernelSelfSparring(Grid.regular(5), **json.loads(json.dumps(policy.settings)))
    assert again.settings == policy.settings
    assert KernelSelfSparring(Grid.regular(5), kernel=RBFKernel()).settings["kernel"] == "RBFKernel"


def test_draws_follow_the_posterior():
    policy = answered(KernelSelfSparring(Grid.regular(5)))
    draws = policy.draws(4000, np.random.default_rng(0))
    assert np.abs(draws.mean(axis=0) - policy.posterior()[0]).max() < 6 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slate_size": 3, "distinct": True}, "slates of 2"),
        ({"noise": 0.0}, "noise > 0"),
        ({"feedback": "votes"}, "feedback"),
        ({"kernel": "cubic"}, "unknown kernel"),
        ({"lengthscale": -1.0}, "positive"),
        ({"nois": 0.1}, "nois"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(SettingError, match=message):
        make_policy("kernel-self-sparring", Grid.regular(5), **settings)


def test_arms_have_no_kernel():
    with pytest.raises(SettingError, match="no features"):
        KernelSelfSparring(Arms(3), kernel="rbf")


def test_a_kernel_fitted_elsewhere_is_played_with_as_it_is():
    x = np.linspace(0, 1, 6)[:, None]
    kernel = OneSidedGP(x, [5] * 6, [1, 2, 3, 4, 3, 1]).fit().covar_module
    scale, length = kernel.outputscale.item(), kernel.base_kernel.lengthscale.item()
    assert abs(length - 0.2) > 0.05 and abs(scale - 1) > 0.05  # not the defaults
    expected = scale * np.exp(-((x - x.T) ** 2) / (2 * length**2))
    for domain in (Grid(x), Box(1)):
        policy = make_policy("kernel-self-sparring", domain, kernel=kernel)
        for _ in range(2):
            prior = policy.prior if isinstance(domain, Grid) else policy.prior_at(x)
            np.testing.assert_allclose(prior.covariance, expected, atol=1e-12)
            answered(policy)  # and answers do not change it
