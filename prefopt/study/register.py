"""Where things are in a long log: questions and answers by rater, questions that wait or were skipped.

All of it could be read off the questions and answers each time; a server asked by fifty people at once has no time to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from prefopt.study.said import Asked, Lesson


@dataclass
class Register:
    """Numbers of questions and of events with an answer.

    Attributes:
        asked: questions by the rater they were put to, in order; the raters in the order of their first question.
        told: events in which each rater answered, in order.
        open: questions without an answer.
        skipped: questions that were skipped.
    """

    asked: dict[str | None, list[int]] = field(default_factory=dict)
    told: dict[str | None, list[int]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)

    def ask(self, asked: Asked) -> None:
        """A new question."""
        self.asked.setdefault(asked.event.rater, []).append(asked.number)
        self.open.add(asked.number)

    def tell(self, lesson: Lesson) -> None:
        """A new answer."""
        self.told.setdefault(lesson.event.rater, []).append(lesson.event.number)

    def move(self, asked: Asked, status: str) -> None:
        """Give a question another status."""
        asked.status = status
        for name, numbers in (("open", self.open), ("skipped", self.skipped)):
            (numbers.add if status == name else numbers.discard)(asked.number)

    def place(self, rater: str | None) -> int:
        """The rater's place in the order in which raters were first asked."""
        return next((i for i, who in enumerate(self.asked) if who == rater), len(self.asked))

    def copy(self) -> Register:
        """Another one that goes on by itself."""
        return Register(_copied(self.asked.items()), _copied(self.told.items()), set(self.open), set(self.skipped))


def _copied(lists: Iterable[tuple[str | None, list[int]]]) -> dict[str | None, list[int]]:
    return {who: list(numbers) for who, numbers in lists}
