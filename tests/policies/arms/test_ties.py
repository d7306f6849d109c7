"""A person who finds all options about the same is not asked one question for ever."""

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.policies import POLICIES, get_entry, make_policy
from prefopt.seeding import stream

K, T = 4, 40
#: Policies that keep to one question by their law.
SETTLED = {
    "mdb": "shows every option that may be the best one, which are all of them",
    "scb": "nothing but the decision of a pair lets it go on, until its round ends",
    "qsa": "asks each pair once, then plays the two best of its ranking",
}
ARMS = [name for name in POLICIES if "arms" in get_entry(name).domains]


def asked(name, questions=T, **settings):
    """The sets of options asked while every answer is a tie."""
    slates = "any" if get_entry(name).slates == "any" else "2"
    policy = make_policy(name, Arms(K), horizon=questions, slate_size=3 if slates == "any" else 2, **settings)
    policy.init(stream(1, 0))
    shown = []
    for t in range(questions):
        slate = policy.ask(stream(1, t, 1))
        shown.append(frozenset(slate.tolist()))
        policy.tell(slate, Answer.tie(len(slate)) if len(slate) > 1 else Answer.alone(), stream(1, t, 2))
    return shown


@pytest.mark.parametrize("name", [name for name in ARMS if name != "mdb"])
def test_ties_lead_to_other_questions(name):
    assert len(set(asked(name))) > 1


@pytest.mark.parametrize("name", [name for name in ARMS if name not in SETTLED])
def test_late_ties_lead_to_other_questions(name):
    assert len(set(asked(name, 200)[100:])) > 1


def test_what_settled_policies_ask():
    assert set(asked("mdb")) == {frozenset(range(K))}
    assert len(set(asked("qsa")[:10])) > 3 and len(set(asked("qsa")[10:])) == 1
    first, second = asked("scb")[4:20], asked("scb")[20:]  # rounds of 4, 16, 256 duels
    assert len(set(first)) == len(set(second)) == 1 and first[0] != second[0]


@pytest.mark.parametrize("name", ["ws-w", "ws-s", "btw", "mbtw"])
def test_a_tie_is_a_fair_coin_and_no_comparison_is_nothing(name):
    policy, first, n = make_policy(name, Arms(2)), 0, 2000
    for seed in range(n):
        policy.init(stream(2, seed, 0))
        slate = policy.ask(stream(2, seed, 1))
        before = [x.copy() for x in policy.state if isinstance(x, np.ndarray)]
        policy.tell(slate, Answer.pairs(np.zeros((2, 2))), stream(2, seed, 2))
        after = [x for x in policy.state if isinstance(x, np.ndarray)]
        assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))
        policy.tell(slate, Answer.tie(), stream(2, seed, 2))
        first += policy.best() == slate[0]
    assert abs(first - n / 2) < 5.2 * np.sqrt(n / 4)
