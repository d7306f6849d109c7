"""Team-draft interleaving and multileaving: one list of documents from several rankings, and who owns what.

Sources: Radlinski, Kurup, Joachims 2008 (interleaving two rankings); Schuth et al. 2014 (multileaving any number).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.errors import EnvironmentSpecError
from prefopt.jit import jitable

IntArray = NDArray[np.int64]


@jitable
def shuffle(order: IntArray, rng: np.random.Generator) -> None:
    """Put ``order`` in uniformly random order, in place (Fisher and Yates)."""
    for i in range(order.size - 1, 0, -1):
        j = rng.integers(0, i + 1)
        order[i], order[j] = order[j], order[i]


@jitable
def shared_top(rankings: IntArray, length: int) -> int:
    """How many leading positions, at most ``length``, are the same in every ranking."""
    depth = int(min(length, rankings.shape[1]))
    for position in range(depth):
        for team in range(1, rankings.shape[0]):
            if rankings[team, position] != rankings[0, position]:
                return position
    return depth


@jitable
def draft(
    rankings: IntArray,
    prefix: int,
    shown: IntArray,
    owner: IntArray,
    used: NDArray[np.bool_],
    rng: np.random.Generator,
) -> int:
    """Draft one list; returns its length.

    In each round the teams draft once each, in a new random order: the team's highest document not shown yet
    is appended and becomes its own. A team without one is passed over.

    Args:
        rankings: documents from best to worst, a row per team, (m, depth).
        prefix: leading documents of ``rankings[0]`` that are shown first and belong to nobody.
        shown: buffer for the documents of the list; its size is the longest list wanted.
        owner: buffer for the team that owns each of them (-1 nobody), of the same size.
        used: false for every document; false again afterwards.
        rng: of the draft.
    """
    teams = np.arange(rankings.shape[0])
    place = np.full(rankings.shape[0], prefix)
    n = prefix
    for position in range(prefix):
        shown[position], owner[position] = rankings[0, position], -1
        used[rankings[0, position]] = True
    before = -1
    while n < shown.size and n > before:
        before = n
        shuffle(teams, rng)
        for team in teams:
            while place[team] < rankings.shape[1] and used[rankings[team, place[team]]]:
                place[team] += 1
            if n < shown.size and place[team] < rankings.shape[1]:
                shown[n], owner[n] = rankings[team, place[team]], team
                used[shown[n]] = True
                n += 1
    for position in range(n):
        used[shown[position]] = False
    return n


def team_draft(
    rankings: Sequence[ArrayLike], rng: np.random.Generator, *, length: int = 10, shared_prefix: bool = False
) -> tuple[IntArray, IntArray]:
    """One list drafted by m >= 2 rankings: interleaving for two, multileaving for more.

    Args:
        rankings: m rankings of the same documents, each from best to worst; a document is a whole number >= 0.
        rng: decides who drafts first in each round.
        length: longest list wanted.
        shared_prefix: show the leading documents on which all rankings agree first, owned by nobody (-1), so
            that clicks on them tell nothing; the original definition does not.

    Returns:
        The documents shown and the position in ``rankings`` of each one's owner, both (n,), n <= length.

    Raises:
        EnvironmentSpecError: fewer than two rankings, of different documents, or with a document twice.

    >>> shown, owner = team_draft([[0, 1, 2], [2, 1, 0]], np.random.default_rng(0), length=2)
    >>> sorted(zip(owner.tolist(), shown.tolist()))
    [(0, 0), (1, 2)]
    """
    rows = [np.asarray(r) for r in rankings]
    if len(rows) < 2 or length < 1:
        raise EnvironmentSpecError(f"a draft needs two rankings and a length of 1, got {len(rows)} and {length}")
    for team, row in enumerate(rows):
        if row.ndim != 1 or not row.size or not np.issubdtype(row.dtype, np.integer) or row.min() < 0:
            raise EnvironmentSpecError(f"ranking {team}: expected whole numbers from 0 on, best first, got {row}")
        if len(np.unique(row)) < len(row) or set(row.tolist()) != set(rows[0].tolist()):
            raise EnvironmentSpecError(f"ranking {team}: expected each document of ranking 0 once, got {row.tolist()}")
    table = np.array(rows, dtype=np.int64)
    shown, owner = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    prefix = shared_top(table, length) if shared_prefix else 0
    n = draft(table, prefix, shown, owner, np.zeros(table.max() + 1, dtype=np.bool_), rng)
    return shown[:n], owner[:n]


@jitable
def count_credit(owner: IntArray, clicked: NDArray[np.bool_], n: int, credit: IntArray) -> None:
    """Fill ``credit`` (m,) with the clicked documents of each team among the first n positions."""
    credit[:] = 0
    for position in range(n):
        if clicked[position] and owner[position] >= 0:
            credit[owner[position]] += 1


def credit_wins(credit: ArrayLike) -> NDArray[np.float64]:
    """Who beat whom, (m, m): 1 where the row has more credit than the column, 0/0 for equal credit.

    >>> credit_wins([2, 0, 2])
    array([[0., 1., 0.],
           [0., 0., 0.],
           [0., 1., 0.]])
    """
    c = np.asarray(credit)
    return (c[:, None] > c[None, :]).astype(np.float64)
