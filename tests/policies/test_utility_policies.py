"""What every policy on a utility model must do: possible questions, no open one twice, reuse."""

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
    one, two = (policy.beliefs().mean(grid.points) for policy in policies)
    assert np.allclose(one, two, atol=1e-6)
    assert one[policies[0].best()] == pytest.approx(float(policies[1].beliefs().mean(policies[1].best()[None])[0]))


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
