"""Every rule on a utility model against brute force on a small grid, and its closed form against quadrature."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, ndtr

from prefopt.answer import Answer
from prefopt.domain import Box, Column, Grid
from prefopt.errors import SettingError
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.laplace import laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.skew import gibbs_draws
from prefopt.models.utility.win import win_variance
from prefopt.policies import make_policy
from prefopt.policies.kernel.brochu_ei import expected_improvement
from prefopt.policies.kernel.candidates import candidates
from prefopt.policies.kernel.hallucination import hallucinate
from prefopt.policies.kernel.look_ahead import LookAhead, Looked, Normal, hopeful_first, mirrored
from prefopt.seeding import stream

GRID = Grid.regular(5, 2)


def told(name, answers=12, domain=GRID, **settings):
    """The policy after some answers about random pairs; the option nearest to 0.4 is usually better."""
    policy = make_policy(name, domain, **{"learn": False, "opening": 2, **settings})
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
    ("hallucination-believer", {"acquisition": "pi"}, "'ei' or 'ucb'"),
    ("line-cospar", {"buffer": 2}, "buffer < slate_size"),
    ("borda-gp", {"acquisition": "ei"}, "'ts' or 'ucb'"),
    ("borda-gp", {"noise": 0.0}, "noise > 0"),
    ("utility-thompson", {"restarts": 0}, "restarts >= 1"),
])  # fmt: skip
def test_bad_settings_are_named(name, settings, message):
    with pytest.raises(SettingError, match=message):
        make_policy(name, GRID, **settings)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_variance_of_a_chance_to_win(link):
    x, weight = np.polynomial.hermite_e.hermegauss(120)
    weight /= weight.sum()
    function = ndtr if link == "probit" else expit
    for mean, sd in itertools.product([0.0, 0.7, -2.5, 6.0], [0.05, 0.8, 2.5]):
        values = function(mean + sd * x)
        expected = weight @ values**2 - (weight @ values) ** 2
        assert float(win_variance(mean, sd, link)) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(("m", "link"), [(2, "logit"), (4, "logit"), (2, "probit")])
def test_muc_challenges_where_the_chances_are_least_known(m, link):
    policy = told("muc", slate_size=m, link=link)
    mean, C = policy.utility().joint(GRID.points)
    u = np.random.default_rng(1).multivariate_normal(mean, C, size=200_000, method="eigh")
    function = ndtr if link == "probit" else expit
    slate = policy.ask(stream(1)).tolist()
    assert slate[0] == int(np.argmax(mean)) and len(set(slate)) == m
    for j in range(1, m):
        value = np.array([sum(function(u[:, x] - u[:, k]).var() for k in slate[:j]) for x in range(10)])
        value[slate[:j]] = 0
        assert value[slate[j]] > value.max() - 1e-3


def five_options(lapse=0.0, weights=(1.0,)):
    """What is believed of five options, a mixture with these weights."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))
    normal = rng.standard_normal((4, 20_000))
    mean, C = 0.3 * rng.standard_normal(5), root @ root.T
    members = [(mean + i * rng.standard_normal(5), C / (1 + i)) for i in range(len(weights))]
    beliefs = tuple(Normal(mean, C, mean, C) for mean, C in members)
    return LookAhead(beliefs, np.array(weights), 1.702, lapse, np.hstack([normal, -normal]))


@pytest.mark.parametrize("weights", [(1.0,), (0.6, 0.4)])
@pytest.mark.parametrize(("slate", "lapse"), [((0, 1), 0.0), ((2, 4), 0.3), ((3, 0, 1), 0.0), ((0, 2, 3, 4), 0.3)])
def test_the_knowledge_gradient_is_the_expected_rise_of_the_largest_mean(slate, lapse, weights):
    ahead, rng, place = five_options(lapse, weights), np.random.default_rng(1), list(slate)
    sizes = [int(400_000 * weight) for weight in weights]
    drawn = zip(ahead.beliefs, sizes, strict=True)
    u = np.vstack([rng.multivariate_normal(one.mean, one.C, size=size) for one, size in drawn])
    chosen = (u[:, place] + rng.gumbel(size=(len(u), len(place)))).argmax(axis=1)
    guessed = rng.random(len(u)) < lapse
    chosen[guessed] = rng.integers(len(place), size=int(guessed.sum()))
    after = sum((chosen == j).mean() * u[chosen == j].mean(axis=0).max() for j in range(len(place)))
    assert ahead.value(np.array([slate]))[0] == pytest.approx(after - u.mean(axis=0).max(), abs=0.02)


