"""Slow oracles of the sparring and multi-dueling family, of the merging ones, CCB, RMED2, RMED2F and MBTW.

Each is a generator written from the papers' pseudo-code, on lists and dictionaries, without the tables that the
rules keep. It yields what may be asked next: a tuple is exactly the next slate (the oracle draws from a generator
in the same state as the policy's), a list holds a set of legal arms for each slot (any of those that are tied: how
ties are broken is tested by itself, and the generators are brought in line afterwards). It is sent (slate, wins).
"""

import math
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

EPS = 1e-9


def largest(values):
    """The keys of the largest value."""
    top = max(values.values())
    return {key for key, value in values.items() if value == top}


def sample(p, rng):
    """An index with probabilities p."""
    return int(np.searchsorted(np.cumsum(p), rng.random(), side="right"))


def reward(wins, j):
    """Mean win of slot j over the slots it was compared with, None if there are none."""
    got = [wins[j, k] for k in range(len(wins)) if k != j and wins[j, k] + wins[k, j] > 0]
    return sum(got) / len(got) if got else None


def sparring_ucb1(K, rng, m=2, factor=2.0, **_):
    seen = [[[] for _ in range(K)] for _ in range(m)]
    while True:
        slate, wins = yield [ucb1(side, factor) for side in seen]
        for j in range(m):
            x = reward(wins, j)
            if x is not None:
                seen[j][slate[j]].append(x)


def ucb1(rewards, factor):
    """Legal pulls given the rewards of every arm."""
    fresh = {a for a, x in enumerate(rewards) if not x}
    if fresh:
        return fresh
    n = sum(map(len, rewards))
    index = [np.mean(x) + math.sqrt(factor * math.log(n) / len(x)) for x in rewards]
    return {a for a, value in enumerate(index) if value >= max(index) - EPS}


def multi_sbm(K, rng, factor=2.5, **_):
    seen = [[[] for _ in range(K)] for _ in range(K)]
    left = int(rng.random() * K)
    while True:
        slate, wins = yield [{left}, ucb1(seen[left], factor)]
        x = reward(wins, 1)
        if x is not None:
            seen[left][slate[1]].append(x)
            left = slate[1]


def sparring_exp3(K, rng, m=2, horizon=None, anytime=False, **_):
    w, t = np.ones((m, K)), [0] * m

    def gamma(j):
        if anytime:
            return min(1.0, math.sqrt(K * math.log(K) / (t[j] + 1)))
        return min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1) * horizon)))

    while True:
        p = [(1 - gamma(j)) * w[j] / w[j].sum() + gamma(j) / K for j in range(m)]
        slate = tuple(sample(p[j], rng) for j in range(m))
        _, wins = yield slate
        for j in range(m):
            x = reward(wins, j)
            if x is not None:
                w[j, slate[j]] *= math.exp(gamma(j) * x / (K * p[j][slate[j]]))
                t[j] += 1


def rex3(K, rng, horizon=None, anytime=False, **_):
    w, t = np.ones(K), 1
    while True:
        gamma = min(0.5, math.sqrt(K * math.log(K) / (t if anytime else horizon)))
        p = (1 - gamma) * w / w.sum() + gamma / K
        a, b = sample(p, rng), sample(p, rng)
        _, wins = yield a, b
        if wins.sum() > 0:
            psi = wins[0, 1] - wins[1, 0]
            up, down = math.exp(gamma * psi / (2 * K * p[a])), math.exp(-gamma * psi / (2 * K * p[b]))
            w[a] *= up
            w[b] *= down
            t += 1


def versatile_db(K, rng, reduced=False, **_):
    L, t = np.zeros((2, K)), 1
    while True:
        eta = (4 if reduced else 2) / math.sqrt(t)
        p = [tsallis(side, eta) for side in L]
        slate = tuple(sample(q, rng) for q in p)
        _, wins = yield slate
        if wins.sum() > 0:
            for j in range(2):
                base = 0.5 * (p[j] >= eta**2) if reduced else np.zeros(K)
                hit = np.arange(K) == slate[j]
                L[j] += hit * (1 - reward(wins, j) - base) / p[j] + base
            t += 1


