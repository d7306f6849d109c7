"""How sure a study says it is, against how often it is right."""

import numpy as np
import pytest

from prefopt import Box, Grid, create_study
from prefopt.data import Tally
from prefopt.environments.named import make_environment
from prefopt.environments.person import Person, utility_environment
from prefopt.models.beliefs import chances, joint_draws
from prefopt.policies import make_policy
from prefopt.seeding import stream
from prefopt.study.create import default_strategy
from prefopt.study.recommend import DRAWS, largest_of_betas

EIGHT = Grid.regular(8)
#: Eight options half a logit apart, and a wavy function whose two peaks are nearly as good.
PEOPLE = [
    utility_environment("eight", EIGHT, -np.abs(np.arange(8) - 5) / 2, Person()),
    make_environment("forrester-30", scale="unit", noise=0.25),
]


def run(person, seed):
    """Rows (stated, the asking policy's own, right) after 10, 20 and 40 answers to the default policy."""
    policy = make_policy("kernel-self-sparring", person.domain)
    tally, rng, rows = Tally.empty(person.domain.size), stream(seed, 0), []
    policy.init(rng)
    for t in range(1, 41):
        slate = policy.ask(rng)
        answer = person.answer(slate, t, rng)
        policy.tell(slate, answer, rng)
        tally.add(slate, answer.wins)
        if t in (10, 20, 40):
            choice = policy.best()
            stated = chances(policy.prior, tally.tries, tally.wins, rng)[2][choice]
            own = np.mean(np.argmax(policy.draws(500, rng), axis=1) == choice)
            rows.append((stated, own, choice == person.best))
    return rows


def excess(stated, right, parts=10):
    """By how much the stated probability exceeds the share that was right, at most, in a bin of 30 cases or more."""
    bins = np.minimum((parts * stated).astype(int), parts - 1)
    return max(np.mean(stated[bins == b] - right[bins == b]) for b in range(parts) if np.sum(bins == b) >= 30)


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.name)
def test_the_stated_probability_is_not_above_the_share_that_is_right(person):
    """The policy's own posterior, which asks well, is far too sure on the same answers."""
    stated, own, right = np.array([row for seed in range(100) for row in run(person, seed)], dtype=float).T
    assert excess(stated, right) < 0.1
    assert excess(own, right) > 0.2


def drawn(domain, seed):
    """A person whose utility is a draw of the default policy's prior, hyper-parameters and trend included."""
    policy, rng = make_policy(default_strategy(domain), domain), stream(seed, 8)
    hyper = policy.hypers[int(rng.random() < policy.flat)]
    prior = hyper.prior(hyper.median + hyper.sd * rng.standard_normal(len(hyper.sd)))
    utility = joint_draws(prior.mean(domain.points), prior.covariance(domain.points, domain.points), 1, rng)[0]
    return utility_environment("drawn", domain, utility, Person())


def whole_study(person, seed):
    """Rows (stated, how much worse than the best option in question) after 10, 20 and 40 answers."""
    study, rng, rows = create_study(person.domain, seed=seed), stream(seed, 9), []
    for t in range(1, 41):
        query = study.ask()
        slate = np.array([study.space.encode(candidate.params) for candidate in query.candidates])
        answer = person.answer(slate, t, rng)
        study.tell(query, best=query.ids[int(np.argmax(answer.wins.sum(axis=1)))])
        if t in (10, 20, 40):
            best = study.recommend()
            rows.append((best.probability_best, person.utility.max() - person.utility[best.candidate.id]))
    return rows


@pytest.mark.slow
def test_whole_studies_of_utilities_such_as_the_model_expects_are_calibrated():
    """Of 100 studies: 0.06 too high on average, by fifths 0.01, 0.05, 0.08, 0.14 and 0.07.

    That is within what luck does: three rows of a study go together, and a fifth has 20 to 127 of them.
    """
    rows = []
    for seed in range(100):
        rows += whole_study(drawn(Grid.regular(30) if seed % 4 else Grid.regular(8, 8), seed), seed)
    stated, worse = np.array(rows).T
    assert excess(stated, worse <= 0, 5) < 0.2
    assert excess(1 - stated, worse > 0, 5) < 0.1
    assert abs(np.mean(stated) - np.mean(worse <= 0)) < 0.1


@pytest.mark.slow
def test_whole_studies_of_a_function_with_two_hills_are_calibrated():
    person = make_environment("forrester-30", scale="pm3")
    stated, worse = np.array([row for seed in range(120) for row in whole_study(person, seed)]).T
    assert excess(stated, worse <= 0) < 0.1


@pytest.mark.slow
def test_a_flat_top_is_stated_up_to_what_nobody_can_tell_apart():
    """Of the Camel's 64 options, the best wins against nine others with a chance of 0.509 at most.

    The very best two are found less often than stated, one of the ten is not.
    """
    person = make_environment("camel-64", scale="pm3")
    assert np.sum(person.utility > person.utility.max() - 0.05) == 10
    stated, worse = np.array([row for seed in range(30) for row in whole_study(person, seed)]).T
    assert excess(stated, worse < 0.05) < 0.1


@pytest.mark.parametrize("domain", [EIGHT, Grid.regular(3, 3), Box(2)])
def test_one_answer_is_little(domain):
    study = create_study(domain, seed=1)
    query = study.ask()
    study.tell(query, best=query.shown[0])
    found = study.recommend()
    assert 1 / 9 < found.probability_best < 0.85
    assert not study.enough


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("strategy", "least"), [("knowledge-gradient", 0.65), ("qeubo", 0.8)])
def test_forty_consistent_answers_are_much(strategy, least, seed):
    study = create_study(EIGHT, seed=seed, strategy=strategy)
    for _ in range(40):
        query = study.ask()
        study.tell(query, best=min(query.ids, key=lambda i: abs(i - 5)))
    found = study.recommend()
    assert found.candidate.id == 5 and found.probability_best > least


@pytest.mark.parametrize("settings", [{"noise": 0.001}, {"outputscale": 9.0, "mean": 0.5}, {"likelihood": "bernoulli"}])
@pytest.mark.parametrize("domain", [Grid.regular(4, 3), Box(2)])
def test_how_sure_depends_on_what_was_said_and_not_on_how_the_policy_asks(domain, settings):
    points, found = [{"x0": x, "x1": y} for x in (0.0, 1.0) for y in (0.0, 0.5)], []
    for chosen in ({}, settings):
        study = create_study(domain, seed=1, strategy="kernel-self-sparring", settings=chosen)
        for loser in points[1:]:
            study.add_comparison(points[0], loser)
        best = study.recommend()
        found.append((best.candidate.params, best.mean, best.sd, best.probability_best))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1:], found[1][1:], rtol=1e-6)


@pytest.mark.parametrize("compared", [0, 2, 7])
def test_options_that_nobody_compared_count_as_uniform_ones(compared):
    a, b = np.ones(7), np.ones(7)
    a[:compared], b[:compared] = [3, 1, 5, 2, 1, 1, 9][:compared], [2, 4, 5, 1, 1, 2, 3][:compared]
    found = largest_of_betas(a, b, np.random.default_rng(0))
    draws = np.random.default_rng(1).beta(a, b, size=(20_000, 7))
    share = np.bincount(np.argmax(draws, axis=1), minlength=7) / 20_000
    assert found.sum() == pytest.approx(1)
    assert np.abs(found - share).max() < 6 * np.sqrt(0.25 / DRAWS)
