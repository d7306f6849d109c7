"""Slow oracles: from a history of (first, second, winner) alone, which slates may an algorithm ask next?

Written from the papers' pseudo-code, without the tables that the rules keep. ``winner`` is the arm that won, -1 if the
second place won a duel of an arm with itself.
Each oracle returns a set of ordered pairs (first, second).
"""

from __future__ import annotations

import math
from itertools import combinations

EPS = 1e-9
History = list[tuple[int, int, int]]
Pairs = set[tuple[int, int]]


def counts(history: History, K: int) -> list[list[int]]:
    """W[i][j], self-duels left out."""
    W = [[0] * K for _ in range(K)]
    for i, j, winner in history:
        if i != j:
            W[winner][j if winner == i else i] += 1
    return W


def upper(W: list[list[int]], t: int, alpha: float) -> list[list[float]]:
    """u_ij with x/0 := 1."""
    K = len(W)
    u = [[0.5] * K for _ in range(K)]
    for i in range(K):
        for j in range(K):
            n = W[i][j] + W[j][i]
            if i != j:
                u[i][j] = W[i][j] / n + math.sqrt(alpha * math.log(t) / n) if n else 2.0
    return u


def lower(W: list[list[int]], t: int, alpha: float) -> list[list[float]]:
    """l_ij with x/0 := 1."""
    K = len(W)
    low = [[0.5] * K for _ in range(K)]
    for i in range(K):
        for j in range(K):
            n = W[i][j] + W[j][i]
            if i != j:
                low[i][j] = W[i][j] / n - math.sqrt(alpha * math.log(t) / n) if n else 0.0
    return low


def rivals(u: list[list[float]], c: int) -> list[int]:
    """argmax_j u_jc, not c if there are several."""
    top = max(row[c] for row in u)
    found = [j for j in range(len(u)) if u[j][c] >= top - EPS]
    return [j for j in found if j != c] if len(found) > 1 else found


def rucb(history: History, K: int, alpha: float = 0.51) -> Pairs:
    """Replay B through the history, then list what step t allows."""
    B = None
    for t in range(1, len(history) + 2):
        u = upper(counts(history[: t - 1], K), t, alpha)
        C = [c for c in range(K) if all(u[c][j] >= 0.5 for j in range(K))]
        if B not in C:
            B = None
        if len(C) == 1:
            B = C[0]
    first = C or list(range(K))
    return {(c, d) for c in first for d in rivals(u, c)}


def rcs(history: History, K: int, alpha: float = 0.51) -> Pairs:
    """Any arm can be the sampled champion; its rival is that of RUCB."""
    u = upper(counts(history, K), len(history) + 1, alpha)
    return {(c, d) for c in range(K) for d in rivals(u, c)}


def d_ts(history: History, K: int, alpha: float = 0.51) -> Pairs:
    """The first arm has the largest upper score; the second may still beat it."""
    W, t = counts(history, K), len(history) + 1
    u, low = upper(W, t, alpha), lower(W, t, alpha)
    zeta = [sum(u[i][j] > 0.5 for j in range(K) if j != i) for i in range(K)]
    return {(a, b) for a in range(K) if zeta[a] == max(zeta) for b in range(K) if low[b][a] <= 0.5 + EPS}


def kl(p: float) -> float:
    """d(p, 1/2)."""
    return sum(x * math.log(2 * x) for x in (p, 1 - p) if x > 0)


def rmed1(history: History, K: int) -> Pairs:
    """Replay the lists; the opponent follows from the counts."""
    pairs = list(combinations(range(K), 2))
    if len(history) < len(pairs):
        return {pairs[len(history)]}
    current, left, following = list(range(K)), set(range(K)), set()
    for t in range(len(pairs) + 1, len(history) + 2):
        if not current:
            current, left, following = sorted(following), set(following), set()
        W = counts(history[: t - 1], K)
        if t == len(history) + 1:
            break
        arm = current.pop(0)
        divergence = divergences(counts(history[:t], K))
        left.discard(arm)
        low = min(divergence)
        following |= {j for j in range(K) if j not in left and divergence[j] - low <= math.log(t) + 0.3 * K**1.01}
    return {(current[0], m) for m in opponents(W, current[0])}


def mean(W: list[list[int]], i: int, j: int) -> float:
    """mu_ij, one half if unseen."""
    n = W[i][j] + W[j][i]
    return W[i][j] / n if n else 0.5


def divergences(W: list[list[int]]) -> list[float]:
    """I_i over the arms that do not lose to i."""
    K = len(W)
    return [
        sum((W[i][j] + W[j][i]) * kl(mean(W, i, j)) for j in range(K) if j != i and mean(W, i, j) <= 0.5)
        for i in range(K)
    ]


def opponents(W: list[list[int]], arm: int) -> set[int]:
    """RMED1's opponents of ``arm``, one for each possible i*."""
    K, divergence, found = len(W), divergences(W), set()
    O = [j for j in range(K) if j != arm and mean(W, arm, j) <= 0.5]  # noqa: E741
    for star in (i for i in range(K) if divergence[i] <= min(divergence) + EPS):
        if star in O or not O:
            found.add(star)
        else:
            low = min(mean(W, arm, j) for j in range(K) if j != arm)
            found |= {j for j in range(K) if j != arm and mean(W, arm, j) <= low + EPS}
    return found


