"""Limits for a pure computation: of time, and of threads."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


def seconds_left(end: float | None) -> float | None:
    """Seconds until ``end`` by ``time.monotonic``, at least 0 and not more than a thread can wait; None without end."""
    return None if end is None else min(max(0.0, end - time.monotonic()), threading.TIMEOUT_MAX)


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


class OneThread:
    """Linear algebra on one thread while anybody is inside.

    The matrices of a study are so small that more threads mostly wait for each other; and how many there are may
    decide how a sum is rounded.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limits: Any = None
        self._controller, self._modules = ThreadpoolController(), len(sys.modules)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Inside, one thread; the limits of before return when the last one leaves."""
        with self._lock:
            if not self._inside:
                if self._modules != len(sys.modules):  # to look for libraries takes milliseconds
                    self._controller, self._modules = ThreadpoolController(), len(sys.modules)
                self._limits = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._limits.restore_original_limits()


one_thread = OneThread()


def _outcome(action: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return action(), None
    except Exception as error:
        return None, error
