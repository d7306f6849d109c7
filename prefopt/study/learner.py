"""The policy of a study, kept in step with the log: told what was answered, rebuilt when something was undone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.policies import POLICIES, make_policy
from prefopt.seeding import stream
from prefopt.study.expand import expand
from prefopt.study.fold import Lesson, State
from prefopt.study.storage import StudyRecord

#: What the random stream (seed, question, PURPOSE) is for.
ASK, TELL, SHOW, RECOMMEND, COIN, FILL, COMPARED = range(7)


@dataclass(frozen=True)
class Told:
    """One thing a policy is told; ``key`` says when two are the same."""

    key: tuple[int, str]
    slate: NDArray[Any]
    answer: Answer
    stream: tuple[int, ...]


class Learner:
    """Builds the policy and tells it the lessons of the log, in order."""

    def __init__(self, record: StudyRecord) -> None:
        self.record = record
        self._policy: Any = None
        self._size = -1
        self._told: list[tuple[int, str]] = []

    def policy(self, state: State) -> Any:
        """The policy after everything in ``state``; only what is new is told, unless something was taken back."""
        lessons = told(state)
        keys = [lesson.key for lesson in lessons]
        size = len(state.options) if state.options.finite else -1
        if self._policy is None or size != self._size or keys[: len(self._told)] != self._told:
            self._policy, self._told, self._size = build_policy(self.record, state.space.domain), [], size
        for lesson in lessons[len(self._told) :]:
            self._tell(lesson)
        self._told = keys
        return self._policy

    def _tell(self, lesson: Told) -> None:
        try:
            self._policy.tell(lesson.slate, lesson.answer, stream(self.record.seed, *lesson.stream))
        except Exception as error:
            warnings.warn(
                f"{self.record.strategy} could not learn from event {lesson.key[0]} ({error}); the answer is kept",
                RuntimeWarning,
                stacklevel=4,
            )


def build_policy(record: StudyRecord, domain: Any) -> Any:
    """The study's policy before the first answer; the budget is the horizon of one that needs it.

    Raises:
        SettingError: it does not exist, or its settings are wrong.
    """
    entry, settings = POLICIES[record.strategy], dict(record.settings)
    if entry.needs_horizon:
        settings.setdefault("horizon", record.budget)
    if entry.slates != "varies":
        settings.setdefault("slate_size", record.query_size)
    if entry.takes_feedback and record.query_size > 2:
        settings.setdefault("feedback", "winner")  # people mostly name the best of several
    policy = make_policy(record.strategy, domain, **settings)
    policy.init(stream(record.seed, 0, ASK))
    return policy


def told(state: State) -> list[Told]:
    """What the policy is told of ``state``: answers about the whole slates; skips only when they became ties."""
    lessons, skipped = [], set()
    for lesson in state.in_force():
        if lesson.answer.kind != "skip":
            lessons.append(_told(state, lesson, lesson.answer))
        elif frozenset(lesson.slate) in skipped:
            lessons.append(_told(state, lesson, Answer.tie(lesson.answer.size)))
        else:
            skipped.add(frozenset(lesson.slate))
    return lessons


def _told(state: State, lesson: Lesson, answer: Answer) -> Told:
    key, asked = (lesson.event.number, answer.kind), lesson.question
    if asked is None:
        return Told(key, state.slate(lesson.slate), answer, (lesson.event.number, COMPARED))
    where = [asked.candidates.index(i) for i in asked.slate]
    full = expand(answer, where, stream(state.record.seed, asked.number, COIN))
    return Told(key, state.slate(asked.slate), full, (asked.number, TELL))


def fresh_rng(record: StudyRecord, question: int, purpose: int, attempt: int = 0) -> np.random.Generator:
    """The random stream of a question; further attempts have their own."""
    key = (question, purpose) if attempt == 0 else (question, purpose, attempt)
    return stream(record.seed, *key)
