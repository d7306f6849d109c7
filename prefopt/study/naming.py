"""From what a caller writes to events: questions, candidates and answers by name, checked at the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.errors import AnswerError, PrefoptError, StudyError
from prefopt.kinds import is_real, is_whole
from prefopt.space import Space
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.question import Candidate, Query
from prefopt.study.raters import Rater
from prefopt.study.said import Asked

#: So long may a rater's name or a token be.
LONGEST = 255


def number_of(query: Any) -> int:
    """The number of a question given as a ``Query`` or its number."""
    number = query.number if isinstance(query, Query) else query
    if not is_whole(number):
        raise StudyError(f"expected a Query or its number, got {query!r}")
    return int(number)


def check_text(**given: str | None) -> None:
    """Raise StudyError unless each of ``given`` is text that every database keeps, or None."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, str) and len(value) <= LONGEST and is_storable(value)):
            shown = repr(value) if len(repr(value)) <= LONGEST else repr(value)[:LONGEST] + "..."
            raise StudyError(f"{name} must be a text of at most {LONGEST} characters or None, got {shown}")


def is_storable(text: str) -> bool:
    """Whether a database keeps ``text``: it has no NUL, and no half of a character."""
    return "\0" not in text and text.encode("utf-8", "ignore").decode() == text


def check_rater(rater: str | Rater | None) -> None:
    """Raise StudyError unless ``rater`` is a ``Rater``, a text that every database keeps, or None."""
    check_text(rater=rater.id if isinstance(rater, Rater) else rater)


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


def parse_answer(asked: Asked, said: dict[str, Any], below: bool, infeasible: Any = ()) -> dict[str, Any]:
    """The payload of an answer to ``asked`` from the keywords of ``tell``, exactly one of ``said`` given.

    Raises:
        AnswerError: none or several given, or one that does not fit; names the question.
    """
    given = [kind for kind, value in said.items() if value is not None and value is not False]
    where = f"question {asked.number} (candidates {list(asked.candidates)})"
    try:
        out = _infeasible(asked, infeasible)
        if len(given) != 1 and not (out and not given):
            raise AnswerError(
                f"give exactly one of best, worst, ranking, tie, pairs or skip, got {given or 'none of them'}"
            )
        kind = given[0] if given else "skip"
        answer = _answer(asked, kind, said[kind] if given else "", below, out)
    except AnswerError as error:
        raise AnswerError(f"{where}: {error}") from None
    payload = {"query": asked.number, "answer": answer.to_json()}
    return payload | ({"infeasible": out} if out else {})


def _answer(asked: Asked, kind: str, value: Any, below: bool, out: list[int]) -> Answer:
    """The answer about the candidates that are left without those at the positions ``out``; a skip is about all."""
    if kind == "skip":
        return Answer.skip("" if value is True else _text(value), len(asked.candidates))
    left = [i for p, i in enumerate(asked.candidates) if p not in out]
    if len(left) < 2:
        raise AnswerError(f"without the infeasible ones there is nothing to compare; leave out {kind}")
    if kind in ("best", "worst"):
        position = _position(left, value)
        return Answer.best(position, len(left)) if kind == "best" else Answer.worst(position, len(left))
    if kind == "ranking":
        return _ranking(left, value, below)
    if kind == "pairs":
        return _pairs(asked, value, out)
    if value is not True:
        raise AnswerError(f"tie must be True, got {value!r}")
    return Answer.tie(len(left))


def _infeasible(asked: Asked, named: Any) -> list[int]:
    if not isinstance(named, list | tuple | set):
        raise AnswerError(f"infeasible is a list of candidates, got {named!r}")
    return sorted({_position(asked.candidates, one) for one in named})


def answer_event(
    asked: Asked, payload: dict[str, Any], rater: str | None, seconds: float | None, token: str | None
) -> Event:
    """The event of an answer (``parse_answer``); its slot makes it the only answer until it is undone."""
    if seconds is not None and not _is_duration(seconds):
        raise AnswerError(f"question {asked.number}: seconds must be a number of at least 0, got {seconds!r}")
    return Event(
        "answered",
        payload,
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
    if is_whole(number):
        if not 0 <= number < len(state.options):
            raise AnswerError(f"there is no candidate {number}; ids go from 0 to {len(state.options) - 1}")
        return state.options.option(int(number))
    try:
        return state.options.encode(named)
    except PrefoptError as error:
        raise AnswerError(f"comparison names {named!r}: {error}") from None


def _position(candidates: Sequence[int], named: Any) -> int:
    number = named.id if isinstance(named, Candidate) else named
    if not is_whole(number):
        raise AnswerError(f"expected a candidate or its id, got {named!r}")
    if number not in candidates:
        raise AnswerError(f"candidate {number} is not in the question, or infeasible")
    return candidates.index(int(number))


def _ranking(candidates: Sequence[int], value: Any, below: bool) -> Answer:
    if not isinstance(value, list | tuple):
        raise AnswerError(f"a ranking is a list of candidates from best to worst, got {value!r}")
    positions = [_position(candidates, named) for named in value]
    for place, position in enumerate(positions):
        if position in positions[:place]:
            raise AnswerError(f"candidate {candidates[position]} is ranked twice: it cannot beat itself")
    return Answer.ranking(positions, len(candidates), below=below)


def _pairs(asked: Asked, value: Any, out: list[int]) -> Answer:
    answer = Answer.pairs(value)
    if answer.size != len(asked.candidates):
        raise AnswerError(f"the pair matrix has {answer.size} rows, the question {len(asked.candidates)} candidates")
    left = [p for p in range(answer.size) if p not in out]
    return Answer.pairs(np.array(answer.matrix)[np.ix_(left, left)])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise AnswerError(f"skip takes the reason as text, or True, got {value!r}")
    return value


def _is_duration(value: Any) -> bool:
    return is_real(value) and value >= 0
