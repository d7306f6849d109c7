"""Requests that wait for the same thread, worked on together: one transaction, one look at the log for all of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Turns(Generic[T, R]):
    """What comes while the thread is busy waits, and is then taken at once.

    Args:
        pool: of one thread.
        action: yields an outcome for the first of the items, at least one, in order; the rest is tried again.
        most: so many are taken at once.
    """

    def __init__(self, pool: ThreadPoolExecutor, action: Callable[[list[T]], Iterator[R | Exception]], most: int):
        self._pool, self._action, self._most = pool, action, most
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._lock, self._working = threading.Lock(), False

    async def take(self, item: T) -> R:
        """The outcome for ``item``; raises it if it is an error."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append((item, future))
            begin, self._working = not self._working, True
        if begin:
            self._pool.submit(self._work)
        return await future

    def _work(self) -> None:
        with self._lock:
            taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        done = 0
        try:
            for outcome, (_, future) in zip(self._action([item for item, _ in taken]), taken, strict=False):
                done += 1
                _deliver(future, outcome)
            if not done:
                raise RuntimeError("a turn without an outcome")
        except Exception as error:
            for _, future in taken[done:]:
                _deliver(future, error)
            done = len(taken)
        with self._lock:
            self._waiting[:0] = taken[done:]
            more = self._working = bool(self._waiting)
        if more:  # behind what else waits for the thread
            self._pool.submit(self._work)


def _deliver(future: asyncio.Future[R], outcome: R | Exception) -> None:
    future.get_loop().call_soon_threadsafe(_settle, future, outcome)


def _settle(future: asyncio.Future[R], outcome: R | Exception) -> None:
    if future.done():  # whoever asked has gone
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
