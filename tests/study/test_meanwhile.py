"""Questions drafted for one of several raters, who answer meanwhile: they are used, told apart, and replayed."""

import numpy as np
import pytest

from prefopt import Float, Space, create_study, load_study
from prefopt.study import meanwhile
from prefopt.study.asking import Asker

SPACE = Space([Float("x", 0, 1), Float("y", 0, 1)])


@pytest.fixture
def study(tmp_path):
    return create_study(SPACE, seed=3, storage=tmp_path / "s.db", repeats=0)


@pytest.fixture
def drafted(monkeypatch):
    """Every draft that is made."""
    made, draft = [], Asker.draft
    monkeypatch.setattr(Asker, "draft", lambda *args, **kw: made.append(args) or draft(*args, **kw))
    return made


def begin(study, raters=3):
    """Raters who look at a question each."""
    people = [study.add_rater(f"r{i}") for i in range(raters)]
    return people, [study.ask(rater) for rater in people]


def say(study, query, place=0, **more):
    study.tell(query, best=query.shown[place], **more)


def asked(study):
    return [event.payload for event in study._storage.read(study.record) if event.kind == "asked"]


def test_a_draft_is_used_although_others_have_answered(study, drafted):
    (ann, *_), open_ones = begin(study)
    assert len(study.prepare(open_ones[0])) == 4
    say(study.twin(), open_ones[1])
    say(study, open_ones[2], 1)
    say(study, open_ones[0], 1)
    drafted.clear()
    query = study.ask(ann)
    assert drafted == [] and query.number == 4 and query.rater == ann.id
    assert asked(study)[-1]["ahead"] == [1, study._sync().last - 1] and study.replay().matches
    fresh = load_study(study._storage.url)
    assert fresh.replay().matches and fresh.ask(ann) == query


def test_what_was_not_supposed_is_asked_anew(study, drafted):
    (ann, bob, _), open_ones = begin(study)
    for query in open_ones:
        study.prepare(query)
    study.tell(open_ones[0], tie=True)
    say(study, open_ones[1])
    study.undo(rater=bob)
    say(study, open_ones[1])
    drafted.clear()
    assert study.ask(ann).number == 4 and len(drafted) == 1
    assert study.ask(bob).number == 5 and len(drafted) == 2
    assert all("ahead" not in payload for payload in asked(study))


def test_a_draft_may_not_miss_too_much(study, drafted, monkeypatch):
    monkeypatch.setattr(meanwhile, "MISSED", 2)
    people, open_ones = begin(study, 4)
    study.prepare(open_ones[0])
    for query in (*open_ones[1:], open_ones[0]):
        say(study, query)
    drafted.clear()
    assert study.ask(people[0]).number == 5 and len(drafted) == 1


def test_what_cannot_be_made_is_not_asked(study, drafted):
    (ann, *_), open_ones = begin(study)
    study.prepare(open_ones[0])
    study.tell(open_ones[1], infeasible=[open_ones[1].shown[0]])
    say(study, open_ones[0])
    drafted.clear()
    assert study.ask(ann).number == 4 and len(drafted) == 1


def test_drafts_for_several_raters_differ(study):
    people, open_ones = begin(study, 5)
    for query in open_ones:
        study.prepare(query)
    for query in open_ones:
        say(study, query)
    questions = [{tuple(candidate.params.values()) for candidate in study.ask(rater).shown} for rater in people]
    assert len(set(map(frozenset, questions))) == 5 and all("ahead" in payload for payload in asked(study)[5:])


@pytest.mark.parametrize("strategy", ["qeubo", "kernel-self-sparring", "random"])
def test_a_study_with_drafts_of_all_kinds_replays(tmp_path, strategy):
    luck = np.random.default_rng(7)
    study = create_study(SPACE, seed=5, storage=tmp_path / "s.db", strategy=strategy, repeats=0.2)
    people = [study.add_rater(f"r{i}") for i in range(3)]
    for turn in range(36):
        query = study.ask(people[int(luck.integers(3))])
        if luck.random() < 0.7:
            study.prepare(query)
        waiting = [study.find(number) for number in sorted(study._sync().register.open)]
        query = waiting[int(luck.integers(len(waiting)))]
        if turn % 9 == 8:
            study.undo()
        elif luck.random() < 0.85:
            say(study, query, int(luck.integers(2)))
        else:
            study.tell(query, skip="?")
    kinds = asked(study)
    assert 5 < sum("ahead" in payload for payload in kinds) < len(kinds) and any("again" in p for p in kinds)
    found = load_study(str(tmp_path / "s.db")).replay()
    assert found.matches and all(step.verdict == "same" for step in found.steps), found.lines()
