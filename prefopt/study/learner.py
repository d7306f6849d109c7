"""The policy of a study, kept in step with the log: told what was answered, rebuilt when something was undone."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.errors import HorizonError, SettingError
from prefopt.policies import POLICIES, make_policy
from prefopt.seeding import stream
from prefopt.study.expand import expand
from prefopt.study.fold import State
from prefopt.study.said import Lesson
from prefopt.study.storage import StudyRecord

#: What the random stream (seed, question, PURPOSE) is for.
ASK, TELL, SHOW, RECOMMEND, COIN, FILL, COMPARED, REPEAT, VALIDATE = range(9)
#: A policy with ``learn`` takes the lessons up to the last multiple of this at once, and the rest one by one: in a
#: process that saw them come as in one that has just opened the study, so that both round alike.
AT_ONCE = 16


@dataclass(frozen=True)
class Told:
    """One thing a policy is told, and the event that says it."""

    event: int
    slate: NDArray[Any]
    answer: Answer
    stream: tuple[int, ...]
    rater: str | None


class Learner:
    """Builds the policy and tells it the lessons of the log, in order."""

    def __init__(self, record: StudyRecord) -> None:
        self.record = record
        self._policy: Any = None
        self._built_on = (-1, -1)
        self._lessons = Lessons()
        self._told: list[Told] = []
        self._known = 0  # how many of them the policy has learned
        self._raters: dict[str | None, int] = {}  # their numbers, in the order of their first lessons

    def policy(self, state: State) -> Any:
        """The policy after everything in ``state``; only what is new is told, unless something was taken back."""
        return self.reading(state)()

    def reading(self, state: State) -> Callable[[], Any]:
        """Takes from ``state`` what is new; the policy is told so, and returned, when the result is called."""
        base = (state.rewrites, len(state.options) if state.options.finite else -1)
        if self._policy is None or base != self._built_on:
            self._policy, self._lessons = build_policy(self.record, state.space.domain), Lessons()
            self._built_on, self._told, self._known, self._raters = base, [], 0, {}
        self._told += self._lessons.new(state)
        return self._taught

    def _taught(self) -> Any:
        whole = len(self._told) // AT_ONCE * AT_ONCE
        if whole > self._known and callable(getattr(self._policy, "learn", None)):
            self._policy.learn((lesson.slate, lesson.answer) for lesson in self._told[:whole])
            self._known = whole
        for lesson in self._told[self._known :]:
            self._tell(lesson)
        self._known = len(self._told)
        return self._policy

    def fork(self) -> Learner:
        """A copy with a policy of its own."""
        other = copy.copy(self)
        other._policy, other._lessons = copy.deepcopy((self._policy, self._lessons))
        other._told, other._raters = list(self._told), dict(self._raters)
        return other

    def noises(self, state: State) -> dict[str | None, float]:
        """The noise that the policy gives every rater, 1 being the usual; none if it takes them for alike."""
        noise = getattr(getattr(self.policy(state), "heard", None), "noise", ())
        return {rater: float(noise[number]) for rater, number in self._raters.items()} if noise else {}

    def _tell(self, lesson: Told) -> None:
        number = self._raters.setdefault(lesson.rater, len(self._raters))
        who = {"rater": number} if getattr(self._policy, "hears_raters", False) else {}
        try:
            self._policy.tell(lesson.slate, lesson.answer, stream(self.record.seed, *lesson.stream), **who)
        except Exception as error:
            warnings.warn(
                f"{self.record.strategy} could not learn from event {lesson.event} ({error}); the answer is kept",
                RuntimeWarning,
                stacklevel=4,
            )


def build_policy(record: StudyRecord, domain: Any) -> Any:
    """The study's policy before the first answer; it is told the options per question, and the budget as its horizon.

    Raises:
        SettingError: it does not exist, its settings are wrong, or it needs a horizon and there is no budget.
    """
    entry, settings = POLICIES[record.strategy], dict(record.settings)
    settings.setdefault("slate_size", record.query_size)
    if settings.get("horizon") is None:
        settings["horizon"] = record.budget
    if entry.takes_feedback and record.query_size > 2:
        settings.setdefault("feedback", "winner")  # people mostly name the best of several
    try:
        policy = make_policy(record.strategy, domain, **settings)
    except HorizonError as error:
        raise SettingError(f"{error}; in a study that is its number of answers: give the study a budget=...") from error
    policy.init(stream(record.seed, 0, ASK))
    return policy


class Lessons:
    """What a policy is told: answers about the whole slates; skips only when they became ties."""

    def __init__(self) -> None:
        self._last = 0
        self._skipped: set[frozenset[int]] = set()

    def new(self, state: State) -> list[Told]:
        """The lessons of ``state`` after those given so far, in order."""
        lessons, self._last = state.in_force(after=self._last), state.last
        return [made for lesson in lessons if (made := self._made(state, lesson)) is not None]

    def _made(self, state: State, lesson: Lesson) -> Told | None:
        if lesson.answer.kind != "skip":
            return _told(state, lesson, lesson.answer)
        options = frozenset(lesson.slate)
        if options in self._skipped:
            return _told(state, lesson, Answer.tie(lesson.answer.size))
        self._skipped.add(options)
        return None


def _told(state: State, lesson: Lesson, answer: Answer) -> Told:
    event, asked = lesson.event.number, lesson.question
    if asked is None:
        return Told(event, state.slate(lesson.slate), answer, (event, COMPARED), lesson.event.rater)
    slate = [i for i in asked.slate if i in lesson.slate]
    full = expand(answer, [lesson.slate.index(i) for i in slate], stream(state.record.seed, asked.number, COIN))
    return Told(event, state.slate(slate), full, (asked.number, TELL), lesson.event.rater)


def fresh_rng(record: StudyRecord, question: int, purpose: int, attempt: int = 0) -> np.random.Generator:
    """The random stream of a question; further attempts have their own."""
    key = (question, purpose) if attempt == 0 else (question, purpose, attempt)
    return stream(record.seed, *key)
