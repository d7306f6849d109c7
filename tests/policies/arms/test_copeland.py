"""SCB and ECW-RMED against code that reads like the papers, and their pieces against brute force."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.policies.arms.ecw_rmed import confident, demand
from prefopt.policies.arms.scb import eliminate
from prefopt.policies.rules import kl_bernoulli
from prefopt.seeding import stream

K = 5
ORDER = 0.5 + 0.12 * (np.arange(K)[None] - np.arange(K)[:, None])
CYCLE = np.where((np.arange(K)[None] - np.arange(K)[:, None]) % K < K / 2, 0.8, 0.2)
np.fill_diagonal(CYCLE, 0.5)
SURE = np.where(ORDER > 0.5, 1.0, np.where(ORDER < 0.5, 0.0, 0.5))
MIXED = ORDER.copy()  # no Condorcet winner: arms 0 and 1 are beaten once each
MIXED[0, 3], MIXED[3, 0] = 0.2, 0.8


def scb(rng, T=4):
    """Algorithms 2 to 4 as they stand: yields pairs, is sent 1 if the first arm won."""

    def enough(n, delta):
        return math.log(4 * n / delta) + 2 * math.log(max(1.0, math.log(n)))

    def d(p, q):
        return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)

    while True:
        delta, used = math.log(T) / T, 0
        wins, known = {}, {}
        live, reward, n, pulls, winner = list(range(K)), [0] * K, 0, 0, None
        while used < T and winner is None:
            for i in live:
                j = int(rng.random() * (K - 1))
                j += j >= i
                while (i, j) not in known and used < T:
                    won = yield i, j
                    used += 1
                    wins[i, j], wins[j, i] = wins.get((i, j), 0) + won, wins.get((j, i), 0) + 1 - won
                    m = wins[i, j] + wins[j, i]
                    if m * d(wins[i, j] / m, 0.5) > enough(m, delta / K**2):
                        known[i, j] = int(wins[i, j] > wins[j, i])
                        known[j, i] = 1 - known[i, j]
                if used == T:
                    break
                reward[i] += known[i, j]
                pulls += 1
            else:
                n += 1
                bound = enough(pulls, delta / K)
                leader = max(live, key=lambda i: reward[i])
                grid = np.linspace(0, reward[leader] / n, 20001)[1:-1]
                inside = [q for q in grid if n * d(reward[leader] / n, q) <= bound]
                low = inside[0] if inside else 0.0
                out = [i for i in live if reward[i] / n < low and n * d(reward[i] / n, low) > bound]
                live = [i for i in live if i not in out]
                if len(live) == 1 or all((i, j) in known for i in live for j in range(K) if j != i):
                    winner = max(live, key=lambda i: sum(known.get((i, j), 0) for j in range(K)))
        while used < T:
            yield winner, winner
            used += 1
        T *= T


@pytest.mark.parametrize("matrix", [ORDER, CYCLE, SURE, MIXED])
def test_scb_plays_what_the_paper_says(matrix):
    policy, rng, own, person = make_policy("scb", Arms(K)), stream(1, 0), stream(1, 0), stream(1, 1)
    policy.init(rng)
    paper = scb(own)
    expected = next(paper)
    for t in range(8000):
        i, j = policy.ask(rng).tolist()
        assert (i, j) == expected, f"duel {t}"
        won = person.random() < matrix[i, j]
        policy.tell(np.array([i, j]), Answer.duel(0 if won else 1), rng)
        expected = paper.send(int(won))
    assert i == j == policy.best() in winners(matrix)  # the round has come to its end


def test_scb_rounds_square_and_begin_afresh():
    policy, rng = make_policy("scb", Arms(2), first=5), stream(2)
    policy.init(rng)
    for _ in range(5 + 25 + 1):
        policy.tell(policy.ask(rng), Answer.duel(0), rng)
    assert policy.state.T.tolist() == [625.0, 1.0]
    assert policy.state.W.sum() == 1
    with pytest.raises(SettingError, match="first > 2"):
        make_policy("scb", Arms(2), first=2)


def test_scb_eliminates_arms_below_the_interval_of_the_leader():
    """Algorithm 4: all q with n d(mean, q) <= ln(4 t K / delta) + 2 ln ln t, here by a fine grid."""
    size, seen = 8, set()
    for n in (20, 60, 150, 300, 600, 1500, 4000):
        policy, mean = make_policy("scb", Arms(size), first=1000), np.linspace(0.55, 0.9, size)
        policy.init(stream(4))
        state = policy.state
        state.n[:] = n, n * size
        state.rewards[:] = np.round(mean * n)
        eliminate(state)
        delta, t = math.log(1000) / 1000, n * size
        bound = math.log(4 * t * size / delta) + 2 * math.log(math.log(t))
        q = np.linspace(1e-6, 1 - 1e-6, 8001)
        ends = [q[[n * kl_bernoulli(x / n, y) <= bound for y in q]][[0, -1]] for x in state.rewards]
        low = max(end[0] for end in ends)
        for arm, end in enumerate(ends):
            if abs(end[1] - low) > 1e-3:  # beyond the grid
                assert state.live[arm] == (end[1] >= low)
        seen.add(int(state.live.sum()))
    assert len(seen) > 4


def played(matrix, rounds, seed=3):
    """An ECW-RMED policy after some rounds, with every slate, and the history."""
    policy, rng, person = make_policy("ecw-rmed", Arms(len(matrix))), stream(seed, 0), stream(seed, 1)
    policy.init(rng)
    history = []
    for _ in range(rounds):
        i, j = policy.ask(rng).tolist()
        yield policy, history, (i, j)
        won = person.random() < matrix[i, j]
        policy.tell(np.array([i, j]), Answer.duel(0 if won else 1), rng)
        history.append((i, j) if won else (j, i))


def counts(history, size):
    W = np.zeros((size, size))
    for i, j in history:
        if i != j:
            W[i, j] += 1
    return W


def information(W):
    """N and d(mu, 1/2)."""
    N = W + W.T
    d = np.zeros_like(W)
    for i, j in zip(*np.nonzero(N), strict=True):
        d[i, j] = kl_bernoulli(W[i, j] / N[i, j], 0.5)
    return N, d


def winners(W):
    """The arms with the fewest losses."""
    losses = (W > W.T).sum(axis=0)
    return np.flatnonzero(losses == losses.min()).tolist()


def refuted(W, i1, level):
    """Brute force over all tournaments: every one in which somebody has fewer losses than i1 costs enough."""
    size = len(W)
    N, d = information(W)
    pairs = list(combinations(range(size), 2))
    for flips in product((False, True), repeat=len(pairs)):
        beats = W > W.T
        for (i, j), flip in zip(pairs, flips, strict=True):
            if flip:
                beats[i, j], beats[j, i] = beats[j, i], beats[i, j]
        losses = beats.sum(axis=0)
        cost = sum(N[p] * d[p] for p, flip in zip(pairs, flips, strict=True) if flip)
        if losses.min() < losses[i1] and cost < level:
            return False
    return True


def needed(W, i1):
    """The least regret of comparisons that refute all rivals of i1, as a linear program over all subsets."""
    size = len(W)
    beats = W > W.T
    d, L = information(W)[1], beats.sum(axis=0)
    pairs = list(combinations(range(size), 2))
    at = {p: x for x, (i, j) in enumerate(pairs) for p in ((i, j), (j, i))}
    rows = [[(i1, j)] for j in range(size) if beats[i1, j]]
    for i2 in range(size):
        above = [j for j in range(size) if beats[j, i2]]
        rows += [[(j, i2) for j in some] for some in combinations(above, L[i2] - L[i1] + 1) if i2 != i1]
    A = np.zeros((len(rows), len(pairs)))
    for row, members in enumerate(rows):
        for p in members:
            A[row, at[p]] = -d[p]
    cost = np.array([L[i] + L[j] - 2 * L.min() for i, j in pairs])
    return pairs, A, cost, linprog(cost, A_ub=A, b_ub=-np.ones(len(rows)), bounds=(0, None)).fun


FOUR = [CYCLE[:4, :4], MIXED[:4, :4], ORDER[:4, :4]]


@pytest.mark.parametrize("matrix", FOUR)
def test_ecw_rmed_is_sure_when_brute_force_is(matrix):
    seen = set()
    for policy, history, _ in played(matrix, 700):
        W = counts(history, 4)
        if len(history) % 10 == 9 and not (W == W.T)[np.triu_indices(4, 1)].any():
            for i1 in winners(W):
                sure = confident(policy.state, i1)
                assert sure == refuted(W, i1, math.log(len(history) + 1))
                seen.add(sure)
    assert seen == {True, False}


@pytest.mark.parametrize("matrix", [MIXED, CYCLE, ORDER])
def test_ecw_rmed_asks_for_the_optimum_of_a_linear_program(matrix):
    for policy, history, _ in played(matrix, 500):
        W = counts(history, K)
        if len(history) % 25 == 24 and not (W == W.T)[np.triu_indices(K, 1)].any():
            for i1 in winners(W):
                regret = demand(policy.state, i1)
                pairs, A, cost, least = needed(W, i1)
                q = np.array([policy.state.scratch_q[p] for p in pairs])
                assert regret == pytest.approx(least, rel=1e-9) == cost @ q
                assert (A @ q <= -1 + 1e-9).all() and (q >= 0).all()


@pytest.mark.parametrize("matrix", [ORDER, MIXED, CYCLE])
def test_ecw_rmed_lists(matrix):
    """Pairs compared too rarely or too close to one half come first; else the lists of Algorithm 1 are replayed."""
    pairs = list(combinations(range(K), 2))
    current, remaining, following, listed, forced_late, alone = [*pairs], {*pairs}, set(), None, 0, 0
    for policy, history, slate in played(matrix, 1500):
        t, W = len(history) + 1, counts(history, K)
        if listed:  # the lists after the duel before this one
            remaining.discard(listed)
            following |= wanted(policy.state, W, math.log(t - 1)) - remaining
        N = W + W.T
        far = 0.01 / max(1.0, math.log(max(1.0, math.log(t))))
        rare = [p for p in pairs if N[p] == 0 or N[p] < 3 * math.sqrt(math.log(t)) or abs(W[p] / N[p] - 0.5) < far]
        listed = None
        if rare:
            assert slate in rare and N[slate] == min(N[p] for p in rare)
            forced_late += t > 50
            continue
        if not current:
            current, remaining, following = sorted(following), set(following), set()
            alone += len(current) == 1
        listed = current.pop(0)
        assert slate == listed
    assert forced_late > 0 and alone > 50  # sure of a winner most of the time
    assert history[-1][0] in winners(matrix)


def wanted(state, W, level):
    """L_NC: the winner's self-duel alone if it is sure, else with what the cheapest winner needs."""
    for i1 in winners(W):
        if confident(at_time(state), i1):
            return {(i1, i1)}
    star = min(winners(W), key=lambda i1: demand(state, i1))
    demand(state, star)
    N, q = W + W.T, state.scratch_q
    return {(star, star)} | {p for p in combinations(range(K), 2) if q[p] > N[p] / level}


def at_time(state):
    """The state as it was when the last duel was counted."""
    return state._replace(t=state.t - 1)
