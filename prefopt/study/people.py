"""The people of a study: raters added, removed, restored and erased; answers that do not count; a pause."""

from __future__ import annotations

from typing import Any, Literal

from prefopt.errors import StudyError
from prefopt.study import naming
from prefopt.study.changes import count_event, only_lesson
from prefopt.study.erasing import erased
from prefopt.study.events import Event
from prefopt.study.question import Query
from prefopt.study.raters import Rater, fingerprint
from prefopt.study.reading import StudyReading


class StudyPeople(StudyReading):
    """What changes a study without asking or answering. Nothing is deleted but what ``erase_rater`` erases."""

    def add_rater(self, name: str = "", *, pseudonym: str | None = None) -> Rater:
        """A new rater, with a secret token that only this call returns.

        Once there are such raters, ``ask`` and ``tell`` take them (by id, name, or as ``Rater``) and nobody else.

        Args:
            name: for the people who run the study; it stays in the storage, is never exported, and can be erased.
            pseudonym: the rater's id; "rater 1", "rater 2", ... by default.

        Raises:
            StudyError: there is a rater of that name or pseudonym, or they are no texts.

        >>> from prefopt import create_study
        >>> study = create_study(["tea", "coffee", "cocoa"], seed=1)
        >>> ann = study.add_rater("Ann")
        >>> ann.id, study.rater_by_token(ann.token).name, study.ask("Ann").rater
        ('rater 1', 'Ann', 'rater 1')
        """
        naming.check_text(name=name, pseudonym=pseudonym)
        if pseudonym is not None and not pseudonym.strip():
            raise StudyError(f"pseudonym must be a text that is not empty, got {pseudonym!r}")
        with self._lock:
            while True:  # again only if another process took the pseudonym in between
                state = self._sync()
                event, token = state.raters.added(name or "", pseudonym, [r.id for r in state.everybody()])
                if self._storage.append(self.record, event):
                    return self._with_token(event, token)

    def renew_token(self, rater: str | Rater) -> Rater:
        """The rater with a new token; the one before is worth nothing from now on."""
        with self._lock:
            who = self._known(rater)
            self._sync().raters.check_active(who)
            token = self._sync().raters.new_token()
            event = Event("rater", {"change": "token", "token": fingerprint(token)}, rater=who)
            self._storage.append(self.record, event)
            return self._with_token(event, token)

    def remove_rater(self, rater: str | Rater, reason: str) -> None:
        """From now on the answers of ``rater`` are kept and do not count, and the rater is not asked any more.

        Raises:
            StudyError: no such rater, or no reason.
        """
        self._change_rater(rater, "removed", {"reason": checked_reason(reason)})

    def restore_rater(self, rater: str | Rater) -> None:
        """The answers of a removed rater count again."""
        self._change_rater(rater, "restored", {})

    def erase_rater(self, rater: str | Rater, answers: Literal["keep", "erase"] = "keep") -> Rater:
        """Erase who ``rater`` was: name, token, pseudonym, reasons given for skips, and marks of the client.

        This cannot be undone, and reaches older versions of the study too. The log says that it was done, and when.
        Exports made before are not reached.

        Args:
            rater: id, name or ``Rater``.
            answers: "keep" them under a new pseudonym, or "erase" them too.

        Returns:
            The rater who is left: an id that nobody can trace.

        Raises:
            StudyError: no such rater, or ``answers`` is neither.
        """
        if answers not in ("keep", "erase"):
            raise StudyError(f"answers must be 'keep' or 'erase', got {answers!r}")
        with self._lock:
            who = self._known(rater)
            written: list[Event] = []

            def change(events: list[Event]) -> list[Event]:
                written[:] = erased(events, who, answers)
                return written

            from prefopt.study.versions import older

            for record in [*older(self._storage, self._sync()), self.record]:
                self._storage.rewrite(record, change)
            return self._sync().raters.get(str(written[-1].rater))

    def remove_answer(self, query: Query | int | None = None, reason: str = "", *, event: int | None = None) -> bool:
        """The answer to ``query`` is kept and does not count from now on; the question is not asked again.

        Args:
            query: the question or its number.
            reason: why; exports say so.
            event: instead of ``query``, the event of a comparison made elsewhere (``history`` has it).

        Returns:
            Whether it counted before.

        Raises:
            StudyError: it has no answer, or no reason was given.
        """
        return self._count_answer("excluded", query, event, checked_reason(reason))

    def restore_answer(self, query: Query | int | None = None, *, event: int | None = None) -> bool:
        """A removed answer counts again; returns whether it did not count before."""
        return self._count_answer("included", query, event, None)

    def pause(self, reason: str = "") -> None:
        """Nothing is asked until ``resume``; answers to open questions are still taken."""
        naming.check_text(reason=reason)
        with self._lock:
            self._storage.append(self.record, Event("paused", {"on": True, "reason": reason or ""}))

    def resume(self) -> None:
        """Ask again."""
        with self._lock:
            self._storage.append(self.record, Event("paused", {"on": False}))

    def _change_rater(self, rater: str | Rater, change: str, more: dict[str, Any]) -> None:
        with self._lock:
            who = self._known(rater)
            if self._sync().raters.get(who).status == "erased":
                raise StudyError(f"{who!r} was erased; remove_answer() leaves out single answers")
            self._storage.append(self.record, Event("rater", {"change": change, **more}, rater=who))

    def _count_answer(self, kind: str, query: Query | int | None, event: int | None, reason: str | None) -> bool:
        with self._lock:
            while True:
                state = self._sync()
                number = None if query is None else naming.number_of(query)
                lesson = only_lesson(state, number, event)
                if (lesson.excluded is not None) == (kind == "excluded"):
                    return False
                if self._storage.append(self.record, count_event(kind, lesson, reason)):
                    return True

    def _known(self, rater: str | Rater) -> str:
        """The id of a rater who was added, asked or has answered."""
        text = rater.id if isinstance(rater, Rater) else rater
        if not isinstance(text, str):
            raise StudyError(f"expected a rater's id or name, or a Rater, got {rater!r}")
        state = self._sync()
        seen = [known.id for known in state.everybody()]
        who = text if text in seen else state.raters.resolve(text)
        if who not in seen:
            raise StudyError(f"study {self.name!r} has no rater {text!r}; it has {seen}")
        return str(who)

    def _with_token(self, event: Event, token: str) -> Rater:
        known = self._sync().raters.get(str(event.rater))
        return Rater(known.id, known.name, known.status, known.reason, token)


def checked_reason(reason: Any) -> str:
    """``reason`` if it is one."""
    if not isinstance(reason, str) or not reason.strip():
        raise StudyError(f"say why (reason): exports list what does not count with its reason; got {reason!r}")
    naming.check_text(reason=reason)
    return reason
