"""How often each pair is asked after a fixed history, against the papers' steps in plain NumPy."""

import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.policies import make_policy
from prefopt.policies.rules import argmax_random, argmin_random
from prefopt.seeding import stream

ALPHA = 0.51
ASKS, DRAWS = 8_000, 80_000

#: Wins of the row over the column. Three arms may be the best, in a circle; arm 3 surely loses to 0, arm 4 to all.
CIRCLE = np.array([
    [0, 6, 2, 16, 15],
    [2, 0, 7, 5, 17],
    [4, 3, 0, 8, 16],
    [1, 4, 6, 0, 9],
    [1, 0, 1, 0, 0],
], dtype=float)  # fmt: skip
#: Hardly anything is known, and some pairs were never compared.
YOUNG = np.array([[0, 1, 0, 2, 0], [0, 0, 1, 0, 3], [2, 0, 0, 1, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 0]], dtype=float)


def told(name, W, ties=0, **settings):
    """The policy after these wins (and so many ties of every pair), how many steps, and who came first how often."""
    policy, rng, firsts = make_policy(name, Arms(len(W)), **settings), stream(1), np.zeros(len(W))
    policy.init(rng)
    for i, j in np.argwhere((W > 0) | (ties > 0) & ~np.eye(len(W), dtype=bool)):
        for _ in range(int(W[i, j])):
            policy.tell(np.array([i, j]), Answer.duel(0), rng)
            firsts[i] += 1
        for _ in range(ties if i < j else 0):
            policy.tell(np.array([i, j]), Answer.tie(), rng)
            firsts[i] += 1
    return policy, int(firsts.sum()) + 1, firsts


def bounds(W, t):
    """u_ij and l_ij, with x / 0 = 1 and one half on the diagonal."""
    N = np.where(W + W.T > 0, W + W.T, np.nan)
    width = np.sqrt(ALPHA * math.log(t) / N)
    u, low = np.nan_to_num(W / N + width, nan=2.0), np.nan_to_num(W / N - width, nan=0.0)
    for matrix in (u, low):
        np.fill_diagonal(matrix, 0.5)
    return u, low


def sample(W, eta, rng):
    """theta_ij ~ Beta(eta W_ij + 1, eta W_ji + 1) for i < j, theta_ji = 1 - theta_ij, (DRAWS, K, K)."""
    theta = np.triu(rng.beta(eta * W + 1, eta * W.T + 1, size=(DRAWS, *W.shape)), 1)
    theta += np.tril(1 - np.swapaxes(theta, 1, 2), -1)
    return theta + 0.5 * np.eye(len(W))


def largest(values, rng):
    """Row-wise argmax, ties uniform."""
    tied = values == values.max(axis=1, keepdims=True)
    return np.where(tied, rng.random(values.shape), -1).argmax(axis=1)


def d_ts(W, t, firsts, rng, eta=1.0, plus=False):
    """Algorithm 1 of Wu & Liu 2016, with the tie-break of D-TS+ if ``plus``."""
    K, (u, low) = len(W), bounds(W, t)
    zeta = (u > 0.5).sum(axis=1)
    C = zeta == zeta.max()
    theta = sample(W, eta, rng)
    s = (theta > 0.5).sum(axis=2)
    score = np.where(C, s, -1).astype(float)
    if plus:
        regret = (s.max(axis=1)[:, None, None] - (s[:, :, None] + s[:, None, :]) / 2) / (K - 1)
        x = np.where(np.eye(K, dtype=bool), 0.25, theta)  # the diagonal is left out below
        cost = regret / (x * np.log(2 * x) + (1 - x) * np.log(2 * (1 - x)))
        r = np.where(np.eye(K, dtype=bool), 0, cost).sum(axis=2)
        score = np.where(score == score.max(axis=1, keepdims=True), -r, -np.inf)
    a = largest(score, rng)
    second = rng.beta(eta * W.T[a] + 1, eta * W[a] + 1)  # theta_ia
    second[np.arange(DRAWS), a] = 0.5
    second[low.T[a] > 0.5] = -1
    return a, largest(second, rng)


def d_ts_plus(*given, **settings):
    """The same with the tie-break."""
    return d_ts(*given, plus=True, **settings)


def rcs(W, t, firsts, rng):
    """Algorithm 1 of Zoghi et al. 2014 (WSDM)."""
    K = len(W)
    beaten = (sample(W, 1.0, rng) > 0.5).sum(axis=2)
    rarest = largest(np.tile(-firsts, (DRAWS, 1)), rng)
    c = np.where(beaten.max(axis=1) == K - 1, beaten.argmax(axis=1), rarest)
    u = bounds(W, t)[0].T[c]  # u_jc
    several = (u == u.max(axis=1, keepdims=True)).sum(axis=1) > 1
    u[several, c[several]] = -1
    return c, largest(u, rng)