def tsallis(L, eta):
    """The p of Tsallis-INF by bracketing."""
    x = brentq(
        lambda x: (4 / (eta * (L - x)) ** 2).sum() - 1,
        L.min() - 2 * math.sqrt(len(L)) / eta - 1e-9,
        L.min() - 2 / eta + 1e-9,
        xtol=1e-14,
        rtol=1e-14,
    )
    p = 4 / (eta * (L - x)) ** 2
    return p / p.sum()


def bounds(W, scale):
    """u_ij = mu_ij + sqrt(scale / N_ij), 2 if unseen, 1/2 on the diagonal; l_ij = 1 - u_ji."""
    N = W + W.T
    with np.errstate(all="ignore"):
        u = np.where(N > 0, W / N + np.sqrt(scale / N), 2.0)
    np.fill_diagonal(u, 0.5)
    return u


def count_pairs(W, slate, wins):
    for j, k in combinations(range(len(slate)), 2):
        if slate[j] != slate[k]:
            W[slate[j], slate[k]] += wins[j, k]
            W[slate[k], slate[j]] += wins[k, j]


def candidates(W, scale):
    """Arms that may beat all others."""
    return [i for i, row in enumerate(bounds(W, scale)) if (row >= 0.5).all()]


def mdb(K, rng, alpha=0.5, beta=1.5, **_):
    W, t = np.zeros((K, K)), 1
    while True:
        E, F = (candidates(W, x * alpha * math.log(t)) for x in (1, beta))
        slate, wins = yield tuple(E if len(E) == 1 else F or range(K))
        count_pairs(W, slate, wins)
        t += 1


def multi_rucb(K, rng, m=2, alpha=0.51, **_):
    W, t = np.zeros((K, K)), 1
    while True:
        C = candidates(W, alpha * math.log(t))
        if 0 < len(C) <= m:
            slate, wins = yield tuple(C)
        else:
            slate, wins = yield [set(C or range(K))] * m
            assert len(set(slate)) == m
        count_pairs(W, slate, wins)
        t += 1


