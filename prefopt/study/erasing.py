"""What a rater wants erased: the only thing that ever changes what is in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from prefopt.study.events import Event

#: Kinds of event that are a rater's answers.
ANSWERS = ("answered", "compared")


def erased(events: Sequence[Event], who: str, answers: str) -> list[Event]:
    """The events that change, and last a new one that says so.

    Args:
        events: the log.
        who: the rater's id.
        answers: "keep" or "erase".
    """
    taken = {event.rater for event in events}
    if who not in taken:
        return []
    number = next(n for n in range(1, len(events) + 2) if f"erased {n}" not in taken)
    new = f"erased {number}"
    changed = [_without(event, new, answers) for event in events if event.rater == who]
    return [*changed, Event("rater", {"change": "erased", "answers": answers}, rater=new)]


def _without(event: Event, new: str, answers: str) -> Event:
    """``event`` without what tells who it was."""
    event = replace(event, rater=new, token=None)
    if event.kind == "rater":
        left: dict[str, Any] = {"change": event.payload["change"]}
        left |= {"reason": ""} if event.payload["change"] == "removed" else {}
        return replace(event, payload=left, slot="")
    if event.kind not in ANSWERS:
        return event
    if answers == "erase":
        left = {key: event.payload[key] for key in ("query", "slate") if key in event.payload}
        return replace(event, kind="erased", payload=left, seconds=None)
    said = {key: value for key, value in event.payload["answer"].items() if key != "reason"}
    return replace(event, payload={**event.payload, "answer": said})
