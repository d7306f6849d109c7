"""The thread behind the scenes: what it drafts, what it leaves, and when it sees whether there are enough answers."""

import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

from prefopt.web import background
from prefopt.web.background import Background


class Fake:
    """A study that notes what is asked of it."""

    quick = False

    def __init__(self):
        self.prepared, self.looks, self.gate = [], 0, threading.Event()
        self.gate.set()

    def prepare(self, query, until):
        self.prepared.append(query.number)
        self.gate.wait(10)
        return [] if until() else [f"option {query.number}"]

    @property
    def enough(self):
        self.looks += 1
        return f"look {self.looks}"


def query(number, rater):
    return SimpleNamespace(number=number, rater=rater)


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture
def made():
    """A thread, its study and the options drawn."""
    study, drawn = Fake(), []
    thread = Background(study, study, drawn.append)
    yield thread, study, drawn
    study.gate.set()
    thread.close()


def test_what_follows_is_drafted_for_every_rater_and_drawn(made):
    thread, study, drawn = made
    wait_for(lambda: study.looks)
    study.gate.clear()
    thread.look_ahead(query(1, "ann"))
    wait_for(lambda: study.prepared == [1])
    for number, rater in ((2, "bob"), (3, "eve"), (4, "bob")):
        thread.look_ahead(query(number, rater))
    study.gate.set()
    wait_for(lambda: len(drawn) == 3)
    assert study.prepared == [1, 4, 3] and drawn == ["option 1", "option 4", "option 3"]


def test_who_waits_goes_first(made):
    thread, study, drawn = made
    thread.busy = True
    thread.look_ahead(query(1, "ann"))
    wait_for(lambda: study.prepared == [1])
    thread.busy = False
    thread.look_ahead(query(2, "bob"))
    wait_for(lambda: drawn == ["option 2"])


def test_more_raters_than_it_can_serve(made, monkeypatch):
    thread, study, drawn = made
    monkeypatch.setattr(background, "MOST", 2)
    study.gate.clear()
    thread.look_ahead(query(0, "first"))
    wait_for(lambda: study.prepared == [0])
    for number in range(1, 6):
        thread.look_ahead(query(number, f"rater {number}"))
    study.gate.set()
    wait_for(lambda: len(drawn) == 3)
    assert study.prepared == [0, 4, 5]


def test_a_quick_policy_needs_no_drafts(made):
    study = Fake()
    study.quick = True
    thread = Background(study, study, None)
    wait_for(lambda: study.looks == 1)
    thread.look_ahead(query(1, "ann"))
    thread.think()
    wait_for(lambda: study.looks == 2)
    thread.close()
    assert study.prepared == []


def test_enough_is_seen_after_the_last_answer_but_not_all_the_time(made):
    thread, study, _ = made
    looks = []

    def look(_):
        looks.append(time.monotonic())
        time.sleep(0.01)
        return "no"

    wait_for(lambda: study.looks)
    thread._see_whether_enough = lambda: look(study)
    for _ in range(100):
        thread.think()
        last = time.monotonic()
        time.sleep(0.003)
    wait_for(lambda: looks and looks[-1] > last)
    assert all(after - before > 0.01 * background.REST for before, after in pairwise(looks))
