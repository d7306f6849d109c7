"""What every policy on a utility model must do: possible questions, no open one twice, reuse, messy answers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefopt.answer import Answer
from prefopt.domain import Box, Column, Grid
from prefopt.errors import AnswerError, SettingError
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.posterior import Utility
from prefopt.policies import POLICIES, make_policy
from prefopt.seeding import stream

LEVELS, FIXED, CATEGORY = (
    Column("levels", (0.0, 0.5, 1.0)),
    Column("levels", (0.0,)),
    Column("category", (0.0, 0.5, 1.0)),
)
MIXED = Box([Column(), LEVELS, CATEGORY, FIXED, Column()], ["x0 + x4 <= 1.2", "x0 - x1 <= 0.6"])
DOMAINS = {"grid": Grid.regular(4, 3), "mixed": MIXED}
NAMES = [name for name, entry in POLICIES.items() if "utility" in entry.assumes and entry.domains == ("grid", "box")]
SIZES = [(name, m) for name in NAMES for m in ((2,) if POLICIES[name].slates == "2" else (2, 3))]
#: Fewer features and climbs than a person gets.
QUICK = {"utility-thompson": {"features": 64, "raw_samples": 32, "restarts": 4}}


def options(policy, slate):
    return {tuple(row) for row in policy.as_rows(slate, len(slate)).round(9).tolist()}


def after(policy, answers, seed=0):
    """Tell ``answers`` answers to its own questions: the option nearest to a point is better, most of the time."""
    policy.init(stream(seed))
    truth = np.random.default_rng(seed)
    for t in range(answers):
        slate = policy.ask(stream(seed, t))
        away = ((policy.as_rows(slate, len(slate)) - 0.4) ** 2).sum(axis=1) - 0.1 * truth.gumbel(size=len(slate))
        policy.tell(slate, Answer.best(int(np.argmin(away)), len(slate)), stream(seed, t))
    return policy


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(("name", "m"), SIZES)
def test_open_questions_are_possible_and_no_two_alike(name, m, kind):
    policy = after(make_policy(name, DOMAINS[kind], slate_size=m, learn=False, **QUICK.get(name, {})), 5)
    waiting = []
    for t in range(4):
        slate = policy.ask(stream(1, t), waiting)
        rows = policy.as_rows(slate, m)
        assert all(policy.box.contains(row) for row in rows)
        assert len(options(policy, slate)) == m
        assert options(policy, slate) not in [options(policy, other) for other in waiting]
        waiting.append(slate)


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(("name", "m"), SIZES)
def test_with_reuse_every_question_has_an_option_that_was_shown(name, m, kind):
    policy = make_policy(name, DOMAINS[kind], slate_size=m, learn=False, reuse=True, **QUICK.get(name, {}))
    policy.init(stream(0))
    seen = set()
    for t in range(6):
        slate = policy.ask(stream(0, t))
        assert not seen or options(policy, slate) & seen
        seen |= options(policy, slate)
        policy.tell(slate, Answer.best(t % m, m), stream(0, t))
    assert len(seen) > m or name in ("brochu-ei", "hallucination-believer")  # expected improvement may stall


@pytest.mark.parametrize("domain", [Grid(np.array([[0.3, 0.7]])), Box([FIXED, FIXED]), Grid.regular(2), Box(1)])
@pytest.mark.parametrize(("name", "m"), SIZES)
def test_one_or_two_options_are_enough(name, m, domain):
    policy = after(make_policy(name, domain, slate_size=m), 3)
    assert len(policy.ask(stream(1))) == m
    assert np.size(policy.best()) == (1 if isinstance(domain, Grid) else domain.dim)


@pytest.mark.parametrize("name", NAMES)
def test_a_grid_as_levels_of_a_box_is_believed_alike(name):
    grid, box = Grid.regular(5, 3), Box([Column("levels", tuple(np.linspace(0, 1, n))) for n in (5, 3)])
    policies = [after(make_policy(name, grid, opening=0), 10)]
    policies.append(make_policy(name, box))
    policies[1].init(stream(0))
    for said in policies[0].answers:
        policies[1].tell(policies[0].points[list(said.slate)], said.answer, stream(0))
    one, two = (policy.utility().mean(grid.points) for policy in policies)
    assert np.allclose(one, two, atol=1e-6)
    assert one[policies[0].best()] == pytest.approx(float(policies[1].utility().mean(policies[1].best()[None])[0]))


def messy(policy, rounds, seed, begin=0):
    """A study with ties, skips, repeats, cycles, duplicates, whole rankings, pairs, and 30 % random answers.

    Eight rounds have every kind of answer, from whichever of them one begins.
    """
    rng = np.random.default_rng(seed)
    policy.init(stream(seed))
    asked = []
    for t in range(begin, begin + rounds):
        waiting = asked[-2:] if t % 5 == 4 else []
        slate = policy.ask(stream(seed, t), waiting)
        if asked and t % 7 == 3:
            slate = asked[int(rng.integers(len(asked)))]  # a repeat
        if t % 11 == 5:
            slate = np.concatenate([slate[:1], slate[:-1]])  # an option beside itself
        m = len(slate)
        score = -((policy.as_rows(slate, m) - 0.4) ** 2).sum(axis=1) + 0.1 * rng.gumbel(size=m)
        if rng.random() < 0.3 or t % 9 == 4:
            score = rng.random(m)
        order = [int(j) for j in np.argsort(-score)]
        kinds = {1: Answer.tie(m), 2: Answer.skip("", m), 3: Answer.ranking(order, m), 4: Answer.worst(order[-1], m),
                 5: Answer.pairs((score[:, None] > score[None, :]) * 1.0 if len(set(slate_key(slate))) == m
                                 else np.zeros((m, m)))}  # fmt: skip
        policy.tell(slate, kinds.get(t % 8, Answer.best(order[0], m)), stream(seed, t))
        asked.append(slate)
        if t % 6 == 5 and len(asked) > 3:  # a cycle
            three = [policy.as_rows(asked[-1 - i], m)[:1] for i in range(3)]
            for a, b in ((0, 1), (1, 2), (2, 0)):
                pair = np.concatenate([three[a], three[b]])
                policy.tell(policy.as_slate(pair), Answer.duel(0), stream(seed, t))
    best = policy.best()
    assert policy.box.contains(policy.as_rows([best], 1)[0])
    assert np.isfinite(policy.utility().mean(policy.points)).all()


def slate_key(slate):
    return [tuple(np.atleast_1d(option).tolist()) for option in slate]


@pytest.mark.parametrize(("name", "m"), SIZES)
def test_messy_studies_end_without_a_warning(name, m):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        messy(make_policy(name, MIXED, slate_size=m, **QUICK.get(name, {})), 12, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_messy_studies_end_without_a_warning(name):
    domains = [MIXED, Grid.regular(6, 5), Box(1), Box(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(100):
            person = {"jnd": 0.3 * (seed % 2), "lapse": 0.1 * (seed % 3 == 1), "reuse": seed % 7 == 6}
            m = 3 if POLICIES[name].slates != "2" and seed // 4 % 2 else 2
            settings = {"learn": seed % 5 == 0, "slate_size": m, **person, **QUICK.get(name, {})}
            messy(make_policy(name, domains[seed % 4], **settings), 8, seed, begin=seed)


def test_chances_are_stated_by_expectation_propagation_and_questions_chosen_by_laplace(monkeypatch):
    policy = make_policy("eubo", Box(2), learn=False, lapse=0.1)
    policy.init(stream(1))
    person = stream(2)
    for _ in range(12):
        pair = policy.ask(stream(3))
        policy.tell(pair, Answer.duel(int(pair[1, 0] > pair[0, 0])), person)
    utility, (stated,) = policy.utility(), policy.chances().members
    data = utility.data
    m, K = data.differences(utility.prior.mean(utility.points)), utility.prior.of_differences(utility.points, data)[1]
    assert_allclose(stated.found.h, expectation_propagation(K, m, data, policy.likelihood).h, atol=1e-3)
    assert np.abs(stated.found.h - utility.found.h).max() > 0.05
    monkeypatch.setattr("prefopt.policies.kernel.utility_policy.STATED", 5)
    assert policy.chances().members == (utility,)


def test_probit_is_for_pairs():
    with pytest.raises(SettingError, match="link='probit' is for pairs, got slate_size=4"):
        make_policy("qeubo", Box(2), link="probit", slate_size=4)
    policy = after(make_policy("qeubo", Box(2), link="probit"), 3)
    rows = Box(2).sample(3, stream(0))
    for answer in (Answer.best(1, 3), Answer.ranking([2, 0, 1], 3)):
        with pytest.raises(AnswerError, match=f"learns from pairs and ties, got a '{answer.kind}' of 3"):
            policy.tell(rows, answer, stream(1))
    policy.tell(rows, Answer.tie(3), stream(1))
    assert len(policy.answers) == 4 and np.isfinite(policy.best()).all()


def test_an_open_question_is_answered_as_expected():
    policy = after(make_policy("eubo", MIXED), 12)
    waiting = policy.ask(stream(1))
    again, rows = policy.ask(stream(2)), policy.as_rows(waiting, 2)
    (expected,) = policy.believing([waiting, again]).members
    said = expected.data
    known = policy.utility()
    for slate in (waiting, again):
        ahead, behind = slate[np.argsort(-known.mean(slate))]
        at = [int(np.flatnonzero((expected.points == row).all(axis=1))[0]) for row in (ahead, behind)]
        assert at in np.column_stack([said.ahead, said.behind]).tolist()
    alone = Utility.after(known.prior, expected.points, said, policy.likelihood)  # from the start, nothing taken over
    Z = np.vstack([rows, MIXED.sample(20, stream(3))])
    assert_allclose(expected.mean(Z), alone.mean(Z), atol=1e-4)
    assert_allclose(expected.joint(Z)[1], alone.joint(Z)[1], atol=1e-4)
