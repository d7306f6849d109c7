"""Every question computed once more from the log: is it the one that was asked?"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prefopt.errors import StudyError
from prefopt.kinds import counted
from prefopt.study.ahead import supposing
from prefopt.study.asking import Asker
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.limit import one_thread
from prefopt.study.storage import StudyRecord

#: What of a question is compared, besides its options.
PARTS = ("shown", "answer", "repeat_of", "again", "lapsed", "trial", "note")
#: What a question that was not computed again is called.
AS_ASKED = "as asked"
#: Why a question may differ although nobody touched the log.
REASONS = (
    "a question differs if the log was edited (or answers were erased on request), if the policy has changed since "
    "(another version of prefopt or of a library), if its horizon was (another budget), or if another processor "
    "rounds otherwise"
)


@dataclass(frozen=True)
class Replayed:
    """One question, or step without a person.

    Attributes:
        question: its number.
        event: the number of its event in the log.
        verdict: "same", "different", or "as asked" (options drawn at random because the policy ran out of time or
            failed then: this depends on the machine, and is taken as it was).
        why: what differs, or why it was not computed; "" if it is the same.
    """

    question: int
    event: int
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Replay:
    """What came of it; ``steps`` in order of the log."""

    steps: tuple[Replayed, ...]

    @property
    def matches(self) -> bool:
        """Whether nothing is different."""
        return all(step.verdict != "different" for step in self.steps)

    def lines(self) -> list[str]:
        """The result in sentences, first in total, then every question that is not the same."""
        count = {name: sum(step.verdict == name for step in self.steps) for name in ("same", "different", AS_ASKED)}
        total = (
            f"{counted(len(self.steps), 'question')} and automatic steps: {count['same']} computed again to the same"
        )
        total += f", {count['different']} different" + (
            f", {count[AS_ASKED]} taken as asked" if count[AS_ASKED] else ""
        )
        listed = [
            f"question {step.question} (event {step.event}): {step.verdict}, {step.why}"
            for step in self.steps
            if step.verdict != "same"
        ]
        return [total, *listed] if self.matches else [total, *listed, REASONS]


def replay(record: StudyRecord, events: Sequence[Event]) -> Replay:
    """Compute every question and every automatic step of a log again.

    A question was computed from the log up to some event before its own: another process may have written in between.
    Logs that do not say up to which (``after``) are tried from the latest possible one back to the question before.
    """
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that a policy failed is said by the verdict
        return Replay(tuple(_steps(record, list(events))))


class Reached:
    """The state of a study up to some event, and what drafts there."""

    def __init__(self, record: StudyRecord, events: Sequence[Event]) -> None:
        self.record, self.events = record, events
        self._begin()

    def _begin(self) -> None:
        self.state, self.asker, self._place = State(self.record), Asker(self.record), 0

    def go(self, until: int) -> None:
        """On to event number ``until``; or back, from the beginning."""
        if until < self.state.last:
            self._begin()
        while self._place < len(self.events) and self.events[self._place].number <= until:
            self.state.apply(self.events[self._place])
            self._place += 1

    def drafted(self, event: Event) -> Event | str:
        """What is asked here instead of ``event``, or why nothing is."""
        question, answer = event.payload.get("ahead") or (None, None)
        state, asker = self.state, self.asker
        try:
            if answer is not None:
                said = next(known for known in self.events if known.number == answer)
                state, asker = supposing(state, said), asker.fork(state)
            return asker.draft(state, event.rater, None, now=event.time, behind=question)
        except StudyError as error:
            return str(error)


def _steps(record: StudyRecord, events: list[Event]) -> Iterator[Replayed]:
    now, meanwhile, before = Reached(record, events), Reached(record, events), 0
    for place, event in enumerate(events):
        if event.kind not in ("asked", "auto"):
            continue
        number = event.payload["query"]
        if event.payload.get("fallback") or event.payload.get("late"):
            why = event.payload.get("note") or "there was no time for all draws of the policy"
            yield Replayed(number, event.number, AS_ASKED, why)
            before = place
            continue
        here = meanwhile if "ahead" in event.payload else now
        here.go(event.payload.get("after", event.number - 1))
        why = _difference(here.state, event, here.drafted(event))
        if why and "after" not in event.payload and _fits_earlier(record, events[:place], before, event):
            why = ""
        yield Replayed(number, event.number, "different" if why else "same", why)
        before = place


def _fits_earlier(record: StudyRecord, events: list[Event], before: int, event: Event) -> bool:
    for length in range(len(events) - 1, before, -1):
        here = Reached(record, events)
        here.go(events[length - 1].number)
        if not _difference(here.state, event, here.drafted(event)):
            return True
    return False


def _difference(state: State, event: Event, found: Event | str) -> str:
    """What of ``event`` is otherwise than of ``found``, or ""."""
    if isinstance(found, str):
        return f"nothing can be asked here: {found}"
    if found.payload.get("fallback"):
        return str(found.payload["note"])
    number = event.payload["query"] if "ahead" in event.payload else found.payload["query"]
    if (found.kind, number) != (event.kind, event.payload["query"]):
        kinds = {"asked": "a question", "auto": "a step without a person"}
        return f"the log has {kinds[event.kind]}, computed was {kinds[found.kind]} ({found.payload['query']})"
    asked, drafted = event.payload["slate"], found.payload["slate"]
    same = len(asked) == len(drafted) and all(map(state.options.same, asked, drafted))
    if not same:
        return f"asked were {_named(state, asked)}, computed {_named(state, drafted)}"
    for part in PARTS:
        was, computed = (json.dumps(one.payload.get(part)) for one in (event, found))  # as the log keeps it
        if was != computed:
            return f"{part} was {was}, computed {computed}"
    return ""


def _named(state: State, slate: list[Any]) -> str:
    return " | ".join(str(state.options.decode(option)) for option in slate)
