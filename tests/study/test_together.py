"""Several raters at once: what each is asked and what is kept is the same as one after the other."""

import random

import pytest

from prefopt import create_study, load_study
from prefopt.errors import AnswerError, StudyError
from prefopt.study import together
from prefopt.study.together import Telling, UnknownToken


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """Every policy is quick, however busy the computer."""
    monkeypatch.setattr(together, "QUICK", 60.0)
    monkeypatch.setattr(together, "TURN", 60.0)


def many(storage, strategy="random", raters=6, options=5, **keywords):
    study = create_study(list(range(options)), storage=storage, seed=3, strategy=strategy, **keywords)
    return study, [study.add_rater(f"r{i}") for i in range(raters)]


def best_of(raters, query, place=0, **more):
    token = next(rater.token for rater in raters if rater.id == query.rater)
    return Telling(token, query.number, lambda rater, query: {"best": query.shown[place], "rater": rater, **more})


def warmed(study, raters):
    """After one question the study knows how long its policy takes."""
    assert not study.quick and len(study.ask_some(raters)) == 1 and study.quick
    return study


@pytest.mark.parametrize("strategy", ["random", "ind-self-sparring", "ws-s"])
def test_questions_of_several_raters_are_those_they_would_get_one_by_one(storage, strategy):
    study, raters = many(storage, strategy)
    alone, others = many(None, strategy)
    warmed(study, raters)
    for turn in range(8):
        asked = study.ask_some(raters)
        assert asked == [alone.ask(rater.id) for rater in others]
        told = [best_of(raters, q, (turn + i) % 2) for i, q in enumerate(asked)]
        assert study.tell_all(told) == [None] * len(raters)
        for i, query in enumerate(asked):
            alone.tell(query, best=query.shown[(turn + i) % 2])
    assert study.answered == alone.answered == 8 * len(raters)
    fresh = load_study(storage)
    assert fresh.history() == study.history()
    assert fresh.replay().matches


def test_who_asks_twice_at_once_has_one_question(tmp_path):
    study, raters = many(tmp_path / "s.db")
    one, two = warmed(study, raters).ask_some([raters[3], raters[3]])
    assert one == two and len(study.history()) == 2


def test_a_policy_that_takes_long_is_asked_for_one_rater_at_a_time(tmp_path, monkeypatch):
    study, raters = many(tmp_path / "s.db")
    monkeypatch.setattr(together, "QUICK", 0.0)
    assert len(study.ask_some(raters)) == 1 and not study.quick
    assert len(study.ask_some(raters)) == 2  # one is open
    assert [q.rater for q in study.ask_some(raters[::-1])] == [raters[-1].id]
    assert len(study.history()) == 3


def test_answers_of_a_moment_are_judged_one_by_one(storage):
    study, raters = many(storage)
    study.ask_some(raters)
    asked = study.ask_some(raters)

    def nonsense(rater, query):
        raise ValueError(query.number)

    mine, fifth = raters[0].token, raters[5].token
    found = study.tell_all([
        best_of(raters, asked[0], token="a" * 8),
        best_of(raters, asked[0], token="a" * 8),  # sent again
        best_of(raters, asked[0], 1),  # another answer to the same
        best_of(raters, asked[1], token="a" * 8),  # the same mark for another question
        Telling(mine, asked[2].number, lambda rater, query: {"best": 99}),
        Telling(mine, 77, lambda rater, query: {"tie": True}),
        Telling(mine, asked[3].number, nonsense),
        Telling(fifth, asked[4].number, lambda rater, query: {"tie": True, "rater": rater}),  # another rater's
        Telling("x" * 32, asked[4].number, lambda rater, query: {"tie": True}),
        best_of(raters, asked[5]),
    ])  # fmt: skip
    assert found[:2] == [None, None] and found[9] is None
    kinds = [StudyError, StudyError, AnswerError, StudyError, ValueError, StudyError, UnknownToken]
    assert [type(error) for error in found[2:9]] == kinds
    assert study.answered == 2 and [asked[0].number, asked[5].number] == [
        row["question"] for row in load_study(storage).history() if row["status"] == "answered"
    ]
    assert study.tell_all([]) == []


