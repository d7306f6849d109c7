"""QSA: what it asks is ambiguous, what it does not ask is implied, and contradictions do not stop it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from prefopt.answer import Answer
from prefopt.domain import Arms, Grid
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.seeding import stream

ANGLES = np.linspace(0, 2 * np.pi, 400_000, endpoint=False)
THETAS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def rank(policy, utility, seed=0, flip=0.0):
    """Answer by ``utility`` (wrong with chance ``flip``) until all is ranked; the pairs asked, winner first."""
    rng, person, asked = stream(seed, 0), stream(seed, 1), []
    policy.init(rng)
    while policy.order:
        slate = policy.ask(rng)
        better = int(utility[slate[1]] > utility[slate[0]]) ^ int(person.random() < flip)
        policy.tell(slate, Answer.duel(better), rng)
        asked.append((int(slate[better]), int(slate[1 - better])))
        assert len(asked) < 2000
    return asked


@pytest.mark.parametrize("seed", range(3))
def test_only_ambiguous_pairs_are_asked_and_the_order_is_found(seed):
    points = stream(seed, 2).standard_normal((30, 2))
    utility = points @ stream(seed, 3).standard_normal(2)
    policy = make_policy("qsa", Arms(30), features=points)
    asked = rank(policy, utility, seed)
    assert policy.ranked == np.argsort(-utility).tolist() and policy.best() == utility.argmax()
    possible = np.ones(len(ANGLES), dtype=bool)  # directions of theta that fit the answers so far
    for winner, loser in asked:
        side = (points[winner] - points[loser]) @ THETAS
        assert (side[possible] > 0).any() and (side[possible] < 0).any(), "this answer was implied by others"
        possible &= side > 0
    # insertion by binary search asks about log2 30! = 107 times; two dimensions need about 2 d log2 K
    assert len(asked) < 45
    assert set(policy.ask(stream(0)).tolist()) == set(np.argsort(-utility)[:2].tolist())


def test_a_grid_brings_its_features_and_bare_arms_have_none():
    points = stream(4).random((20, 2))
    utility = points @ np.array([0.6, -1.0])
    with_points, bare = make_policy("qsa", Grid(points)), make_policy("qsa", Arms(20))
    few, many = (len(rank(policy, utility, 5)) for policy in (with_points, bare))
    assert with_points.ranked == bare.ranked == np.argsort(-utility).tolist()
    assert few < 0.6 * many and 40 < many <= 100  # binary insertion of 20


def test_wrong_answers_leave_constraints_that_some_theta_fits():
    """Either answer to an ambiguous question fits the others, so noise cannot make them contradict each other."""
    points = stream(6).standard_normal((12, 3))
    policy = make_policy("qsa", Arms(12), features=points)
    for seed in range(4):
        asked = rank(policy, points @ np.array([1.0, 0.5, -1.0]), seed, flip=0.4)
        assert sorted(policy.ranked) == list(range(12))
        rows = np.array([points[winner] - points[loser] for winner, loser in asked])
        fits = linprog(np.zeros(3), A_ub=-rows, b_ub=np.full(len(rows), -policy.margin), bounds=(-1, 1))
        assert fits.status == 0


def test_options_with_the_same_features_do_not_undo_what_is_known():
    points = stream(10).standard_normal((24, 2))
    points[18:] = points[:6]
    utility = points @ np.array([1.0, -0.3]) + 1e-9 * np.arange(24)
    policy = make_policy("qsa", Arms(24), features=points)
    asked = rank(policy, utility, 11)
    assert policy.ranked == np.argsort(-utility).tolist()
    assert len(asked) < 28
    twins = [(a, b) for a, b in asked if abs(a - b) == 18]
    assert len(twins) == len(set(twins)) <= 6  # nothing is known of them, so they are asked


def test_repeats_ask_until_a_majority():
    points = stream(7).standard_normal((10, 2))
    utility = points @ np.array([1.0, 2.0])
    once = rank(make_policy("qsa", Arms(10), features=points), utility, 8)
    policy = make_policy("qsa", Arms(10), features=points, repeats=3)
    thrice = rank(policy, utility, 8)
    assert thrice == [pair for pair in once for _ in range(2)]  # two agree, so nobody asks a third time
    noisy = rank(policy, utility, 9, flip=0.15)
    assert any(a == b[::-1] for a, b in pairwise(noisy))  # some question needed three answers


def test_features_that_tell_nothing_apart():
    utility = np.array([0.3, 0.1, 0.9, 0.5, 0.2])
    policy = make_policy("qsa", Arms(5), features=np.zeros((5, 2)))
    assert len(rank(policy, utility)) >= 5  # insertion sort
    assert policy.ranked == np.argsort(-utility).tolist() and policy.halves == []


@pytest.mark.parametrize("features", [np.zeros((4, 2)), np.full((5, 2), np.nan), np.zeros(5)])
def test_features_are_one_row_per_option(features):
    with pytest.raises(SettingError, match=r"features \(5, d\)"):
        make_policy("qsa", Arms(5), features=features)
