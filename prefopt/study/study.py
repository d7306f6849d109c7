"""A real person's experiment: ask which option is better, remember every answer, recommend the best."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from prefopt.errors import StudyError
from prefopt.kinds import counted
from prefopt.study import naming
from prefopt.study.ahead import drafts, supposing
from prefopt.study.changes import check_may_ask, repeated, restore_event, undo_event
from prefopt.study.events import Event
from prefopt.study.limit import one_thread, seconds_left
from prefopt.study.question import Candidate, Query
from prefopt.study.raters import Rater
from prefopt.study.showing import StudyShowing
from prefopt.study.together import Again, answered

#: How often a question is drafted anew because another process asked one in between.
RACES = 100
#: After so many, others have to wait while all up to the question is drafted, so that nobody starves.
OPTIMISTIC = 2


class Study(StudyShowing):
    """One experiment; make it with ``create_study``, open it again with ``load_study``.

    Every method first reads what other processes have written. ``tell`` writes the answer before any model
    sees it, so a process that dies loses nothing.

    Candidates are named by their id (``candidate.id``, an int that is the same in the whole study) or by the
    ``Candidate`` itself; never by the position on the screen.
    """

    def ask(self, rater: str | Rater | None = None, timeout: float | None = None) -> Query:
        """The rater's open question, or a new one; asking again changes nothing until it is answered.

        No question is open for two raters. One that was not answered in time (``lease``) is asked to the next rater
        anew; an answer that comes late counts all the same.

        Args:
            rater: who is asked: an id, a name or a ``Rater``.
            timeout: seconds the policy may take, automatic steps included; after that the options are drawn at
                random, and the question says so (``fallback``).

        Raises:
            StudyError: there is only one option, so there is nothing to compare; the study is paused or the rater was
                removed; or a rater or timeout that is none.
        """
        return self._ask(rater, timeout, 0)

    def ask_ahead(self, rater: str | Rater | None = None, timeout: float | None = None) -> Query:
        """The question after the rater's open one, which ``ask`` gives once that is answered.

        It is made while the person looks at the open one, so that nobody waits: the policy knows which questions are
        open, not what will be said. The same arguments and errors as ``ask``.
        """
        return self._ask(rater, timeout, 1)

    def _ask(self, rater: str | Rater | None, timeout: float | None, ahead: int) -> Query:
        naming.check_rater(rater)
        naming.check_timeout(timeout)
        end = None if timeout is None else time.monotonic() + timeout
        with self._lock, one_thread():
            for race in range(RACES):
                left = seconds_left(end)
                state = self._sync()
                who = state.raters.resolve(rater)
                waiting = state.open_questions(who)
                check_may_ask(state, who, waiting)
                if len(waiting) > ahead:
                    return state.query(waiting[ahead])
                if race < OPTIMISTIC:
                    draft = self._ahead.take(state, self._asker, who) or self._asker.draft(state, who, left)
                    self._storage.append(self.record, draft)
                else:
                    make = partial(self._late_drafts, rater=who, end=end, ahead=ahead)
                    self._storage.append_alone(self.record, state.last, make)
        raise StudyError(f"study {self.name!r}: {RACES} other questions were asked meanwhile; call ask() again")

    def _late_drafts(self, new: list[Event], rater: str | None, end: float | None, ahead: int) -> list[Event]:
        """The question and the automatic steps before it; nothing if ``new`` has it, or what was read is outdated."""
        try:
            waiting = self._read(new).open_questions(rater)
        except Again:
            return []
        check_may_ask(self._state, rater, waiting)
        if len(waiting) > ahead:
            return []
        made = [self._asker.draft(self._state, rater, seconds_left(end))]
        if made[0].kind != "asked":  # what the policy learns from steps that are not written yet, a copy learns
            after = supposing(self._state, made[0])
            made += [event for _, event in drafts(after, self._asker.fork(self._state), rater, end)]
        return made

    def tell(
        self,
        query: Query | int,
        *,
        best: Candidate | int | None = None,
        worst: Candidate | int | None = None,
        ranking: list[Any] | tuple[Any, ...] | None = None,
        below: bool = False,
        tie: bool = False,
        pairs: Any = None,
        skip: str | bool | None = None,
        infeasible: Collection[Candidate | int] = (),
        rater: str | Rater | None = None,
        seconds: float | None = None,
        token: str | None = None,
    ) -> None:
        """Record the answer to ``query``; give exactly one of the kinds of answer, or ``infeasible``, or both.

        Args:
            query: the question or its number.
            best: the best of the candidates shown.
            worst: the worst of them.
            ranking: candidates from best to worst; two or more of them.
            below: the candidates that a partial ``ranking`` leaves out are worse (instead of not compared).
            tie: all about the same.
            pairs: square matrix in the order of ``query.candidates``: entry (j, k) says how often (0 to 1) j is
                better than k; nan or 0/0 where a pair was not compared.
            skip: no answer, and why.
            infeasible: candidates that could not be made or shown. They are not asked again nor recommended, and the
                answer is about the others; without any other answer, nothing is said of those.
            rater: who answered; by default the one who was asked.
            seconds: how long it took.
            token: any text unique to this answer; telling it again (a client that retries) changes nothing.

        Raises:
            AnswerError: the answer does not fit the question; the message names the question and the option.
            StudyError: no such question, it belongs to another rater, or it has an answer already; or a rater or token
                that is no text.
        """
        said = {"best": best, "worst": worst, "ranking": ranking, "tie": tie or None, "pairs": pairs, "skip": skip}
        more: dict[str, Any] = {"below": below, "infeasible": infeasible}
        more |= {"rater": rater, "seconds": seconds, "token": token}
        self._tell(lambda state: answered(state, query, **more, **said))

    def skip(self, query: Query | int, reason: str = "", **keywords: Any) -> None:
        """The same as ``tell(query, skip=reason)``: no answer; the question may come back once, later."""
        self.tell(query, skip=reason, **keywords)

    def new_version(self, *, space: Any = None, fill: Mapping[str, Any] | None = None, **changes: Any) -> Study:
        """A new version of this study with another space, question, strategy or other setting.

        It takes over the name; this one stays in the storage as "NAME (version 1)", and asks nothing any more. Answers
        about options that are in the new space are kept as comparisons made elsewhere, with their raters; the others
        stay in the old version. ``version`` says how many.

        Args:
            space: the new space, as for ``create_study``; None for the same.
            fill: values of new parameters for the old options.
            changes: any of question, strategy, settings, query_size, budget, seed, repeats, overlap and lease; what is
                not named stays.

        Raises:
            StudyError: nothing is changed, or what is no setting.
            SettingError: a setting out of range, or a strategy that does not fit the space.

        >>> from prefopt import create_study
        >>> study = create_study(["tea", "coffee", "cocoa"], seed=1)
        >>> study.add_comparison("tea", "coffee")
        >>> study.add_comparison("tea", "cocoa")
        >>> new = study.new_version(space=["tea", "coffee", "milk"])
        >>> new.version["kept"], new.version["left_out"], study.name, new.name
        (1, 1, 'study (version 1)', 'study')
        """
        from prefopt.study.versions import begin_version

        with self._lock:
            record = begin_version(self._storage, self._sync(), changes, space, fill or {})
            self.record = replace(self.record, name=self._storage.name_of(self.record))
            return type(self)(self._storage, record)

    def undo(self, n: int = 1, rater: str | Rater | None = None) -> None:
        """Take back the last ``n`` answers; their questions are open again. Nothing is deleted from the log.

        Args:
            n: how many.
            rater: only answers of this one; None for the last ones of all.

        Raises:
            StudyError: there are not so many answers.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise StudyError(f"undo takes a whole number of answers of at least 1, got {n!r}")
        naming.check_rater(rater)
        with self._lock:
            who = self._sync().raters.resolve(rater)
            there = len(self._state.spoken(who))
            if n > there:
                of = "" if who is None else f" of {who!r}"
                raise StudyError(f"study {self.name!r}: cannot undo {n}, it has {counted(there, 'answer')}{of}")
            done = 0
            while done < n:
                done += self._storage.append(self.record, undo_event(self._sync(), who))

    def restore(self, query: Query | int) -> None:
        """Put back the answer to ``query`` that was undone last.

        Raises:
            StudyError: it has no undone answer, or has been answered anew.
        """
        with self._lock:
            self._storage.append(self.record, restore_event(self._sync(), naming.number_of(query)))

    def add(self, option: Any, rater: str | Rater | None = None) -> Candidate:
        """An own idea: it joins the next question, against the policy's choice.

        Args:
            option: parameters of the space (any in-range point of a continuous one, a point of a grid), or a new or
                known item of a list of arms.
            rater: whose idea.

        Raises:
            DomainError: outside of the space, or no name, number, path or record.
            StudyError: a rater that is no text.
        """
        naming.check_rater(rater)
        with self._lock:
            payload = naming.own_idea(self._sync(), option)
            who = self._state.raters.resolve(rater)
            self._storage.append(self.record, Event("added", payload, rater=who))
            return self._sync().candidate_of(option)

    def add_comparison(
        self, winner: Any, loser: Any, *, rater: str | Rater | None = None, token: str | None = None
    ) -> None:
        """A comparison made elsewhere: ``winner`` was better than ``loser``.

        Args:
            winner: candidate, its id, or its parameters.
            loser: the same.
            rater: who compared.
            token: as for ``tell``.

        Raises:
            AnswerError: an option compared with itself, or an unknown one.
            StudyError: a rater or token that is no text.
        """
        naming.check_rater(rater)
        naming.check_text(token=token)
        with self._lock:
            who = self._sync().raters.resolve(rater)
            event = naming.comparison_event(self._state, winner, loser, who, token)
            if not repeated(self._state, event):
                self._storage.append(self.record, event)