def test_another_process_in_between_spoils_nothing(tmp_path, monkeypatch):
    study, raters = many(tmp_path / "s.db")
    asked = [*study.ask_some(raters), *study.ask_some(raters)[1:]]
    twin, write = study.twin(), study._storage.append_alone

    def overtaken(*arguments):
        monkeypatch.undo()
        twin.tell(asked[2].number, best=asked[2].shown[0])
        return write(*arguments)

    monkeypatch.setattr(study._storage, "append_alone", overtaken)
    found = study.tell_all([best_of(raters, query, 1) for query in asked])
    assert [error is None for error in found] == [i != 2 for i in range(6)] and isinstance(found[2], StudyError)
    assert study.answered == twin.answered == 6


@pytest.mark.parametrize("meanwhile", ["answered", "withdrawn"])
def test_a_question_that_is_gone_before_anybody_looks_is_the_one_that_was_asked(tmp_path, monkeypatch, meanwhile):
    study, raters = many(tmp_path / "s.db")
    twin, ask = study.twin(), study.ask
    if meanwhile == "withdrawn":  # what was said without a question is taken back: nothing is open then
        study.add_comparison(0, 1, rater=raters[0])

    def asked_and_gone(rater, timeout):
        query = ask(rater, timeout)
        if meanwhile == "withdrawn":
            twin.undo(rater=rater)
        else:
            twin.tell(query, tie=True)
        return query

    monkeypatch.setattr(study, "ask", asked_and_gone)
    assert [(query.number, query.rater) for query in study.ask_some(raters)] == [(1, raters[0].id)]
    assert study.history()[-1]["status"] == meanwhile


def test_a_rater_who_is_erased_meanwhile_is_forgotten(tmp_path):
    study, raters = many(tmp_path / "s.db")
    asked = [*study.ask_some(raters), *study.ask_some(raters)[1:]]
    load_study(str(tmp_path / "s.db")).erase_rater(raters[1].id, answers="erase")
    found = study.tell_all([best_of(raters, query) for query in asked])
    assert [error is None for error in found] == [i != 1 for i in range(6)] and isinstance(found[1], UnknownToken)
    load_study(str(tmp_path / "s.db")).erase_rater(raters[2].id)
    assert [study.ask_some([rater])[0].rater for rater in raters[3:]] == [rater.id for rater in raters[3:]]
    assert study.history() == load_study(str(tmp_path / "s.db")).history()


def test_what_could_not_be_written_is_not_remembered(tmp_path, monkeypatch):
    study, raters = many(tmp_path / "s.db")
    warmed(study, raters)
    with monkeypatch.context() as full:
        full.setattr("prefopt.study.storage.insert_events", _fails)
        with pytest.raises(RuntimeError, match="no room"):
            study.ask_some(raters)
    assert len(study.history()) == 1
    assert [query.number for query in warmed(study, raters[1:]) and study.ask_some(raters)] == [1, 2, 3, 4, 5, 6]
    assert load_study(str(tmp_path / "s.db")).history() == study.history()


def _fails(*_):
    raise RuntimeError("no room")


def test_the_register_says_what_the_questions_say(tmp_path):
    study, raters = many(tmp_path / "s.db", repeats=0.3, lease=1e-9)
    luck = random.Random(2)
    for _ in range(60):
        query = study.ask_some([luck.choice(raters)])[0]
        act = luck.random()
        if act < 0.6:
            study.tell(query, best=query.shown[0])
        elif act < 0.75:
            study.tell(query, skip="?")
        elif act < 0.9 and study.answered:
            study.undo()
        elif study.undone():
            number = luck.choice(study.undone())
            study.restore(number)
    study.remove_rater(raters[0], "gone")
    state = study._sync()
    asked = list(state.questions.values())
    for status, kept in (("open", state.register.open), ("skipped", state.register.skipped)):
        assert sorted(kept) == [a.number for a in asked if a.status == status]
    assert {a.status for a in asked} >= {"open", "skipped", "answered", "lapsed"}
    for rater in raters:
        assert state.register.asked.get(rater.id, []) == [a.number for a in asked if a.event.rater == rater.id]
        told = [n for n, x in state.said.items() if x.event.rater == rater.id and x.question is not None]
        assert state.register.told.get(rater.id, []) == told
    order = list(dict.fromkeys(a.event.rater for a in asked))
    assert [state.register.place(who) for who in [*order, "nobody"]] == list(range(len(order) + 1))
