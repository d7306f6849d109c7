"""Raters: pseudonyms and tokens, reserved questions, answers that do not count, and what is erased."""

import json
import time

import pytest

from prefopt import Box, create_study, load_study
from prefopt.errors import SettingError, StudyError
from prefopt.study import Rater


def study_of(letters="abcdef", **keywords):
    return create_study(list(letters), **{"seed": 3, "strategy": "ind-self-sparring", **keywords})


def answer(study, n, rater=None):
    for _ in range(n):
        query = study.ask(rater)
        study.tell(query, best=min(query.ids), rater=rater)


def later(monkeypatch, seconds):
    now = time.time() + seconds
    monkeypatch.setattr("prefopt.study.asking.time.time", lambda: now)


def test_a_rater_has_a_pseudonym_and_a_secret(tmp_path):
    study = study_of(storage=str(tmp_path / "s.db"))
    ann, ben = study.add_rater("Ann"), study.add_rater(pseudonym="B")
    assert (ann.id, ben.id) == ("rater 1", "B")
    assert ann.token != ben.token and len(ann.token) >= 32
    assert study.rater_by_token(ann.token).name == "Ann"
    assert study.rater_by_token(ann.token + "x") is None
    assert study.rater_by_token("") is None
    assert [study.ask(who).rater for who in ("Ann", "rater 1", ann)] == ["rater 1"] * 3
    with pytest.raises(StudyError, match=r"no rater 'An'; did you mean 'Ann'"):
        study.ask("An")
    for keywords in ({"name": "Ann"}, {"pseudonym": "B"}, {"name": "B"}):
        with pytest.raises(StudyError, match="already"):
            study.add_rater(**keywords)
    new = study.renew_token("Ann")
    assert study.rater_by_token(ann.token) is None
    assert study.rater_by_token(new.token).id == "rater 1"
    study.close()
    again = load_study(str(tmp_path / "s.db"))
    assert again.rater_by_token(new.token).name == "Ann"
    assert ann.token.encode() not in (tmp_path / "s.db").read_bytes()
    again.close()


def test_exports_hold_pseudonyms_only(tmp_path):
    study = study_of()
    ann = study.add_rater("Ann Lovelace")
    answer(study, 3, ann)
    study.remove_rater(ann, "moved away")
    study.export(tmp_path / "s.json")
    study.export(tmp_path / "s.csv")
    for name in ("s.json", "s.csv"):
        text = (tmp_path / name).read_text()
        assert "Lovelace" not in text and ann.token not in text and "rater 1" in text and "moved away" in text
    held = json.loads((tmp_path / "s.json").read_text())
    assert held["raters"] == [{"id": "rater 1", "status": "removed", "reason": "moved away"}]
    assert not any("token" in event["payload"] for event in held["events"])


def test_raters_never_share_an_open_question():
    study = study_of("abcd")
    raters = [study.add_rater() for _ in range(5)]
    open_now = [study.ask(rater) for rater in raters]
    assert len({q.number for q in open_now}) == 5
    assert len({frozenset(q.ids) for q in open_now}) == 5  # of six pairs
    assert [study.ask(rater) for rater in raters] == open_now
    with pytest.raises(StudyError, match="asked to rater 'rater 1', not to 'rater 2'"):
        study.tell(open_now[0], best=open_now[0].ids[0], rater=raters[1])


def test_two_options_may_be_before_two_raters():
    study = study_of("ab")
    assert study.ask("ann").number != study.ask("ben").number


def test_open_questions_are_pending_for_the_policy(monkeypatch):
    seen = []
    study = create_study(Box(2), seed=1, strategy="kernel-self-sparring")
    policy = study._asker.policy(study._sync())
    ask = type(policy).ask
    monkeypatch.setattr(
        type(policy), "ask", lambda self, rng, pending=(): (seen.append(len(pending)), ask(self, rng, pending))[1]
    )
    for rater in ("ann", "ben", "cyd"):
        study.ask(rater)
    assert seen == [0, 1, 2]


