"""The next question: the policy's slate, made fit for a person."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.errors import StudyError
from prefopt.policies import POLICIES
from prefopt.study.drafts import Draft, asked_event
from prefopt.study.events import Event
from prefopt.study.filling import MOST, Slate, at_random, distinct, most_shown, topped_up
from prefopt.study.fold import State
from prefopt.study.learner import ASK, COIN, FILL, Learner, fresh_rng
from prefopt.study.limit import TimeLimit, seconds_left
from prefopt.study.repeats import known_question
from prefopt.study.storage import StudyRecord

#: Automatic steps in a row (an option meeting itself), and further draws for a question fit for a person.
PATIENCE = 20
#: Further draws to fill a question of several options in which the policy proposes one twice.
FURTHER = 5
#: Added to the number of a question for the streams of the one behind it; larger than any number.
BEHIND = 2**31
#: Weight of the last draft in the seconds that drafts take of late.
SMOOTH = 0.2
#: Of a time limit the policy has this share; another question, and writing it down, take some of the rest.
POLICY = 0.9


class Asker:
    """Drafts questions with the study's policy."""

    def __init__(self, record: StudyRecord) -> None:
        self.record, self.learner = record, Learner(record)
        self._limit = TimeLimit()
        self.took = math.inf  # seconds a draft took of late
        self.believed: tuple[int, Any] | None = None  # what ``recommend`` made of the log up to this event

    def fork(self, state: State, *, learned: bool = True) -> Asker:
        """A copy that may draft for a state that will perhaps never be; this one may go on meanwhile.

        Args:
            state: what is known.
            learned: whether this one first learns everything in ``state``.
        """
        if learned:
            self.policy(state)
        self._limit.wait(None)
        other = Asker(self.record)
        other.learner = self.learner.fork()
        return other

    def draft(
        self,
        state: State,
        rater: str | None,
        timeout: float | None,
        now: float | None = None,
        behind: int | None = None,
    ) -> Event:
        """The event that comes next: a question, or a step that needs no person.

        Args:
            state: everything known.
            rater: who is asked.
            timeout: seconds the policy may take.
            now: the time of asking, seconds since 1970, by which other raters' questions may have lapsed; None for now.
            behind: the question that the rater looks at, if others go on meanwhile (``prefopt.study.meanwhile``): the
                random streams are those of what comes behind it, and what is asked once more is no matter of this.

        Raises:
            StudyError: there is only one option.
        """
        if state.options.finite and len(state.options) - len(state.infeasible()) < 2:
            raise StudyError(f"study {self.record.name!r} has only one option, so there is nothing to compare: enough")
        began, number = time.monotonic(), state.next_number
        steps = state.automatic_steps(number)
        known = None
        if behind is None:
            known = known_question(state, number, rater, time.time() if now is None else now)
        event = known or self._new(state, rater, timeout, number if behind is None else BEHIND + behind, steps)
        seconds = time.monotonic() - began
        self.took = seconds if math.isinf(self.took) else self.took + SMOOTH * (seconds - self.took)
        return replace(event, payload={**event.payload, "after": state.last})

    def _new(self, state: State, rater: str | None, timeout: float | None, key: int, steps: int) -> Event:
        """A question that is no repeat, or a step that needs no person; ``key`` of its random streams."""
        made = self._proposal(state, key, steps, timeout)
        idea = next(iter(state.waiting_ideas()), None)
        if idea is not None:
            made.slate = self._with_idea(state, made, state.options.option(idea), key, steps)
        elif steps < PATIENCE and not made.cut and len(distinct(state, made.slate)) == 1:
            return self._automatic(state, made.slate, key, steps, tie=False)
        elif steps < PATIENCE and not made.cut and self._has_others(state) and len(self._skips(state, made.slate)) > 1:
            return self._automatic(state, made.slate, key, steps, tie=True)
        else:
            self._fit_for_a_person(state, made, key, steps)
        return asked_event(state, made, state.next_number, rater, key=key)

    def _proposal(self, state: State, key: int, steps: int, timeout: float | None) -> Draft:
        """The policy's slate; options drawn at random if it fails or is too slow."""
        end = None if timeout is None else time.monotonic() + POLICY * timeout
        try:
            self._limit.wait(seconds_left(end))
            draws = self._draws(state, key, steps)
            proposed = self._limit.run(lambda: next(draws), seconds_left(end))
        except Exception as error:
            what = "ran out of time" if isinstance(error, TimeoutError) else f"failed: {error}"
            note = f"{self.record.strategy} {what}; these options were drawn at random"
            warnings.warn(f"question {state.next_number}: {note}", RuntimeWarning, stacklevel=4)
            return Draft(at_random(state, key), note, fallback=True)
        slate = state.possible(proposed)
        made = Draft(slate, cut=len(slate) < len(proposed), end=end)
        if len(slate) > MOST:
            kept = np.sort(fresh_rng(self.record, key, FILL).permutation(len(slate))[:MOST])
            made.slate = [slate[i] for i in kept]
            made.note = f"{MOST} of the {len(slate)} options proposed, drawn at random"
        return made

    def policy(self, state: State) -> Any:
        """The policy after everything in ``state``."""
        self._limit.wait(None)
        return self.learner.policy(state)

    def noises(self, state: State) -> dict[str | None, float]:
        """The noise that the policy gives every rater; see ``Learner.noises``."""
        self._limit.wait(None)
        return self.learner.noises(state)

    def _draws(self, state: State, key: int, start: int) -> Iterator[Slate]:
        """The policy's slates for this question, one after another from independent streams.

        What it has to learn first is part of the first one, and of its time limit.
        """
        taught = self.learner.reading(state)
        waiting = [state.slate(a.slate) for a in state.pending()]

        def slates() -> Iterator[Slate]:
            policy = taught()
            for attempt in range(start, start + PATIENCE + 1):
                slate = policy.ask(fresh_rng(self.record, key, ASK, attempt), waiting)
                yield [state.options.plain(option) for option in slate]

        return slates()

    def _fit_for_a_person(self, state: State, made: Draft, key: int, steps: int) -> None:
        """Distinct options, as many as promised, and no question again that was skipped just now."""
        made.slate = self._filled(state, made, key, steps)
        if self.unfit(state, made.slate) and not made.fallback:
            made.slate = self._another(state, made, key, steps)
        if skips := self._skips(state, made.slate):
            made.repeat_of = skips[-1].number

    def _filled(self, state: State, made: Draft, key: int, steps: int) -> Slate:
        """Distinct options: the policy's, then those of further draws, then others.

        An option's copies give way to others, and the policy is told what was said of the slate that was shown. A
        policy whose slates vary in length (MDB, say) chooses how many; it only never gets an option alone.
        """
        found, least = distinct(state, made.slate), self._least(state)
        more = islice(self._further(state, made, key, steps), FURTHER)
        while len(found) < least and (draw := next(more, None)) is not None:
            found = distinct(state, found + draw)[:least]
        return topped_up(state, found, least, key)

    def _another(self, state: State, made: Draft, key: int, steps: int) -> Slate:
        """A slate that was not skipped just now or twice, or else another than that of ``made``, or else the same."""
        second = made.slate
        random = (at_random(state, key, attempt) for attempt in range(PATIENCE))
        here = {state.options.find(option) for option in made.slate}
        most = None if self._skips(state, made.slate) else FURTHER  # a rule that never varies is not drawn for long
        for draw in chain(islice(self._further(state, made, key, steps), most), random):
            found = distinct(state, draw)[:MOST]
            if len(found) > 1:
                found = topped_up(state, found, self._least(state), key)
                if not self.unfit(state, found):
                    return found
                if {state.options.find(option) for option in found} != here:
                    second = found
        return second

    def unfit(self, state: State, slate: Slate) -> bool:
        """Whether a question was skipped just now or twice, or is before somebody while there are others."""
        skips = self._skips(state, slate)
        tired = bool(skips) and (skips[-1].number == state.next_number - 1 or len(skips) > 1)
        return tired or self._reserved(state, slate)

    def _reserved(self, state: State, slate: Slate) -> bool:
        """Whether the same options are before somebody just now, while there are others to ask about."""
        here, waiting = {state.options.find(option) for option in slate}, [set(a.candidates) for a in state.pending()]
        if here not in waiting:
            return False
        left = len(state.options) - len(state.infeasible())
        return not state.options.finite or math.comb(left, len(here)) > len(waiting)

    def _least(self, state: State) -> int:
        return 2 if POLICIES[self.record.strategy].slates == "varies" else most_shown(state)

    def _further(self, state: State, made: Draft, key: int, steps: int) -> Iterator[Slate]:
        """Further slates of the policy while there is time, none after a failure: the first draw has warned already."""
        draws = self._draws(state, key, steps + 1)
        with suppress(Exception):
            while not made.fallback and not made.late:
                try:
                    draw = self._limit.run(lambda: next(draws), seconds_left(made.end))
                except TimeoutError:
                    made.late = True
                    return
                yield state.possible(draw)

    def _with_idea(self, state: State, made: Draft, idea: Any, key: int, steps: int) -> Slate:
        """The policy's choice with the own idea in the last place."""
        options = [o for o in self._filled(state, made, key, steps) if not state.options.same(o, idea)]
        return [*options[: max(1, most_shown(state) - 1)], idea]

    def _has_others(self, state: State) -> bool:
        return not state.options.finite or len(state.options) - len(state.infeasible()) > self.record.query_size

    def _skips(self, state: State, slate: Slate) -> list[Any]:
        return state.skipped(state.options.find(option) for option in slate)

    def _automatic(self, state: State, slate: Slate, key: int, steps: int, *, tie: bool) -> Event:
        """An option met itself: a fair coin, as in the papers. Alone, or a question skipped twice: a tie."""
        if len(slate) == 1:
            answer = Answer.alone()
        elif tie:
            answer = Answer.tie(len(slate))
        else:
            order = fresh_rng(self.record, key, COIN, steps + 1).permutation(len(slate)).tolist()
            answer = Answer.duel(order[0]) if len(slate) == 2 else Answer.ranking(order, len(slate))
        number = state.next_number
        payload = {"query": number, "slate": slate, "answer": answer.to_json()}
        return Event("auto", payload, slot=f"auto:{number}:{steps}")
