"""Options for the free places of a question, where the policy proposes none or one twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefopt.domain import Box
from prefopt.study.fold import State
from prefopt.study.learner import FILL, fresh_rng

#: A person compares at most this many at once.
MOST = 6

Slate = list[Any]  # options as in events


def most_shown(state: State) -> int:
    """How many options a question shows, if there are so many."""
    return min(state.record.query_size, MOST)


def distinct(state: State, slate: Slate) -> Slate:
    """The options of ``slate`` without copies, in the same order."""
    kept: Slate = []
    for option in slate:
        if not any(state.options.same(option, other) for other in kept):
            kept.append(option)
    return kept


def next_best(state: State, number: int) -> Slate:
    """Options by their share of wins, best first; on a box those asked so far, then random points."""
    tally = state.tally()
    order = np.argsort(-(tally.wins + 1) / (tally.tries + 2), kind="stable")
    known = state.possible(state.options.option(int(i)) for i in order)
    return known if state.options.finite else known + at_random(state, number)


def least_compared(state: State, number: int) -> Slate:
    """Options by how often they were compared, seldom first, in random order if equal; on a box random points."""
    if not state.options.finite:
        return at_random(state, number)
    rng = fresh_rng(state.record, number, FILL, 0)
    return state.possible(int(i) for i in np.lexsort((rng.random(len(state.options)), state.tally().tries)))


def topped_up(state: State, found: Slate, least: int, number: int) -> Slate:
    """At least ``least`` distinct options if there are so many: ``found``, a rival of one alone, the least compared."""
    if len(found) < 2:
        found = distinct(state, found + next_best(state, number))[:2]
    return found if len(found) >= least else distinct(state, found + least_compared(state, number))[:least]


def at_random(state: State, number: int, attempt: int = 0) -> Slate:
    """Distinct options drawn uniformly, as many as a question shows."""
    rng, size = fresh_rng(state.record, number, FILL, attempt + 1), most_shown(state)
    domain = state.space.domain
    if isinstance(domain, Box):
        return state.possible(distinct(state, [state.options.plain(row) for row in domain.sample(size, rng)]))
    known = state.possible(range(domain.size))
    return [int(i) for i in rng.choice(known, size=min(size, len(known)), replace=False)]
