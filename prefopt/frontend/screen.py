"""What page and widget do alike besides asking: what is on the screen, and taking back the last answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefopt.errors import StudyError
from prefopt.study import Study
from prefopt.study.raters import Rater
from prefopt.study.serving import Progress


def screen_of(progress: Progress, enough: Callable[[], str], question: Callable[[], Any]) -> dict[str, Any]:
    """The message that ``ask.js`` calls a screen, JSON-able.

    Args:
        progress: of who looks.
        enough: says why it is reasonable to stop, or "".
        question: asks, and gives the question's message; called only if there is something to ask.
    """
    seen: dict[str, Any] = {
        "progress": {"answered": progress.answered, "more": progress.remaining},
        "last": progress.last,
    }
    if progress.paused is not None:
        why = f": {progress.paused}" if progress.paused else ""
        return seen | {"state": "paused", "message": f"The study pauses{why}. This page goes on by itself."}
    why = "all planned answers are there" if progress.remaining == 0 else enough()
    if why and not (progress.waiting or progress.testing):
        return seen | {"state": "enough", "message": f"Nothing more to do: {why}."}
    return seen | {"state": "question", "question": question()}


def take_back(study: Study, rater: str | Rater | None, question: int) -> bool:
    """Take back the rater's answer to ``question`` if it is the rater's last; a second time changes nothing.

    Returns:
        Whether one was taken back.

    Raises:
        StudyError: the rater's last answer is to a later question.
    """
    last = study.progress(rater).last
    if last == question:
        study.undo(rater=rater)
        return True
    if last is not None and last > question:
        raise StudyError(f"the answer to question {question} is not your last one, so it is not taken back")
    return False