def test_a_question_that_lapsed_goes_to_the_next_rater_and_the_late_answer_counts(monkeypatch):
    study = study_of(lease=60)
    first = study.ask("ann")
    assert study.ask("ben").ids != first.ids
    later(monkeypatch, 59)
    assert set(study.ask("cyd").ids) != set(first.ids)
    later(monkeypatch, 61)
    passed_on = study.ask("dan")
    assert set(passed_on.ids) == set(first.ids) and passed_on.number != first.number
    study.tell(passed_on, best=first.ids[0], rater="dan")
    study.tell(first, best=first.ids[1], rater="ann")  # late
    assert study.answered == 2
    rows = {row["question"]: row for row in study.history()}
    assert rows[passed_on.number]["lapsed"] == first.number
    assert [rows[q.number]["status"] for q in (first, passed_on)] == ["answered", "answered"]


def test_who_comes_back_in_time_finds_the_question(monkeypatch):
    study = study_of(lease=60)
    first = study.ask("ann")
    later(monkeypatch, 3600)
    assert study.ask("ann") == first  # nobody has taken it
    assert set(study.ask("ben").ids) == set(first.ids)
    assert study.ask("ann") != first
    never = study_of(lease=None)
    first = never.ask("ann")
    later(monkeypatch, 1e9)
    assert never.ask("ben").ids != first.ids


def test_the_next_question_is_made_ahead():
    study = study_of()
    now, ahead = study.ask("ann"), study.ask_ahead("ann")
    assert study.ask("ann") == now and study.ask_ahead("ann") == ahead
    assert set(now.ids) != set(ahead.ids)
    study.tell(now, best=now.ids[0], rater="ann")
    assert study.ask("ann") == ahead
    second = study.ask_ahead("ann")
    study.undo(rater="ann")
    assert study.ask("ann") == now and study.ask_ahead("ann") == ahead
    assert {row["question"]: row["status"] for row in study.history()}[second.number] == "withdrawn"


def test_the_order_on_the_screen_is_the_rater_s_own_and_recorded(monkeypatch):
    study = study_of("ab", strategy="random", lease=1)
    swapped = 0
    for n in range(60):
        later(monkeypatch, 10 * n)
        query = study.ask(f"rater{n % 2}")
        assert query.shown_order == tuple(study.history()[-1]["shown"])
        swapped += query.shown_order == (1, 0)
        study.tell(query, tie=True)
    assert 9 < swapped < 51  # of 60 fair coins: five and a half standard errors


def test_undo_is_the_rater_s_own():
    study = study_of(repeats=0)
    answer(study, 2, "ann")
    answer(study, 1, "ben")
    study.undo(rater="ann")
    assert [row["status"] for row in study.history() if row["rater"] == "ann"] == ["answered", "open"]
    with pytest.raises(StudyError, match="cannot undo 2, it has 1 answer of 'ben'"):
        study.undo(2, rater="ben")


def test_what_is_removed_does_not_count_and_comes_back():
    study = study_of(repeats=0)
    answer(study, 4, "ann")
    before = study.comparisons.tolist(), study.recommend()
    for _ in range(4):
        query = study.ask("ben")
        study.tell(query, best=max(query.ids), rater="ben")
    after = study.comparisons.tolist(), study.recommend()
    study.remove_rater("ben", "was in a hurry")
    assert study.comparisons.tolist() == before[0]
    assert study.recommend().mean == before[1].mean
    assert study.answered == 4
    assert {row["excluded"] for row in study.history() if row["rater"] == "ben"} == {"was in a hurry"}
    with pytest.raises(StudyError, match=r"was removed \(was in a hurry\); restore_rater"):
        study.ask("ben")
    study.restore_rater("ben")
    assert study.comparisons.tolist() == after[0]
    assert study.recommend().params == after[1].params
    study.remove_answer(1, "misread")
    assert study.comparisons.tolist() == after[0][1:]
    assert study.history()[0]["excluded"] == "misread" and study.history()[0]["status"] == "answered"
    study.remove_answer(1, "misread")  # a second time changes nothing
    study.restore_answer(1)
    assert study.comparisons.tolist() == after[0]


