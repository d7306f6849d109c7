"""Requests that wait are worked on together, in order, and everybody gets the own outcome."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from prefopt.web.turns import Turns


def run_with_a_thread(scenario):
    """``scenario(pool)`` in a loop of its own: that of this thread may be the browser's."""
    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(lambda: asyncio.run(scenario(pool))).result(60)


def run(action, items, most=8):
    async def all_of_them(pool):
        turns = Turns(pool, action, most)
        return await asyncio.gather(*(turns.take(item) for item in items), return_exceptions=True)

    return run_with_a_thread(all_of_them)


def test_what_waits_is_taken_together():
    taken = []

    def doubled(items):
        taken.append(items)
        yield from [2 * item for item in items]

    assert run(doubled, range(20)) == [2 * i for i in range(20)]
    assert [x for some in taken for x in some] == list(range(20)) and max(map(len, taken)) == 8 and len(taken) <= 5


def test_what_is_left_over_is_tried_again_in_order():
    taken = []

    def two(items):
        taken.extend(items[:2])
        yield from items[:2]

    assert run(two, range(7)) == list(range(7)) == taken


def test_an_error_is_only_that_of_its_request():
    def picky(items):
        yield from [ValueError(item) if item % 3 == 0 else item for item in items]

    found = run(picky, range(6))
    assert [type(one) for one in found] == [ValueError, int, int, ValueError, int, int]


def test_an_action_that_fails_ends_the_waiting():
    def broken(items):
        yield items[0]
        raise KeyError("gone")

    found = run(broken, range(5))
    assert found[0] == 0 and all(isinstance(one, KeyError) for one in found[1:5] if not isinstance(one, int))
    assert any(isinstance(one, KeyError) for one in found)
    assert all(isinstance(one, RuntimeError) for one in run(lambda items: iter(()), range(3)))


def test_who_went_away_disturbs_nobody():
    async def scenario(pool):
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(items):
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(10)
            yield from items

        turns = Turns(pool, slow, 8)
        first, second = (asyncio.create_task(turns.take(i)) for i in range(2))
        await asyncio.sleep(0)
        first.cancel()
        gate.set()
        assert await second == 1
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await turns.take(3) == 3

    run_with_a_thread(scenario)
