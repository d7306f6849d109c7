"""From what a person said of the distinct options to an answer about the policy's slate, copies included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefopt.answer import Answer


def expand(answer: Answer, where: Sequence[int], rng: np.random.Generator) -> Answer:
    """The answer about a slate in which options may appear twice.

    A person never compares an option with itself, but the papers' algorithms do and count a fair coin. So copies
    of an option are ordered at random: one of the copies of the best is the best.

    Args:
        answer: about the distinct options, positions 0 .. n-1.
        where: for every place of the slate, the position of its option among the distinct ones.
        rng: tosses the coins.

    >>> expand(Answer.best(1, 2), [0, 1, 0], np.random.default_rng(0)).order
    (1,)
    """
    size = len(where)
    if size == answer.size:
        return answer
    copies = [[j for j, p in enumerate(where) if p == q] for q in range(answer.size)]
    if answer.kind in ("best", "worst"):
        place = copies[answer.order[0]][int(rng.integers(len(copies[answer.order[0]])))]
        return Answer.best(place, size) if answer.kind == "best" else Answer.worst(place, size)
    if answer.kind == "ranking":
        order = [copies[p][i] for p in answer.order for i in rng.permutation(len(copies[p]))]
        return Answer.ranking(order, size, below=answer.below)
    if answer.kind == "pairs":
        wins = np.array(answer.matrix)[np.ix_(where, where)]
        for same in copies:
            for a, j in enumerate(same):
                for k in same[a + 1 :]:
                    wins[j, k] = float(rng.random() < 0.5)
                    wins[k, j] = 1.0 - wins[j, k]
        return Answer.pairs(wins)
    return Answer.tie(size) if answer.kind == "tie" else Answer.skip(answer.reason, size)
