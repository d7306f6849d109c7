"""Which points of a box were tried, how often, and how often they won: near-equal points are one option."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.answer import Answer
from prefopt.data import Tally
from prefopt.domain import Box, FloatArray
from prefopt.errors import AnswerError

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Tried:
    """Distinct points X (q, d) in the order they came, their tries n and wins s (q,)."""

    X: FloatArray
    tries: FloatArray
    wins: FloatArray

    @classmethod
    def none(cls, dim: int) -> Tried:
        """Nothing tried in ``dim`` dimensions."""
        return cls(np.zeros((0, dim)), np.zeros(0), np.zeros(0))

    def add(
        self, slate: ArrayLike, answer: Answer, box: Box, *, merge: float, count_self: bool, only: int | None = None
    ) -> Tried:
        """With ``answer`` to ``slate`` (m, d) added.

        Args:
            slate: rows in the unit cube, projected to the columns' levels first.
            answer: of m options; a skip adds nothing.
            box: its columns.
            merge: a point within this of an earlier one in every continuous column, and equal to it in the
                others, is the earlier one tried again.
            count_self: whether a comparison of merged points counts.
            only: the position that is learned of; None for all.

        Raises:
            AnswerError: the answer is about another number of options, or a point is outside of the cube.
        """
        X, options = place(self.X, slate, answer, box, merge=merge)
        if answer.kind == "skip":
            return self
        added = np.zeros(len(X) - len(self.X))
        tally = Tally(np.append(self.tries, added), np.append(self.wins, added))
        tally.add(options, answer.wins, count_self=count_self, only=only)
        seen = tally.tries > 0
        return Tried(X[seen], tally.tries[seen], tally.wins[seen])


def place(X: FloatArray, slate: ArrayLike, answer: Answer, box: Box, *, merge: float) -> tuple[FloatArray, IntArray]:
    """The points ``X`` (q, d) with those of ``slate`` (m, d) that are new, and the row of each of the slate's, (m,).

    Raises:
        AnswerError: the answer is about another number of options, or a point is outside of the cube.
    """
    points = np.asarray(slate, dtype=np.float64)
    if points.shape != (answer.size, box.dim):
        raise AnswerError(
            f"an answer about {answer.size} options needs a slate of shape ({answer.size}, {box.dim}), "
            f"got {points.shape}"
        )
    if not np.all(np.abs(points - 0.5) <= 0.5 + 1e-9):
        raise AnswerError(f"every coordinate of a slate lies in [0, 1], got {points.tolist()}")
    tolerance = np.where(box.continuous, merge, 1e-9)
    options = np.empty(len(points), dtype=np.int64)
    for j, point in enumerate(box.project(points)):
        same = np.flatnonzero(np.all(np.abs(X - point) <= tolerance, axis=1))
        options[j] = same[0] if len(same) else len(X)
        X = X if len(same) else np.vstack([X, point])
    return X, options
