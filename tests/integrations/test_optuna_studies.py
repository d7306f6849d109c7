"""A preferential study of Optuna becomes one of ours, and the other way round."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
preferential = pytest.importorskip("optuna_dashboard.preferential")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402

from prefopt import create_study  # noqa: E402
from prefopt.errors import StudyError  # noqa: E402
from prefopt.integrations.optuna_studies import from_preferential, to_preferential  # noqa: E402

SPACE = {
    "n": IntDistribution(1, 9, step=2),
    "x": FloatDistribution(0.1, 10, log=True),
    "c": CategoricalDistribution(["a", "b", 3, True]),
}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


@pytest.fixture
def source():
    study = preferential.create_study(n_generate=4, sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(6):
        study.ask(SPACE)
    return study


def test_it_recommends_although_nothing_was_never_beaten(source):
    trials = source.trials
    for better, worse in [(0, 1), (1, 2), (2, 0), (3, 0), (0, 4), (4, 3), (5, 4), (3, 5)]:
        source.report_preference(trials[better], trials[worse])
    assert source.best_trials == []
    study = from_preferential(source, seed=1)
    best = study.recommend()
    assert set(best.params) == set(SPACE) and 0 < best.probability_best <= 1
    assert len(study.comparisons) == 8
    assert study.names == {n: f"trial {n}" for n in range(6)}
    assert [study.params(n) for n in range(6)] == [pytest.approx(t.params) for t in trials]


def test_there_and_back(source):
    trials = source.trials
    source.report_preference(trials[0], [trials[1], trials[2]])
    source.report_preference([trials[3], trials[4]], trials[5])
    source.report_preference(trials[3], trials[0])
    study = from_preferential(source, seed=1)
    assert sorted((a.kind, a.size) for _, a in study.said()) == [("best", 2), ("best", 3), ("worst", 3)]
    back = preferential.create_study(n_generate=4, sampler=optuna.samplers.RandomSampler(seed=2))
    assert to_preferential(study, back) == 3
    pairs = [sorted((b.number, w.number) for b, w in s.preferences) for s in (source, back)]
    assert pairs[0] == pairs[1]
    assert [t.params for t in back.trials] == [pytest.approx(t.params) for t in trials]
    assert back.trials[0].distributions == SPACE
    assert np.array_equal(from_preferential(back, seed=1).comparisons, study.comparisons)


def test_trials_with_the_same_parameters_are_one_candidate():
    source = preferential.create_study(n_generate=2, sampler=optuna.samplers.RandomSampler(seed=1))
    source.ask({"n": IntDistribution(3, 3), "m": IntDistribution(0, 1)})
    for m in (0, 1, 1):
        source.enqueue_trial({"n": 3, "m": m})
        source.ask({"n": IntDistribution(3, 3), "m": IntDistribution(0, 1)})
    twins = {t.number: t.params["m"] for t in source.trials}
    ones = [n for n, m in twins.items() if m == 1]
    zero = next(n for n, m in twins.items() if m == 0)
    source.report_preference(source.trials[ones[0]], source.trials[zero])
    source.report_preference(source.trials[ones[1]], source.trials[zero])
    source.report_preference(source.trials[ones[0]], source.trials[ones[1]])
    with pytest.warns(UserWarning, match="have the same parameters"):
        study = from_preferential(source, seed=1)
    assert len(study.comparisons) == 2 and study.recommend().params == {"n": 3, "m": 1}


def test_options_become_a_category_and_ties_have_no_place():
    study = create_study(["tea", "coffee", "cocoa"], seed=1)
    study.add_comparison("tea", "cocoa")
    query = study.ask()
    study.tell(query, tie=True)
    target = preferential.create_study(n_generate=2, sampler=optuna.samplers.RandomSampler(seed=1))
    assert to_preferential(study, target) == 1
    ((better, worse),) = target.preferences
    assert (better.params, worse.params) == ({"option": "tea"}, {"option": "cocoa"})
    with pytest.raises(StudyError, match="texts or numbers"):
        to_preferential(create_study([{"a": 1}, {"a": 2}], seed=1), target)
    with pytest.raises(StudyError, match="share no parameter"):
        from_preferential(preferential.create_study(n_generate=2, sampler=optuna.samplers.RandomSampler()))
