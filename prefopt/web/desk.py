"""Everything the server does with a study, without HTTP: whose question it is, what it looks like, what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from prefopt.frontend import answer_keywords, question_message
from prefopt.frontend.drawing import Drawings
from prefopt.frontend.screen import screen_of, take_back
from prefopt.study import Study
from prefopt.study.question import Query
from prefopt.study.raters import Rater
from prefopt.study.together import Telling, UnknownToken
from prefopt.web.background import Background
from prefopt.web.media import Media


class Denied(Exception):
    """The token is nobody's, or not of somebody who may do this."""


class Desk:
    """A study as a server needs it.

    Questions, answers and reading go through objects of their own on the same log, so that no answer waits for a
    model: one that was told is on disk before any policy hears of it.

    Args:
        study: kept in a file or database if several are to be served at once.
        render: function of an option's parameters that gives what to show; see ``prefopt.frontend.content_of``.
        folder: where items of a list of options that name files are found.
        timeout: seconds the policy may take for a question.
    """

    def __init__(
        self,
        study: Study,
        render: Callable[[Any], Any] | None = None,
        folder: Path | None = None,
        timeout: float | None = None,
    ) -> None:
        self.asking, self.telling, self.reading = study, study.twin(), study.twin()
        self.timeout, self.drawings = timeout, Drawings(render, folder)
        self.media, self.background = Media(), Background(study, self.reading, render and self.drawings.of)

    def close(self) -> None:
        """End the work behind the scenes and remove the files made."""
        self.background.close()
        self.media.close()

    def screens(self, tokens: Sequence[str]) -> Iterator[dict[str, Any] | Exception]:
        """What the raters with these tokens see now; ``Denied`` where no active rater has it.

        Ends early, after at least one, if the policy takes long: the others are better asked for anew.
        """
        visits = self.asking.visits(tokens)
        screens = [visit and screen_of(visit[1], lambda: self.background.enough, lambda: None) for visit in visits]
        pairs = zip(visits, screens, strict=True)
        wanting = [visit[0] for visit, screen in pairs if visit and screen and screen["state"] == "question"]
        self.background.busy = True
        try:
            asked = iter(self.asking.ask_some(wanting, self.timeout, seen=True) if wanting else ())
        finally:
            self.background.busy = False
        for screen in screens:
            if screen is None:
                yield Denied()
            elif screen["state"] != "question":
                yield screen
            elif (query := next(asked, None)) is None:
                return
            else:
                yield query if isinstance(query, Exception) else screen | {"question": self._shown(query)}

    def _shown(self, query: Query) -> Any:
        self.background.look_ahead(query)
        return self.message(query)

    def message(self, query: Query) -> Any:
        """The question as the page takes it; raises no error for what a render function does wrong."""
        contents = [self.drawings.of(candidate) for candidate in query.shown]
        return question_message(query.number, self.asking.question, contents, self.media.place)

    def answers(self, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Exception | None]:
        """Keep what raters said; when this yields it is on disk, and each counts once.

        Args:
            entries: a token each, and ``id`` (the client's own mark), ``question``, ``kind``, ``options``,
                ``infeasible``, ``reason``, ``seconds``; see ``prefopt.frontend.answer_keywords``.

        Yields:
            None, or why the answer is refused: Denied if no active rater has the token or the question is another
            rater's, AnswerError if what was said does not fit the question, StudyError if there is no such question
            or it has another answer already.
        """
        made = [Telling(token, entry["question"], partial(_said, entry)) for token, entry in entries]
        for error in self.telling.tell_all(made):
            yield Denied() if isinstance(error, UnknownToken) else error
        self.background.think()

    def undo(self, token: str, question: int) -> None:
        """Take back the rater's answer to ``question`` if it is the rater's last; a second time changes nothing.

        Raises:
            Denied: no active rater has the token.
            StudyError: the rater's last answer is to another question.
        """
        study, rater = self.telling, _rater(self.telling, token)
        if study.progress(rater).last != question and study.find(question).rater != rater.id:
            raise Denied
        if take_back(study, rater, question):
            self.background.think()

    def put_back(self, question: int) -> None:
        """Restore the answer to ``question``: one that was taken back, or one that was removed.

        Raises:
            StudyError: there is neither.
        """
        study = self.telling
        row = next((r for r in study.history() if r["question"] == question and r["status"] != "automatic"), None)
        if row is not None and row["excluded"]:
            study.restore_answer(question)
        else:
            study.restore(question)
        self.background.think()


def _said(entry: Mapping[str, Any], rater: Rater, query: Query) -> dict[str, Any]:
    if query.rater != rater.id:
        raise Denied
    said: dict[str, Any] = answer_keywords(entry, query.shown_order)
    mark = f"{rater.id}:{entry['id']}"[:255]
    return said | {"rater": rater, "seconds": entry.get("seconds"), "token": mark}


def _rater(study: Study, token: str) -> Rater:
    rater = study.rater_by_token(token)
    if rater is None:
        raise Denied
    return rater
