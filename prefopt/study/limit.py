"""A time limit for a pure computation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


def seconds_left(end: float | None) -> float | None:
    """Seconds until ``end`` by ``time.monotonic``, at least 0; None if there is no end."""
    return None if end is None else max(0.0, end - time.monotonic())


class TimeLimit:
    """Runs something for at most so many seconds; what runs longer ends in the background.

    A computation cut short changes nothing but caches, so it may end unattended; the next one waits for it,
    because two at once would share these caches.
    """

    def __init__(self) -> None:
        self._late: threading.Thread | None = None

    def wait(self, seconds: float | None) -> None:
        """Wait until nothing runs in the background; raises TimeoutError after ``seconds``."""
        if self._late is not None:
            self._late.join(seconds)
            if self._late.is_alive():
                raise TimeoutError
            self._late = None

    def run(self, action: Callable[[], Any], seconds: float | None) -> Any:
        """The result of ``action()``; raises TimeoutError after ``seconds``."""
        if seconds is None:
            return action()
        box: list[Any] = []
        worker = threading.Thread(target=lambda: box.extend(_outcome(action)), daemon=True)
        worker.start()
        worker.join(seconds)
        if worker.is_alive():
            self._late = worker
            raise TimeoutError
        result, error = box
        if error is not None:
            raise error
        return result


def _outcome(action: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return action(), None
    except Exception as error:
        return None, error
