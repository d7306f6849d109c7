"""What a person says of a slate. Positions are 0 .. m-1 in the policy's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.errors import AnswerError
from prefopt.kinds import is_whole

Kind = Literal["best", "worst", "ranking", "pairs", "tie", "skip"]


@dataclass(frozen=True)
class Answer:
    """One answer to one slate of ``size`` options; build it with the class methods, which validate.

    Attributes:
        kind: what was said; a duel is "best" of two.
        size: m, the number of options shown.
        order: positions named, best first ("best": one, "worst": one, "ranking": two or more).
        below: for a ranking, whether the positions not named are worse than the named ones
            (true) or were not compared (false).
        matrix: for "pairs", the (m, m) entries row by row.
        reason: for "skip", why.
    """

    kind: Kind
    size: int
    order: tuple[int, ...] = ()
    below: bool = False
    matrix: tuple[tuple[float, ...], ...] = ()
    reason: str = ""

    @classmethod
    def duel(cls, winner: int) -> Answer:
        """Position ``winner`` (0 or 1) is better.

        >>> Answer.duel(1).wins
        array([[0., 0.],
               [1., 0.]])
        """
        return cls.best(winner, 2)

    @classmethod
    def best(cls, position: int, size: int) -> Answer:
        """``position`` is the best of the ``size`` options."""
        return cls("best", _size(size), _positions([position], size))

    @classmethod
    def worst(cls, position: int, size: int) -> Answer:
        """``position`` is the worst of the ``size`` options."""
        return cls("worst", _size(size), _positions([position], size))

    @classmethod
    def ranking(cls, order: Sequence[int], size: int, *, below: bool = False) -> Answer:
        """Positions from best to worst; a partial one names at least two, or one or more with ``below``.

        >>> Answer.ranking([2, 0], 3).wins.sum()
        np.float64(1.0)
        >>> Answer.ranking([2, 0], 3, below=True).wins.sum()
        np.float64(3.0)
        """
        named = _positions(order, _size(size))
        if len(named) < (1 if below else 2):
            raise AnswerError(f"a ranking compares at least two options, got {list(order)} of {size}")
        return cls("ranking", size, named, below=below)

    @classmethod
    def pairs(cls, matrix: ArrayLike) -> Answer:
        """Every compared pair: entry (j, k) says how often (0 to 1) j beat k; nan or 0/0 means not compared.

        Raises:
            AnswerError: not square, outside [0, 1], an option compared with itself, or halves that disagree.
        """
        wins = _square(matrix)
        size = len(wins)
        for j in range(size):
            if not np.isnan(wins[j, j]) and wins[j, j] != 0:
                raise AnswerError(f"option at position {j} is compared with itself (entry {wins[j, j]}); leave 0 there")
        for j, k in np.argwhere(np.isnan(wins) != np.isnan(wins.T))[:1]:
            raise AnswerError(f"positions {j} and {k}: one half is nan and the other is not; give both halves or none")
        wins = np.where(np.isnan(wins), 0.0, wins)
        for j in range(size):
            for k in range(j + 1, size):
                _check_pair(j, k, wins[j, k], wins[k, j])
        return cls("pairs", size, matrix=tuple(tuple(float(x) for x in row) for row in wins))

    @classmethod
    def tie(cls, size: int = 2) -> Answer:
        """All ``size`` options are about the same: half a win to each side of every pair."""
        return cls("tie", _size(size))

    @classmethod
    def alone(cls) -> Answer:
        """What a policy is told when it asked about one option alone: nothing was compared, but the round passed."""
        return cls("tie", 1)

    @classmethod
    def skip(cls, reason: str = "", size: int = 2) -> Answer:
        """No answer; carries no information about the options."""
        return cls("skip", _size(size), reason=str(reason))

    @cached_property
    def wins(self) -> NDArray[np.float64]:
        """Shape (m, m): 1 row beat column, 0.5/0.5 a tie, 0/0 not compared."""
        wins = np.zeros((self.size, self.size))
        if self.kind == "pairs":
            wins[:] = self.matrix
        elif self.kind == "tie":
            wins[:] = 0.5
        elif self.kind == "best":
            wins[self.order[0], :] = 1.0
        elif self.kind == "worst":
            wins[:, self.order[0]] = 1.0
        elif self.kind == "ranking":
            rest = [j for j in range(self.size) if j not in self.order] if self.below else []
            for rank, winner in enumerate(self.order):
                wins[winner, [*self.order[rank + 1 :], *rest]] = 1.0
        np.fill_diagonal(wins, 0.0)
        wins.setflags(write=False)
        return wins

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; ``from_json`` reads it back."""
        record: dict[str, Any] = {"kind": self.kind, "size": self.size}
        for name in ("order", "matrix"):
            if getattr(self, name):
                record[name] = [list(x) if isinstance(x, tuple) else x for x in getattr(self, name)]
        if self.below:
            record["below"] = True
        if self.reason:
            record["reason"] = self.reason
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Answer:
        """The answer that ``to_json`` wrote, validated again.

        >>> Answer.from_json(Answer.ranking([1, 0], 2).to_json()).order
        (1, 0)
        """
        try:
            return cls._read(record)
        except AnswerError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise AnswerError(f"{record!r} is not a record that Answer.to_json writes ({error!r})") from error

    @classmethod
    def _read(cls, record: dict[str, Any]) -> Answer:
        kind, size = record.get("kind"), record.get("size", 0)
        if kind == "pairs":
            return cls.pairs(record["matrix"])
        if kind == "ranking":
            return cls.ranking(record["order"], size, below=record.get("below", False))
        if kind == "best" or kind == "worst":
            (position,) = record["order"]
            return (cls.best if kind == "best" else cls.worst)(position, size)
        if kind == "tie":
            return cls.alone() if record["size"] == 1 else cls.tie(size)
        if kind == "skip":
            return cls.skip(record.get("reason", ""), size)
        raise AnswerError(f"unknown answer kind {kind!r}; expected best, worst, ranking, pairs, tie or skip")


def _size(size: int) -> int:
    if not is_whole(size) or size < 2:
        raise AnswerError(f"an answer is about at least two options, got size={size!r}")
    return int(size)


def _positions(order: Sequence[Any], size: int) -> tuple[int, ...]:
    """Check that ``order`` names distinct positions of a slate of ``size`` options."""
    for p in order:
        if not is_whole(p):
            raise AnswerError(f"expected a position 0 to {size - 1}, got {p!r}")
        if not 0 <= p < size:
            raise AnswerError(f"position {p} is not in the slate; expected 0 to {size - 1}")
    named = tuple(int(p) for p in order)
    if len(set(named)) < len(named):
        raise AnswerError(f"a position appears twice in {list(named)}: an option cannot be compared with itself")
    return named


def _square(matrix: ArrayLike) -> NDArray[np.float64]:
    try:
        wins = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AnswerError(f"the pair matrix must hold numbers, got {matrix!r}") from error
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1] or len(wins) < 2:
        raise AnswerError(f"the pair matrix must be square with at least two rows, got shape {wins.shape}")
    return wins


def _check_pair(j: int, k: int, forth: float, back: float) -> None:
    if not (0 <= forth <= 1 and 0 <= back <= 1):
        raise AnswerError(f"positions {j} and {k}: entries must lie in [0, 1], got {forth} and {back}")
    if (forth or back) and abs(forth + back - 1) > 1e-9:
        raise AnswerError(
            f"positions {j} and {k}: the two halves disagree ({forth} and {back}); they must add up to 1, "
            "or both be 0 if the pair was not compared"
        )
