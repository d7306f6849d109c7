"""Questions drafted before the answer is there on which they depend.

A draft is a function of the log, the seed and the rater, so one that was made for a supposed answer is the very
question that would be made after it; it is used only if the log says exactly what was supposed.
"""

from __future__ import annotations

import copy
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace

from prefopt.study.asking import PATIENCE, Asker
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.limit import seconds_left
from prefopt.study.meanwhile import Behind, behind_now
from prefopt.study.repeats import lapsed

#: So many drafts are kept.
KEPT = 256


class Ahead:
    """Drafts by the rater and everything that happened before."""

    def __init__(self) -> None:
        self._drafts: OrderedDict[tuple[int, str | None], Event] = OrderedDict()
        self._behind: dict[str | None, list[Behind]] = {}

    def keep(self, state: State, rater: str | None, draft: Event) -> None:
        """``draft`` comes after everything in ``state`` if ``rater`` is asked."""
        self._drafts[state.mark, rater] = draft
        while len(self._drafts) > KEPT:
            self._drafts.popitem(last=False)

    def keep_behind(self, rater: str | None, made: list[Behind]) -> None:
        """``made`` come behind the question that ``rater`` looks at, though others answer meanwhile."""
        self._behind[rater] = made

    def take(self, state: State, asker: Asker, rater: str | None) -> Event | None:
        """The draft for ``rater`` after everything in ``state``, if there is one and no question has lapsed since."""
        draft = self._drafts.get((state.mark, rater))
        if draft is None:
            return behind_now(state, asker, rater, self._behind.get(rater, []))
        return None if lapsed(state, rater, time.time()) else draft


def supposing(state: State, event: Event) -> State:
    """The state as it would be after ``event``, an answer or automatic step.

    ``state`` stays as it is; of the copy, only the question that ``event`` is about is another object.
    """
    supposed = copy.copy(state)
    for name in ("questions", "said", "cut", "tokens", "steps"):
        setattr(supposed, name, copy.copy(getattr(state, name)))
    supposed.register = state.register.copy()
    asked = supposed.questions.get(event.payload.get("query", 0))
    if asked is not None:
        supposed.questions[asked.number] = copy.copy(asked)
    supposed.apply(replace(event, number=state.last + 1))
    return supposed


def drafts(supposed: State, asker: Asker, rater: str | None, end: float | None = None) -> Iterator[tuple[State, Event]]:
    """Pairs (state, what comes next) from the supposed state on, up to the next question, drafted before ``end``."""
    for _ in range(PATIENCE + 1):
        draft = asker.draft(supposed, rater, seconds_left(end))
        yield supposed, draft
        if draft.kind == "asked":
            return
        supposed = supposing(supposed, draft)
