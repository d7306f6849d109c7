"""What options look like, drawn once each; a function of the user's that fails does not end the study."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prefopt.frontend.content import Content, content_of
from prefopt.study.question import Candidate

#: So many options are kept drawn.
DRAWN = 1000
#: What a rater reads when an option cannot be drawn; ``Drawings.problem`` says why.
BROKEN = "This option could not be shown. Skip the question, and say so."


class Drawings:
    """The contents of cards.

    Args:
        render: function of an option's parameters that gives what to show; see ``prefopt.frontend.content_of``.
        folder: where items of a list of options that name files are found.
    """

    def __init__(self, render: Callable[[Any], Any] | None = None, folder: Path | None = None) -> None:
        self.render, self.folder = render, folder
        self.problem = ""
        self._drawn: OrderedDict[str, Content] = OrderedDict()
        self._drawing = threading.Lock()

    def of(self, candidate: Candidate) -> Content:
        """What an option looks like."""
        key = json.dumps(candidate.params, sort_keys=True)
        with self._drawing:
            found = self._drawn.get(key)
            if found is None:
                found = self._drawn[key] = self._draw(candidate.params)
            self._drawn.move_to_end(key)
            while len(self._drawn) > DRAWN:
                self._drawn.popitem(last=False)
        return found

    def _draw(self, params: Any) -> Content:
        try:
            made = params if self.render is None else self.render(params)
            return content_of(params if made is None else made, folder=self.folder)
        except Exception as error:  # the person's function; the study goes on
            self.problem = f"{params!r} could not be shown: {type(error).__name__}: {error}"
            return Content("text", text=BROKEN)
