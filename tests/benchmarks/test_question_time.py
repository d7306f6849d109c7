"""Time of a question: what is counted, and the ratio to the peer."""

import numpy as np
import question_time
from tournament_parts.suite import person


class Counting:
    """A peer whose clock advances by two a question and by one an answer."""

    def __init__(self, name, dim, budget, seed):
        self.cpu, self.fed, self.told = 0.0, 0, 0

    def feed(self, pairs, winners):
        assert pairs.shape == (12, 2, 2) and set(winners) <= {0, 1}
        self.fed = len(pairs)

    def ask(self):
        self.cpu += 2.0
        return np.array([[0.2, 0.2], [0.8, 0.8]])

    def tell(self, slate, answer):
        self.cpu += 1.0
        self.told += 1


def test_every_method_goes_on_from_the_same_history(monkeypatch):
    monkeypatch.setattr(question_time, "Peer", Counting)
    found = {r["method"]: r for r in question_time.measure(["random", "eubo"], 2, 12, 5, peer=True)}
    assert found["botorch-eubo"]["median"] == found["botorch-eubo"]["largest"] == 3.0
    assert found["botorch-eubo"]["questions"] == question_time.PEER_QUESTIONS
    assert found["random"]["questions"] == found["eubo"]["questions"] == question_time.QUESTIONS
    eubo = found["eubo"]
    assert 0 < eubo["median"] <= eubo["largest"] and eubo["peer_over_median"] == round(3 / eubo["median"], 1)
    alone = question_time.measure(["random"], 2, 12, 5, peer=False)
    assert [r["peer_over_mean"] for r in alone] == [""]
    axes = question_time.figure([*found.values(), *alone]).axes
    assert [axis.get_title() for axis in axes] == ["2 parameters"] and len(axes[0].lines) == 3


def test_the_history_is_random_pairs_with_the_persons_answers():
    who = person("anywhere-2", 5)
    pairs, winners = question_time.history(who, 200, 5)
    u = who.utility(pairs.reshape(-1, 2)).reshape(200, 2)
    assert 0.1 < np.mean(u.argmax(axis=1) != winners) < 0.3  # a fifth is wrong
    again, _ = question_time.history(who, 200, 5)
    assert np.array_equal(pairs, again)
