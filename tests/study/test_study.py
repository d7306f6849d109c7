"""The loop with a person: answers, undo, skips, own ideas, recommendation, tensors, files."""

import copy
import itertools
import json
import pickle
import time

import numpy as np
import pytest
import torch

from prefopt import Box, Grid, create_study, load_study
from prefopt.answer import Answer
from prefopt.errors import AnswerError, SettingError, StudyError
from prefopt.policies.base import FinitePolicy
from prefopt.study.expand import expand


def study_of(letters="abcdef", **keywords):
    return create_study(list(letters), **{"seed": 3, "strategy": "ind-self-sparring", **keywords})


def answer(study, n):
    for _ in range(n):
        query = study.ask()
        study.tell(query, best=min(query.ids))


def test_a_question_stays_until_it_is_answered():
    study = study_of()
    query = study.ask()
    assert study.ask() == query
    assert query.shown_order == tuple(study.history()[0]["shown"])
    assert study.ask("ann") != query
    study.tell(query, best=query.shown[0])
    assert study.ask().number == 3


@pytest.mark.parametrize("bad", [{"best": float("nan")}, {"best": 77}, {"best": "a"}, {"best": None}, {"best": True},
                                 {"best": 1.0}, {"worst": -1}, {"tie": 7}, {"tie": True, "best": 0}, {"skip": 3},
                                 {"pairs": [[1, 0], [1, 0]]}, {"pairs": [[0, 0.7], [0.7, 0]]},
                                 {"pairs": [[0, 2], [0, 0]]},
                                 {"ranking": 3}, {"ranking": []}])  # fmt: skip
def test_bad_answers_name_the_question_and_change_nothing(bad):
    study = study_of()
    query = study.ask()
    with pytest.raises(AnswerError, match=r"question 1 \(candidates"):
        study.tell(query, **bad)
    assert study.answered == 0
    assert study.ask() == query


def test_an_option_is_never_compared_with_itself():
    study = study_of()
    query = study.ask()
    same = query.candidates[0]
    with pytest.raises(AnswerError, match=f"question 1.*candidate {same.id} is ranked twice"):
        study.tell(query, ranking=[same, same])
    with pytest.raises(AnswerError, match="compared with itself"):
        study.add_comparison("a", 0)


def test_answers_to_questions_not_asked_or_answered_already():
    study, other = study_of(), study_of(seed=4)
    query = study.ask()
    with pytest.raises(StudyError, match="not asked a question 9"):
        study.tell(9, best=0)
    foreign = next(q for q in iter(other.ask, None) if q.ids != query.ids or other.tell(q, tie=True))
    if foreign.number == query.number:
        with pytest.raises(StudyError, match="another study"):
            study.tell(foreign, best=foreign.ids[0])
    study.tell(query, best=query.ids[0], token="t1")
    study.tell(query, best=query.ids[0], token="t1")  # a client that tries again
    assert study.answered == 1
    with pytest.raises(StudyError, match=f"question 1 .*has an answer already: best .{query.ids[0]}"):
        study.tell(query, best=query.ids[1])


def test_undo_twice_answer_restore_agrees_with_the_log():
    study = study_of()
    answer(study, 5)
    study.undo(2)
    assert study.answered == 3
    fourth = study.ask()
    assert fourth.number == 4
    study.tell(fourth, worst=min(fourth.ids))
    study.restore(5)
    assert study.answered == 5
    again = copy.deepcopy(study)
    assert again.history() == study.history()
    assert again.ask() == study.ask()
    assert again.recommend() == study.recommend()
    with pytest.raises(StudyError, match="in force"):
        study.restore(5)
    with pytest.raises(StudyError, match="cannot undo 6"):
        study.undo(6)


def test_a_rater_who_stops_early_counts(tmp_path):
    path = str(tmp_path / "s.db")
    study = study_of(storage=path, budget=10)
    answer(study, 3)
    study.ask()
    study.close()
    study = load_study(path)
    assert (study.answered, study.remaining) == (3, 7)
    assert len(study.comparisons) == 3
    study.close()


