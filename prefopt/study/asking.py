"""The next question: the policy's slate, made fit for a person."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Grid
from prefopt.errors import StudyError
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.learner import ASK, COIN, FILL, SHOW, Learner, fresh_rng
from prefopt.study.limit import TimeLimit
from prefopt.study.storage import StudyRecord

#: Automatic steps in a row (an option meeting itself), and further draws for a question fit for a person.
PATIENCE = 20
#: A person compares at most this many at once.
MOST = 6

Slate = list[Any]


@dataclass
class Draft:
    """A question in the making; options as in events."""

    slate: Slate
    note: str = ""
    fallback: bool = False
    repeat_of: int | None = None


class Asker:
    """Drafts questions with the study's policy."""

    def __init__(self, record: StudyRecord) -> None:
        self.record, self.learner = record, Learner(record)
        self._limit = TimeLimit()
        self.believed: tuple[int, Any] | None = None  # what ``recommend`` made of the log up to this event

    def draft(self, state: State, rater: str | None, timeout: float | None) -> Event:
        """The event that comes next: a question, or a step that needs no person.

        Raises:
            StudyError: there is only one option.
        """
        if state.options.finite and len(state.options) == 1:
            raise StudyError(f"study {self.record.name!r} has only one option, so there is nothing to compare: enough")
        number, steps = state.next_number, state.automatic_steps(state.next_number)
        made = self._proposal(state, number, steps, timeout)
        idea = next(iter(state.waiting_ideas()), None)
        if idea is not None:
            made.slate = self._with_idea(state, made.slate, state.options.option(idea), number)
        elif steps < PATIENCE and len(distinct(state, made.slate)) == 1:
            return self._automatic(state, made.slate, number, steps, tie=False)
        elif steps < PATIENCE and self._has_others(state) and len(self._skips(state, made.slate)) > 1:
            return self._automatic(state, made.slate, number, steps, tie=True)
        else:
            self._fit_for_a_person(state, made, number, steps)
        return self._asked(state, made, number, rater)

    def _proposal(self, state: State, number: int, steps: int, timeout: float | None) -> Draft:
        """The policy's slate; options drawn at random if it fails or is too slow."""
        try:
            self._limit.wait(timeout)
            draws = self._draws(state, number, steps)
            slates = self._limit.run(lambda: next(draws), timeout)
        except Exception as error:
            what = "ran out of time" if isinstance(error, TimeoutError) else f"failed: {error}"
            note = f"{self.record.strategy} {what}; these options were drawn at random"
            warnings.warn(f"question {number}: {note}", RuntimeWarning, stacklevel=4)
            return Draft(self._random(state, number), note, fallback=True)
        if len(slates) <= MOST:
            return Draft(slates)
        kept = np.sort(fresh_rng(self.record, number, FILL).permutation(len(slates))[:MOST])
        return Draft([slates[i] for i in kept], f"{MOST} of the {len(slates)} options proposed, drawn at random")

    def policy(self, state: State) -> Any:
        """The policy after everything in ``state``."""
        self._limit.wait(None)
        return self.learner.policy(state)

    def _draws(self, state: State, number: int, start: int) -> Iterator[Slate]:
        """The policy's slates for this question, one after another from independent streams."""
        policy = self.learner.policy(state)
        waiting = [state.slate(a.slate) for a in state.questions.values() if a.status == "open"]
        attempts = range(start, start + PATIENCE + 1)
        slates = (policy.ask(fresh_rng(self.record, number, ASK, attempt), waiting) for attempt in attempts)
        return ([state.options.plain(option) for option in slate] for slate in slates)

    def _fit_for_a_person(self, state: State, made: Draft, number: int, steps: int) -> None:
        """No option against itself, and no question again that was skipped just now."""
        if len(distinct(state, made.slate)) == 1:
            made.slate = self._filled(state, made.slate, number, steps)
        skips = self._skips(state, made.slate)
        if skips and (skips[-1].number == number - 1 or len(skips) > 1) and not made.fallback:
            made.slate = self._another(state, made.slate, number, steps)
            skips = self._skips(state, made.slate)
        if skips:
            made.repeat_of = skips[-1].number

    def _filled(self, state: State, slate: Slate, number: int, steps: int) -> Slate:
        """Distinct options: the policy's, then those of further draws, then the next best."""
        size = min(self.record.query_size, MOST)
        found = distinct(state, slate)
        for more in self._safe_draws(state, number, steps + 1):
            found = distinct(state, found + more)[:size]
            if len(found) >= size:
                break
        return found if len(found) > 1 else distinct(state, found + self._next_best(state, number))[:2]

    def _another(self, state: State, slate: Slate, number: int, steps: int) -> Slate:
        """A slate of other options than ``slate``, or ``slate`` if there are no others."""
        random = (self._random(state, number, attempt) for attempt in range(PATIENCE))
        here = {state.options.find(option) for option in slate}
        for other in chain(self._safe_draws(state, number, steps + 1), random):
            found = {state.options.find(option) for option in other}
            if len(found) > 1 and found != here:
                return other[:MOST]
        return slate

    def _safe_draws(self, state: State, number: int, start: int) -> Iterator[Slate]:
        """Further slates of the policy, none after a failure: the first draw has warned already."""
        with suppress(Exception):
            yield from self._draws(state, number, start)

    def _next_best(self, state: State, number: int) -> Slate:
        """Options by their share of wins, best first; on a box those asked so far, then a random point."""
        tally = state.tally()
        order = np.argsort(-(tally.wins + 1) / (tally.tries + 2), kind="stable")
        known = [state.options.option(int(i)) for i in order]
        return known if state.options.finite else known + self._random(state, number)

    def _random(self, state: State, number: int, attempt: int = 0) -> Slate:
        """Distinct options drawn uniformly."""
        rng, size = fresh_rng(self.record, number, FILL, attempt + 1), min(self.record.query_size, MOST)
        domain: Arms | Grid | Box = state.space.domain
        if isinstance(domain, Box):
            return [state.options.plain(row) for row in domain.sample(size, rng)]
        return [int(i) for i in rng.choice(domain.size, size=min(size, domain.size), replace=False)]

    def _with_idea(self, state: State, slate: Slate, idea: Any, number: int) -> Slate:
        """The policy's choice with the own idea in the last place."""
        options = [option for option in distinct(state, slate) if not state.options.same(option, idea)]
        if not options:
            options = [o for o in self._next_best(state, number) if not state.options.same(o, idea)][:1]
        return [*options[: max(1, min(self.record.query_size, MOST) - 1)], idea]

    def _has_others(self, state: State) -> bool:
        return not state.options.finite or len(state.options) > self.record.query_size

    def _skips(self, state: State, slate: Slate) -> list[Any]:
        return state.skipped(state.options.find(option) for option in slate)

    def _automatic(self, state: State, slate: Slate, number: int, steps: int, *, tie: bool) -> Event:
        """An option met itself: a fair coin, as in the papers. Alone, or a question skipped twice: a tie."""
        if len(slate) == 1:
            answer = Answer.alone()
        elif tie:
            answer = Answer.tie(len(slate))
        else:
            order = fresh_rng(self.record, number, COIN, steps + 1).permutation(len(slate)).tolist()
            answer = Answer.duel(order[0]) if len(slate) == 2 else Answer.ranking(order, len(slate))
        payload = {"query": number, "slate": slate, "answer": answer.to_json()}
        return Event("auto", payload, slot=f"auto:{number}:{steps}")

    def _asked(self, state: State, made: Draft, number: int, rater: str | None) -> Event:
        shown = fresh_rng(self.record, number, SHOW).permutation(len(distinct(state, made.slate)))
        payload: dict[str, Any] = {"query": number, "slate": made.slate, "shown": shown.tolist()}
        for name in ("note", "fallback", "repeat_of"):
            if getattr(made, name):
                payload[name] = getattr(made, name)
        return Event("asked", payload, slot=f"asked:{number}", rater=rater)


def distinct(state: State, slate: Slate) -> Slate:
    """The options of ``slate`` without copies, in the same order."""
    kept: Slate = []
    for option in slate:
        if not any(state.options.same(option, other) for other in kept):
            kept.append(option)
    return kept
