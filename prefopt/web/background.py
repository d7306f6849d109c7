"""What is worked out while people look at their questions: the next ones, and whether there are enough answers."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from prefopt.study import Study
from prefopt.study.question import Query

#: To see whether there are enough answers takes t seconds; it is seen again after so many times t, and after so many
#: more if answers came more than ``RUSH`` times meanwhile: then they need the processor.
REST, REST_IN_A_RUSH, RUSH = 5.0, 30.0, 10
#: What follows the questions of so many raters is drafted; more cannot be had in time.
MOST = 8


class Background:
    """A thread that is always behind and never in the way.

    Args:
        asking: the study that questions are asked of; its next questions are drafted.
        reading: another object on the same study, to see whether there are enough answers.
        draw: makes the pictures of an option; None if that takes no time.
    """

    def __init__(self, asking: Study, reading: Study, draw: Callable[[Any], Any] | None) -> None:
        self.enough = ""
        self._asking, self._reading, self._draw = asking, reading, draw
        self._said = 0  # how often something was, since it was seen whether that is enough
        self.busy = False  # whether somebody waits for a question
        self._queries: OrderedDict[str | None, Query] = OrderedDict()
        self._news, self._closed = threading.Event(), threading.Event()
        self._news.set()
        self._thread = threading.Thread(target=self._work, daemon=True, name="prefopt-background")
        self._thread.start()

    def look_ahead(self, query: Query) -> None:
        """The rater of ``query`` looks at it from now on; of more than ``MOST`` raters the last ones count."""
        self._queries[query.rater] = query
        while len(self._queries) > MOST:
            with suppress(KeyError):
                self._queries.popitem(last=False)
        self._news.set()

    def think(self) -> None:
        """Something was said."""
        self._said += 1
        self._news.set()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._news.set()
        self._thread.join(5)

    def _work(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a policy that fails here fails again where somebody is told
            again, late = 0.0, False  # when to see next whether there are enough answers, and whether that waits
            while self._news.wait(max(0.0, again - time.monotonic()) if late else None) or late:
                if self._closed.is_set():
                    return
                self._news.clear()
                self._quietly(self._prepare)
                began, late = time.monotonic(), time.monotonic() < again
                if not late:
                    self._quietly(self._see_whether_enough)
                    rest = REST_IN_A_RUSH if self._said > RUSH else REST
                    again, self._said = time.monotonic() + rest * (time.monotonic() - began), 0

    def _prepare(self) -> None:
        while self._queries and not self._closed.is_set():
            with suppress(KeyError):
                self._prepare_behind(self._queries.popitem(last=False)[1])

    def _prepare_behind(self, query: Query) -> None:
        if self._draw is None and self._asking.quick:
            return

        def until() -> bool:
            return self.busy or self._closed.is_set() or query.rater in self._queries

        for candidate in self._asking.prepare(query, until):
            if self._draw is not None:
                self._draw(candidate)

    def _see_whether_enough(self) -> None:
        self.enough = self._reading.enough

    def _quietly(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception:  # nothing here is needed: ask() works it out itself, and says what is wrong
            self.enough = ""
