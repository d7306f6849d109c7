"""What may happen to a question now: is an answer accepted, what does undo take back, what can be restored."""

from __future__ import annotations

from collections.abc import Sequence

from prefopt.errors import StudyError
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.said import Asked, Lesson


def repeated(state: State, event: Event) -> bool:
    """Whether the client told this very event before.

    Raises:
        StudyError: its token was used for another event.
    """
    before = state.tokens.get(event.token or "")
    if before is None:
        return False
    if (before.kind, before.payload.get("query")) != (event.kind, event.payload.get("query")):
        raise StudyError(f"token {event.token!r} was used for event {before.number} ({before.kind}); use a new one")
    return True


def check_open(asked: Asked, rater: str | None) -> None:
    """Raise StudyError unless ``rater`` may answer the question now."""
    owner = asked.event.rater
    if rater is not None and owner is not None and rater != owner:
        raise StudyError(f"question {asked.number} was asked to rater {owner!r}, not to {rater!r}; call ask({rater!r})")
    if asked.status in ("answered", "skipped") and asked.lesson is not None:
        said = asked.lesson.answer
        named = [asked.lesson.slate[p] for p in said.order]
        raise StudyError(
            f"question {asked.number} (candidates {list(asked.candidates)}) has an answer already: "
            f"{said.kind}{f' {named}' if named else ''}; undo() it first, or ask() for the next question"
        )
    if asked.status == "withdrawn":  # one that lapsed is still answered: a late answer is never lost
        raise StudyError(
            f"question {asked.number} was withdrawn when the answer before it was undone; ask() for the current one"
        )


def check_may_ask(state: State, rater: str | None, waiting: Sequence[Asked]) -> None:
    """Raise StudyError if ``rater`` gets no question: removed, or the study is paused and none is open."""
    state.raters.check_active(rater)
    if state.paused is not None and not waiting:
        why = f" ({state.paused})" if state.paused else ""
        raise StudyError(f"study {state.record.name!r} is paused{why}; resume() lets it go on")


def undo_event(state: State, rater: str | None = None) -> Event:
    """Taking back the last thing said, by anybody or by ``rater``.

    An open question that came after it was chosen because of it, so it is withdrawn.

    Raises:
        StudyError: nothing to undo.
    """
    lessons = state.spoken(rater)
    if not lessons:
        of = "" if rater is None else f" of {rater!r}"
        raise StudyError(f"study {state.record.name!r}: nothing to undo, there is no answer{of}")
    last = lessons[-1]
    withdrawn = [
        asked.number for asked in state.open_questions(last.event.rater) if asked.event.number > last.event.number
    ]
    return Event("undone", {"event": last.event.number, "withdrawn": withdrawn}, slot=_slot("undone", last))


def restore_event(state: State, question: int) -> Event:
    """Putting back the answer to ``question`` that was undone last.

    Raises:
        StudyError: there is none, or the question has been answered anew.
    """
    asked = state.questions.get(question)
    lesson = None if asked is None else asked.lesson
    if asked is None or lesson is None:
        raise StudyError(f"question {question!r} has no undone answer; history() lists the questions")
    if lesson.active:
        raise StudyError(f"question {question} has an answer in force; undo() it before restoring another")
    return Event("restored", {"event": lesson.event.number}, slot=_slot("restored", lesson))


def only_lesson(state: State, question: int | None, event: int | None) -> Lesson:
    """The answer in force to ``question``, or the comparison made elsewhere of ``event``.

    Raises:
        StudyError: none or both given, or there is no such answer.
    """
    if (question is None) == (event is None):
        raise StudyError("give the question, or event=... of a comparison made elsewhere, one of them")
    if question is None:
        lesson = state.said.get(event or 0)
        if lesson is None or lesson.event.kind == "auto" or not lesson.active:
            raise StudyError(f"event {event!r} is no answer in force; history() lists them")
        return lesson
    asked = state.questions.get(question)
    if asked is None or asked.lesson is None or not asked.lesson.active:
        raise StudyError(f"question {question} has no answer in force; history() lists the questions")
    return asked.lesson


def count_event(kind: str, lesson: Lesson, reason: str | None) -> Event:
    """An answer does not count any more (kind "excluded"), or counts again ("included")."""
    payload = {"event": lesson.event.number} | ({} if reason is None else {"reason": reason})
    return Event(kind, payload, slot=_slot(kind, lesson))


def _slot(kind: str, lesson: Lesson) -> str:
    return f"{kind}:{lesson.event.number}:{lesson.moved}"
