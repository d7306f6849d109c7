"""What the upper-confidence rules share: win counts, kept together with what their bounds need.

u_ij = mu_ij + sqrt(alpha ln t / N_ij), and 2 for a pair never compared (each of "x/0" is 1); u_ii = 1/2.
The lower bound is l_ij = 1 - u_ji, so every test against one half is u_ij < 1/2: "i surely loses to j". It
is the same as V_ij > alpha ln t with V_ij = N_ij (1/2 - mu_ij)^2 for mu_ij < 1/2, else 0, and V changes
only when its pair is compared. So a step costs O(K), although ln t moves all bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prefopt.policies.base import rule

FloatArray = NDArray[np.float64]


def tables(K: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """W (wins), mu (row c: mean of each j against c), r (1/sqrt N), V (see above), M (row maxima of V); empty."""
    mu = np.full((K, K), 2.0)
    np.fill_diagonal(mu, 0.5)
    zeros = np.zeros((K, K))
    return zeros, mu, zeros.copy(), zeros.copy(), np.zeros(K)


@rule
def answered(wins: FloatArray) -> bool:
    """Whether the two options of the slate were compared at all."""
    return bool(wins[0, 1] + wins[1, 0] > 0.0)


@rule
def set_deficit(W: FloatArray, V: FloatArray, M: FloatArray, i: int, j: int) -> None:
    """Renew V_ij and the maximum of its row."""
    n = W[i, j] + W[j, i]
    behind = 0.5 * n - W[i, j]
    old = V[i, j]
    V[i, j] = behind * behind / n if behind > 0.0 else 0.0
    if V[i, j] >= M[i]:
        M[i] = V[i, j]
    elif old == M[i]:
        M[i] = 0.0
        for k in range(len(M)):
            M[i] = max(M[i], V[i, k])


@rule
def learn(
    W: FloatArray, mu: FloatArray, r: FloatArray, V: FloatArray, M: FloatArray, a: int, b: int, wins: FloatArray
) -> None:
    """Count a duel of a and b; a duel of an arm with itself is not counted."""
    if a == b:
        return
    W[a, b] += wins[0, 1]
    W[b, a] += wins[1, 0]
    n = W[a, b] + W[b, a]
    mu[b, a] = W[a, b] / n
    mu[a, b] = W[b, a] / n
    r[a, b] = r[b, a] = 1.0 / math.sqrt(n)
    set_deficit(W, V, M, a, b)
    set_deficit(W, V, M, b, a)


@rule
def optimistic_rival(mu: FloatArray, r: FloatArray, c: int, reach: float, rng: np.random.Generator) -> int:
    """argmax_j u_jc for ``reach`` = alpha ln t, ties random; c itself only if all others have u_jc < 1/2."""
    s = math.sqrt(reach)
    top, d, ties = 0.5, c, 1
    for j in range(len(mu)):
        u = mu[c, j] + s * r[c, j]
        if j != c and u >= top:
            if u > top or d == c:
                top, d, ties = u, j, 1
            else:
                ties += 1
                if rng.random() * ties < 1.0:
                    d = j
    return d


@rule
def renew_hypothesis(B: NDArray[np.int64], M: FloatArray, reach: float) -> None:
    """The hypothesised best arm: the only candidate (M_i <= reach) if there is one; -1 once it is no candidate."""
    size, last = 0, -1
    for i in range(len(M)):
        if M[i] <= reach:
            size, last = size + 1, i
    if size == 1:
        B[0] = last
    elif B[0] >= 0 and M[B[0]] > reach:
        B[0] = -1


@rule
def most_victories(W: FloatArray) -> int:
    """The arm that is ahead in most pairs (Copeland), then by the sum of its means (Borda)."""
    K = len(W)
    top, arm = -1.0, 0
    for i in range(K):
        score, others = 0.0, K - 1
        if W[i].sum() + W[:, i].sum() > 0.0:  # most of very many arms were not compared yet
            for j in range(K):
                n = W[i, j] + W[j, i]
                if n > 0.0 and j != i:
                    score += (1.0 if 2.0 * W[i, j] > n else 0.0) + W[i, j] / n / K
                    others -= 1
        score += 0.5 * others / K
        if score > top:
            top, arm = score, i
    return arm
