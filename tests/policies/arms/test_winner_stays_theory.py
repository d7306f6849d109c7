"""What Chen & Frazier 2017 prove of Winner Stays: rounds of iterations, gambler's ruin, bounds on regret."""

import math

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.environments import make_environment
from prefopt.policies import make_policy
from prefopt.seeding import stream
from prefopt.simulation import simulate


def duels(name, seed, rounds):
    """The duels (round, pair, winner, loser) of so many rounds of WS-W; a round has N - 1 iterations."""
    P = make_environment(name).P
    N = len(P)
    policy, rng, person = make_policy("ws-w", Arms(N)), stream(seed, 0), stream(seed, 1)
    policy.init(rng)
    C, played = np.zeros(N, dtype=int), []
    for level in range(1, rounds + 1):
        ended = 0
        while ended < N - 1:
            i, j = policy.ask(rng).tolist()
            assert i != j
            won = person.random() < P[i, j]
            policy.tell(np.array([i, j]), Answer.duel(0 if won else 1), rng)
            winner, loser = (i, j) if won else (j, i)
            C[winner] += 1
            C[loser] -= 1
            ended += C[loser] == -level  # the loser's place is lost: the iteration is over
            played.append((level, frozenset((i, j)), winner, loser))
            np.testing.assert_array_equal(policy.state.C, C)
            assert policy.state.C.sum() == 0
        assert sorted(C) == [-level] * (N - 1) + [(N - 1) * level], "C at the end of a round"
        assert C.argmax() == winner
    return N, played


@pytest.mark.parametrize("name", ["total-order-0.7-6", "cyclic-5", "1good-linear-7", "arithmetic-2"])
def test_rounds_are_iterations_in_which_the_winner_stays(name):
    rounds = 12
    N, played = duels(name, 3, rounds)
    before = None
    for level in range(1, rounds + 1):
        of_round = [duel[1:] for duel in played if duel[0] == level]
        pairs = [pair for pair, _, _ in of_round]
        assert len(of_round) >= N - 1 and len(set(pairs)) == N - 1
        assert before in (None, pairs[0]), "a round begins with the last pair of the one before"
        before, out, met = pairs[-1], set(), set()
        for t, (pair, winner, loser) in enumerate(of_round):
            assert not pair & out, "an arm that lost an iteration is back before the round ends"
            if t + 1 == len(of_round) or pairs[t + 1] != pair:
                out.add(loser)
                assert t + 1 == len(of_round) or winner in pairs[t + 1]
            met |= pair
        assert met == set(range(N))


@pytest.mark.parametrize("N", [2, 3])
def test_the_first_iteration_is_one_duel(N):
    for seed in range(20):
        policy, rng = make_policy("ws-w", Arms(N)), stream(seed)
        policy.init(rng)
        slate = policy.ask(rng)
        policy.tell(slate, Answer.duel(seed % 2), rng)
        winner, loser = slate[seed % 2], slate[1 - seed % 2]
        assert policy.state.C[winner] == 1 and policy.state.C[loser] == -1
        assert N == 2 or (winner in (new := policy.ask(rng)) and loser not in new)


def ruin(A, q):
    """Expected length of an iteration whose incumbent is A wins from losing, and the chance that it loses."""
    s = (1 - q) / q
    win = (1 - s**A) / (1 - s ** (A + 1))
    return ((A + 1) * win - A) / (2 * q - 1), 1 - win


#: arms, iterations won at once before (A = N (l - 1) + k), the incumbent's chance to win a duel, E T, P(it loses)
RUINS = [(2, 1, 0.7, 2.034, 0.0466), (4, 2, 0.7, 2.034, 0.0466), (2, 2, 0.3, 6.125, 0.575), (6, 4, 0.3, 6.125, 0.575)]


