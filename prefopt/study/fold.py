"""The state of a study: a fold of its events, nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.data import Tally
from prefopt.domain import is_finite
from prefopt.study.conduct import Conduct
from prefopt.study.events import Event
from prefopt.study.options import Options
from prefopt.study.question import Candidate, Query
from prefopt.study.raters import Rater, Raters
from prefopt.study.register import Register
from prefopt.study.said import Asked, Lesson
from prefopt.study.storage import StudyRecord


@dataclass
class State:
    """Everything known after the events so far; ``apply`` adds one."""

    record: StudyRecord
    last: int = 0
    mark: int = 0  # of everything that questions depend on; equal for equal logs, in one process
    questions: dict[int, Asked] = field(default_factory=dict)
    said: dict[int, Lesson] = field(default_factory=dict)
    cut: list[Lesson] = field(default_factory=list)  # those that call options infeasible
    register: Register = field(default_factory=Register)
    ideas: list[tuple[int, int]] = field(default_factory=list)  # (event, candidate)
    names: dict[int, str] = field(default_factory=dict)  # own ids of candidates
    tokens: dict[str, Event] = field(default_factory=dict)
    rewrites: int = 0  # how often something said earlier was taken back or put back
    steps: Counter[int] = field(default_factory=Counter)  # automatic steps by question
    raters: Raters = field(default_factory=Raters)
    conduct: Conduct = field(default_factory=Conduct)
    paused: str | None = None  # why nothing is asked
    version: dict[str, Any] | None = None  # of which older version this is a new one, as in the event
    rounds: dict[int, Event] = field(default_factory=dict)  # validation rounds that were begun
    validating: bool = False  # whether questions of the latest are asked

    def __post_init__(self) -> None:
        self.options = Options(self.record.space)

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        getattr(self, f"_{event.kind}")(event)
        self.last = event.number
        self.mark = hash((self.mark, event.kind, json.dumps(event.payload, sort_keys=True), event.rater))
        if event.token:
            self.tokens[event.token] = event

    def _asked(self, event: Event) -> None:
        slate = tuple(self.options.id_of(option) for option in event.payload["slate"])
        distinct = tuple(dict.fromkeys(slate))
        shown = tuple(distinct[p] for p in event.payload["shown"])
        number = event.payload["query"]
        asked = self.questions[number] = Asked(number, event, slate, distinct, shown)
        self.register.ask(asked)
        instead = self.questions.get(event.payload.get("lapsed", 0))
        if instead is not None and instead.status == "open":
            self.register.move(instead, "lapsed")

    def _answered(self, event: Event) -> None:
        asked = self.questions[event.payload["query"]]
        answer = Answer.from_json(event.payload["answer"])
        out = tuple(asked.candidates[p] for p in event.payload.get("infeasible", ()))
        slate = tuple(i for i in asked.candidates if answer.kind == "skip" or i not in out)
        lesson = self.said[event.number] = Lesson(event, slate, answer, asked, out)
        self.register.tell(lesson)
        if out:
            self.cut.append(lesson)
        if asked.lesson is not None and asked.lesson.active:  # restored at the same moment by another process
            lesson.active = False
            return
        asked.lesson = lesson
        self.register.move(asked, "skipped" if answer.kind == "skip" else "answered")

    def _auto(self, event: Event) -> None:
        self._compared(event)
        self.steps[event.payload["query"]] += 1

    def _compared(self, event: Event) -> None:
        slate = tuple(self.options.id_of(option) for option in event.payload["slate"])
        out = tuple(self.options.id_of(option) for option in event.payload.get("out", ()))
        lesson = self.said[event.number] = Lesson(event, slate, Answer.from_json(event.payload["answer"]), None, out)
        if out:
            self.cut.append(lesson)

    def _version(self, event: Event) -> None:
        self.version = event.payload

    def _added(self, event: Event) -> None:
        if "label" in event.payload:
            self.ideas.append((event.number, self.options.add_arm(event.payload["label"])))
        else:
            self.ideas.append((event.number, self.options.id_of(event.payload["option"])))

    def _listed(self, event: Event) -> None:
        for option, name in zip(event.payload["options"], event.payload["names"], strict=True):
            self.names[self.options.id_of(option)] = name

    def _configured(self, event: Event) -> None:
        self.conduct = Conduct(**event.payload)

    def _rater(self, event: Event) -> None:
        self.raters.apply(event)
        self.rewrites += event.payload["change"] in ("removed", "restored")

    def _paused(self, event: Event) -> None:
        self.paused = event.payload["reason"] if event.payload["on"] else None

    def _validation(self, event: Event) -> None:
        self.validating = event.payload["on"]
        if self.validating:
            self.rounds[event.number] = event

    def _excluded(self, event: Event) -> None:
        self._count(event, event.payload["reason"])

    def _included(self, event: Event) -> None:
        self._count(event, None)

    def _count(self, event: Event, excluded: str | None) -> None:
        lesson = self.said.get(event.payload["event"])
        if lesson is not None:
            lesson.excluded = excluded
            lesson.moved += 1
            self.rewrites += 1

    def _erased(self, event: Event) -> None:
        if "query" in event.payload:
            self.register.move(self.questions[event.payload["query"]], "withdrawn")
        for option in event.payload.get("slate", ()):  # candidates keep their numbers
            self.options.id_of(option)

    def _undone(self, event: Event) -> None:
        lesson = self.said.get(event.payload["event"])
        if lesson is None:
            return
        lesson.active = False
        lesson.moved += 1
        self.rewrites += 1
        if lesson.question is not None:
            self.register.move(lesson.question, "open")
            lesson.question.undone += 1
        for number in event.payload["withdrawn"]:
            if self.questions[number].status == "open":
                self.register.move(self.questions[number], "withdrawn")

    def _restored(self, event: Event) -> None:
        lesson = self.said.get(event.payload["event"])
        if lesson is None:
            return
        lesson.moved += 1
        self.rewrites += 1
        if lesson.question is not None and lesson.question.lesson is not lesson:
            return  # answered anew at the same moment by another process
        lesson.active = True
        if lesson.question is not None:
            self.register.move(lesson.question, "skipped" if lesson.answer.kind == "skip" else "answered")

    @property
    def space(self) -> Any:
        """The space, with the arms added since."""
        return self.options.space

    @property
    def next_number(self) -> int:
        """Number of the next new question."""
        return len(self.questions) + 1

    @property
    def answered(self) -> int:
        """Questions with an answer in force that counts, skips and those of a validation round not counted."""
        answers = (a.lesson for a in self.questions.values() if a.status == "answered" and a.trial is None)
        return sum(lesson is not None and self.counts(lesson) for lesson in answers)

    def waiting(self) -> list[Asked]:
        """The open questions of all raters, oldest first."""
        return [self.questions[n] for n in sorted(self.register.open)]

    def open_questions(self, rater: str | None) -> list[Asked]:
        """The open questions of ``rater``, oldest first."""
        return [a for a in self.waiting() if a.event.rater == rater]

    def pending(self) -> list[Asked]:
        """The questions that are before somebody; not those of raters who do not count any more."""
        return [a for a in self.waiting() if self.raters.counts(a.event.rater)]

    @property
    def round(self) -> Event | None:
        """The event that began the latest validation round."""
        return self.rounds[max(self.rounds)] if self.rounds else None

    def rival(self, asked: Asked) -> str:
        """The kind of rival that a question of a validation round is about; "" for other questions."""
        return "" if asked.trial is None else str(self.rounds[asked.trial[0]].payload["trials"][asked.trial[1]][0])

    def trials_left(self) -> list[int]:
        """The places of the validation round under way that were not asked yet."""
        if self.round is None or not self.validating:
            return []
        asked = {a.trial for a in self.questions.values() if a.status != "withdrawn"}
        return [i for i in range(len(self.round.payload["trials"])) if (self.round.number, i) not in asked]

    def asked_of(self, rater: str | None) -> list[Asked]:
        """The questions put to ``rater`` in order, without those withdrawn."""
        mine = (self.questions[n] for n in self.register.asked.get(rater, ()))
        return [a for a in mine if a.status != "withdrawn"]

    def told_by(self, rater: str | None) -> list[Lesson]:
        """The answers of ``rater`` to questions of the study that were not taken back, in order."""
        return [x for x in (self.said[n] for n in self.register.told.get(rater, ())) if x.active]

    def query(self, asked: Asked) -> Query:
        """The question as a person meets it."""
        made = {i: self.candidate(i) for i in asked.candidates}
        return Query(
            number=asked.number,
            candidates=tuple(made.values()),
            shown=tuple(made[i] for i in asked.shown),
            rater=asked.event.rater,
            repeat_of=asked.event.payload.get("repeat_of"),
            note=asked.event.payload.get("note", ""),
            fallback=asked.event.payload.get("fallback", False),
        )

    def candidate(self, number: int) -> Candidate:
        """The candidate with id ``number``."""
        return Candidate(number, self.options.params(number))

    def own_id(self, number: int) -> str:
        """The own id of candidate ``number``, or its number as a text that no own id takes."""
        text = str(number)
        return self.names.get(number) or (f"candidate {text}" if text in self.names.values() else text)

    def candidate_of(self, params: Any) -> Candidate:
        """The candidate with these parameters, which has an id already."""
        return self.candidate(self.options.id_of(self.options.encode(params)))

    def counts(self, lesson: Lesson) -> bool:
        """Whether it was neither taken back nor excluded, alone or with its rater."""
        return lesson.active and lesson.excluded is None and self.raters.counts(lesson.event.rater)

    def teaches(self, lesson: Lesson) -> bool:
        """Whether it counts and is no answer of a validation round."""
        return self.counts(lesson) and (lesson.question is None or lesson.question.trial is None)

    def lessons(self) -> list[Lesson]:
        """What people said and teaches the model, in order."""
        return [x for x in self.said.values() if x.event.kind != "auto" and self.teaches(x)]

    def why_excluded(self, lesson: Lesson) -> str:
        """Why an answer does not count, alone or with its rater; "" if it does, or was taken back."""
        if lesson.excluded is not None:
            return lesson.excluded
        return "" if self.raters.counts(lesson.event.rater) else self.raters.get(str(lesson.event.rater)).reason

    def everybody(self) -> list[Rater]:
        """Every rater with a name or pseudonym: asked, heard, or added."""
        asked = [a.event.rater for a in self.questions.values()]
        return self.raters.all([*asked, *(x.event.rater for x in self.said.values())])

    def spoken(self, rater: str | None = None) -> list[Lesson]:
        """What people (or only ``rater``) said and did not take back, in order; this is what ``undo`` works on."""
        said = (x for x in self.said.values() if x.active and x.event.kind != "auto")
        return [x for x in said if rater is None or x.event.rater == rater]

    def in_force(self, after: int = 0) -> list[Lesson]:
        """The same with automatic steps, except those that led to a question withdrawn since; from ``after`` + 1 on."""
        newest_first = takewhile(lambda x: x.event.number > after, reversed(self.said.values()))
        return [x for x in reversed(list(newest_first)) if self.teaches(x) and not self._led_to_withdrawn(x)]

    def _led_to_withdrawn(self, lesson: Lesson) -> bool:
        if lesson.event.kind != "auto":
            return False
        asked = self.questions.get(lesson.event.payload["query"])
        return asked is not None and asked.status == "withdrawn"

    def automatic_steps(self, question: int) -> int:
        """How many steps without a person led to ``question`` so far."""
        return self.steps[question]

    def waiting_ideas(self) -> list[int]:
        """Own ideas that no question has shown since they were added."""
        if not self.ideas:
            return []
        asked, out = [a for a in self.questions.values() if a.status != "withdrawn"], self.infeasible()
        waiting = [(at, i) for at, i in self.ideas if i not in out]
        return [i for at, i in waiting if not any(a.event.number > at and i in a.candidates for a in asked)]

    def infeasible(self) -> set[int]:
        """Candidates that cannot be made or shown, as people said and did not take back."""
        return {i for lesson in self.cut if self.counts(lesson) for i in lesson.infeasible}

    def possible(self, slate: Iterable[Any]) -> list[Any]:
        """The options of ``slate``, as in events, that nobody called infeasible."""
        out = self.infeasible()
        return [option for option in slate if not out or self.options.find(option) not in out]

    def skipped(self, candidates: Iterable[int | None]) -> list[Asked]:
        """The questions about exactly these candidates that were skipped."""
        wanted = set(candidates)
        skipped = (self.questions[n] for n in sorted(self.register.skipped))
        return [a for a in skipped if set(a.candidates) == wanted]

    def tally(self) -> Tally:
        """Tries and wins of every candidate, from what people said."""
        tally = Tally.empty(len(self.options))
        for lesson in self.lessons():
            tally.add(np.array(lesson.slate), lesson.answer.wins)
        return tally

    def slate(self, ids: Iterable[int]) -> NDArray[Any]:
        """The options ``ids`` as a policy takes them: int64 (m,), or float64 (m, d) on a box."""
        if is_finite(self.space.domain):
            return np.array(list(ids), dtype=np.int64)
        return np.array([self.options.option(i) for i in ids], dtype=np.float64)

    def seen_ids(self) -> list[int]:
        """Every candidate that was asked, compared, added or listed."""
        seen = {i for a in self.questions.values() for i in a.candidates} | {i for _, i in self.ideas} | set(self.names)
        return sorted(seen.union(*(x.slate for x in self.said.values())))
