"""Hidden repeats: how many, which, when; and that nothing shown betrays them."""

import copy
import dataclasses

import pytest

from prefopt import Box, create_study


def ask_all(n, share, rater="ann", space=None, **keywords):
    study = create_study(space or Box(2), seed=5, repeats=share, strategy="random", **keywords)
    for k in range(n):
        query = study.ask(rater)
        study.tell(query, **({"skip": True} if k % 7 == 3 else {"best": min(query.ids)}))
    return study


def rows_of(study):
    return [row for row in study.history() if row["question"]]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25])
def test_as_many_as_said_with_the_sides_swapped_and_never_soon(share):
    study = ask_all(200, share)
    rows = rows_of(study)
    repeats = [row for row in rows if row["again"]]
    assert abs(len(repeats) - 200 * share) <= 1
    by_number = {row["question"]: row for row in rows}
    for row in repeats:
        first = by_number[row["again"]]
        assert row["shown"] == first["shown"][::-1]
        assert row["question"] - first["question"] > 2
        assert first["answer"] == "best" and first["again"] is None
    assert len({row["again"] for row in repeats}) == len(repeats)
    places = [row["question"] % round(1 / share) for row in repeats]
    assert len(set(places)) > 1  # nobody can count them off
    assert study.answered > 150 and len(study.comparisons) == sum(row["answer"] == "best" for row in rows)


def test_nothing_shown_betrays_a_repeat():
    study = ask_all(40, 0.25)
    study.ask("ann")
    state = study._sync()
    for asked in state.questions.values():
        query = dataclasses.asdict(state.query(asked))
        assert query["repeat_of"] is None and query["note"] == "" and not query["fallback"]
        assert query.keys() == {"number", "candidates", "shown", "rater", "repeat_of", "note", "fallback"}
    assert any(asked.again for asked in state.questions.values())


def test_every_rater_repeats_the_own_answers_only():
    study = create_study(Box(1), seed=2, repeats=0.2, strategy="random")
    for k in range(90):
        query = study.ask("abc"[k % 3])
        study.tell(query, best=query.ids[0])
    owner = {row["question"]: row["rater"] for row in rows_of(study)}
    repeats = [row for row in rows_of(study) if row["again"]]
    assert {row["rater"] for row in repeats} == set("abc") and len(repeats) == 18
    assert all(owner[row["again"]] == row["rater"] for row in repeats)


def test_without_being_told_only_raters_with_a_name_repeat():
    def repeats(rater):
        study = create_study(Box(1), seed=2, strategy="random")
        for _ in range(100):
            study.tell(query := study.ask(rater), best=query.ids[0])
        return sum(row["again"] is not None for row in rows_of(study))

    assert repeats(None) == 0
    assert 5 <= repeats("ann") <= 10


def test_repeats_of_questions_about_four_options_are_reversed():
    rows = rows_of(ask_all(60, 0.1, query_size=4))
    shown = {row["question"]: row["shown"] for row in rows}
    repeats = [row for row in rows if row["again"]]
    assert len(repeats) >= 5
    assert all(row["shown"] == shown[row["again"]][::-1] and len(row["shown"]) == 4 for row in repeats)


def test_questions_that_another_rater_has_answered():
    study = create_study(Box(1), seed=2, repeats=0, overlap=0.25, strategy="random")
    for k in range(120):
        query = study.ask("ab"[k % 2])
        study.tell(query, best=query.ids[0])
    owner = {row["question"]: row["rater"] for row in rows_of(study)}
    shared = [row for row in rows_of(study) if row["again"]]
    assert 28 <= len(shared) <= 30
    assert all(owner[row["again"]] != row["rater"] for row in shared)


def test_the_same_log_repeats_the_same():
    study = ask_all(30, 0.25)
    assert copy.deepcopy(study).ask("ann") == study.ask("ann")


def test_what_was_excluded_or_cannot_be_made_is_not_repeated():
    study = create_study(list("abcdefgh"), seed=1, repeats=0.5, strategy="random")
    for _ in range(3):
        query = study.ask("ann")
        study.tell(query, best=query.ids[0])
    study.remove_answer(1, "slip")
    study.tell(query := study.ask("ann"), infeasible=[query.ids[0]])
    for _ in range(30):
        study.tell(query := study.ask("ann"), best=query.ids[0])
    repeated = {row["again"] for row in rows_of(study)}
    assert len(repeated) > 10 and 1 not in repeated
