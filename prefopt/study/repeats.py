"""Questions that no policy chose: asked once more, in secret or because their time has passed, or to validate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from prefopt.seeding import stream
from prefopt.study.drafts import Draft, asked_event
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.learner import REPEAT
from prefopt.study.said import Asked

#: A repeat is not among the next so many questions.
APART = 2
#: What the random stream (seed, rater, REPEAT, purpose, ...) is for.
WHEN, WHICH = range(2)


def known_question(state: State, number: int, rater: str | None, now: float) -> Event | None:
    """The event that asks, as question ``number``, what no policy has to choose; None if it is not time for that."""
    if (trial := next_trial(state)) is not None:
        return asked_event(state, trial, number, rater)
    late = lapsed(state, rater, now)
    again = late or due(state, rater)
    if again is None:
        return None
    slate = [state.options.option(i) for i in again.candidates]
    if late is not None:
        return asked_event(state, Draft(slate, lapsed=again.number, trial=again.trial), number, rater)
    shown = None
    if again.event.rater == rater:  # the sides are swapped
        shown = [again.candidates.index(i) for i in reversed(again.shown)]
    return asked_event(state, Draft(slate, again=again.number), number, rater, shown)


def next_trial(state: State) -> Draft | None:
    """The next comparison of the validation round under way."""
    left, event = state.trials_left(), state.round
    if not left or event is None:
        return None
    slate = [event.payload["recommended"], event.payload["trials"][left[0]][1]]
    return Draft(slate, trial=(event.number, left[0]))


def due(state: State, rater: str | None) -> Asked | None:
    """The question to ask again to ``rater`` now, or None.

    One in every 1/share questions is a repeat, at a random place. If there is nothing to repeat yet, the next one is.
    """
    mine = state.asked_of(rater)
    repeats, shared = _repeated(state, mine, rater)
    who = state.register.place(rater)
    share, overlap = state.conduct.repeats_for(rater), state.conduct.overlap
    if _wanted(state, share, who, len(mine) + 1, 0) > len(repeats):
        chosen = _one_of(state, list(own(state, mine, repeats)), who, len(mine))
        if chosen is not None:
            return chosen
    if _wanted(state, overlap, who, len(mine) + 1, 1) > len(shared):
        return _one_of(state, list(others(state, mine, rater)), who, len(mine))
    return None


def lapsed(state: State, rater: str | None, now: float) -> Asked | None:
    """The oldest open question of another rater that has been reserved for too long by ``now`` (seconds since 1970)."""
    lease = state.conduct.lease
    if lease is None:
        return None
    out = state.infeasible()
    for asked in state.waiting():
        if asked.event.rater != rater and asked.again is None:
            late = now - asked.event.time > lease or not state.raters.counts(asked.event.rater)
            if late and not out.intersection(asked.candidates):
                return asked
    return None


def own(state: State, mine: Sequence[Asked], repeats: Sequence[int]) -> Iterator[Asked]:
    """Questions of a rater that can be repeated: answered, not of the last two, no repeat, not repeated yet."""
    for asked in mine[: max(0, len(mine) - APART)]:
        if asked.again is None and asked.number not in repeats and _sound(state, asked):
            yield asked


def others(state: State, mine: Sequence[Asked], rater: str | None) -> Iterator[Asked]:
    """Questions that another rater has answered, and about which this one was not asked."""
    known = {frozenset(asked.candidates) for asked in mine}
    for asked in state.questions.values():
        if asked.event.rater not in (rater, None) and frozenset(asked.candidates) not in known and _sound(state, asked):
            yield asked


def _sound(state: State, asked: Asked) -> bool:
    """Answered in a way that counts, about options that can be made."""
    lesson = asked.lesson
    good = asked.status == "answered" and lesson is not None and state.teaches(lesson)
    return good and not state.infeasible().intersection(asked.candidates)


def _repeated(state: State, mine: Sequence[Asked], rater: str | None) -> tuple[list[int], list[int]]:
    """The numbers of the questions that were repeated for ``rater``: the rater's own, and those of others."""
    again = [asked.again for asked in mine if asked.again is not None]
    owner = {number: state.questions[number].event.rater for number in again}
    return [n for n in again if owner[n] == rater], [n for n in again if owner[n] != rater]


def _wanted(state: State, share: float, who: int, count: int, purpose: int) -> int:
    """How many repeats there should be among the first ``count`` questions."""
    if not share:
        return 0
    block = round(1 / share)
    whole, rest = divmod(count, block)
    rng = stream(state.record.seed, who, REPEAT, WHEN, purpose, whole)
    return whole + bool(int(rng.integers(block)) < rest)


def _one_of(state: State, choices: list[Asked], who: int, count: int) -> Asked | None:
    if not choices:
        return None
    rng: np.random.Generator = stream(state.record.seed, who, REPEAT, WHICH, count)
    return choices[int(rng.integers(len(choices)))]
