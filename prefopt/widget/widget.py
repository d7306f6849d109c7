"""The widget: every message of the module in the notebook is answered at once, no cell waits."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from prefopt.errors import MissingDependency, PrefoptError
from prefopt.frontend import FOLDER, Content, answer_keywords, question_message
from prefopt.frontend.drawing import Drawings
from prefopt.frontend.screen import screen_of, take_back
from prefopt.study import Study
from prefopt.study.raters import Rater

try:
    import anywidget
    import traitlets
except ImportError as missing:
    raise MissingDependency("anywidget", "notebook", "a study in a notebook") from missing


class StudyWidget(anywidget.AnyWidget):
    """Asks the questions of ``study`` in the output of a cell; every answer is kept as soon as it is given.

    Running the cell again goes on with the open question. The study can be read meanwhile: ``study.recommend()``,
    ``study.plot()``.

    Args:
        study: in memory or in a file; see ``create_study``.
        render: function of an option's parameters that gives what to show (text, ``Markdown``, ``Html``, a ``Path``, a
            picture's bytes, a matplotlib figure, or anything that a notebook displays); None shows a table.
        rater: who answers; None for the one person without a name.
        folder: where items of a list of options that name files are found.
        timeout: seconds the policy may take for a question.

    >>> from prefopt import create_study
    >>> widget = StudyWidget(create_study(["tea", "coffee", "cocoa"], seed=1))
    >>> widget.ask()["question"]["cards"][0]["kind"]
    'text'
    """

    _esm = FOLDER / "ask.js"
    _css = FOLDER / "ask.css"
    #: Under this name the browser keeps answers that could not be sent.
    key = traitlets.Unicode().tag(sync=True)
    #: Answers so far, for ``widget.observe(..., "answered")``.
    answered = traitlets.Int(0)

    def __init__(
        self,
        study: Study,
        render: Callable[[Any], Any] | None = None,
        *,
        rater: str | Rater | None = None,
        folder: str | Path | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(key=f"{study.name}-{study.record.seed}-{study.record.created}")
        self.study, self.rater, self.timeout = study, rater, timeout
        self.drawings = Drawings(render, None if folder is None else Path(folder))
        self.answered = study.answered
        self.on_msg(self._called)

    def ask(self) -> dict[str, Any]:
        """What is on the screen now: the open question or the next one, or that there is none."""
        return screen_of(self.study.progress(self.rater), lambda: self.study.enough, self._question)

    def _question(self) -> Any:
        query = self.study.ask(self.rater, timeout=self.timeout)
        contents = [self.drawings.of(candidate) for candidate in query.shown]
        return question_message(query.number, self.study.question, contents, data_url)

    def answer(self, entry: Mapping[str, Any]) -> None:
        """Keep what was said; twice the same ``entry["id"]`` counts once.

        Raises:
            AnswerError: what was said does not fit the question.
            StudyError: there is no such question, or it has another answer already.
        """
        study = self.study
        query = study.find(entry["question"])
        said = answer_keywords(entry, query.shown_order)
        study.tell(query, **said, rater=self.rater, seconds=entry.get("seconds"), token=f"widget:{entry['id']}"[:255])
        self.answered = study.answered

    def undo(self, entry: Mapping[str, Any]) -> None:
        """Take back the last answer, if it is to ``entry["question"]``; a second time changes nothing.

        Raises:
            StudyError: the last answer is to another question.
        """
        if take_back(self.study, self.rater, entry["question"]):
            self.answered = self.study.answered

    def _called(self, _: Any, message: Mapping[str, Any], __: Any) -> None:
        """Answer a call of the module; an error is its to show, the kernel goes on."""
        calls: dict[str, Callable[[Any], Any]] = {"ask": lambda _: self.ask(), "answer": self.answer, "undo": self.undo}
        reply: dict[str, Any] = {"call": message.get("call")}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nobody reads what a comm prints; the question carries its note
                reply["reply"] = calls[message["name"]](message.get("entry"))
        except Exception as error:
            known = isinstance(error, PrefoptError)
            text = str(error) if known else f"{type(error).__name__}: {error}"
            reply["error"] = {"message": text, "final": True}
        self.send(reply)


def data_url(content: Content) -> str:
    """The source of ``content`` as an address that carries it along.

    >>> data_url(Content("html", source=b"<b>", media_type="text/html"))
    'data:text/html;base64,PGI+'
    """
    source = content.source
    if source is None:
        return ""
    data = source.read_bytes() if isinstance(source, Path) else source
    return f"data:{content.media_type};base64,{base64.b64encode(data).decode()}"