def test_the_knowledge_gradient_of_a_slate_does_not_depend_on_its_order():
    ahead = five_options()
    assert ahead.value(np.array([[0, 3], [3, 0]])) == pytest.approx(np.full(2, ahead.value(np.array([[0, 3]]))[0]))
    assert np.ptp(ahead.value(np.array([[0, 2, 3], [3, 0, 2], [2, 3, 0]]))) < 0.02
    assert ahead.best_in([0, 3], 1, np.array([0, 1, 2])) in (1, 2)  # never the same option twice
    with pytest.raises(ValueError, match="made for pairs"):
        replace(ahead, normal=None).value(np.array([[0, 1, 2]]))


def duel_values(policy, beliefs=None):
    ahead = LookAhead.of(beliefs or policy.beliefs(), policy.domain.points, policy.likelihood)
    pairs = np.array([(a, b) for a in range(policy.domain.size) for b in range(policy.domain.size) if a != b])
    return {tuple(pair): value for pair, value in zip(pairs.tolist(), ahead.value(pairs), strict=True)}


def test_the_knowledge_gradient_asks_the_pair_of_largest_value_or_falls_back():
    policy = told("knowledge-gradient", 3, domain=Grid.regular(9))
    value = duel_values(policy)
    assert (
        value[tuple(policy.ask(stream(1)).tolist())] == pytest.approx(max(value.values()))
        and max(value.values()) > 1e-3
    )
    sure = told("knowledge-gradient", 150, domain=Grid.regular(3))
    assert max(duel_values(sure).values()) < 1e-7, "one answer could still change which is best: no fall-back here"
    other = told("eubo", 150, domain=Grid.regular(3))
    assert sorted(sure.ask(stream(1))) == sorted(other.ask(stream(1)))


def test_options_that_are_only_looked_at_may_turn_out_best_too():
    policy = told("knowledge-gradient", 6, domain=Grid.regular(5, 5))
    beliefs, points, likelihood = policy.beliefs(), policy.domain.points, policy.likelihood
    pairs, looked = np.array(list(itertools.permutations(range(8), 2))), Looked.at(beliefs, points[8:])
    some = LookAhead.of(beliefs, points[:8], likelihood, looked=looked)
    every = LookAhead.of(beliefs, points, likelihood)
    assert some.value(pairs) == pytest.approx(every.value(pairs), abs=1e-9)
    without = LookAhead.of(beliefs, points[:8], likelihood)
    assert np.abs(without.value(pairs) - some.value(pairs)).max() > 0.01


@pytest.mark.parametrize("answers", [3, 4])
def test_the_knowledge_gradient_regards_both_priors(answers):
    domain = Grid.regular(5, 5)
    policy = told("knowledge-gradient", answers, domain=domain)
    beliefs, value = policy.beliefs(), duel_values(policy)
    asked, best = value[tuple(policy.ask(stream(1)).tolist())], policy.best()
    assert asked == pytest.approx(max(value.values())) and best == beliefs.mean(domain.points).argmax()
    assert len(beliefs.members) == 2 and beliefs.weights.min() > 0.2
    for utility in beliefs.members:  # either prior alone asks and recommends something else
        alone = duel_values(policy, Averaged.of(utility, policy.likelihood))
        assert value[max(alone, key=alone.get)] < 0.99 * asked and best != utility.mean(domain.points).argmax()
    chances = policy.chances()
    assert {utility.prior.trend is None for utility in chances.members} == {True, False}
    against_shown = [chances.win_probability(domain.points, np.tile(x, (25, 1))) for x in policy.points]
    assert policy.standings(np.arange(25), stream(2)).mean == pytest.approx(np.mean(against_shown, axis=0))
    expected = policy.believing([np.array([0, domain.size - 1])])
    assert len(expected.members) == 2 and not np.allclose(expected.mean(domain.points), beliefs.mean(domain.points))