def merging(K, rng, choose, alpha, p, C):
    """MergeRUCB and MergeDTS: lists of lists."""
    arms, n = rng.permutation(K).tolist(), -(-K // p)
    batches = [arms[b::n] for b in range(n)]
    W, t, S = np.zeros((K, K)), 0, 1
    while True:
        t += 1
        u = bounds(W, alpha * math.log(t + C))
        while True:
            m = t % len(batches)
            batch = batches[m]
            stay = [i for i in batch if not any(u[i, j] < 0.5 for j in batch)]
            batch[:] = stay or [batch[int(rng.random() * len(batch))]]
            if len(batch) > 1 or len(batches) == 1:
                break
            batches[(m + 1) % len(batches)] += batch
            remove(batches, batch)
        slate, wins = yield choose(batch, u, W, rng)
        assert (slate[0] == slate[1]) == (len(batch) == 1)
        if wins.sum() == 0:
            t -= 1
            continue
        count_pairs(W, slate, wins)
        if len(batches) > 1 and sum(map(len, batches)) <= K / 2**S + 1:
            pair_up(batches, p)
            if any(len(b) <= p / 2 for b in batches):
                pair_up(batches, p)
            S += 1


def remove(batches, batch):
    """The last batch takes the place of ``batch`` (whose turn comes when is not the papers' business)."""
    place = next(i for i, b in enumerate(batches) if b is batch)
    batches[place] = batches[-1]
    batches.pop()


def pair_up(batches, p):
    done = []
    while True:
        todo = [b for b in batches if not any(b is d for d in done)]
        if len(todo) < 2:
            return
        large = max(todo, key=len)
        small = min((b for b in todo if b is not large), key=len)
        done.append(large)
        if len(large) + len(small) <= 1.5 * p:
            large += small
            remove(batches, small)


def merge_rucb(K, rng, alpha=0.51, p=4, C=0.0, **_):
    def choose(batch, u, W, rng):
        c = batch[int(rng.random() * len(batch))]
        return [{c}, largest({j: u[j, c] for j in batch if j != c} or {c: 0})]

    return merging(K, rng, choose, alpha, p, C)


def merge_dts(K, rng, alpha=0.8**6, p=16, C=4e5, **_):
    def draw(W, i, j, rng):
        x = rng.standard_gamma(W[i, j] + 1)
        return x / (x + rng.standard_gamma(W[j, i] + 1))

    def choose(batch, u, W, rng):
        beaten = dict.fromkeys(batch, 0)
        for i, j in combinations(batch, 2):
            beaten[i if draw(W, i, j, rng) > 0.5 else j] += 1
        return [largest(beaten), set(batch)]  # how the rival is drawn is tested by itself

    return merging(K, rng, choose, alpha, p, C)


def ccb(K, rng, alpha=0.51, **_):
    W, t = np.zeros((K, K)), 1
    B, beaten, losses = set(range(K)), {i: set() for i in range(K)}, K  # B_t, B_t^i, L_C

    def reset():
        B.update(range(K))
        for some in beaten.values():
            some.clear()
        return K

    while True:
        scale = alpha * math.log(t)
        u = bounds(W, scale)
        low = 1 - u.T
        upper = [sum(u[i, k] >= 0.5 for k in range(K) if k != i) for i in range(K)]
        lower = [sum(u[k, i] < 0.5 for k in range(K) if k != i) for i in range(K)]
        if t > 1:
            if any(u[j, i] < 0.5 for i in range(K) for j in beaten[i]):  # A
                losses = reset()
            for i in sorted(B):  # B
                if upper[i] < max(lower):
                    B.discard(i)
                    if len(beaten[i]) != losses + 1:
                        beaten[i] = {k for k in range(K) if u[i, k] < 0.5}
            if not B:
                losses = reset()
            for i in range(K):  # C
                if upper[i] == max(upper) == lower[i]:
                    B.add(i)
                    beaten[i].clear()
                    losses = K - 1 - upper[i]
                    for j in range(K):
                        if j != i and len(beaten[j]) < losses + 1:
                            beaten[j].clear()
                        while len(beaten[j]) > losses + 1:
                            beaten[j].remove(sorted(beaten[j])[int(rng.random() * len(beaten[j]))])
        slate, wins = yield ccb_slate(u, low, upper, B, beaten, rng)
        if wins.sum() > 0:
            count_pairs(W, slate, wins)
            t += 1


def ccb_slate(u, low, upper, B, beaten, rng):
    K = len(u)
    if rng.random() < 0.25:
        pair, ties = None, 0
        for i in range(K):
            for j in sorted(beaten[i]):
                if u[i, j] >= 0.5 and u[j, i] >= 0.5:
                    ties += 1
                    if rng.random() * ties < 1:
                        pair = i, j
        if pair:
            return pair
    C = [i for i in range(K) if upper[i] == max(upper)]
    if B & set(C) and rng.random() < 2 / 3:
        C = sorted(B & set(C))
    c = C[int(rng.random() * len(C))]
    d = ccb_rival(u, c, sorted(beaten[c]), rng) if rng.random() < 0.5 else None
    return c, ccb_rival(u, c, range(K), rng) if d is None else d


def ccb_rival(u, c, J, rng):
    """argmax of u_jc over J with l_jc <= 1/2, not c where tied."""
    d, ties = None, 1
    for j in J:
        if u[c, j] < 0.5:  # l_jc > 1/2
            continue
        if d is None or u[j, c] > u[d, c] or (u[j, c] == u[d, c] and d == c):
            d, ties = j, 1
        elif u[j, c] == u[d, c] and j != c:
            ties += 1
            if rng.random() * ties < 1:
                d = j
    return d


def kl(p):
    """d(p, 1/2)."""
    return sum(x * math.log(2 * x) for x in (p, 1 - p) if x > 0)


def rmed2(K, rng, horizon=None, fixed=False, alpha=3.0, **_):
    """Algorithms 1 to 3; ``fixed`` is RMED2F, whose exploration and rivals follow ln ln T."""
    W, t = np.zeros((K, K)), 1
    pairs = list(combinations(range(K), 2))
    first = math.ceil(alpha * math.log(math.log(horizon))) if fixed else 1
    scale = max(1.0, math.log(math.log(horizon))) if fixed else None
    frozen = None
    current, left, following = list(range(K)), set(range(K)), set()
    while True:
        N = W + W.T
        few = first if fixed else max(1.0, alpha * math.log(math.log(t)) if t > 2 else 0.0)
        rare = [p for p in pairs if N[p] < few]
        mu = np.where(N > 0, W / np.maximum(N, 1), 0.5)
        if rare and not (fixed and frozen):
            slate, wins = yield [{p[0] for p in rare}, {p[1] for p in rare}]
            assert tuple(slate) in rare
        else:
            frozen = frozen or (fixed and [{b} for b in cheapest_all(mu, N)])
            arm = current[0]
            log = scale or max(1.0, math.log(max(1.0, math.log(t))))
            slate, wins = yield [{arm}, rmed2_rivals(mu, N, arm, log, frozen)]
        if wins.sum() == 0:
            continue
        count_pairs(W, slate, wins)
        if not rare or (fixed and frozen):
            current.pop(0)
            left.discard(arm)
            I = divergences(W)  # noqa: E741
            following |= {j for j in range(K) if j not in left and I[j] - min(I) <= math.log(t) + 0.3 * K**1.01}
            if not current:
                current, left, following = sorted(following), set(following), set()
        t += 1


def divergences(W):
    N = W + W.T
    K = len(W)
    return [
        sum(N[i, j] * kl(W[i, j] / N[i, j]) for j in range(K) if N[i, j] and 2 * W[i, j] <= N[i, j]) for i in range(K)
    ]


def stars(mu, N):
    I = divergences(mu * N)  # noqa: E741
    return [i for i in range(len(I)) if I[i] <= min(I) + EPS]


def cheapest(mu, i, star):
    """b_i for this i*, with the authors' floor of the numerator."""
    worse = [j for j in range(len(mu)) if mu[i, j] < 0.5]
    return min(worse, key=lambda j: max(0.01, mu[star, i] + mu[star, j] - 1) / kl(mu[i, j]), default=star)


def cheapest_all(mu, N):
    return [cheapest(mu, i, stars(mu, N)[0]) for i in range(len(mu))]


def rmed2_rivals(mu, N, arm, log, frozen):
    """Legal opponents of ``arm``, one or more for each possible i*."""
    K, found = len(mu), set()
    O = [j for j in range(K) if j != arm and mu[arm, j] <= 0.5]  # noqa: E741
    for star in stars(mu, N):
        b = next(iter(frozen[arm])) if frozen else cheapest(mu, arm, star)
        if b in O and N[arm, star] >= N[arm, b] / log:
            found.add(b)
        elif star in O or not O:
            found.add(star)
        else:
            low = min(mu[arm, j] for j in range(K) if j != arm)
            found |= {j for j in O if mu[arm, j] <= low + EPS}
    return found


def mbtw(K, rng, **_):
    """Strength r_i; first to r_host wins; the winner hosts a rival drawn in proportion to strength."""
    r = [1] * K
    host, rivals = None, set(range(K))
    rng.permutation(K)  # who comes first, and below which rival is drawn, is not looked at: only the coins are
    while True:
        slate, wins = yield [{host} if host is not None else set(range(K)), rivals]
        host, rival = slate
        assert host != rival
        score = {host: 0, rival: 0}
        while max(score.values()) < r[host]:
            if wins.sum() > 0:  # a tie is a coin
                first = rng.random() < 0.5 if wins[0, 1] == wins[1, 0] else wins[0, 1] > wins[1, 0]
                score[slate[0] if first else slate[1]] += 1
            if max(score.values()) < r[host]:
                _, wins = yield host, rival
        winner = max(score, key=score.get)
        loser = host + rival - winner
        r[winner] += 1
        r[loser] = max(1, r[loser] - 1)
        host, rivals = winner, set(range(K)) - {winner}
        rng.random()
