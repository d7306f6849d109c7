"""What was said, as stages: one option ahead of some others; the differences of utility that a likelihood reads.

A choice of one among m is one stage of m - 1 differences, a ranking one stage after another (Plackett 1975; Luce 1959).
Breaking a choice into m - 1 duels would count its evidence more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from prefopt.answer import Answer
from prefopt.domain import FloatArray

IntArray = NDArray[np.int64]


class Said(NamedTuple):
    """One answer, its options as rows of a table of points."""

    slate: tuple[int, ...]
    answer: Answer
    weight: float = 1.0
    rater: int = 0


class Stage(NamedTuple):
    """``ahead[i]`` is above ``behind[i]`` in every row i, all at once; ``tie``: one half of "about the same"."""

    ahead: tuple[int, ...]
    behind: tuple[int, ...]
    tie: bool
    weight: float


@lru_cache(maxsize=4096)
def known_stages(slate: tuple[int, ...], answer: Answer) -> tuple[Stage, ...]:
    """``stages``, remembered: between two questions all answers but one are old ones."""
    return tuple(stages(slate, answer))


def stages(slate: Sequence[int], answer: Answer) -> Iterator[Stage]:
    """The stages of one answer; an option compared with itself says nothing, a skip has none.

    Best of m: P = exp(u_i) / sum_j exp(u_j). Worst of m: the same of -u. Ranking: best of what is left, again and
    again. Tie of m options: every pair is tied, weighted so that all pairs together count as m - 1 comparisons. Pairs:
    duels, weighted by how often each side won.
    """
    m = answer.size
    if answer.kind == "best":
        best = answer.order[0]
        yield from _stage([slate[best]] * (m - 1), [slate[j] for j in range(m) if j != best])
    elif answer.kind == "worst":
        worst = answer.order[0]
        yield from _stage([slate[j] for j in range(m) if j != worst], [slate[worst]] * (m - 1))
    elif answer.kind == "ranking":
        rest = [slate[j] for j in range(m) if j not in answer.order] if answer.below else []
        named = [slate[j] for j in answer.order]
        for rank, option in enumerate(named):
            below = named[rank + 1 :] + rest
            yield from _stage([option] * len(below), below)
    elif answer.kind == "tie":
        for i in range(m):
            for j in range(i):
                for a, b in ((slate[i], slate[j]), (slate[j], slate[i])):
                    yield from _stage([a], [b], tie=True, weight=2 / m)
    elif answer.kind == "pairs":
        for i, j in np.argwhere(answer.wins > 0).tolist():
            yield from _stage([slate[i]], [slate[j]], weight=float(answer.wins[i, j]))


def _stage(ahead: list[int], behind: list[int], *, tie: bool = False, weight: float = 1.0) -> Iterator[Stage]:
    """One stage without the rows that compare an option with itself."""
    rows = [(a, b) for a, b in zip(ahead, behind, strict=True) if a != b]
    if rows:
        yield Stage(tuple(a for a, _ in rows), tuple(b for _, b in rows), tie, weight)


@dataclass(frozen=True)
class Comparisons:
    """All stages, flat: row r is the difference f(X[ahead[r]]) - f(X[behind[r]]).

    Equal stages of one rater are merged into one whose weight is their sum, at the place of the first: the rows of the
    first n answers are the first rows of all.

    Attributes:
        ahead: (M,) rows of the table of points.
        behind: (M,).
        stage: (M,) number of each row's stage, ascending.
        weight: (S,) how often each stage was said.
        tie: (S,) whether it is one half of a tie.
        rater: (S,) who said it.
        size: number of points in the table, q.
    """

    ahead: IntArray
    behind: IntArray
    stage: IntArray
    weight: FloatArray
    tie: NDArray[np.bool_]
    rater: IntArray
    size: int
    groups: tuple[tuple[IntArray, IntArray], ...] = field(repr=False)  # per size k: stages (n,), rows (n, k)

    @classmethod
    def of(cls, said: Sequence[Said], size: int = 0) -> Comparisons:
        """The stages of ``said``, in order; ``size``: number of points, at least those named.

        >>> data = Comparisons.of([Said((0, 1, 2), Answer.best(2, 3)), Said((0, 1), Answer.duel(0))])
        >>> data.ahead.tolist(), data.behind.tolist(), data.stage.tolist()
        ([2, 2, 0], [0, 1, 1], [0, 0, 1])
        """
        seen: dict[tuple[tuple[int, ...], tuple[int, ...], bool, int], float] = {}
        for one in said:
            for made in known_stages(tuple(one.slate), one.answer):
                key = (made.ahead, made.behind, made.tie, one.rater)
                seen[key] = seen.get(key, 0.0) + made.weight * one.weight
        sizes = np.array([len(key[0]) for key in seen], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        groups = tuple(
            (np.flatnonzero(sizes == k), starts[sizes == k][:, None] + np.arange(k)) for k in np.unique(sizes)
        )
        return cls(
            ahead=np.array([a for key in seen for a in key[0]], dtype=np.int64),
            behind=np.array([b for key in seen for b in key[1]], dtype=np.int64),
            stage=np.repeat(np.arange(len(sizes)), sizes),
            weight=np.array(list(seen.values()), dtype=np.float64),
            tie=np.array([key[2] for key in seen], dtype=bool),
            rater=np.array([key[3] for key in seen], dtype=np.int64),
            size=max([size, *(1 + max(*key[0], *key[1]) for key in seen)]),
            groups=groups,
        )

    def __len__(self) -> int:
        """Number of rows, M."""
        return len(self.ahead)

    def differences(self, at_points: FloatArray) -> FloatArray:
        """A f: the rows' differences of values at the points, (q, ...) to (M, ...)."""
        made: FloatArray = at_points[self.ahead] - at_points[self.behind]
        return made

    @cached_property
    def incidence(self) -> Any:
        """A (M, q), sparse: 1 at the option ahead, -1 at the one behind."""
        M = len(self)
        entries = np.concatenate([np.ones(M), -np.ones(M)])
        rows = np.concatenate([np.arange(M), np.arange(M)])
        columns = np.concatenate([self.ahead, self.behind])
        return csr_array((entries, (rows, columns)), shape=(M, self.size))

    def at_points(self, rows: FloatArray) -> FloatArray:
        """A^T v: weights of rows (M, ...) as weights of the points, (q, ...)."""
        return np.asarray(self.incidence.T @ rows)