@pytest.mark.parametrize("answers", [8, 25])
def test_a_prior_counts_by_its_odds_and_the_evidence_of_all_answers(answers):
    policy = told("knowledge-gradient", answers, domain=Grid.regular(5, 5), learn=True, flat=0.3)
    beliefs, level = policy.beliefs(), []
    assert len(beliefs.members) == 2
    for utility, odds in zip(beliefs.members, (0.7, 0.3), strict=True):
        kernel = utility.prior.kernel
        away = np.log([*kernel.lengthscale, kernel.outputscale / 10]) - np.log([0.35 * np.sqrt(2)] * 2 + [1])
        # log l_i = a + b_i: the most probable split of a + b between sd 0.3 (shared) and 0.4 (each) is that of theta
        shared = away[:2].sum() / 0.4**2 / (2 / 0.4**2 + 1 / 0.3**2)
        density = -0.5 * ((shared / 0.3) ** 2 + (((away[:2] - shared) / 0.4) ** 2).sum() + (away[2] / 0.5) ** 2)
        m, K = utility.prior.of_differences(utility.points, utility.data)
        level.append(np.log(odds) + density + laplace(K, m, utility.data, policy.likelihood).evidence)
    assert np.ptp(np.exp(level) / np.exp(level).sum() / beliefs.weights) == pytest.approx(0.0, abs=0.01)


def test_the_knowledge_gradient_of_slates_asks_for_distinct_options_worth_more_than_a_pair():
    policy = told("knowledge-gradient", 6, domain=Grid.regular(9), slate_size=4)
    slate = policy.ask(stream(1))
    assert len(set(slate.tolist())) == 4
    ahead = LookAhead.of(policy.beliefs(), policy.domain.points, policy.likelihood, mirrored(4, stream(0)))
    assert ahead.value(slate[None])[0] > max(duel_values(policy).values())
    box = make_policy("knowledge-gradient", Box(2), slate_size=3)
    box.init(stream(0))
    for t in range(6):
        asked = box.ask(stream(1, t))
        assert asked.shape == (3, 2) and len(np.unique(asked, axis=0)) == 3
        box.tell(asked, Answer.best(int(np.argmin(((asked - 0.4) ** 2).sum(axis=1))), 3), stream(2))


@pytest.mark.parametrize("answers", [6, 9])
def test_an_exchange_of_options_never_lowers_the_value_of_a_slate(monkeypatch, answers):
    monkeypatch.setattr("prefopt.policies.kernel.knowledge_gradient.POOL", 3)  # less than what makes a good pair
    policy = told("knowledge-gradient", answers, domain=Grid.regular(12), slate_size=3)
    beliefs, asked = policy.beliefs(), policy.ask(stream(1))
    Z = candidates(policy.domain, beliefs, policy.champion(beliefs), policy.points, stream(0))
    ahead = LookAhead.of(beliefs, Z, policy.likelihood, mirrored(3, stream(1)))
    pairs = np.array(list(itertools.combinations(range(12), 2)))
    greedy, pool = pairs[int(np.argmax(ahead.value(pairs)))].tolist(), hopeful_first(*ahead.moments)[:3]
    greedy.append(ahead.best_in(greedy, 2, pool))
    assert not set(greedy) <= set(pool.tolist())
    rows = [int(np.argmin(np.abs(Z - policy.domain.points[i]).max(axis=1))) for i in asked]
    assert ahead.value(np.array([rows]))[0] >= ahead.value(np.array([greedy]))[0] - 1e-9


def test_a_hallucination_agrees_with_long_gibbs_sampling():
    policy = told("hallucination-believer", 10, link="probit")
    utility = policy.utility()
    truth = gibbs_draws(utility.prior, utility.points, utility.data, Likelihood("probit"), GRID.points, stream(1))
    means, second = [], []
    for s in range(500):
        mean, sd = hallucinate(utility, policy.likelihood, 5, stream(2, s)).moments(GRID.points)
        means.append(mean)
        second.append(mean**2 + sd**2)
    sd = truth.std(axis=0)
    mean = np.mean(means, axis=0)
    assert np.all(np.abs(mean - truth.mean(axis=0)) < 0.2 * sd)
    assert np.allclose(np.sqrt(np.mean(second, axis=0) - mean**2), sd, rtol=0.15)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_every_hallucinated_difference_has_the_sign_of_its_answer(link):
    policy = told("hallucination-believer", 20, link=link, jnd=0.2)
    policy.tell(np.array([0, 5]), Answer.tie(), stream(0))
    policy.tell(np.array([0, 5, 7]), Answer.pairs([[0, 0.3, 1], [0.7, 0, 0], [0, 0, 0]]), stream(0))
    for sweeps in (0, 20):
        believed = hallucinate(policy.utility(), policy.likelihood, sweeps, stream(3))
        assert np.all(believed.v > 0)
        assert len(believed.v) == sum(max(1, int(w)) for w in policy.utility().data.weight)