@pytest.mark.parametrize(("N", "won", "q", "length", "lose"), RUINS)
def test_iterations_are_a_gamblers_ruin(N, won, q, length, lose):
    level, k = won // (N - 1) + 1, won % (N - 1) + 1
    np.testing.assert_allclose(ruin(N * (level - 1) + k, q), (length, lose), rtol=2e-3)
    n, lengths, lost = 1500, [], 0
    for seed in range(n):
        policy, rng = make_policy("ws-w", Arms(N)), stream(seed, 2)
        policy.init(rng)
        first = policy.ask(rng)
        policy.tell(first, Answer.duel(0), rng)

        def duel(wins, policy=policy, rng=rng, incumbent=first[0]):
            slate = policy.ask(rng)
            place = int(np.flatnonzero(slate == incumbent)[0])
            policy.tell(slate, Answer.duel(place if wins else 1 - place), rng)
            return slate[1 - place]

        for _ in range(won - 1):
            duel(True)
        lengths.append(1)
        rival = duel(rng.random() < q)
        while -level not in policy.state.C[[first[0], rival]]:
            assert duel(rng.random() < q) == rival
            lengths[-1] += 1
        lost += policy.state.C[first[0]] == -level
    assert abs(lost / n - lose) < 5.2 * math.sqrt(lose * (1 - lose) / n) + 1e-3
    assert abs(np.mean(lengths) - length) < 5.2 * np.std(lengths) / math.sqrt(n) + 1e-3


def regret(name, environment, kind, **settings):
    """Cumulative regret of 200 runs at 2,500 and at 20,000 rounds, (200, 2)."""
    return simulate(
        name, environment, rounds=20000, repetitions=200, seed=3, regret=kind, checkpoints=(2500,), settings=settings
    ).regret[:, :, 0]  # fmt: skip


#: arms, p, measured by an independent implementation (200 runs)
FLAT = [(10, 0.8, 13.5), (50, 0.8, 107), (50, 0.7, 236)]


@pytest.mark.parametrize(("N", "p", "expected"), FLAT)
def test_weak_regret_is_flat_after_a_finite_time_and_below_the_bounds(N, p, expected):
    found = regret("ws-w", f"total-order-{p}-{N}", "binary-weak")
    assert (found[:, 0] == found[:, 1]).all()  # not one question without the best arm in the last 17,500
    mean, error = found[:, 1].mean(), found[:, 1].std(ddof=1) / math.sqrt(200)
    assert abs(mean - expected) < 5.2 * math.sqrt(2) * error
    assert mean < 2 * p**3 * N * (math.log(N) + 1) / (2 * p - 1) ** 6 + N / (2 * p - 1) ** 2  # Theorem 1
    assert mean < N / (2 * p - 1) ** 2 + p * N**2 / (2 * p - 1) ** 3  # Theorem 2


def test_weak_regret_without_a_total_order_is_below_the_bound():
    """Theorem 2 needs a Condorcet winner only: the arms below it form a cycle, and the least edge is 0.6."""
    N, p = 9, 0.6
    P = make_environment(f"cyclic-{N}").P
    assert P[P > 0.5].min() == p
    found = regret("ws-w", f"cyclic-{N}", "binary-weak")
    assert found[:, 1].mean() < N / (2 * p - 1) ** 2 + p * N**2 / (2 * p - 1) ** 3
    assert (found[:, 0] == found[:, 1]).mean() > 0.95


@pytest.mark.parametrize(("p", "beta"), [(0.8, 1.1), (0.8, 1.5), (0.7, 2.0)])
def test_strong_regret_is_below_the_bound(p, beta):
    """Theorem 3, for 1 < beta < p / (1 - p): logarithmic in the rounds."""
    N = 10
    assert 1 < beta < p / (1 - p)
    found = regret("ws-s", f"total-order-{p}-{N}", "binary-strong", beta=beta)
    for place, rounds in enumerate((2500, 20000)):
        constant = 2 * p**3 * N * (math.log(N) + 1) / (2 * p - 1) ** 6
        growing = N * math.log(rounds * (beta - 1), beta) / (2 * p - 1)
        assert found[:, place].mean() < constant + growing
