"""What was recommended after so many answers, and how sure that was."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefopt.study.asking import Asker
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.recommend import recommend
from prefopt.study.storage import StudyRecord

#: At most so many moments of a study are looked at again.
MOMENTS = 12


def convergence(record: StudyRecord, events: list[Event], moments: int = MOMENTS) -> list[dict[str, Any]]:
    """The recommendation at moments spread over the study, as it was then.

    Args:
        record: the study.
        events: its whole log.
        moments: how many, at most.

    Returns:
        One record per moment: ``answers`` (how many were in force), ``params``, ``mean``, ``sd``, ``probability_best``.
    """
    state, asker = State(record), Asker(record)
    said = [event.number for event in events if event.kind in ("answered", "compared", "undone", "restored")]
    if not said:
        return []
    chosen = {said[i] for i in np.unique(np.linspace(0, len(said) - 1, moments).round().astype(int))}
    found = []
    for event in events:
        state.apply(event)
        if event.number in chosen and state.lessons():
            best = recommend(state, asker, runners_up=0)
            row = {"answers": state.answered, "params": best.params, "mean": best.mean, "sd": best.sd}
            found.append(row | {"probability_best": best.probability_best})
    return found