@pytest.mark.parametrize("acquisition", ["ei", "ucb"])
def test_hallucination_believer_follows_the_paper(acquisition):
    policy = told("hallucination-believer", 8, acquisition=acquisition)
    slate = policy.ask(stream(1)).tolist()
    last = policy.answers[-1]
    winner = int(policy.as_slate(policy.points[[last.slate[last.answer.order[0]]]])[0])
    mean, sd = hallucinate(policy.utility(), policy.likelihood, 20, stream(1)).moments(GRID.points)
    value = expected_improvement(mean - mean[winner], sd) if acquisition == "ei" else mean + np.sqrt(2) * sd
    value[winner] = -np.inf
    assert slate == [winner, int(np.argmax(value))]


def test_line_cospar_stays_on_a_line_and_on_what_was_shown():
    policy = make_policy("line-cospar", Box(5), learn=False)
    policy.init(stream(0))
    for t in range(8):
        slate = policy.ask(stream(1, t))
        if t > 1:
            mean = policy.utility().mean(policy.points)
            best = policy.points[int(np.argmax(mean))]
            away = slate - best
            new = [a for a, x in zip(away, slate, strict=True) if not np.any(np.all(policy.points == x, axis=1))]
            for a in new[1:]:
                cosine = a @ new[0] / np.linalg.norm(a) / np.linalg.norm(new[0])
                assert abs(cosine) == pytest.approx(1.0)
        policy.tell(slate, Answer.duel(int(np.argmin(((slate - 0.4) ** 2).sum(axis=1)))), stream(0))
    rows = policy.line(np.array([0.0, 1.0, 0.5, 0.0, 0.0]), stream(3))
    assert len(rows) > 30 and np.all((rows >= 0) & (rows <= 1))


def test_line_cospar_with_a_buffer_shows_the_last_option_again():
    policy = make_policy("line-cospar", Box(3), learn=False, preset="tucker2020")
    policy.init(stream(0))
    slates = []
    for t in range(6):
        slates.append(policy.ask(stream(1, t)))
        assert t < 2 or np.array_equal(slates[t][1], slates[t - 1][0])
        policy.tell(slates[t], Answer.duel(t % 2), stream(0))


def test_borda_gp_learns_of_its_first_option_only_from_uniform_opponents():
    policy = make_policy("borda-gp", Grid.regular(6), preset="ucb")
    policy.init(stream(0))
    mean, K = np.full(6, 0.5), 0.1 * np.exp(-((np.arange(6)[:, None] - np.arange(6)) ** 2) / (2 * 25 * 0.04))
    opponents = np.zeros(6)
    for t in range(60):
        slate = policy.ask(stream(1, t))
        upper = mean + 2 * np.sqrt(np.diag(K))
        assert upper[slate[0]] > upper.max() - 1e-9 and slate[0] != slate[1]
        opponents[slate[1]] += 1
        won = float(slate[0] < slate[1])
        policy.tell(slate, Answer.duel(int(1 - won)), stream(2))
        i, c = slate[0], K[:, slate[0]].copy()
        mean = mean + c * (won - mean[i]) / (c[i] + 0.25)
        K = K - np.outer(c, c) / (c[i] + 0.25)
    assert policy.best() == int(np.argmax(mean)) and np.all(opponents[1:] > 0)


def test_borda_gp_on_a_box_is_that_on_the_same_grid():
    grid, box = Grid.regular(7), Box([Column("levels", tuple(np.linspace(0, 1, 7)))])
    one, two = (make_policy("borda-gp", domain, acquisition="ucb") for domain in (grid, box))
    for policy in (one, two):
        policy.init(stream(0))
    rng = np.random.default_rng(0)
    for _ in range(25):
        pair = rng.choice(7, 2, replace=False)
        answer = Answer.duel(int(pair[1] < pair[0]))
        one.tell(pair, answer, stream(0))
        two.tell(grid.points[pair], answer, stream(0))
    assert grid.points[one.best()] == pytest.approx(two.best())
    assert grid.points[one.ask(stream(1))[0]] == pytest.approx(two.ask(stream(1))[0])
