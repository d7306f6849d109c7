"""Questions drafted ahead are the questions that would be asked, and only ever those."""

import time

import pytest

from prefopt import Float, Int, Space, create_study, load_study
from prefopt.study.asking import Asker

SPACES = [
    (["a", "b", "c", "d", "e"], 2, None),
    (Space([Float("x", 0, 1), Float("y", 0, 1)]), 2, None),
    (Space([Float("x", 0, 10, step=0.5), Int("k", 1, 10)]), 4, None),
    (["a", "b", "c", "d"], 2, "ws-s"),
]


@pytest.mark.parametrize(("space", "size", "strategy"), SPACES)
def test_a_study_that_prepares_asks_the_same(space, size, strategy):
    one, other = (create_study(space, seed=3, query_size=size, strategy=strategy) for _ in range(2))
    for i in range(18 if isinstance(space, list) else 9):
        query = one.ask()
        assert query == other.ask()
        one.prepare(query)
        said = {"tie": True} if i % 5 == 4 else {"best": query.shown[i % size].id}
        if i == 7:
            said = {"skip": "?"}
        for study in (one, other):
            study.tell(query, **said)
    one.undo(2)
    other.undo(2)
    assert one.ask() == other.ask()


def test_what_was_prepared_is_used(monkeypatch):
    study = create_study(Space([Float("x", 0, 1)]), seed=3)
    query = study.ask()
    study.prepare(query)
    drafted = []
    draft = Asker.draft
    monkeypatch.setattr(Asker, "draft", lambda *args, **kw: drafted.append(args) or draft(*args, **kw))
    study.tell(query, best=query.shown[0])
    assert study.ask().number == 2 and drafted == []
    study.tell(2, tie=True)  # nobody thought of that
    assert study.ask().number == 3 and len(drafted) >= 1


def test_another_answer_in_between_makes_a_draft_worthless(tmp_path):
    study = create_study(["a", "b", "c", "d"], seed=3, storage=tmp_path / "s.db", strategy="ind-self-sparring")
    ann, bob = study.add_rater("Ann"), study.add_rater("Bob")
    query, theirs = study.ask(ann), study.ask(bob)
    study.prepare(query)
    study.twin().tell(theirs, best=theirs.shown[0])  # from another process, say
    study.tell(query, best=query.shown[0])
    twin = load_study(str(tmp_path / "s.db"))
    assert twin.ask(ann) == study.ask(ann)


def test_to_prepare_changes_nothing(tmp_path):
    study = create_study(Space([Float("x", 0, 1)]), seed=3, storage=tmp_path / "s.db")
    query = study.ask()
    before = study.history()
    assert study.prepare(query, until=lambda: True) == []
    assert len(study.prepare(query)) == 4
    assert study.history() == before == load_study(str(tmp_path / "s.db")).history()
    assert study.ask() == query and study.ids == [0, 1]
    study.tell(query, best=query.shown[0])
    assert study.prepare(query) == []  # answered: nothing to prepare


def test_a_prepared_question_comes_sooner():
    study, other = (create_study(Space([Float(name, 0, 1) for name in "xyz"]), seed=3) for _ in range(2))
    waits = {study: 0.0, other: 0.0}
    for _ in range(5):
        query = study.ask()
        study.prepare(query)
        for one in (study, other):
            one.ask()
            one.tell(query.number, best=query.shown[0].id)
            began = time.perf_counter()
            one.ask()
            waits[one] += time.perf_counter() - began
    assert waits[study] < 0.7 * waits[other]


def test_progress(tmp_path):
    study = create_study(["a", "b", "c"], seed=3, storage=tmp_path / "s.db", budget=5)
    ann, bob = study.add_rater("Ann"), study.add_rater("Bob")
    for _ in range(2):
        query = study.ask(ann)
        study.tell(query, best=query.shown[0])
    query = study.ask(bob)
    study.tell(query, skip="?")
    assert (study.progress(ann).answered, study.progress(ann).remaining, study.progress(ann).waiting) == (2, 3, False)
    assert (study.progress(bob).answered, study.progress(bob).last) == (0, query.number)
    study.undo(rater=ann)
    assert study.progress(ann).answered == 1 and study.progress(ann).waiting
    assert study.undone() == [2]
