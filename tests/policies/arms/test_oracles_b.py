"""Every slate is what a slow oracle asks next, or is among what it allows, after the same answers."""

import importlib.util
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.policies import make_policy
from prefopt.policies.arms.bandits import ThompsonBandit
from prefopt.policies.arms.thompson import best_draw, posteriors, set_posterior
from prefopt.seeding import stream

spec = importlib.util.spec_from_file_location("oracles_b", Path(__file__).with_name("oracles_b.py"))
oracles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracles)

T = 300
#: policy, oracle, arms, options per question, settings
CASES = [
    ("sparring-ucb1", oracles.sparring_ucb1, 5, 2, {}),
    ("sparring-ucb1", oracles.sparring_ucb1, 4, 2, {"factor": 0.3}),
    ("multi-sparring", oracles.sparring_ucb1, 4, 3, {}),
    ("multi-sbm", oracles.multi_sbm, 5, 2, {}),
    ("multi-sbm", oracles.multi_sbm, 4, 2, {"factor": 0.3}),
    ("sparring-exp3", oracles.sparring_exp3, 5, 2, {}),
    ("sparring-exp3", oracles.sparring_exp3, 5, 2, {"anytime": True}),
    ("multi-sparring", oracles.sparring_exp3, 4, 4, {"bandit": "exp3"}),
    ("rex3", oracles.rex3, 5, 2, {}),
    ("rex3", oracles.rex3, 5, 2, {"anytime": True}),
    ("versatile-db", oracles.versatile_db, 5, 2, {}),
    ("versatile-db", oracles.versatile_db, 5, 2, {"reduced": True}),
    ("mdb", oracles.mdb, 6, 2, {}),
    ("mdb", oracles.mdb, 6, 2, {"alpha": 0.2, "beta": 1.0}),
    ("multi-rucb", oracles.multi_rucb, 6, 3, {}),
    ("multi-rucb", oracles.multi_rucb, 6, 3, {"alpha": 0.15}),
    ("merge-rucb", oracles.merge_rucb, 11, 2, {}),
    ("merge-rucb", oracles.merge_rucb, 13, 2, {"alpha": 0.2, "p": 3}),
    ("merge-rucb", oracles.merge_rucb, 9, 2, {"alpha": 0.3, "p": 2, "C": 2.0}),
    ("merge-dts", oracles.merge_dts, 12, 2, {"p": 4, "C": 5.0}),
    ("merge-dts", oracles.merge_dts, 10, 2, {}),
    ("ccb", oracles.ccb, 5, 2, {}),
    ("ccb", oracles.ccb, 6, 2, {"alpha": 0.1}),
    ("rmed2", oracles.rmed2, 5, 2, {}),
    ("rmed2f", oracles.rmed2, 5, 2, {"fixed": True}),
    ("mbtw", oracles.mbtw, 5, 2, {}),
]
NAMES = [f"{name}-{'-'.join(map(str, settings.values())) or K}" for name, _, K, _, settings in CASES]


def order(K):
    """Arm 0 is best."""
    return 0.5 + 0.45 / K * (np.arange(K)[None] - np.arange(K)[:, None])


def cycle(K):
    """Everybody beats the next few arms."""
    ahead = (np.arange(K)[None] - np.arange(K)[:, None]) % K
    P = np.where(ahead < K / 2, 0.75, 0.25)
    P[(ahead == 0) | (2 * ahead == K)] = 0.5
    return P


def certain(K):
    """The better arm always wins."""
    return np.where(order(K) > 0.5, 1.0, np.where(order(K) < 0.5, 0.0, 0.5))


def reply(slate, P, person, partial):
    """All pairs; if ``partial`` one in ten is a tie and one in ten was not compared."""
    m = len(slate)
    wins = np.zeros((m, m))
    for j, k in combinations(range(m), 2):
        kind = person.random() if partial else 1.0
        won = float(person.random() < P[slate[j], slate[k]])
        if kind > 0.1:
            wins[j, k], wins[k, j] = (0.5, 0.5) if kind < 0.2 else (won, 1 - won)
    return wins


@pytest.mark.parametrize(("matrix", "partial"), [(order, False), (cycle, True), (certain, False)])
@pytest.mark.parametrize(("name", "oracle", "K", "m", "settings"), CASES, ids=NAMES)
def test_slates_are_those_of_the_oracle(name, oracle, K, m, settings, matrix, partial):
    given = {x: y for x, y in settings.items() if x != "fixed"}
    policy = make_policy(name, Arms(K), slate_size=m, horizon=T, **given)
    rng, own, person, P = stream(7, 0), stream(7, 0), stream(7, 1), matrix(K)
    policy.init(rng)
    paper = oracle(K, own, m=m, horizon=T, **settings)
    expected = next(paper)
    for t in range(T):
        slate = policy.ask(rng).tolist()
        own.bit_generator.state = rng.bit_generator.state
        if isinstance(expected, tuple):
            assert tuple(slate) == expected, f"round {t}"
        else:
            assert len(slate) == len(expected), f"round {t}"
            assert all(a in legal for a, legal in zip(slate, expected, strict=True)), f"round {t}: {slate}, {expected}"
        wins = reply(slate, P, person, partial)
        if len(slate) > 1:
            policy.tell(np.array(slate), Answer.pairs(wins), rng)
        else:  # the loop of a simulation tells this too
            policy.rules.tell(policy.state, np.array(slate), 1, wins, rng)
        expected = paper.send((slate, wins))


