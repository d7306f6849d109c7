"""A person sees as many distinct options as promised."""

import time

import numpy as np
import pytest

from prefopt import Box, Grid, create_study
from prefopt.domain import Column
from prefopt.study.filling import least_compared, topped_up

LEVELS = Box([Column("levels", (0.0, 0.5, 1.0)), Column("levels", (0.0, 1.0))])


def answered(study, n):
    """The questions of ``n`` rounds, in each of which the option of the smallest id wins."""
    questions = []
    for _ in range(n):
        questions.append(study.ask())
        study.tell(questions[-1], best=min(questions[-1].ids))
    return questions


@pytest.mark.parametrize("strategy", ["ind-self-sparring", "multi-sparring", "kernel-self-sparring", "random"])
@pytest.mark.parametrize("size", [5, 20])
def test_every_question_shows_the_promised_number(strategy, size):
    study = create_study([f"option {i}" for i in range(size)], query_size=4, seed=1, strategy=strategy)
    questions = answered(study, 15)
    assert [len(set(query.ids)) for query in questions] == [4] * 15
    assert [len(query.shown) for query in questions] == [4] * 15


@pytest.mark.parametrize("domain", [Grid.regular(3, 3), LEVELS])
def test_on_grids_and_levels_too(domain):
    study = create_study(domain, query_size=3, seed=1)
    assert [len(set(query.ids)) for query in answered(study, 8)] == [3] * 8


def test_the_policy_is_told_of_what_was_shown():
    study = create_study(list("abcde"), query_size=4, seed=1, strategy="ind-self-sparring")
    for query in answered(study, 10):
        lesson = study._sync().questions[query.number].lesson
        assert sorted(lesson.question.slate) == sorted(query.ids)
        told = next(x for x in study._asker.learner._told if x.event == lesson.event.number)
        assert sorted(told.slate.tolist()) == sorted(query.ids)
        assert told.answer.wins.sum() == 3  # the best beat three others, no option met itself
        study._asker.policy(study._sync())


def test_fewer_options_than_places_are_all_shown_and_that_is_said():
    with pytest.warns(UserWarning, match="query_size=4, but there are 3 options: a question shows all of them"):
        study = create_study(list("abc"), query_size=4, seed=1)
    assert all(sorted(query.ids) == [0, 1, 2] for query in answered(study, 5))
    study.add("d")
    assert sorted(study.ask().ids) == [0, 1, 2, 3]


def test_a_skipped_question_is_followed_by_another_full_one():
    study = create_study(list("abcdef"), query_size=4, seed=2)
    for _ in range(10):
        query = study.ask()
        study.skip(query)
        after = study.ask()
        assert set(after.ids) != set(query.ids)
        assert len(after.ids) == 4
        study.tell(after, best=after.ids[0])


def test_an_own_idea_joins_a_full_question():
    study = create_study(list("abcdef"), query_size=4, seed=2)
    answered(study, 12)
    idea = study.add("mine")
    assert len(set(study.ask().ids)) == 4
    assert idea.id in study.ask().ids


def test_free_places_go_to_the_least_compared():
    study = create_study(list("abcdef"), query_size=4, seed=2)
    for winner, loser in ("ab", "cd", "ab"):
        study.add_comparison(winner, loser)
    state = study._sync()
    assert set(least_compared(state, 1)[:2]) == {4, 5}
    assert set(least_compared(state, 1)[2:4]) == {2, 3}
    assert topped_up(state, [3, 4, 1, 2], 4, 1) == [3, 4, 1, 2]
    assert topped_up(state, [3], 2, 1) == [3, 0]  # the next best
    assert {tuple(least_compared(state, n)[:2]) for n in range(20)} == {(4, 5), (5, 4)}  # in random order


def test_no_place_is_filled_beyond_the_time_limit(monkeypatch):
    def slow(*_):
        time.sleep(0.3)
        return np.array([2, 2, 1, 1])

    study = create_study(list("abcdef"), query_size=4, seed=2, strategy="ind-self-sparring")
    monkeypatch.setattr("prefopt.policies.base.FinitePolicy.ask", slow)
    began = time.monotonic()
    query = study.ask(timeout=0.5)
    assert time.monotonic() - began < 1.2  # five further draws take 1.5 s
    assert len(set(query.ids)) == 4
    assert {1, 2} < set(query.ids)
    assert not query.fallback
