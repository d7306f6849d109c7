"""Designs and answers that exist already: from CSV files, tensors, or another program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from prefopt.answer import Answer
from prefopt.errors import PrefoptError, StudyError
from prefopt.kinds import is_real
from prefopt.study import naming
from prefopt.study.csv_files import (
    ANSWER_COLUMNS,
    OwnAnswer,
    answer_row,
    read_designs,
    write_designs,
    write_rows,
)
from prefopt.study.events import Event
from prefopt.study.export import own_answers, time_of
from prefopt.study.exported import read_said
from prefopt.study.fold import State
from prefopt.study.people import StudyPeople
from prefopt.study.tensors import designs_of, duels_of


class StudyIncoming(StudyPeople):
    """What brings designs and answers of elsewhere into a study, and takes them out again."""

    def add_designs(self, designs: Mapping[str, Any], answers: Sequence[OwnAnswer] = ()) -> int:
        """Designs by own ids, and what was said of them before this study; all of it or, if anything is wrong, nothing.

        The designs become candidates: they count as options to recommend and as rows of ``X``, but are not put before
        anybody for that. What is there already, from an earlier call with the same data, is not added again.

        Args:
            designs: own id -> parameters, or item of a list of options.
            answers: about the own ids of ``designs``, or of designs added before.

        Returns:
            How many answers are new.

        Raises:
            StudyError: an id that means another design already, or a design with two ids; an answer about unknown ids.
            DomainError: a design outside of the space.

        >>> from prefopt import create_study
        >>> study = create_study(["plum", "nut", "lemon"], seed=1)
        >>> study.add_designs({"P7": "plum", "N1": "nut"}, [OwnAnswer(("P7", "N1"), Answer.duel(0))])
        1
        >>> study.comparisons.tolist(), study.names
        ([[0, 1]], {0: 'P7', 1: 'N1'})
        """
        with self._lock:
            while True:  # again only if another process wrote the same in between
                state = self._sync()
                events = list(self._new_events(state, designs, answers))
                if not events or self._storage.append_all(self.record, events):
                    return sum(event.kind == "compared" for event in events)

    def import_csv(self, designs: str | Path | None = None, answers: str | Path | None = None) -> int:
        """The same from CSV files; see ``csv_files`` for their columns. How many answers are new.

        Args:
            designs: a column ``id``, and one for every parameter (or ``option``).
            answers: columns ``winner``, ``loser`` and, where it applies, ``tie``, ``rater``, ``seconds``; or those that
                ``export_csv`` writes; or the history of another study, as ``export`` writes it, which says itself what
                the designs are.

        Raises:
            StudyError: names file, line and column.
        """
        known = {} if designs is None else read_designs(designs, self.space)
        return self.add_designs(known, [] if answers is None else read_said(answers))

    def export_csv(self, designs: str | Path, answers: str | Path) -> None:
        """Write the candidates and what counts of what was said, in files that ``import_csv`` reads.

        Ids are the own ones where there are any, and candidate ids elsewhere.
        """
        with self._lock:
            state = self._sync()
            write_designs(designs, {state.own_id(i): state.options.params(i) for i in state.seen_ids()})
            rows = [answer_row(said, time_of(lesson.event)) for lesson, said in own_answers(state)]
            write_rows(answers, ANSWER_COLUMNS, rows)

    def import_tensors(self, X: Any, comparisons: Any, *, unit: bool = False, ids: Sequence[str] | None = None) -> int:
        """Designs and comparisons as BoTorch's ``PairwiseGP`` takes them; how many comparisons are new.

        Args:
            X: shape (n, d), one design a row: values of the parameters in their order (numbers only), or with ``unit``
                places in the unit cube, as ``study.X`` has them.
            comparisons: shape (m, 2), whole numbers, rows [winner, loser] of ``X``.
            unit: whether ``X`` is in the unit cube.
            ids: own ids of the rows, "0", "1", ... by default.

        Raises:
            StudyError: other shapes; a design compared with itself; not finite; rows that do not exist.
        """
        designs = designs_of(X, self.space, unit=unit, ids=ids)
        return self.add_designs(designs, duels_of(list(designs), comparisons))

    def params(self, candidate: int) -> Any:
        """The parameters of a candidate (or the item of a list of options), by its id."""
        with self._lock:
            return self._sync().options.params(candidate)

    def said(self) -> list[tuple[tuple[int, ...], Answer]]:
        """Candidate ids and what was said of them, for everything that counts, in order."""
        with self._lock:
            return [(lesson.slate, lesson.answer) for lesson in self._sync().lessons()]

    def said_by(self) -> list[str | None]:
        """Who said each of what ``said`` lists, in the same order."""
        with self._lock:
            return [lesson.event.rater for lesson in self._sync().lessons()]

    @property
    def names(self) -> dict[int, str]:
        """Candidate id -> own id, of the designs that came with one."""
        with self._lock:
            return dict(self._sync().names)

    def _new_events(self, state: State, designs: Mapping[str, Any], answers: Sequence[OwnAnswer]) -> Any:
        options = {str(name): state.options.encode(params) for name, params in designs.items()}
        known = {name: state.options.option(i) for i, name in state.names.items()}
        owner = {_key(option): name for name, option in known.items()}
        for name, option in options.items():
            if not naming.is_storable(name):
                raise StudyError(f"the id of a design is a text that every database keeps, got {name!r}")
            if name in known and not state.options.same(known[name], option):
                raise StudyError(f"design {name!r} is {state.options.decode(known[name])} already; use another id")
            first = owner.setdefault(_key(option), name)
            if first != name:
                raise StudyError(f"designs {first!r} and {name!r} are the same, {state.options.decode(option)}")
        new = {name: option for name, option in options.items() if name not in known}
        if new:
            yield Event("listed", {"options": list(new.values()), "names": list(new)})
        told = {_mark(time_of(x.event), x.event.rater, x.answer) for x in state.said.values()}
        seen: dict[str, int] = {}
        for said in answers:
            slate = _slate(state, said, {**known, **new})
            naming.check_text(rater=said.rater)
            if said.seconds is not None and not (is_real(said.seconds) and said.seconds >= 0):
                raise StudyError(f"{said}: seconds must be at least 0, got {said.seconds!r}")
            about = [said.ids, said.answer.to_json(), said.rater, said.seconds]
            key = json.dumps([*about, said.params, said.made] if said.params else about)
            seen[key] = seen.get(key, 0) + 1  # the same thing said twice is two answers, also of one file
            token = f"own:{seen[key]}:{sha256(key.encode()).hexdigest()[:40]}"
            if token not in state.tokens and _mark(said.made, said.rater, said.answer) not in told:
                payload = {"slate": slate, "answer": said.answer.to_json()}
                yield Event("compared", payload, rater=said.rater, seconds=said.seconds, token=token)


def _slate(state: State, said: OwnAnswer, known: Mapping[str, Any]) -> list[Any]:
    """The options that an answer is about, as in events."""
    if said.params:
        try:
            slate = [state.options.encode(params) for params in said.params]
        except PrefoptError as error:
            raise StudyError(f"{said.where}: {error}") from error
    else:
        unknown = [name for name in said.ids if name not in known]
        if unknown:
            raise StudyError(f"{said}: design {unknown[0]!r} is not known")
        slate = [known[name] for name in said.ids]
    if len({_key(option) for option in slate}) < len(slate):
        raise StudyError(f"{said}: a design cannot be compared with itself")
    return slate


def _mark(made: str, rater: str | None, answer: Answer) -> str:
    """By which an answer of this very study is known when it comes back."""
    return json.dumps([made, rater, answer.to_json()])


def _key(option: Any) -> Any:
    return option if isinstance(option, int) else tuple(round(x, 9) for x in option)
