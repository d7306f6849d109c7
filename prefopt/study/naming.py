"""From what a caller writes to events: questions, candidates and answers by name, checked at the border."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.errors import AnswerError, PrefoptError, StudyError
from prefopt.space import Space
from prefopt.study.events import Event
from prefopt.study.fold import Asked, State
from prefopt.study.question import Candidate, Query

#: So long may a rater's name or a token be.
LONGEST = 255


def number_of(query: Any) -> int:
    """The number of a question given as a ``Query`` or its number."""
    number = query.number if isinstance(query, Query) else query
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise StudyError(f"expected a Query or its number, got {query!r}")
    return int(number)


def check_text(**given: str | None) -> None:
    """Raise StudyError unless each of ``given`` is text of a length that every database keeps, or None."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, str) and len(value) <= LONGEST):
            shown = repr(value) if len(repr(value)) <= LONGEST else repr(value)[:LONGEST] + "..."
            raise StudyError(f"{name} must be a text of at most {LONGEST} characters or None, got {shown}")


def check_timeout(timeout: float | None) -> None:
    """Raise StudyError unless ``timeout`` is a number of seconds, or None."""
    if timeout is not None and not _is_duration(timeout):
        raise StudyError(f"timeout must be a number of seconds of at least 0, or None for no limit, got {timeout!r}")


def asked_question(state: State, query: Any) -> Asked:
    """The question as asked.

    Raises:
        StudyError: it was not asked in this study.
    """
    number = number_of(query)
    asked = state.questions.get(number)
    if asked is None:
        raise StudyError(
            f"study {state.record.name!r} has not asked a question {number}; it asked {len(state.questions)} so far"
        )
    if isinstance(query, Query) and query.ids != asked.candidates:
        raise StudyError(
            f"question {number} of study {state.record.name!r} was about candidates {list(asked.candidates)}, this "
            f"one is about {list(query.ids)}: it comes from another study"
        )
    return asked


def parse_answer(asked: Asked, said: dict[str, Any], below: bool) -> Answer:
    """The answer to ``asked`` from the keywords of ``tell``, exactly one of them given.

    Raises:
        AnswerError: none or several given, or one that does not fit; names the question.
    """
    given = [kind for kind, value in said.items() if value is not None and value is not False]
    where = f"question {asked.number} (candidates {list(asked.candidates)})"
    if len(given) != 1:
        raise AnswerError(
            f"{where}: give exactly one of best, worst, ranking, tie, pairs or skip, got {given or 'none of them'}"
        )
    kind, value, size = given[0], said[given[0]], len(asked.candidates)
    try:
        if kind in ("best", "worst"):
            position = _position(asked, value)
            return Answer.best(position, size) if kind == "best" else Answer.worst(position, size)
        if kind == "ranking":
            return _ranking(asked, value, below)
        if kind == "pairs":
            return _pairs(asked, value)
        if kind == "tie":
            if value is not True:
                raise AnswerError(f"tie must be True, got {value!r}")
            return Answer.tie(size)
        return Answer.skip("" if value is True else _text(value), size)
    except AnswerError as error:
        raise AnswerError(f"{where}: {error}") from None


def answer_event(asked: Asked, answer: Answer, rater: str | None, seconds: float | None, token: str | None) -> Event:
    """The event of ``answer``; its slot makes it the only answer until it is undone."""
    if seconds is not None and not _is_duration(seconds):
        raise AnswerError(f"question {asked.number}: seconds must be a number of at least 0, got {seconds!r}")
    return Event(
        "answered",
        {"query": asked.number, "answer": answer.to_json()},
        slot=f"answered:{asked.number}:{asked.undone}",
        rater=asked.event.rater if rater is None else rater,
        seconds=None if seconds is None else float(seconds),
        token=token,
    )


def comparison_event(state: State, winner: Any, loser: Any, rater: str | None, token: str | None) -> Event:
    """The event of a comparison made elsewhere.

    Raises:
        AnswerError: an unknown candidate, or one compared with itself.
    """
    slate = [_option(state, winner), _option(state, loser)]
    if state.options.same(*slate):
        raise AnswerError(f"comparison of {winner!r} with {loser!r}: an option cannot be compared with itself")
    return Event("compared", {"slate": slate, "answer": Answer.duel(0).to_json()}, rater=rater, token=token)


def own_idea(state: State, params: Any) -> dict[str, Any]:
    """The payload of an own idea: a new item of a list of arms, or an option of the space.

    Raises:
        DomainError: outside of the space, or no name, number, path or record.
    """
    if state.options.extends(params):
        return {"label": Space.arms([params]).items[0]}  # as plain values that can be written down
    return {"option": state.options.encode(params)}


def _option(state: State, named: Any) -> Any:
    if isinstance(named, Candidate) and named.id is None:
        named = named.params
    number = named.id if isinstance(named, Candidate) else named
    if isinstance(number, int | np.integer) and not isinstance(number, bool):
        if not 0 <= number < len(state.options):
            raise AnswerError(f"there is no candidate {number}; ids go from 0 to {len(state.options) - 1}")
        return state.options.option(int(number))
    try:
        return state.options.encode(named)
    except PrefoptError as error:
        raise AnswerError(f"comparison names {named!r}: {error}") from None


def _position(asked: Asked, named: Any) -> int:
    number = named.id if isinstance(named, Candidate) else named
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise AnswerError(f"expected a candidate or its id, got {named!r}")
    if number not in asked.candidates:
        raise AnswerError(f"candidate {number} is not in the question")
    return asked.candidates.index(int(number))


def _ranking(asked: Asked, value: Any, below: bool) -> Answer:
    if not isinstance(value, list | tuple):
        raise AnswerError(f"a ranking is a list of candidates from best to worst, got {value!r}")
    positions = [_position(asked, named) for named in value]
    for place, position in enumerate(positions):
        if position in positions[:place]:
            raise AnswerError(f"candidate {asked.candidates[position]} is ranked twice: it cannot beat itself")
    return Answer.ranking(positions, len(asked.candidates), below=below)


def _pairs(asked: Asked, value: Any) -> Answer:
    answer = Answer.pairs(value)
    if answer.size != len(asked.candidates):
        raise AnswerError(f"the pair matrix has {answer.size} rows, the question {len(asked.candidates)} candidates")
    return answer


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise AnswerError(f"skip takes the reason as text, or True, got {value!r}")
    return value


def _is_duration(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0