def test_the_policy_learns_as_if_the_removed_had_never_been_said():
    kept, removed = study_of(repeats=0), study_of(repeats=0)
    for study in (kept, removed):
        answer(study, 6, "ann")
    removed.add_comparison("f", "a", rater="ben")
    event = removed.history()[-1]["event"]
    removed.remove_answer(event=event, reason="not mine")
    policies = [study._asker.policy(study._sync()) for study in (kept, removed)]
    assert policies[0].state.S.tolist() == policies[1].state.S.tolist()
    removed.restore_answer(event=event)
    policy = removed._asker.policy(removed._sync())
    assert policy.state.S.sum() == policies[0].state.S.sum() + 1


def test_an_answer_of_a_removed_rater_is_kept():
    study = study_of()
    query = study.ask("ann")
    study.remove_rater("ann", "left")
    study.tell(query, best=query.ids[0])
    assert study.answered == 0
    study.restore_rater("ann")
    assert study.answered == 1


@pytest.mark.parametrize("reason", ["", "  ", None, 3])
def test_what_does_not_count_needs_a_reason(reason):
    study = study_of()
    answer(study, 1, "ann")
    with pytest.raises(StudyError, match="say why"):
        study.remove_rater("ann", reason)
    with pytest.raises(StudyError, match="say why"):
        study.remove_answer(1, reason)
    with pytest.raises(StudyError, match="has no rater 'bob'"):
        study.remove_rater("bob", "who?")
    with pytest.raises(StudyError, match="question 9 has no answer"):
        study.remove_answer(9, "none")


@pytest.mark.parametrize("answers", ["keep", "erase"])
def test_erasing_leaves_no_trace_in_the_file(tmp_path, answers):
    path = tmp_path / "s.db"
    study, other = study_of(storage=str(path), repeats=0), None
    ann = study.add_rater("Ann Lovelace", pseudonym="the countess")
    study.add_rater("Ben")
    answer(study, 3, ann)
    query = study.ask(ann)
    study.tell(query, skip="my name is Lovelace", rater=ann, seconds=7.25, token="lovelace-4")
    study.undo(rater=ann)
    answer(study, 2, "Ben")
    ids, comparisons = study.ids, study.comparisons.tolist()
    other = load_study(str(path))
    assert other.rater_by_token(ann.token).name == "Ann Lovelace"
    left = study.erase_rater("Ann Lovelace", answers)
    assert left == Rater("erased 1", status="erased")
    for view in (study, other):  # another process that had read it before
        assert view.rater_by_token(ann.token) is None
        assert [rater.id for rater in view.raters] == ["erased 1", "rater 2"]
        assert view.answered == (5 if answers == "keep" else 2)
        assert view.ids == ids
        assert view.comparisons.tolist() == (comparisons if answers == "keep" else comparisons[3:])
        assert view.recommend().params
    assert study.ask("Ben").rater == "rater 2"
    with pytest.raises(StudyError, match="no rater 'Ann Lovelace'"):
        study.ask("Ann Lovelace")
    assert any(e.payload.get("answers") == answers for e in study._storage.read(study.record))
    study.close()
    other.close()
    for file in tmp_path.iterdir():
        content = file.read_bytes().lower()
        assert b"lovelace" not in content and b"countess" not in content


def test_a_pause():
    study = study_of()
    query = study.ask("ann")
    study.pause("lunch")
    assert study.paused == "lunch"
    assert study.ask("ann") == query
    with pytest.raises(StudyError, match=r"is paused \(lunch\); resume"):
        study.ask("ben")
    study.tell(query, best=query.ids[0])
    study.resume()
    assert study.paused is None
    assert study.answered == 1 and study.ask("ben").number == 2


@pytest.mark.parametrize("bad", [{"repeats": 0.6}, {"repeats": -0.1}, {"repeats": "often"}, {"overlap": None},
                                 {"lease": 0}, {"lease": float("nan")}])  # fmt: skip
def test_conduct_is_checked(bad):
    with pytest.raises(SettingError, match=next(iter(bad))):
        study_of(**bad)
