"""What may happen to a question now: is an answer accepted, what does undo take back, what can be restored."""

from __future__ import annotations

from prefopt.errors import StudyError
from prefopt.study.events import Event
from prefopt.study.fold import Asked, Lesson, State


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
    if asked.status == "withdrawn":
        raise StudyError(
            f"question {asked.number} was withdrawn when the answer before it was undone; ask() for the current one"
        )


def undo_event(state: State) -> Event:
    """Taking back the last thing said.

    An open question that came after it was chosen because of it, so it is withdrawn.

    Raises:
        StudyError: nothing to undo.
    """
    lessons = state.lessons()
    if not lessons:
        raise StudyError(f"study {state.record.name!r}: nothing to undo, there is no answer")
    last = lessons[-1]
    withdrawn = [
        asked.number
        for asked in state.questions.values()
        if asked.status == "open" and asked.event.rater == last.event.rater and asked.event.number > last.event.number
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


def _slot(kind: str, lesson: Lesson) -> str:
    return f"{kind}:{lesson.event.number}:{lesson.moved}"