THOMPSON = [
    ("sparring-ts", 5, 2, {}),
    ("multi-sparring", 4, 3, {"bandit": "ts"}),
    ("ind-self-sparring", 5, 2, {}),
    ("ind-self-sparring", 4, 4, {"eta": 2.5}),
    ("ind-self-sparring", 4, 3, {"count_self": False}),
]


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(("name", "K", "m", "settings"), THOMPSON)
def test_draws_come_from_the_posterior_of_the_paper(name, K, m, settings, partial):
    """The draws are made in a way of their own, so the posterior that they are made from is compared."""
    policy, rng, person = make_policy(name, Arms(K), slate_size=m, **settings), stream(5, 0), stream(5, 1)
    policy.init(rng)
    shared = name == "ind-self-sparring"
    a, b = np.ones((1 if shared else m, K)), np.ones((1 if shared else m, K))
    for _ in range(T):
        np.testing.assert_allclose(policy.state.C.reshape(*a.shape, 4), constants(a, b), rtol=1e-12)
        slate = policy.ask(rng)
        wins = reply(slate, order(K), person, partial)
        policy.tell(slate, Answer.pairs(wins), rng)
        for j in range(m):
            if shared:
                for k in range(m):
                    if k != j and (slate[k] != slate[j] or settings.get("count_self", True)):
                        a[0, slate[j]] += settings.get("eta", 1.0) * wins[j, k]
                        b[0, slate[j]] += settings.get("eta", 1.0) * wins[k, j]
            elif (x := oracles.reward(wins, j)) is not None:
                a[j, slate[j]] += x
                b[j, slate[j]] += 1 - x
    assert policy.best() == np.argmax(((a - 1).sum(0) + 1) / ((a + b - 2).sum(0) + 2))


def constants(a, b):
    """What a Beta(a, b) draw of two gamma draws needs (Marsaglia and Tsang 2000): a - 1/3 and 1 / sqrt(9 (a - 1/3))."""
    d, e = a - 1 / 3, b - 1 / 3
    return np.stack([d, (9 * d) ** -0.5, e, (9 * e) ** -0.5], axis=-1)


def near(hits, p, n, trials=np.inf):
    """``hits`` of n agree with chances p (estimated from ``trials``) but for an event of chance below 1e-6 each."""
    p = np.asarray(p)
    assert (np.abs(np.asarray(hits) / n - p) < 5.2 * np.sqrt(p * (1 - p) * (1 / n + 1 / trials))).all(), (hits, p)


def law(a, b):
    """How often each arm has the largest of independent Beta draws, in 400,000 trials."""
    draws = stream(16).beta(a, b, size=(400_000, len(a)))
    return np.bincount(draws.argmax(axis=1), minlength=len(a)) / len(draws)


def test_the_largest_of_beta_draws_has_the_law_of_beta_draws():
    rng, n = stream(11), 20000
    a, b = np.array([1.0, 3.0, 9.0, 40.0]), np.array([1.0, 1.5, 6.0, 31.0])
    C = posteriors(4)
    for i in range(4):
        set_posterior(C, i, a[i], b[i])
    near(np.bincount([best_draw(C, rng) for _ in range(n)], minlength=4), law(a, b), n, 400_000)


def test_thompson_bandit_counts_rewards():
    bandit, rng = ThompsonBandit(3), stream(12)
    for t in range(60):
        bandit.learn(t % 3, (0.2, 0.5, 0.6)[t % 3])
    np.testing.assert_allclose(bandit.S, [4, 10, 12])
    np.testing.assert_allclose(bandit.F, [16, 10, 8])
    pulls = np.bincount([bandit.pull(rng) for _ in range(4000)], minlength=3)
    near(pulls, law(bandit.S + 1, bandit.F + 1), 4000, 400_000)


def test_multi_rucb_keeps_its_hypothesis_half_of_the_time():
    policy, rng = make_policy("multi-rucb", Arms(6), slate_size=3), stream(13)
    policy.init(rng)
    policy.state.B[0] = 4
    shown = np.zeros(6)
    for _ in range(3000):
        shown[policy.ask(rng)] += 1
    near(shown[4], 0.5, 3000)
    near(np.delete(shown, 4), (0.5 * 2 + 0.5 * 3) / 5, 3000)


def test_multi_rucb_hypothesis_is_the_last_sole_candidate():
    policy, rng = make_policy("multi-rucb", Arms(3), slate_size=2), stream(14)
    policy.init(rng)
    for _ in range(40):  # arm 2 beats everybody until it is the only candidate
        for slate in ([2, 0], [2, 1]):
            policy.tell(np.array(slate), Answer.duel(0), rng)
    assert policy.state.B[0] == 2
    assert policy.ask(rng).tolist() == [2]
    for _ in range(300):
        policy.tell(np.array([2, 0]), Answer.duel(1), rng)
    assert policy.state.B[0] != 2


def test_mbtw_draws_rivals_in_proportion_to_strength():
    policy, rng = make_policy("mbtw", Arms(4)), stream(15)
    hits, n, r = np.zeros(4), 3000, np.array([2, 5, 1, 3])
    for _ in range(n):
        policy.init(rng)
        host, rival = policy.ask(rng).tolist()
        policy.state.goal[:] = r
        for _ in range(r[host]):
            policy.tell(np.array([host, rival]), Answer.duel(0), rng)
        after = np.array(r)
        after[host] += 1
        after[rival] = max(1, after[rival] - 1)
        np.testing.assert_array_equal(policy.state.goal, after)
        new_host, drawn = policy.ask(rng).tolist()
        assert new_host == host
        if (host, rival) == (1, 3):
            hits[drawn] += 1
    near(hits[[0, 2, 3]], np.array([2, 1, 2]) / 5, hits.sum())
