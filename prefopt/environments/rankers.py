"""Rankers as arms: each ranks documents by one feature, and users' clicks on a joint list say which is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefopt.environments.clicks import ClickModel, check_labels, click_list, get_click_model
from prefopt.environments.interleaving import count_credit, draft, shared_top
from prefopt.environments.letor import Query
from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def rank(features: FloatArray, rng: np.random.Generator, depth: int) -> IntArray:
    """The best ``depth`` documents of every ranker, (F, min(depth, n)), by descending feature value (n, F).

    The documents are shuffled first, so equal values come in random order: the order of the file must not
    matter, since many features are constant over most documents. All rankers see the same shuffle, so two
    rankers with equal values give the same ranking.
    """
    order = rng.permutation(len(features))
    ranked = np.argsort(-features[order], axis=0, kind="stable")[:depth]
    return np.ascontiguousarray(order[ranked].T)


def impression(
    rankings: IntArray,
    labels: IntArray,
    model: ClickModel,
    length: int,
    shared_prefix: bool,
    rng: np.random.Generator,
) -> IntArray:
    """Show one joint list of m rankings (m, depth) to a user; the credit of each, (m,)."""
    credit = np.zeros(rankings.shape[0], dtype=np.int64)
    shown, owner = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    prefix = shared_top(rankings, length) if shared_prefix else 0
    n = draft(rankings, prefix, shown, owner, np.zeros(labels.size, dtype=np.bool_), rng)
    clicked = np.zeros(length, dtype=np.bool_)
    click_list(model, labels[shown[:n]], n, clicked, rng)
    count_credit(owner, clicked, n, credit)
    return credit


_impression = njit(impression)


def all_pairs(
    rankings: IntArray,
    labels: IntArray,
    model: ClickModel,
    length: int,
    shared_prefix: bool,
    wins: FloatArray,
    rng: np.random.Generator,
) -> None:
    """One interleaving of every pair of rankings; ``wins[i, j]`` += 1 where i has more credit than j."""
    pair = np.empty((2, rankings.shape[1]), dtype=np.int64)
    for i in range(rankings.shape[0]):
        for j in range(i + 1, rankings.shape[0]):
            pair[0], pair[1] = rankings[i], rankings[j]
            credit = _impression(pair, labels, model, length, shared_prefix, rng)
            if credit[0] > credit[1]:
                wins[i, j] += 1.0
            elif credit[1] > credit[0]:
                wins[j, i] += 1.0


_all_pairs = njit(all_pairs)


def columns(query: Query, features: Sequence[int] | None) -> FloatArray:
    """The chosen feature columns (0-based) of a query, (n, K); all if None."""
    if features is None:
        return query.features
    width = query.features.shape[1]
    for f in features:
        if not 0 <= f < width:
            raise EnvironmentSpecError(f"query {query.qid}: no feature column {f}; expected 0 to {width - 1}")
    return query.features[:, list(features)]


def preference_matrix(
    queries: Iterable[Query],
    rng: np.random.Generator,
    *,
    features: Sequence[int] | None = None,
    click: str | ClickModel = "perfect",
    draws: int = 1,
    length: int = 10,
    ties: str = "half",
    shared_prefix: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """How often one ranker beats another in team-draft interleaving, averaged over queries, by simulation.

    Args:
        queries: read once, one after the other (``read_letor`` streams them).
        rng: of tie-breaking, drafts and clicks.
        features: columns (0-based) to use as rankers; all if None.
        click: a name in ``CLICK_MODELS``, or a ``ClickModel``.
        draws: interleavings per query and pair.
        length: longest list shown.
        ties: "half": P_ij = P(i has more credit) + P(equal credit) / 2; "drop": the chance that i has more
            credit given that the credits differ, pooled over queries.
        shared_prefix: see ``team_draft``.

    Returns:
        P and its standard error, both (K, K). Queries are the independent units, so the error covers the choice
        of queries and the draws. It is 0 on the diagonal, nan for one query; where "drop" leaves nothing, P is
        1/2 and the error nan.

    Raises:
        EnvironmentSpecError: no query, an unknown click model or tie rule, or grades that the model lacks.
    """
    model = get_click_model(click)
    if ties not in ("half", "drop") or draws < 1 or length < 1:
        raise EnvironmentSpecError(
            f"expected ties 'half' or 'drop', draws and length of at least 1, got {ties!r}, {draws}, {length}"
        )
    sums: Any = 0.0
    n = 0
    for query in queries:
        check_labels(query.labels, model, f"query {query.qid}")
        values = columns(query, features)
        wins = np.zeros((values.shape[1], values.shape[1]))
        for _ in range(draws):
            _all_pairs(rank(values, rng, length), query.labels, model, length, shared_prefix, wins, rng)
        share, decided = wins / draws, (wins + wins.T) / draws
        s, d = (share + (1 - decided) / 2, np.ones_like(wins)) if ties == "half" else (share, decided)
        sums = sums + np.stack([s, d, s * s, s * d, d * d])
        n += 1
    if not n:
        raise EnvironmentSpecError("a preference matrix of rankers needs at least one query, got none")
    return _ratio(sums, n)


def _ratio(sums: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Sum s / sum d and its standard error (delta method) from the sums of s, d, s^2, s d, d^2 over n queries."""
    s, d, ss, sd, dd = sums
    some = d > 0
    whole = np.where(some, d, 1.0)
    P = np.triu(np.where(some, s / whole, 0.5), 1)
    P = P + np.tril(1 - P.T, -1)
    np.fill_diagonal(P, 0.5)
    squares = np.maximum(ss - 2 * P * sd + P * P * dd, 0.0)
    error = np.sqrt(squares * n / (n - 1)) / whole if n > 1 else np.full_like(P, np.nan)
    error = np.where(some, error, np.nan)
    np.fill_diagonal(error, 0.0)
    return P, error
