"""Every slate of a policy is among those that a slow oracle allows after the same history."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.policies import make_policy
from prefopt.seeding import stream

spec = importlib.util.spec_from_file_location("oracles_a", Path(__file__).with_name("oracles_a.py"))
oracles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracles)

K, T = 5, 250
ORDER = np.arange(K)
P = 0.5 + 0.09 * (ORDER[None] - ORDER[:, None])  # arm 0 is best
CYCLE = np.where((ORDER[None] - ORDER[:, None]) % K < K / 2, 0.7, 0.3)
np.fill_diagonal(CYCLE, 0.5)

WITH_HORIZON = {"if2": oracles.if2, "beat-the-mean": oracles.beat_the_mean, "savage": oracles.savage}
WITHOUT = {
    "rucb": oracles.rucb,
    "rcs": oracles.rcs,
    "d-ts": oracles.d_ts,
    "d-ts-plus": oracles.d_ts,
    "rmed1": oracles.rmed1,
    "ws-w": oracles.ws_w,
    "btw": oracles.btw,
}


def play(name, matrix, seed, rounds=T, **settings):
    """Yield (history, slate, policy) before every answer."""
    policy, rng, person = make_policy(name, Arms(K), horizon=T, **settings), stream(seed, 0), stream(seed, 1)
    policy.init(rng)
    history = []
    for _ in range(rounds):
        i, j = (int(x) for x in policy.ask(rng))
        yield history, (i, j), policy
        winner = 0 if person.random() < matrix[i, j] else 1
        policy.tell(np.array([i, j]), Answer.duel(winner), rng)
        history.append((i, j, -1 if i == j and winner == 1 else (i, j)[winner]))


@pytest.mark.parametrize("matrix", [P, CYCLE, np.where(P > 0.5, 1.0, np.where(P < 0.5, 0.0, 0.5))])
@pytest.mark.parametrize("name", [*WITHOUT, *WITH_HORIZON])
def test_slates_are_legal(name, matrix):
    rounds = 150 if name in ("rucb", "rmed1") else T  # these oracles replay everything before every question
    for history, slate, _ in play(name, matrix, 3, rounds):
        legal = WITHOUT[name](history, K) if name in WITHOUT else WITH_HORIZON[name](history, K, T)
        assert slate in legal, f"after {len(history)} duels {slate} is not in {legal}"


@pytest.mark.parametrize("matrix", [P, CYCLE])
def test_beat_the_mean_with_arms_against_themselves(matrix):
    met = 0
    for history, slate, policy in play("beat-the-mean", matrix, 9, 600, self_pairs=True):
        assert slate in oracles.beat_the_mean(history, K, T, self_pairs=True)
        met += slate[0] == slate[1] and policy.state.size[0] > 1
    assert met > 60


def test_if1_keeps_candidates_that_if2_prunes():
    for history, slate, _ in play("if1", P, 4, confidence=4.0):
        assert slate in oracles.if2(history, K, T, prune=False)


def test_ws_s_plays_whole_rounds_then_the_winner_for_floor_beta_to_the_l_steps():
    duels, level, owed = [], 1, 0
    for history, (i, j), policy in play("ws-s", P, 5, beta=1.5):
        if history and history[-1][0] != history[-1][1]:
            duels.append(history[-1])
            C = policy.state.C
            if C.max() == (K - 1) * level and sorted(C)[:-1] == [-level] * (K - 1):
                owed, level = math.floor(1.5**level), level + 1
        if owed:
            assert i == j == int(np.argmax(policy.state.C))
            owed -= 1
        else:
            assert (i, j) in oracles.ws_w(duels, K)
    assert level > 5


def test_the_chance_of_a_side_follows_the_beta_law():
    from scipy.stats import beta

    for _, _, policy in play("d-ts", P, 6):
        state = policy.state
    exact = beta.sf(0.5, state.W + 1, state.W.T + 1)
    np.testing.assert_allclose(state.P, exact, atol=1e-12)


@pytest.mark.parametrize("name", ["merge-rucb", "ccb", "rmed2", "rmed2f", "mbtw", *WITHOUT, *WITH_HORIZON])
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_ties_and_degenerate_sizes(name, size):
    """All arms tied, answers tie at random, some pairs not compared: no crash, valid slates."""
    policy, rng = make_policy(name, Arms(size), horizon=300), stream(8, size)
    policy.init(rng)
    for _ in range(300):
        slate = policy.ask(rng)
        assert ((slate >= 0) & (slate < size)).all() and len(slate) == 2
        u = rng.random()
        nothing = Answer.pairs(np.zeros((2, 2)))
        policy.tell(slate, Answer.tie() if u < 0.2 else nothing if u < 0.3 else Answer.duel(int(u < 0.65)), rng)
    assert 0 <= policy.best() < size
    assert all(np.isfinite(x).all() for n, x in policy.state._asdict().items() if n in ("W", "mu", "div", "P", "C"))
