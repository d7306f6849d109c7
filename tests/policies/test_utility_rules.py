"""Every rule on a utility model against brute force on a small grid, and its closed form against quadrature."""

import itertools

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Box, Grid
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.policies.kernel.brochu_ei import expected_improvement
from prefopt.seeding import stream

GRID = Grid.regular(5, 2)


def told(name, answers=12, domain=GRID, **settings):
    """The policy after some answers about random pairs; the option nearest to 0.4 is usually better."""
    policy = make_policy(name, domain, **{"learn": False, **settings})
    policy.init(stream(0))
    rng = np.random.default_rng(3)
    for t in range(answers):
        pair = rng.choice(domain.size, 2, replace=False)
        away = np.abs(domain.points[pair] - 0.4).sum(axis=1) + 0.2 * rng.gumbel(size=2)
        policy.tell(pair, Answer.duel(int(np.argmin(away))), stream(t))
    return policy


def moments(policy):
    """Mean (K,), and mean and standard deviation of all differences (K, K), in loops over the joint posterior."""
    mean, C = policy.utility().joint(policy.domain.points)
    K = len(mean)
    gap, sd = np.zeros((K, K)), np.zeros((K, K))
    for i, j in itertools.product(range(K), range(K)):
        gap[i, j] = mean[i] - mean[j]
        sd[i, j] = np.sqrt(max(C[i, i] + C[j, j] - 2 * C[i, j], 1e-12))
    return mean, gap, sd, C


@pytest.mark.parametrize("beta", [0.5, 1.96])
def test_dueling_ucb_is_the_largest_upper_bound(beta):
    policy = told("dueling-ucb", beta=beta)
    mean, gap, sd, _ = moments(policy)
    c = int(np.argmax(mean))
    bounds = {x: gap[x, c] + beta * sd[x, c] for x in range(10) if x != c}
    assert policy.ask(stream(1)).tolist() == [c, max(bounds, key=bounds.get)]


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("answers", [4, 12, 40])
def test_max_min_lcb_is_the_paper_s_game(beta, answers):
    policy = told("max-min-lcb", answers, beta=beta, distinct=False)
    _, gap, sd, _ = moments(policy)
    M = [i for i in range(10) if all(gap[i, j] + beta * sd[i, j] >= 0 for j in range(10))]
    slate = policy.ask(stream(1)).tolist()
    if len(M) == 1:
        assert slate == M * 2
        return
    worst = {i: min(gap[i, j] - beta * sd[i, j] for j in M if j != i) for i in M}
    assert slate[0] in M and worst[slate[0]] == pytest.approx(max(worst.values()))
    assert slate[1] in M and gap[slate[0], slate[1]] - beta * sd[slate[0], slate[1]] == pytest.approx(worst[slate[0]])


def test_max_min_lcb_breaks_ties_at_random_and_may_insist_on_two_options():
    fresh = make_policy("max-min-lcb", Grid.regular(6), pull=0.0, bend=0.0, tilt=0.0, opening=0)
    fresh.init(stream(0))
    assert len({tuple(fresh.ask(stream(s)).tolist()) for s in range(40)}) > 1  # mirrored pairs are equally good
    sure = told("max-min-lcb", 60, beta=0.01)
    assert len(set(sure.ask(stream(1)).tolist())) == 2
    sure.distinct = False
    assert len(set(sure.ask(stream(1)).tolist())) == 1


def test_brochu_ei_is_the_largest_expected_improvement_on_what_was_shown():
    policy = told("brochu-ei", 6)
    mean, _, _, C = moments(policy)
    shown = sorted({int(i) for i in policy.as_slate(policy.points)})
    incumbent = max(shown, key=lambda i: mean[i])
    x = np.linspace(-12, 12, 20001)
    density = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    value = {}
    for i in set(range(10)) - {incumbent}:
        gain = np.maximum(mean[i] - mean[incumbent] + np.sqrt(C[i, i]) * x, 0.0)
        value[i] = np.trapezoid(gain * density, x)
        closed = expected_improvement(mean[i] - mean[incumbent], np.sqrt(C[i, i]))
        assert float(closed) == pytest.approx(value[i], abs=1e-5)
    assert policy.ask(stream(1)).tolist() == [incumbent, max(value, key=value.get)]


@pytest.mark.parametrize("m", [2, 4])
def test_thompson_plays_an_option_as_often_as_it_is_the_best(m):
    policy = told("utility-thompson", 12, slate_size=m, distinct=False)
    mean, _, _, C = moments(policy)
    draws = np.random.default_rng(0).multivariate_normal(mean, C, size=40_000, method="eigh")
    expected = np.bincount(draws.argmax(axis=1), minlength=10) / 40_000
    slates = np.array([policy.ask(stream(2, s)) for s in range(2000 // m)])
    found = np.bincount(slates.ravel(), minlength=10) / slates.size
    # five and a half standard deviations of each share: a false alarm has a chance below 1e-6
    assert np.all(np.abs(found - expected) < 5.5 * np.sqrt(np.maximum(expected, 2e-3) / slates.size))
    both = np.mean(slates[:, 0] == slates[:, 1])  # places are independent
    assert abs(both - np.sum(expected**2)) < 5.5 * np.sqrt(0.25 / len(slates))


def test_sobol_pairs_follow_the_sequence_and_go_on_over_open_questions():
    policy = make_policy("sobol", Box(3))
    policy.init(stream(5))
    questions = [policy.ask(stream(9), [None] * 0)]
    for _ in range(7):
        questions.append(policy.ask(stream(9), questions))
    points = np.concatenate(questions)
    assert np.array_equal(points, policy.sequence(16))
    for column in points.T:  # balanced: one point in every sixteenth
        assert sorted((16 * column).astype(int).tolist()) == list(range(16))
    policy.tell(questions[0], Answer.duel(0), stream(0))
    assert np.array_equal(policy.ask(stream(8)), questions[1])


@pytest.mark.parametrize(("name", "settings", "message"), [
    ("dueling-ucb", {"beta": -1.0}, "beta >= 0"),
    ("max-min-lcb", {"beta": -0.1}, "beta >= 0"),
    ("max-min-lcb", {"slate_size": 3}, "two options at a time"),
    ("utility-thompson", {"distinct": 2}, "true or false"),
    ("utility-thompson", {"restarts": 0}, "restarts >= 1"),
])  # fmt: skip
def test_bad_settings_are_named(name, settings, message):
    with pytest.raises(SettingError, match=message):
        make_policy(name, GRID, **settings)
