"""What a page or widget needs of a study besides asking and telling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from prefopt.study import naming
from prefopt.study.ahead import Ahead, drafts, supposing
from prefopt.study.convergence import convergence
from prefopt.study.fold import State
from prefopt.study.incoming import StudyIncoming
from prefopt.study.limit import one_thread
from prefopt.study.meanwhile import Behind, draft_behind
from prefopt.study.question import Candidate, Query
from prefopt.study.raters import Rater
from prefopt.study.slices import slices
from prefopt.study.storage import Storage, StudyRecord


@dataclass(frozen=True)
class Progress:
    """How far a rater has come.

    Attributes:
        answered: questions with an answer of this rater in force, skips not counted.
        remaining: about how many more answers the budget of the study foresees, from all raters; None without one.
        last: the question answered or skipped last, which ``undo`` takes back; None if there is none.
        waiting: whether a question is open.
        paused: why the study pauses, maybe ""; None while it goes on.
        testing: whether comparisons of a validation round are still to be asked, however many answers there are.
    """

    answered: int
    remaining: int | None
    last: int | None
    waiting: bool
    paused: str | None
    testing: bool = False


class StudyServing(StudyIncoming):
    """A study that works ahead and says how far a rater is."""

    def __init__(self, storage: Storage, record: StudyRecord) -> None:
        super().__init__(storage, record)
        self._ahead = Ahead()

    def twin(self) -> Self:
        """Another object on the same log with a state of its own, so that none of the two waits for the other.

        A study in memory is its own twin.
        """
        return self if self._storage.url is None else type(self)(self._storage, self.record)

    def find(self, number: int) -> Query:
        """The question of that number.

        Raises:
            StudyError: there is none.
        """
        with self._lock:
            state = self._sync()
            return state.query(naming.asked_question(state, number))

    def progress(self, rater: str | Rater | None = None) -> Progress:
        """How far ``rater`` is; None is the person who has no name."""
        with self._lock:
            state = self._sync()
            return self._progress(state, state.raters.resolve(rater))

    def _progress(self, state: State, who: str | None) -> Progress:
        mine = state.told_by(who)
        done = sum(x.answer.kind != "skip" for x in mine)
        last = mine[-1].question.number if mine and mine[-1].question is not None else None
        budget = self.record.budget
        left = None if budget is None else max(0, budget - state.answered)
        return Progress(done, left, last, bool(state.open_questions(who)), state.paused, bool(state.trials_left()))

    def undone(self) -> list[int]:
        """The questions whose answer was taken back and can be restored."""
        with self._lock:
            asked = self._sync().questions.values()
            return [a.number for a in asked if a.lesson is not None and not a.lesson.active]

    def slices(self) -> dict[str, Any]:
        """What is believed along each parameter: curves, maps, or bars for a list of options (JSON-able)."""
        with self._lock, one_thread():
            return slices(self._sync(), self._asker)

    def convergence(self) -> list[dict[str, Any]]:
        """The recommendation after so many answers, as it was then, and how sure: one record per moment."""
        with self._lock:
            events = self._storage.read(self.record)
        with one_thread():
            return convergence(self.record, events)

    def prepare(self, query: Query, until: Callable[[], bool] = lambda: False) -> list[Candidate]:
        """Draft what follows if one of the options of the open ``query`` is called the best.

        If that is said, and nothing else has happened, ``ask`` has the next question at once; it is the same question
        that it would have drafted then. If there are several raters, it may ask a question drafted like that although
        others have answered meanwhile (``prefopt.study.meanwhile``). Nothing is written.

        Args:
            query: a question that somebody looks at.
            until: asked between two drafts whether to stop.

        Returns:
            What will be shown then, without ids.

        >>> from prefopt import create_study
        >>> study = create_study(["tea", "coffee", "cocoa"], seed=1)
        >>> query = study.ask()
        >>> drafted = study.prepare(query)
        >>> study.tell(query, best=query.shown[0])
        >>> {c.params for c in study.ask().shown} <= {c.params for c in drafted}
        True
        """
        made: list[Candidate] = []
        with self._lock, one_thread():
            state = self._sync()
            asked = state.questions.get(query.number)
            if asked is None or asked.status != "open":
                return made
            told = [
                naming.answer_event(asked, naming.parse_answer(asked, {"best": i}, False), query.rater, None, None)
                for i in asked.shown
            ]
            supposed = [supposing(state, event) for event in told]
            base, several = self._asker.fork(state), len(state.register.asked) > 1
        behind: list[Behind] = []
        for option, after in zip(asked.shown, supposed, strict=True):
            if until():
                break
            with one_thread():
                asker = base.fork(after, learned=False)
                if several:
                    found = draft_behind(after, asker, query.number, option)
                    behind += [] if found is None else [found]
                    made += [] if found is None else _shown(after, found.draft.payload)
                    continue
                for before, draft in drafts(after, asker, query.rater):
                    if "lapsed" not in draft.payload:
                        self._ahead.keep(before, query.rater, draft)
                    made += _shown(after, draft.payload)
        if several:
            self._ahead.keep_behind(query.rater, behind)
        return made


def _shown(state: State, payload: dict[str, Any]) -> list[Candidate]:
    slate = payload["slate"] if "shown" in payload else []
    return [Candidate(None, state.options.decode(option)) for option in slate]