def test_a_skipped_question_returns_once_later_then_counts_as_a_tie():
    study = study_of("abc", strategy="random", seed=0)
    sets = []
    for _ in range(12):
        query = study.ask()
        sets.append(frozenset(query.ids))
        study.skip(query, "do not know")
    assert all(a != b for a, b in itertools.pairwise(sets[:4]))
    assert len(set(sets)) == 3
    assert any(row["status"] == "automatic" and row["answer"] == "tie" for row in study.history())


def test_two_options_end_with_enough():
    study = study_of("ab")
    for n in range(20):
        if study.enough:
            break
        query = study.ask()
        study.tell(query, best=n % 2)
    assert 0 < n <= 6
    with pytest.raises(StudyError, match="only one option"):
        study_of("a").ask()


def test_nobody_sees_an_option_against_itself():
    study = study_of("abc")
    for _ in range(60):
        query = study.ask()
        assert len(set(query.ids)) == 2
        study.tell(query, best=min(query.ids))
    assert any(row["status"] == "automatic" for row in study.history())
    assert all(winner != loser for winner, loser in study.comparisons.tolist())


@pytest.mark.parametrize("strategy", ["mdb", "multi-rucb"])
def test_an_option_alone_is_a_step_without_a_person(strategy, monkeypatch):
    study = study_of("abcd", strategy=strategy, settings={"alpha": 0.05} if strategy == "mdb" else {"alpha": 0.1})
    for _ in range(25):
        query = study.ask()
        assert len(set(query.ids)) >= 2
        study.tell(query, ranking=sorted(query.ids))
    alone = [row for row in study.history() if row["status"] == "automatic" and len(row["slate"]) == 1]
    assert len(alone) > 5
    assert study.recommend().params == "a"
    assert copy.deepcopy(study).ask() == study.ask()
    told, tell = [], FinitePolicy.tell
    monkeypatch.setattr(FinitePolicy, "tell", lambda *words: (told.append(words), tell(*words)))
    copy.deepcopy(study).recommend()
    assert len(told) == 25 + sum(row["status"] == "automatic" for row in study.history())  # each a round of the paper


def test_at_most_six_options_drawn_uniformly():
    seen = []
    for seed in range(150):
        query = study_of("abcdefghi", strategy="mdb", seed=seed).ask()  # its first question is about all nine
        assert len(query.ids) == 6
        assert query.note == "6 of the 9 options proposed, drawn at random"
        seen.extend(query.ids)
    counts = np.bincount(seen, minlength=9)
    # 150 draws without repeats of 6 of 9: variance 150 * 2/9 each; six standard errors
    assert np.abs(counts - 100).max() < 6 * np.sqrt(150 * 2 / 9)


def test_own_ideas_join_the_next_question(tmp_path):
    study = study_of()
    answer(study, 3)
    idea = study.add("tea")
    assert idea.id == 6
    assert idea in study.ask("someone").candidates
    box = create_study(Box(2), seed=1, strategy="kernel-self-sparring")
    point = box.space.decode(np.array([0.25, 0.75]))
    added = box.add(point)
    assert added.params == point
    assert added.id in box.ask().ids


def test_a_failing_policy_falls_back_and_says_so(monkeypatch):
    study = study_of()
    monkeypatch.setattr("prefopt.policies.base.FinitePolicy.ask", lambda *_: 1 / 0)
    with pytest.warns(RuntimeWarning, match="drawn at random"):
        query = study.ask()
    assert query.fallback
    assert "division by zero" in query.note


def slow(seconds, slate):
    def ask(*_):
        time.sleep(seconds)
        return np.array(slate)

    return ask


def test_a_slow_policy_is_cut_short_and_the_question_stays(monkeypatch, tmp_path):
    path = str(tmp_path / "s.db")
    study = study_of(storage=path)
    monkeypatch.setattr("prefopt.policies.base.FinitePolicy.ask", slow(2.0, [0, 1]))
    began = time.monotonic()
    with pytest.warns(RuntimeWarning, match="question 1: ind-self-sparring ran out of time"):
        query = study.ask(timeout=0.1)
    assert time.monotonic() - began < 1.8
    assert query.fallback
    assert "drawn at random" in query.note
    again = load_study(path)
    assert again.ask(timeout=0.1) == query  # as it was asked: it is not drawn anew
    study.tell(query, best=query.ids[0])
    second = study.ask(timeout=30)  # waits for what still runs
    assert (sorted(second.ids), second.fallback) == ([0, 1], False)
    study.close()
    again.close()


