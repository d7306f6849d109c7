"""SAVAGE looking for the Copeland winner."""

import math
from itertools import combinations

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.policies import make_policy
from prefopt.seeding import stream

#: Arm 1 beats three others, arm 0 and arm 3 two; nobody beats all.
P = np.full((5, 5), 0.5)
for winner, loser in [(1, 0), (1, 2), (1, 4), (3, 1), (0, 2), (0, 3), (2, 3), (2, 4), (3, 4), (4, 0)]:
    P[winner, loser], P[loser, winner] = 0.8, 0.2
P[2, 4], P[4, 2] = 0.52, 0.48  # hard to tell, and of no importance


def undecided(W, sure, T, delta):
    """Pairs whose interval holds one half and of which one member may still have the largest score."""
    K = len(W)
    for i, j in combinations(range(K), 2):
        n = W[i, j] + W[j, i]
        if (i, j) not in sure and n and abs(W[i, j] / n - 0.5) > math.sqrt(math.log(K * (K - 1) * T / delta) / (2 * n)):
            sure[i, j], sure[j, i] = W[i, j] > W[j, i], W[j, i] > W[i, j]
    wins = [sum(sure.get((i, j), False) for j in range(K) if j != i) for i in range(K)]
    most = [sum(sure.get((i, j), True) for j in range(K) if j != i) for i in range(K)]
    alive = {i for i in range(K) if most[i] >= max(wins)}
    if len(alive) == 1:  # who wins is settled, whatever its other duels would say
        return [], alive
    return [p for p in combinations(range(K), 2) if p not in sure and (p[0] in alive or p[1] in alive)], alive


@pytest.mark.parametrize("delta", [None, 0.05])
def test_copeland_winner_is_found_and_played(delta):
    T = 4000
    policy, rng, person = make_policy("savage", Arms(5), horizon=T, copeland=True, delta=delta), stream(1), stream(2)
    policy.init(rng)
    W, sure, explored = np.zeros((5, 5)), {}, 0
    for _ in range(2500):
        i, j = policy.ask(rng).tolist()
        open_pairs, alive = undecided(W, sure, T, delta or 1 / T)
        if open_pairs:
            explored += 1
            least = min(W[p] + W[p[::-1]] for p in open_pairs)
            assert (i, j) in open_pairs and W[i, j] + W[j, i] == least
        else:
            assert i == j and i in alive
        won = person.random() < P[i, j]
        policy.tell(np.array([i, j]), Answer.duel(0 if won else 1), rng)
        if i != j:
            W[i, j] += won
            W[j, i] += not won
    assert i == j == policy.best() == 1
    assert explored < 2000 and (2, 4) not in sure and len(sure) == 18


def test_copeland_version_stops_when_one_arm_is_left():
    """Arm 0 beats three of four others for sure; its duel with the last one, a tie, could go on for ever."""
    P = np.full((5, 5), 0.5)
    for winner, loser in [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 1), (1, 4), (2, 4), (4, 3)]:
        P[winner, loser], P[loser, winner] = 1.0, 0.0
    policy, rng, person = make_policy("savage", Arms(5), horizon=3000, copeland=True), stream(5), stream(6)
    policy.init(rng)
    asked = 0
    while len(set(slate := policy.ask(rng).tolist())) == 2 and asked < 3000:
        policy.tell(np.array(slate), Answer.duel(int(person.random() >= P[slate[0], slate[1]])), rng)
        asked += 1
    assert policy.state.alive.tolist() == [True, False, False, False, False] and slate == [0, 0] and policy.best() == 0
    assert policy.state.sure[0, 4] == 0 and asked < 600


def test_condorcet_version_stops_after_fewer_duels_where_there_is_a_condorcet_winner():
    order = 0.5 + 0.25 * np.sign(np.arange(5)[None] - np.arange(5)[:, None])
    duels = {}
    for copeland in (False, True):
        policy, rng, person = make_policy("savage", Arms(5), horizon=4000, copeland=copeland), stream(3), stream(4)
        policy.init(rng)
        duels[copeland] = 0
        while len(set(slate := policy.ask(rng).tolist())) == 2:
            policy.tell(np.array(slate), Answer.duel(int(person.random() >= order[slate[0], slate[1]])), rng)
            duels[copeland] += 1
        assert policy.best() == 0
    assert duels[False] < duels[True]
