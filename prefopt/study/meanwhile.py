"""Questions drafted for one of several raters while the others go on.

A draft that is used only if the log says exactly what was supposed (``prefopt.study.ahead``) is lost as soon as another
rater answers, and with several raters that is nearly always. A question chosen a few answers ago is still a good one:
so here a draft supposes what its own rater will say, and is used although others have answered since, at most
``MISSED`` times. What it knew is written into the log (``after`` and ``ahead``), so that it can be computed again. Its
random streams are its own, since its number goes to another rater's question.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from prefopt.study.asking import Asker
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.repeats import known_question
from prefopt.study.said import Lesson

#: Answers of others that a question may not know of.
MISSED = 10
#: What only holds for the moment in which it was drafted.
MOMENTARY = ("fallback", "late", "repeat_of")


@dataclass(frozen=True)
class Behind:
    """The question behind one that a rater looks at, if ``option`` is called the best there."""

    question: int
    option: int
    base: tuple[Any, ...]
    draft: Event


def base(state: State) -> tuple[Any, ...]:
    """What may not have changed between a draft and its use."""
    size = len(state.options) if state.options.finite else -1
    return (state.rewrites, size, len(state.cut), len(state.ideas))


def draft_behind(supposed: State, asker: Asker, question: int, option: int) -> Behind | None:
    """The draft of what comes behind ``question``, or None if something else comes there.

    Args:
        supposed: what is known, and last that ``option`` was called the best.
        asker: may draft for ``supposed``.
        question: one that its rater looks at.
        option: the id of one of its candidates.
    """
    rater = supposed.questions[question].event.rater
    if supposed.waiting_ideas() or known_question(supposed, supposed.next_number, rater, time.time()) is not None:
        return None
    draft = asker.draft(supposed, rater, None, behind=question)
    if draft.kind != "asked" or any(name in draft.payload for name in MOMENTARY):
        return None
    draft = replace(draft, payload={**draft.payload, "after": supposed.last - 1})
    return Behind(question, option, base(supposed), draft)


def behind_now(state: State, asker: Asker, rater: str | None, made: list[Behind]) -> Event | None:
    """The one of ``made`` that may be asked of ``rater`` now, as an event."""
    told, asked = state.told_by(rater), state.register.asked.get(rater)
    if not told or not asked or asked[-1] != told[-1].event.payload["query"]:
        return None
    last = told[-1]
    found = next((one for one in made if _supposed(one, last)), None)
    if found is None or found.base != base(state) or state.waiting_ideas():
        return None
    payload, number = found.draft.payload, state.next_number
    since = takewhile(lambda lesson: lesson.event.number > payload["after"], reversed(state.said.values()))
    if sum(1 for _ in since) > MISSED + 1 or known_question(state, number, rater, time.time()) is not None:
        return None
    if asker.unfit(state, payload["slate"]) or state.steps[number]:
        return None
    known = {"query": number, "ahead": [found.question, last.event.number]}
    return replace(found.draft, payload={**payload, **known}, slot=f"asked:{number}")


def _supposed(one: Behind, said: Lesson) -> bool:
    asked, answer = said.question, said.answer
    same = asked is not None and asked.number == one.question and not said.infeasible and answer.kind == "best"
    return same and said.slate[answer.order[0]] == one.option
