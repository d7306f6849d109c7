"""What a person is shown: candidates and the question about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """One option of a study.

    Attributes:
        id: its number in the whole study, never a position on the screen. On a finite space it is the index of
            the option; on a continuous one, candidates are numbered as they appear. ``None`` for a recommended
            point that has not been shown yet.
        params: what the space decodes it to: a dict of parameters, or the item of a list of arms.
    """

    id: int | None
    params: Any


@dataclass(frozen=True)
class Query:
    """One question: which of ``shown`` is better?

    Attributes:
        number: 1, 2, ... within the study.
        candidates: the distinct options in the policy's order; ``tell(pairs=...)`` uses this order.
        shown: the same options in the order to put before the person (random, and the same after a restart).
        rater: whose question it is.
        repeat_of: number of an earlier question about the same options that was skipped, if this is its return.
        note: anything a reader of the results should know, such as "6 of 9 options, drawn at random".
        fallback: the policy failed or ran out of time, and the options were drawn at random.
    """

    number: int
    candidates: tuple[Candidate, ...]
    shown: tuple[Candidate, ...]
    rater: str | None = None
    repeat_of: int | None = None
    note: str = ""
    fallback: bool = False

    @property
    def id(self) -> int:
        """The same as ``number``."""
        return self.number

    @property
    def ids(self) -> tuple[int, ...]:
        """Candidate ids in the order of ``candidates``."""
        return tuple(int(c.id) for c in self.candidates if c.id is not None)

    @property
    def shown_order(self) -> tuple[int, ...]:
        """Candidate ids in the order of ``shown``."""
        return tuple(int(c.id) for c in self.shown if c.id is not None)
