"""A question in the making, and the event that asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prefopt.errors import StudyError
from prefopt.study.events import Event
from prefopt.study.filling import Slate, distinct
from prefopt.study.fold import State
from prefopt.study.learner import SHOW, fresh_rng


@dataclass
class Draft:
    """A question in the making; options as in events."""

    slate: Slate
    note: str = ""
    fallback: bool = False
    repeat_of: int | None = None
    again: int | None = None  # the question that this one repeats in secret
    lapsed: int | None = None  # the question that this one stands for
    trial: tuple[int, int] | None = None  # the event of the validation round, and the place there
    late: bool = False  # whether the time was over before all draws of the policy were there
    cut: bool = False  # whether the policy's slate named options that cannot be made
    end: float | None = None  # when the policy's time is over, by ``time.monotonic``


def asked_event(
    state: State,
    made: Draft,
    number: int,
    rater: str | None,
    shown: Sequence[int] | None = None,
    key: int | None = None,
) -> Event:
    """The event that asks ``made`` as question ``number``.

    Args:
        state: everything known.
        made: the question.
        number: its number.
        rater: who is asked.
        shown: positions of its distinct options in the order on the screen; None for an order of its own at random.
        key: of the random streams, if it is not the number.

    Raises:
        StudyError: it is about less than two options.
    """
    options = len(distinct(state, made.slate))
    if options < 2:
        raise StudyError(f"study {state.record.name!r} found only one option that its constraints allow: enough")
    if shown is None:
        shown = fresh_rng(state.record, number if key is None else key, SHOW).permutation(options).tolist()
    payload: dict[str, Any] = {"query": number, "slate": made.slate, "shown": list(shown)}
    for name in ("note", "fallback", "late", "repeat_of", "again", "lapsed", "trial"):
        if getattr(made, name):
            payload[name] = getattr(made, name)
    return Event("asked", payload, slot=f"asked:{number}", rater=rater)
