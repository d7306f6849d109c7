"""Everything the server does with a study, without HTTP: whose question it is, what it looks like, what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from prefopt.frontend import answer_keywords, question_message
from prefopt.frontend.drawing import Drawings
from prefopt.frontend.screen import screen_of, take_back
from prefopt.study import Study
from prefopt.study.question import Query
from prefopt.study.raters import Rater
from prefopt.web.behind import Behind
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
        self.media, self.behind = Media(), Behind(study, self.reading, self.drawings.of)

    def close(self) -> None:
        """End the work behind the scenes and remove the files made."""
        self.behind.close()
        self.media.close()

    def screen(self, token: str) -> dict[str, Any]:
        """What the rater with this token sees now.

        Raises:
            Denied: no active rater has it.
        """
        rater = _rater(self.asking, token)

        def question() -> Any:
            query = self.asking.ask(rater, timeout=self.timeout)
            self.behind.look_ahead(query)
            return self.message(query)

        return screen_of(self.asking, rater, lambda: self.behind.enough, question)

    def message(self, query: Query) -> Any:
        """The question as the page takes it; raises no error for what a render function does wrong."""
        contents = [self.drawings.of(candidate) for candidate in query.shown]
        return question_message(query.number, self.asking.question, contents, self.media.place)

    def answer(self, token: str, entry: Mapping[str, Any]) -> None:
        """Keep what the rater with this token said; when this returns it is on disk, and it counts once.

        Args:
            token: the rater's.
            entry: ``id`` (the client's own mark), ``question``, ``kind``, ``options``, ``infeasible``, ``reason``,
                ``seconds``; see ``prefopt.frontend.answer_keywords``.

        Raises:
            Denied: no active rater has the token, or the question is another rater's.
            AnswerError: what was said does not fit the question.
            StudyError: there is no such question, or it has another answer already.
        """
        study, rater = self.telling, _rater(self.telling, token)
        query = study.find(entry["question"])
        if query.rater != rater.id:
            raise Denied
        said = answer_keywords(entry, query.shown_order)
        study.tell(query, **said, rater=rater.id, seconds=entry.get("seconds"), token=f"{rater.id}:{entry['id']}"[:255])
        self.behind.think()

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
            self.behind.think()

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
        self.behind.think()


def _rater(study: Study, token: str) -> Rater:
    rater = study.rater_by_token(token)
    if rater is None:
        raise Denied
    return rater