def merge_rucb(W, t, firsts, rng, p):
    """Algorithm 1 of Zoghi et al. 2015 (WSDM) within one batch."""
    c = rng.integers(len(W), size=DRAWS)
    u = bounds(W, t)[0].T[c]
    u[np.arange(DRAWS), c] = -1
    return c, largest(u, rng)


def merge_dts(W, t, firsts, rng):
    """Algorithm 1 of Li et al. 2020 within one batch: the rival is the arm that most likely loses to c."""
    c = largest((sample(W, 1.0, rng) > 0.5).sum(axis=2), rng)
    theta = rng.beta(W.T[c] + 1, W[c] + 1)
    theta[np.arange(DRAWS), c] = 2
    return c, largest(-theta, rng)


def frequencies(pairs, K):
    """Counts of (first, second), (K * K,)."""
    first, second = pairs
    return np.bincount(np.asarray(first) * K + np.asarray(second), minlength=K * K)


def likeness(one, two):
    """The p-value that both counts have one law; rare cells are pooled."""
    common = one / one.sum() + two / two.sum() > 40 / min(one.sum(), two.sum())
    table = np.array([np.append(x[common], x[~common].sum()) for x in (one, two)])
    return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


def asked(policy):
    """Counts of what the policy asks."""
    rng = stream(2)
    return frequencies(np.array([policy.ask(rng) for _ in range(ASKS)]).T, policy.domain.size)


CASES = [
    *[
        (name, W, ties, {})
        for name in ("d-ts", "d-ts-plus", "rcs")
        for W, ties in ((CIRCLE, 0), (YOUNG, 0), (CIRCLE, 1))
    ],
    *[(name, CIRCLE, 0, {"eta": 2.5}) for name in ("d-ts", "d-ts-plus")],
    ("merge-rucb", YOUNG, 0, {"p": 5}),
    ("merge-rucb", YOUNG, 1, {"p": 5}),
    ("merge-dts", YOUNG, 0, {}),
    ("merge-dts", YOUNG, 1, {}),
]
PAPERS = {"d-ts": d_ts, "d-ts-plus": d_ts_plus, "rcs": rcs, "merge-rucb": merge_rucb, "merge-dts": merge_dts}


@pytest.mark.parametrize(("name", "W", "ties", "settings"), CASES)
def test_pairs_are_asked_as_often_as_by_the_paper(name, W, ties, settings):
    policy, t, firsts = told(name, W, ties, **settings)
    counted = W + ties / 2 * (1 - np.eye(len(W)))
    np.testing.assert_array_equal(policy.state.W, counted)
    paper = frequencies(PAPERS[name](counted, t, firsts, stream(3), **settings), len(W))
    ours = asked(policy)
    assert (ours > 100).sum() >= 4, "a law of one pair would not be much of a test"
    assert likeness(ours, paper) > 1e-6


def test_the_tie_break_of_d_ts_plus_shows():
    """The comparison tells D-TS+ from D-TS, so it would tell a wrong tie-break."""
    policy, t, firsts = told("d-ts-plus", CIRCLE)
    with_break, without = (frequencies(law(CIRCLE, t, firsts, stream(4)), 5) for law in (d_ts_plus, d_ts))
    assert likeness(asked(policy), without) < 1e-12
    assert likeness(with_break, without) < 1e-12


@pytest.mark.parametrize("values", [[2, 2, 2, 2], [1, 3, 0, 3, 3], [5, 1, 1], [0, 0, 7]])
def test_argmax_random_is_uniform_among_the_largest(values):
    rng, x, n = stream(5), np.array(values, dtype=float), 6000
    counts = np.bincount([argmax_random(x, rng) for _ in range(n)], minlength=len(x))
    top = x == x.max()
    assert counts[~top].sum() == 0
    share = 1 / top.sum()
    assert (np.abs(counts[top] - n * share) <= 5.2 * math.sqrt(n * share * (1 - share))).all()


def test_argmin_random_leaves_an_index_out():
    rng, x, n = stream(6), np.array([4.0, 1.0, 1.0, 3.0, 1.0]), 4000
    counts = np.bincount([argmin_random(x, rng, 2) for _ in range(n)], minlength=5)
    assert counts[[0, 2, 3]].sum() == 0 and abs(counts[1] - n / 2) <= 5.2 * math.sqrt(n / 4)
    assert argmin_random(x[:1], rng, 0) == -1