def test_a_time_limit_of_millennia_is_none():
    study = create_study(Box(1), seed=1)
    assert not study.ask(timeout=1e12).fallback


def test_the_time_limit_includes_automatic_steps(monkeypatch):
    study = study_of()
    monkeypatch.setattr("prefopt.policies.base.FinitePolicy.ask", slow(0.2, [2, 2]))
    with pytest.warns(RuntimeWarning, match="ran out of time"):
        assert study.ask(timeout=0.7).fallback
    assert 1 <= sum(row["status"] == "automatic" for row in study.history()) <= 3


def test_settings_are_checked():
    with pytest.raises(SettingError, match="2 to 6"):
        study_of(query_size=7)
    with pytest.raises(SettingError, match="continuous"):
        create_study(Box(2), strategy="ind-self-sparring")
    with pytest.raises(SettingError, match="expected one of"):
        study_of(strategy="nope")


def test_names(tmp_path):
    path = str(tmp_path / "s.db")
    study_of(storage=path, study_name="one").close()
    with pytest.raises(StudyError, match="has a study 'one' already"):
        study_of(storage=path, study_name="one")
    with pytest.raises(StudyError, match="it holds 'one'"):
        load_study(path, study_name="two")


def test_copies_ask_the_same(tmp_path):
    study = study_of()
    answer(study, 7)
    assert pickle.loads(pickle.dumps(study)).ask() == copy.deepcopy(study).ask() == study.ask()


def test_recommendation_after_a_clear_preference():
    study = study_of("abcd")
    answer(study, 40)
    found = study.recommend()
    assert found.params == "a"
    assert found.probability_best > 0.9
    assert "4 options" in found.candidate_set
    assert len(found.runners_up) == 3
    assert "sure" in study.enough


@pytest.mark.parametrize("space", [Grid.regular(4, 4), Box(2), ["x", "y", "z"]])
def test_pairwise_gp_runs_on_what_a_study_gives(space):
    from botorch.models import PairwiseGP

    study = create_study(space, seed=2, strategy="kernel-self-sparring")
    answer(study, 6)
    assert study.X.dtype == torch.float64
    assert study.comparisons.dtype == torch.int64
    model = PairwiseGP(study.X, study.comparisons)
    assert torch.isfinite(model.posterior(study.X).mean).all()
    assert 0 <= study.recommend().probability_best <= 1


def test_close_candidates_stay_apart():
    study = create_study(Box(1), seed=2, strategy="kernel-self-sparring")
    rows = [study.space.decode(np.array([x])) for x in (0.5, 0.5 + 5e-5, 0.5 + 1e-9, 0.5 + 2e-9, 0.5 + 3e-9)]
    for better, worse in itertools.pairwise(rows):
        study.add_comparison(better, worse)
    assert study.ids == [0, 1, 2, 3, 4]
    assert study.comparisons.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_export(tmp_path):
    study = study_of()
    answer(study, 3)
    study.export(tmp_path / "s.json")
    study.export(tmp_path / "s.csv")
    held = json.loads((tmp_path / "s.json").read_text())
    assert len([e for e in held["events"] if e["kind"] == "answered"]) == 3
    assert (tmp_path / "s.csv").read_text().count("\n") == 1 + len(study.history())
    assert list(study.to_frame()["shown"]) == [row["shown"] for row in study.history()]
    with pytest.raises(StudyError, match=r"\.csv or \.json"):
        study.export(tmp_path / "s.txt")


def test_an_answer_is_expanded_onto_copies():
    rng = np.random.default_rng(0)
    where = [0, 1, 0, 2]
    wins = expand(Answer.pairs([[0, 1, 0.5], [0, 0, 0], [0.5, 1, 0]]), where, rng).wins
    assert wins[0, 2] + wins[2, 0] == 1
    assert wins[0, 1] == wins[2, 1] == 1
    assert wins[0, 3] == wins[3, 2] == 0.5
    firsts = {expand(Answer.best(0, 3), where, rng).order[0] for _ in range(50)}
    assert firsts == {0, 2}
    assert sorted(expand(Answer.ranking([2, 0, 1], 3), where, rng).order) == [0, 1, 2, 3]
