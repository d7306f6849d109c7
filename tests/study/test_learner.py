"""The policy of a study after answers that came one by one, at once on loading, and after some were taken back."""

import copy

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from prefopt import Arms, Grid, create_study
from prefopt.policies.kernel.self_sparring import FiniteKernelSelfSparring
from prefopt.study.learner import AT_ONCE
from prefopt.study.limit import one_thread

GRID = Grid.regular(6, 5)
BERNOULLI = {"likelihood": "bernoulli"}


@pytest.mark.parametrize(
    ("space", "settings", "size"),
    [(GRID, {}, 2), (GRID, {"self_duel": "skip"}, 4), (GRID, BERNOULLI, 3), (Arms(8), {}, 2), (Arms(3), {}, 3)],
)
def test_a_reloaded_study_goes_on_as_the_running_one(space, settings, size):
    """Over 60 answers of all kinds, with some taken back or put back in between: same question, same recommendation."""
    study = create_study(space, seed=5, strategy="kernel-self-sparring", settings=settings, query_size=size)
    rng, undone = np.random.default_rng(0), None
    for n in range(60):
        query = study.ask()
        again = copy.deepcopy(study)
        assert again.ask() == query
        if n % 6 == 0:
            assert again.recommend() == study.recommend()
        pairs = np.triu(rng.random((size, size)), 1)
        pairs += np.tril(1 - pairs.T, -1)
        told = [{"best": min(query.ids)}, {"tie": True}, {"pairs": pairs}, {"ranking": sorted(query.ids)}, {"skip": ""}]
        study.tell(query, **told[int(rng.choice(5, p=[0.5, 0.1, 0.2, 0.1, 0.1]))])
        if n % 7 == 6:
            study.undo(1 + n % 3)
            undone = study.ask().number
        elif n % 7 == 1 and undone is not None and study.ask().number == undone:
            study.restore(undone)
    assert study.answered > AT_ONCE


def test_answers_are_not_replayed_one_by_one(monkeypatch):
    study = create_study(GRID, seed=5, strategy="kernel-self-sparring")
    for _ in range(5 * AT_ONCE):
        query = study.ask()
        study.tell(query, best=min(query.ids))
    told, tell = [], FiniteKernelSelfSparring.tell
    monkeypatch.setattr(FiniteKernelSelfSparring, "tell", lambda *words: (told.append(words), tell(*words)))
    copy.deepcopy(study).ask()
    assert len(told) < AT_ONCE
    study.undo()
    told.clear()
    study.recommend()
    assert 0 < len(told) < AT_ONCE


def test_one_thread_until_the_last_one_leaves():
    def threads():
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}
