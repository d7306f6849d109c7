"""Options that turn out impossible to make or show: not asked again, not recommended, and no loss to them."""

import copy

import numpy as np
import pytest

from prefopt import Arms, Box, Grid, create_study
from prefopt.errors import AnswerError, StudyError
from prefopt.policies import POLICIES


def ask_all(study, out, questions):
    """Answers from candidates of low id, and checks that none of ``out`` is asked."""
    for _ in range(questions):
        query = study.ask()
        assert len(query.ids) >= 2
        assert not set(query.ids) & set(out)
        study.tell(query, ranking=sorted(query.ids))


@pytest.mark.parametrize("strategy", [name for name, entry in POLICIES.items() if "arms" in entry.domains])
def test_no_policy_gets_an_impossible_option_asked_or_recommended(strategy):
    slates = POLICIES[strategy].slates
    study = create_study(Arms(5), seed=2, strategy=strategy, query_size=2 if slates == "2" else 3, budget=60)
    for _ in range(12):  # option 0 wins whenever it is there
        query = study.ask()
        study.tell(query, ranking=sorted(query.ids))
    query = next(q for q in iter(study.ask, None) if 0 in q.ids or study.tell(q, ranking=sorted(q.ids)))
    study.tell(query, infeasible=[0])
    ask_all(study, [0], 15)
    found = study.recommend()
    assert found.candidate.id != 0
    assert all(other.candidate.id != 0 for other in found.runners_up)
    assert "but 1 infeasible" in found.candidate_set
    assert copy.deepcopy(study).ask() == study.ask()


def test_the_others_of_the_slate_are_ranked_among_themselves():
    study = create_study(list("abcdefgh"), seed=1, query_size=4)
    first, second, third, bad = study.ask().candidates
    study.tell(1, best=second, infeasible=[bad])
    assert sorted(study.comparisons.tolist()) == sorted(
        [study.ids.index(second.id), study.ids.index(other.id)] for other in (first, third)
    )
    row = study.history()[0]
    assert (row["named"], row["infeasible"], row["status"]) == ([second.id], [bad.id], "answered")
    study.undo()
    assert len(study.comparisons) == 0
    study.tell(1, pairs=np.triu(np.ones((4, 4)), 1), infeasible=[first, bad])
    assert study.comparisons.tolist() == [[study.ids.index(second.id), study.ids.index(third.id)]]


def test_an_impossible_option_does_not_lose():
    """What is recommended after the same comparisons does not depend on what else could not be made."""
    studies = [create_study(list("abc"), seed=1, query_size=3) for _ in range(2)]
    for study, said in zip(studies, ({"infeasible": [2]}, {}), strict=True):
        study.tell(study.ask(), ranking=[0, 1], **said)
    assert studies[0].recommend().mean == studies[1].recommend().mean
    assert studies[0].recommend().probability_best > studies[1].recommend().probability_best


def test_undo_makes_it_possible_again():
    study = create_study(Grid.regular(3), seed=1)
    query = study.ask()
    study.tell(query, infeasible=[query.ids[0]])
    assert study.answered == 0
    assert query.ids[0] not in study.ask().ids
    study.undo()
    assert study.ask() == query


@pytest.mark.parametrize("strategy", ["kernel-self-sparring", "random"])
def test_a_point_of_a_box(strategy):
    study = create_study(Box(2), seed=3, strategy=strategy, settings={})
    bad = study.add({"x0": 0.5, "x1": 0.5})
    query = study.ask()
    assert bad.id in query.ids
    study.tell(query, infeasible=[bad])
    ask_all(study, [bad.id], 4)
    assert study.recommend().candidate.id != bad.id


def test_one_option_left_is_enough_and_none_is_said():
    study = create_study(list("abc"), seed=1, query_size=3)
    study.tell(study.ask(), infeasible=[0, 2])
    assert study.enough == "of 3 options 1 can be made"
    with pytest.raises(StudyError, match="only one option"):
        study.ask()
    assert study.recommend().params == "b"
    study = create_study(list("ab"), seed=1)
    study.tell(study.ask(), infeasible=[0, 1])
    with pytest.raises(StudyError, match="all options were said to be infeasible"):
        study.recommend()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"infeasible": [9]}, "candidate 9 is not in the question"),
        ({"infeasible": 0}, "infeasible is a list of candidates, got 0"),
        ({"infeasible": []}, "give exactly one of"),
        ({"infeasible": [0], "best": 0}, "candidate 0 is not in the question, or infeasible"),
        ({"infeasible": [0, 1], "best": 2}, "nothing to compare; leave out best"),
        ({"infeasible": [0], "ranking": [1, 0, 2]}, "candidate 0 is not in the question, or infeasible"),
        ({"infeasible": [0], "best": 1, "tie": True}, "give exactly one of"),
    ],
)
def test_what_does_not_fit_is_refused(said, message):
    study = create_study(list("abc"), seed=1, query_size=3)
    with pytest.raises(AnswerError, match=rf"question 1 \(candidates .*{message}"):
        study.tell(study.ask(), **said)
    assert study.history()[0]["status"] == "open"
