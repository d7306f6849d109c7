"""What the state of a study is made of: questions as they were asked, and what was said."""

from __future__ import annotations

from dataclasses import dataclass

from prefopt.answer import Answer
from prefopt.study.events import Event


@dataclass
class Asked:
    """A question as it was asked; all options are candidate ids."""

    number: int
    event: Event
    slate: tuple[int, ...]  # the policy's, an option may appear twice
    candidates: tuple[int, ...]  # the distinct ones, in the same order
    shown: tuple[int, ...]  # and in the order on the screen
    status: str = "open"  # or answered, skipped, withdrawn, lapsed (asked to another rater meanwhile)
    lesson: Lesson | None = None  # its last answer, in force or undone
    undone: int = 0  # how many answers to it were undone

    @property
    def again(self) -> int | None:
        """The question that this one repeats in secret: the same rater's with the sides swapped, or another rater's."""
        return self.event.payload.get("again")

    @property
    def trial(self) -> tuple[int, int] | None:
        """The event of the validation round that this question belongs to, and its place there."""
        made = self.event.payload.get("trial")
        return None if made is None else (made[0], made[1])


@dataclass
class Lesson:
    """Something that was said: an answer, a comparison made elsewhere, or an automatic step."""

    event: Event
    slate: tuple[int, ...]
    answer: Answer
    question: Asked | None = None
    infeasible: tuple[int, ...] = ()  # those of the question that could not be made or shown
    active: bool = True
    moved: int = 0  # how often it was undone, restored, excluded or included
    excluded: str | None = None  # why it does not count
