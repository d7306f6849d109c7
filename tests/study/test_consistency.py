"""Answers that contradict each other are all kept, and pointed out."""

import itertools

import pytest

from prefopt import Box, create_study
from prefopt.cli.terminal import tell_best


def compared(*pairs, space="abcd"):
    study = create_study(list(space), seed=1)
    for winner, loser in pairs:
        study.add_comparison(winner, loser)
    return study


def names(candidates):
    return [c.params for c in candidates]


def test_consistent_answers_need_no_remark():
    study = compared("ab", "bc", "ac", "ab")
    assert study.diagnostics().lines() == []


def test_a_pair_answered_both_ways():
    study = compared("ab", "ba", "ab", "cd")
    ((a, b, n, k),) = study.diagnostics().contradictions
    assert (a.params, b.params, n, k) == ("a", "b", 2, 1)
    said = study.diagnostics().lines()
    assert said[0] == "a (candidate 0) was preferred to b (candidate 1) twice, and the other way round once"
    assert "every answer counts" in said[-1]
    assert len(study.comparisons) == 4
    study.undo(2)
    assert study.diagnostics().contradictions[0][2:] == (1, 1)
    study.undo(1)
    assert study.diagnostics().lines() == []


@pytest.mark.parametrize("times", [1, 20])
def test_a_circle_is_named_and_every_option_stays_in_play(times):
    study = compared(*["ab", "bc", "ca", "ad"] * times)
    found = study.diagnostics()
    assert names(found.cycle) == ["a", "b", "c"]
    assert "a (candidate 0) over b (candidate 1) over c (candidate 2) over a (candidate 0)" in found.lines()[0]
    assert len(study.comparisons) == 4 * times
    assert study.recommend().params in "abc"
    assert study.ask().number == 1


def test_the_shortest_circle_is_named():
    study = compared("ab", "bc", "cd", "da", "ef", "fg", "ge", space="abcdefg")
    assert names(study.diagnostics().cycle) == ["e", "f", "g"]


def test_a_pair_repeated_fifty_times():
    study = compared(*["ab"] * 50)
    ((a, b, n),) = study.diagnostics().repeated
    assert (a.params, b.params, n) == ("a", "b", 50)
    assert study.diagnostics().lines() == [
        "a (candidate 0) and b (candidate 1) were compared 50 times: a repeated pair adds little"
    ]
    assert study.recommend().params == "a"


def test_rankings_ties_and_skips():
    study = create_study(list("abc"), seed=1, strategy="mdb", settings={"alpha": 1e3})  # shows all three
    for order in ("abc", "cab"):
        query = study.ask()
        by_name = {c.params: c for c in query.candidates}
        study.tell(query, ranking=[by_name[x] for x in order])
    found = {frozenset(names(pair[:2])) for pair in study.diagnostics().contradictions}
    assert found == {frozenset("ac"), frozenset("bc")}
    study.tell(study.ask(), tie=True)
    study.skip(study.ask())
    assert len(study.diagnostics().contradictions) == 2


def test_the_terminal_says_a_few_of_many(capsys):
    study = create_study(Box(1), seed=1)
    points = [study.space.decode([x / 7]) for x in range(6)]
    for a, b in itertools.pairwise(points):
        study.add_comparison(a, b)
        study.add_comparison(b, a)
    tell_best(study)
    said = capsys.readouterr().out
    assert said.count("the other way round once") == 3
    assert "note: [x0=0] was preferred to [x0=0.1429] once" in said
    assert "... and 2 more pairs that were answered both ways" in said
