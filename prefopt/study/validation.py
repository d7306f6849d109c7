"""A blind validation round: the recommendation against the centre, options at random and the runner-up.

Raters are asked as always and cannot tell that the question is one of these; the answers teach the model nothing, so
that what was recommended before is tested and not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc

from prefopt.domain import Box, Grid
from prefopt.errors import StudyError
from prefopt.kinds import counted
from prefopt.seeding import stream
from prefopt.study.asking import Asker
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.learner import VALIDATE
from prefopt.study.question import Candidate
from prefopt.study.recommend import recommend
from prefopt.study.reliability import choice, plain_p

#: Draws of a random option other than the recommended one.
PATIENCE = 50
#: Rivals in sentences.
CALLED = {"centre": "the centre", "random": "options at random", "runner-up": "the runner-up"}


@dataclass(frozen=True)
class Versus:
    """The recommendation against one kind of rival ("centre", "random", "runner-up"): won, lost, and about the same."""

    rival: str
    won: int
    lost: int
    ties: int


@dataclass(frozen=True)
class Validation:
    """The result of a round.

    Attributes:
        recommended: what was tested.
        planned: how many comparisons.
        versus: the results, one per kind of rival.
        p: probability that an option as good as its rivals wins so often or more (exact sign test, ties left out).
        over: whether nothing more will be asked.
    """

    recommended: Candidate
    planned: int
    versus: tuple[Versus, ...]
    p: float
    over: bool

    @property
    def won(self) -> int:
        """Comparisons that the recommendation won."""
        return sum(v.won for v in self.versus)

    @property
    def answered(self) -> int:
        """Comparisons with an answer."""
        return sum(v.won + v.lost + v.ties for v in self.versus)

    def __str__(self) -> str:
        if not self.answered:
            return f"blind validation: none of {counted(self.planned, 'comparison')} has an answer yet"
        met = [v for v in self.versus if v.won + v.lost]
        each = ", ".join(f"{v.won} of {v.won + v.lost} against {CALLED[v.rival]}" for v in met) or "all about the same"
        ties = sum(v.ties for v in self.versus)
        decided = counted(self.answered - ties, "comparison")
        said = f"blind validation: the recommendation won {self.won} of {decided} ({each})"
        said += f", {ties} about the same" if ties else ""
        said += f"; exact sign test, p = {plain_p(self.p)}"
        left = self.planned - self.answered
        return said if self.over or left <= 0 else f"{said}; {left} of {self.planned} are still to come"


def begin_event(state: State, asker: Asker, each: int) -> Event:
    """The event that begins a round of ``each`` comparisons with every kind of rival, in random order.

    Raises:
        StudyError: there is no answer yet, a round is under way, or there is nothing to compare with.
    """
    name = state.record.name
    if not state.lessons():
        raise StudyError(f"study {name!r} has no answer yet, so there is no recommendation to validate")
    if state.trials_left():
        raise StudyError(f"study {name!r}: a validation round is under way; answer it, or end_validation() ends it")
    found = recommend(state, asker, runners_up=1)
    best = state.options.encode(found.params)
    rng = stream(state.record.seed, state.last, VALIDATE)
    trials = [("runner-up", state.options.encode(other.params)) for other in found.runners_up] * each
    trials += [("centre", option) for option in centre(state)] * each
    trials += [("random", option) for option in at_random(state, each, rng, best)]
    trials = [trial for trial in trials if not state.options.same(trial[1], best)]
    if not trials:
        raise StudyError(f"study {name!r} has only one option, so there is nothing to compare with")
    order = rng.permutation(len(trials))
    return Event("validation", {"on": True, "recommended": best, "trials": [list(trials[i]) for i in order]})


def centre(state: State) -> Iterator[Any]:
    """The option nearest to the middle of the space; none for a list of arms."""
    domain = state.space.domain
    if isinstance(domain, Grid):
        yield from state.possible([int(np.argmin(((domain.points - 0.5) ** 2).sum(axis=1)))])
    elif isinstance(domain, Box):
        middle = domain.project(np.full((1, domain.dim), 0.5))
        if domain.feasible(middle)[0]:
            yield from state.possible([state.options.plain(middle[0])])


def at_random(state: State, size: int, rng: np.random.Generator, best: Any) -> Iterator[Any]:
    """Options drawn uniformly, other than ``best``."""
    domain = state.space.domain
    for _ in range(size):
        for _ in range(PATIENCE):
            row = domain.sample(1, rng)[0] if isinstance(domain, Box) else int(rng.integers(domain.size))
            option = state.options.plain(row)
            if state.possible([option]) and not state.options.same(option, best):
                yield option
                break


def result_of(state: State) -> Validation:
    """What the latest round has found so far.

    Raises:
        StudyError: there was none.
    """
    event = state.round
    if event is None:
        raise StudyError(f"study {state.record.name!r} has had no validation round; validate() begins one")
    best, trials = event.payload["recommended"], event.payload["trials"]
    counts = {kind: [0, 0, 0] for kind in CALLED if any(kind == one for one, _ in trials)}
    for asked in state.questions.values():
        lesson = asked.lesson
        if asked.trial is None or asked.trial[0] != event.number or lesson is None or not state.counts(lesson):
            continue
        named, kind = choice(lesson), trials[asked.trial[1]][0]
        if named is not None:
            counts[kind][0 if state.options.same(state.options.option(named), best) else 1] += 1
        elif lesson.answer.kind == "tie":
            counts[kind][2] += 1
    versus = tuple(Versus(kind, *three) for kind, three in counts.items())
    won, lost = sum(v.won for v in versus), sum(v.lost for v in versus)
    p = float(bdtrc(won - 1, won + lost, 0.5)) if won else 1.0
    known = Candidate(state.options.find(best), state.options.decode(best))
    waiting = any(asked.trial and asked.trial[0] == event.number for asked in state.pending())
    return Validation(known, len(trials), versus, p, over=not state.trials_left() and not waiting)