def ws_w(history: History, K: int) -> Pairs:
    """The round form: the incumbent meets arms not played in the round; an iteration's loser is out until the next."""
    C = [0] * K
    for i, j, winner in history:
        C[winner] += 1
        C[j if winner == i else i] -= 1
    played, last = set(), None  # of this round
    level, D, duel = 1, [0] * K, None
    for i, j, winner in history:
        loser = j if winner == i else i
        D[winner] += 1
        D[loser] -= 1
        played |= {i, j}
        duel, last = (i, j), winner
        if D[loser] == -level:
            duel = None
            if len(played) == K:
                played, level, duel = set(), level + 1, (i, j)
    assert C == D
    if duel:
        return {duel, duel[::-1]}
    if last is None:
        return {(i, j) for i in range(K) for j in range(K) if i != j}
    return {(last, j) for j in range(K) if j not in played}


def if2(history: History, K: int, T: int, prune: bool = True) -> Pairs:
    """Passes over the candidates; the fixed order is unknown, so anything not yet met in the pass is legal."""
    if not history:
        return {(i, j) for i in range(K) for j in range(K) if i != j}
    b = history[0][0]
    A = [a for a in range(K) if a != b]
    met: list[int] = []
    n, w = [0] * K, [0] * K
    for t, (_, a, winner) in enumerate(history):
        if not A:
            break
        n[a] += 1
        w[a] += winner == b
        met.append(a)
        if len(met) < len(A):
            continue
        met = []
        c = {x: math.sqrt(4 * math.log(T * K * K) / n[x]) for x in A}
        A = [x for x in A if w[x] / n[x] - c[x] <= 0.5]
        better = [x for x in A if w[x] / n[x] + c[x] < 0.5]
        if better:
            star = better[0] if t + 1 >= len(history) or len(better) == 1 else history[t + 1][0]
            A = [x for x in A if x != star and not (prune and w[x] / n[x] > 0.5)]
            b, n, w = star, [0] * K, [0] * K
    return {(b, a) for a in A if a not in met} or {(b, b)}


def beat_the_mean(history: History, K: int, T: int, self_pairs: bool = False) -> Pairs:
    """Everything from the records of the first arms, over the working set; ``self_pairs``: they may meet themselves."""
    A = set(range(K))
    n, w = [[0] * K for _ in range(K)], [[0] * K for _ in range(K)]
    for i, j, winner in history:
        if i == j and (not self_pairs or len(A) == 1):
            continue
        n[i][j] += 1
        w[i][j] += winner == i
        N = {b: sum(n[b][x] for x in A) for b in A}
        p = {b: sum(w[b][x] for x in A) / N[b] if N[b] else 0.5 for b in A}
        fewest = min(N.values())
        if fewest and min(p.values()) + 2 * math.sqrt(math.log(2 * T * K) / fewest) <= max(p.values()):
            A.discard(min(sorted(A), key=lambda b: p[b]))
    N = {b: sum(n[b][x] for x in A) for b in A}
    if len(A) == 1:
        return {(b, b) for b in A}
    return {(b, x) for b in A if N[b] == min(N.values()) for x in A if x != b or self_pairs}


def savage(history: History, K: int, T: int) -> Pairs:
    """The least compared pairs of arms that never lost surely."""
    alive, W = set(range(K)), [[0] * K for _ in range(K)]
    for i, j, winner in history:
        if i == j:
            continue
        W[winner][j if winner == i else i] += 1
        n = W[i][j] + W[j][i]
        c = math.sqrt(math.log(K * (K - 1) * T * T) / (2 * n))
        alive -= {x for x, y in ((i, j), (j, i)) if W[x][y] / n + c < 0.5}
    pairs = list(combinations(sorted(alive), 2))
    least = min((W[i][j] + W[j][i] for i, j in pairs), default=0)
    return {(i, j) for i, j in pairs if W[i][j] + W[j][i] == least} or {(a, a) for a in alive}


def btw(history: History, K: int) -> Pairs:
    """Rounds of 1, 2, 3, ... wins; whoever lost longest ago is next, and those not seen yet come before."""
    seen: list[int] = []
    queue: list[int] = []  # losers, longest ago first
    host, goal, wins, duel = None, 1, {}, None
    for i, j, winner in history:
        seen += [x for x in (i, j) if x not in seen]
        queue = [x for x in queue if x not in (i, j)]
        duel = (i, j)
        wins[winner] = wins.get(winner, 0) + 1
        if wins[winner] == goal:
            goal, wins, duel, host = goal + 1, {}, None, winner
            queue.append(j if winner == i else i)
    if duel:
        return {duel}
    if host is None:
        return {(i, j) for i in range(K) for j in range(K) if i != j}
    return {(host, x) for x in range(K) if x not in seen} or {(host, queue[0])}
