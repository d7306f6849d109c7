"""Many people at once: what several ask or say at the same moment is read, and written, once for all of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prefopt.errors import StudyError
from prefopt.study import naming
from prefopt.study.changes import check_may_ask, check_open, repeated
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.limit import one_thread
from prefopt.study.question import Query
from prefopt.study.raters import Rater
from prefopt.study.serving import Progress, StudyServing

#: A question that took the policy fewer seconds is drafted while other writers wait, so that no draft is in vain.
QUICK = 0.02
#: Seconds after which questions drafted like that are written and the other writers have their turn.
TURN = 0.015
NOBODYS = "this is the token of no active rater"


class Again(Exception):
    """What was drafted does not fit the log any more."""


class UnknownToken(StudyError):
    """No active rater has this token."""


@dataclass(frozen=True)
class Telling:
    """Something that somebody tells.

    Attributes:
        token: the secret of the rater's link.
        question: its number.
        said: gives the keywords of ``Study.tell`` for the rater and the question, or raises why not.
    """

    token: str
    question: int
    said: Callable[[Rater, Query], dict[str, Any]]


class StudyTogether(StudyServing):
    """Asking and telling for several raters at once; each is answered as if alone."""

    @property
    def quick(self) -> bool:
        """Whether the last question took the policy no time that anybody would notice."""
        return self._asker.took < QUICK

    def visits(self, tokens: Sequence[str]) -> list[tuple[Rater, Progress] | None]:
        """The active rater who has each of the tokens, and how far; None where nobody has it."""
        with self._lock:
            state = self._sync()
            raters = [state.raters.by_token(token) for token in tokens]
            return [None if rater is None else (rater, self._progress(state, rater.id)) for rater in raters]

    def ask_some(
        self, raters: Sequence[Rater], timeout: float | None = None, *, seen: bool = False
    ) -> list[Query | Exception]:
        """``ask`` for the first of ``raters``: for all of them if questions come quickly, else for one who waits.

        Args:
            raters: who is asked.
            timeout: seconds the policy may take; one that was quick of late is not watched.
            seen: whether ``visits`` has just read the log, so that it need not be read once more.

        Returns:
            At least one: the question of each, or why there is none.
        """
        with self._lock, one_thread():
            state, outcomes = self._state if seen else self._sync(), dict[str, Query | Exception]()
            waiting = [rater.id for rater in raters if not state.open_questions(rater.id)]
            if waiting and self.quick:
                self._ask_quickly(waiting, outcomes)
            elif waiting:
                self._ask_one(waiting[0], timeout, outcomes)
            found: list[Query | Exception] = []
            for rater in raters:
                mine = self._state.open_questions(rater.id)
                if not mine and rater.id not in outcomes:
                    if found:
                        break
                    self._ask_one(rater.id, timeout, outcomes)
                    mine = self._state.open_questions(rater.id)
                found.append(self._state.query(mine[0]) if mine else outcomes[rater.id])
            return found

    def tell_all(self, tellings: Sequence[Telling]) -> list[Exception | None]:
        """``tell`` for each, all of it on disk when this returns; per telling None, or why it was refused."""
        outcomes: dict[int, Exception | None] = {}
        new: dict[int, Event] = {}

        def make(log: list[Event]) -> list[Event]:
            outcomes.clear()
            new.clear()
            state, taken = self._read(log), set[str]()
            for i, telling in enumerate(tellings):
                try:
                    event = self._event(state, telling)
                except Exception as error:
                    outcomes[i] = error
                    continue
                marks = set() if event is None else {mark for mark in (event.slot, event.token) if mark}
                if event is None:
                    outcomes[i] = None
                elif not marks & taken:  # else the same twice at once: seen again when this is written
                    new[i], taken = event, taken | marks
            return list(new.values())

        with self._lock:
            known = [telling for telling in tellings if self._state.raters.by_token(telling.token)]
            if not known and all(found is None for found in self.visits([telling.token for telling in tellings])):
                return [UnknownToken(NOBODYS) for _ in tellings]  # strangers keep nobody from writing
            if self._append_alone(make):
                outcomes |= dict.fromkeys(new)
            for i, telling in enumerate(tellings):
                if i not in outcomes:
                    outcomes[i] = self._tell_one(telling)
            return [outcomes[i] for i in range(len(tellings))]

    def _append_alone(self, make: Callable[[list[Event]], list[Event]]) -> bool:
        """Write what ``make`` gives for what is new in the log; false if that was in vain."""
        try:
            return self._storage.append_alone(self.record, self._state.last, make)
        except Again:
            return False

    def _read(self, log: list[Event]) -> State:
        """The state with what is new in the log; raises ``Again`` if what was read before has changed."""
        for event in log:
            if event.payload.get("change") == "erased":
                raise Again
            if event.number > self._state.last:  # the database may have asked to try once more
                self._state.apply(event)
        return self._state

    def _event(self, state: State, telling: Telling) -> Event | None:
        rater = state.raters.by_token(telling.token)
        if rater is None:
            raise UnknownToken(NOBODYS)
        query = state.query(naming.asked_question(state, telling.question))
        return answered(state, query, **telling.said(rater, query))

    def _tell_one(self, telling: Telling) -> Exception | None:
        try:
            self._tell(lambda state: self._event(state, telling))
        except Exception as error:
            return error
        return None

    def _tell(self, make: Callable[[State], Event | None]) -> None:
        """Write the event that ``make`` gives for what is known, again only if another process wrote in between."""
        with self._lock:
            while (event := make(self._sync())) is not None:
                if self._storage.append(self.record, event):
                    return

    def _ask_one(self, rater: str, timeout: float | None, outcomes: dict[str, Query | Exception]) -> None:
        """The question is kept as it was asked: another process may answer or withdraw it before this one looks."""
        try:
            outcomes[rater] = self.ask(rater, timeout)
        except Exception as error:
            outcomes[rater] = error
        self._sync()

    def ask(self, rater: str | Rater | None = None, timeout: float | None = None) -> Query:
        """The rater's open question, or a new one; see ``Study``."""
        raise NotImplementedError

    def _ask_quickly(self, raters: Sequence[str], outcomes: dict[str, Query | Exception]) -> None:
        """Questions for the first of ``raters``, drafted one after another and written at once."""
        made: list[Event] = []
        end, written = time.monotonic() + TURN, False

        def make(log: list[Event]) -> list[Event]:
            if made:
                raise Again
            self._read(log)
            for rater in raters:
                if made and (time.monotonic() > end or not self.quick):
                    break
                try:
                    self._draft_until_asked(rater, made)
                except Exception as error:
                    outcomes[rater] = error
            return made

        try:
            written = self._append_alone(make)
        finally:
            if not written:  # the state has what the log has not
                self._forget()
        if not written:
            self._sync()

    def _draft_until_asked(self, rater: str, made: list[Event]) -> None:
        state = self._state
        while not (waiting := state.open_questions(rater)):
            check_may_ask(state, rater, waiting)
            draft = self._ahead.take(state, self._asker, rater) or self._asker.draft(state, rater, None)
            kept = json.loads(json.dumps(draft.payload))  # as it will be read
            made.append(replace(draft, payload=kept, number=state.last + 1, time=time.time()))
            state.apply(made[-1])


def answered(
    state: State,
    query: Query | int,
    *,
    below: bool = False,
    infeasible: Any = (),
    rater: str | Rater | None = None,
    seconds: float | None = None,
    token: str | None = None,
    **said: Any,
) -> Event | None:
    """The event of an answer, with the keywords and errors of ``Study.tell``; None if it was told before."""
    naming.check_rater(rater)
    naming.check_text(token=token)
    asked = naming.asked_question(state, query)
    payload = naming.parse_answer(asked, said, below, infeasible)
    who = state.raters.resolve(rater)
    event = naming.answer_event(asked, payload, who, seconds, token)
    if repeated(state, event):
        return None
    check_open(asked, who)
    return event
