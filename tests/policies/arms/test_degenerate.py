"""Degenerate problems: no hang, no crash, no NaN, and every slate within the domain."""

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.world import reply
from prefopt.policies import POLICIES, make_policy, resolve_settings
from prefopt.seeding import stream

FAMILY = [
    "sparring-ucb1", "sparring-exp3", "sparring-ts", "multi-sparring", "multi-sbm", "rex3", "mdb", "multi-rucb",
    "versatile-db", "merge-dts", "ind-self-sparring", "scb", "ecw-rmed",
]  # fmt: skip
ALL = [name for name, entry in POLICIES.items() if entry.domains == ("arms",)]


def order(K, gap):
    """A better arm wins with 1/2 + gap."""
    return 0.5 + gap * np.sign(np.arange(K)[None] - np.arange(K)[:, None])


def cyclic(K):
    """Every arm beats the next ones."""
    ahead = (np.arange(K)[None] - np.arange(K)[:, None]) % K
    return np.where((ahead == 0) | (2 * ahead == K), 0.5, np.where(2 * ahead < K, 0.9, 0.1))


def arrays(state):
    """Every array of a state by name, working space left out."""
    for name, value in state._asdict().items() if hasattr(state, "_asdict") else ():
        if hasattr(value, "_asdict"):
            yield from arrays(value)
        elif isinstance(value, np.ndarray) and not name.startswith("scratch"):
            yield name, value


def play(name, P, rounds, seed=0, **settings):
    """The policy after some rounds of the loop of a simulation, every slate and state checked on the way."""
    K = len(P)
    settings = {"horizon": rounds, "slate_size": 3 if POLICIES[name].slates in ("any", "varies") else 2, **settings}
    policy, world = make_policy(name, Arms(K), **settings), FiniteEnvironment("matrix", Arms(K), P).world
    rng, person = stream(seed, 0), stream(seed, 1)
    policy.init(rng)
    for t in range(rounds):
        slate = policy.ask(rng)
        m = len(slate)
        assert 1 <= m <= policy.max_slate and slate.min() >= 0 and slate.max() < K
        wins = np.zeros((m, m))
        reply(world, t, slate, m, wins, person)
        policy.rules.tell(policy.state, slate, m, wins, rng)
    assert 0 <= policy.best() < K
    for field, value in arrays(policy.state):
        assert not np.isnan(value).any(), f"{field} of {name} holds NaN"
    return policy


@pytest.mark.parametrize("K", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["tied", "cyclic", "certain"])
@pytest.mark.parametrize("name", FAMILY)
def test_small_problems(name, kind, K):
    policy = play(name, {"tied": order(K, 0.0), "cyclic": cyclic(K), "certain": order(K, 0.5)}[kind], 200)
    if kind == "certain" and name not in ("rex3", "sparring-exp3", "multi-sbm"):  # these are still exploring
        assert policy.best() == 0


@pytest.mark.parametrize("name", ALL)
def test_a_single_round(name):
    play(name, order(4, 0.2), 1)


@pytest.mark.parametrize("name", ALL)
def test_a_hundred_arms(name):
    rounds = 2 if name == "mdb" else 40
    play(name, order(100, 0.3), rounds)


@pytest.mark.parametrize(("K", "questions"), [(100, 10), (500, 3)])
@pytest.mark.parametrize("name", [name for name, entry in POLICIES.items() if "arms" in entry.domains])
def test_many_arms_as_a_person_meets_them(name, K, questions):
    """Uncompiled, with answers as a study gives them."""
    policy, rng = make_policy(name, Arms(K), horizon=100), stream(3, K)
    policy.init(rng)
    for _ in range(questions):
        slate = policy.ask(rng)
        m = len(slate)
        assert (m == 2 or (name == "mdb" and 1 <= m <= K)) and slate.min() >= 0 and slate.max() < K
        policy.tell(slate, Answer.best(int(np.argmin(slate)), m) if m > 1 else Answer.alone(), rng)
    assert 0 <= policy.best() < K
    for field, value in arrays(getattr(policy, "state", None)):
        assert not np.isnan(value).any(), f"{field} of {name} holds NaN"


@pytest.mark.parametrize("name", ["merge-dts", "sparring-ts"])
def test_five_hundred_arms(name):
    play(name, order(500, 0.3), 20)


PRESETS = [(name, preset) for name, entry in POLICIES.items() for preset in entry.presets]


@pytest.mark.parametrize(("name", "preset"), [p for p in PRESETS if "arms" in POLICIES[p[0]].domains])
def test_presets(name, preset):
    """What a preset stands for reaches the policy, explicit settings win, and it plays."""
    given = POLICIES[name].presets[preset]
    policy = make_policy(name, Arms(5), horizon=50, preset=preset)
    assert {key: policy.settings[key] for key in given} == dict(given)
    assert resolve_settings(name, {"preset": preset, **dict.fromkeys(given, 7)}) == dict.fromkeys(given, 7)
    rng = stream(1)
    policy.init(rng)
    for _ in range(20):
        slate = policy.ask(rng)
        policy.tell(slate, Answer.best(0, len(slate)), rng)
    assert 0 <= policy.best() < 5


def test_the_tuned_learning_rates():
    assert make_policy("ind-self-sparring", Arms(3), preset="sui2017").eta == 3.5
    assert make_policy("d-ts", Arms(3), preset="sui2017").eta == 2.5
    assert make_policy("ind-self-sparring", Arms(3)).eta == make_policy("d-ts", Arms(3)).eta == 1.0
