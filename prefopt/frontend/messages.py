"""The messages between a question and the page or widget that shows it, the same for both.

Options go by their position on the screen, counted from 0: a candidate's number would tell which ones are new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prefopt.errors import AnswerError
from prefopt.frontend.content import Content
from prefopt.kinds import is_whole

#: Kinds of answer that a person can give.
KINDS = ("best", "worst", "ranking", "tie", "skip")


def question_message(number: int, text: str, contents: Sequence[Content], place: Callable[[Content], str]) -> Any:
    """What the page needs to know of a question, JSON-able.

    Args:
        number: of the question.
        text: the sentence put to the person.
        contents: what the options look like, in the order to show them.
        place: gives the address under which the page finds the source of a content.

    >>> question_message(3, "Which?", [Content("text", text="tea")], lambda content: "")
    {'number': 3, 'text': 'Which?', 'cards': [{'kind': 'text', 'text': 'tea'}]}
    """
    return {"number": number, "text": text, "cards": [_card(content, place) for content in contents]}


def _card(content: Content, place: Callable[[Content], str]) -> dict[str, Any]:
    if content.kind == "table":
        return {"kind": "table", "rows": [list(row) for row in content.rows]}
    if content.source is None:
        return {"kind": content.kind, "text": content.text}
    return {"kind": content.kind, "url": place(content)}


def answer_keywords(message: Mapping[str, Any], shown: Sequence[int]) -> dict[str, Any]:
    """The keywords of ``Study.tell`` for an answer that a page or widget sent.

    Args:
        message: ``kind`` (one of ``KINDS``), ``options`` (positions on the screen: the one of best and worst, the
            order of a ranking), ``infeasible`` (positions of options that could not be shown), ``reason``.
        shown: candidate ids in the order on the screen.

    Raises:
        AnswerError: an unknown kind, or positions that are none.

    >>> answer_keywords({"kind": "best", "options": [1]}, [40, 7])
    {'best': 7}
    """
    kind, infeasible = message.get("kind"), _named(message.get("infeasible", ()), shown)
    options = _named(message.get("options", ()), shown)
    if kind in ("best", "worst"):
        if len(options) != 1:
            raise AnswerError(f"{kind} names one option, got {len(options)}")
        said: dict[str, Any] = {kind: options[0]}
    elif kind == "ranking":
        said = {"ranking": options}
    elif kind in ("tie", "skip"):
        if options:
            raise AnswerError(f"{kind} names no option, got {len(options)}")
        said = {"tie": True} if kind == "tie" else {"skip": str(message.get("reason") or "")}
    else:
        raise AnswerError(f"expected an answer of kind {', '.join(KINDS)}, got {kind!r}")
    return said | ({"infeasible": infeasible} if infeasible else {})


def _named(positions: Any, shown: Sequence[int]) -> list[int]:
    if not isinstance(positions, list | tuple):
        raise AnswerError(f"options are a list of positions on the screen, got {positions!r}")
    for position in positions:
        if not is_whole(position) or not 0 <= position < len(shown):
            raise AnswerError(f"positions on the screen go from 0 to {len(shown) - 1}, got {position!r}")
    return [shown[int(position)] for position in positions]
