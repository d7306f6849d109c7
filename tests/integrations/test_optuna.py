"""Optuna's preferential studies with our sampler: every value reachable, reproducible, robust to odd answers."""

import warnings

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
preferential = pytest.importorskip("optuna_dashboard.preferential")
sampler_module = pytest.importorskip("prefopt.integrations.optuna")
PrefoptSampler = sampler_module.PrefoptSampler

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402

from prefopt.errors import SettingError  # noqa: E402
from prefopt.integrations.preferences import Said  # noqa: E402
from prefopt.policies import make_policy  # noqa: E402
from prefopt.space import Space  # noqa: E402
from prefopt.study.create import default_strategy  # noqa: E402

SPACES = {
    "int": {"n": IntDistribution(0, 3)},
    "grid": {"n": IntDistribution(0, 6, step=2), "c": CategoricalDistribution(["a", "b", "z"])},
    "box": {"x": FloatDistribution(0.01, 10, log=True), "n": IntDistribution(0, 3), "y": FloatDistribution(-1, 1)},
}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def liking(params):
    """A person who likes large whole numbers, the last choice, and x, y in the middle."""
    return (
        params.get("n", 0) + 2 * (params.get("c") == "z") - abs(np.log10(params.get("x", 1))) - abs(params.get("y", 0))
    )


@pytest.mark.parametrize(("space", "cls"), [("box", "QEUBO"), ("grid", "QEUBO")])
def test_good_options_are_proposed_where_a_study_would_look_ahead(space, cls):
    policy = PrefoptSampler(seed=1)._policy(Space.from_optuna(SPACES[space]), Said([], [], [], []))
    assert type(policy).__name__ == cls != type(make_policy(default_strategy(policy.domain), policy.domain)).__name__


def played(space, sampler, rounds, n_generate=3, noise=0.0, seed=0, storage=None):
    """A study in which the worst of the active trials is reported ``rounds`` times."""
    study = preferential.create_study(n_generate=n_generate, sampler=sampler, storage=storage)
    person = np.random.default_rng(seed)
    for _ in range(rounds):
        generate(study, space)
        active = [t for t in study.trials if t.number not in {w.number for _, w in study.preferences}]
        worst = min(active, key=lambda t: liking(t.params) + noise * person.gumbel())
        study.report_preference([t for t in active if t is not worst], worst)
    return study


def generate(study, space):
    while study.should_generate():
        trial = study.ask()
        for name, distribution in space.items():
            trial._suggest(name, distribution)


@pytest.mark.parametrize("given", [True, False], ids=["space-given", "space-inferred"])
def test_the_top_integer_is_proposed_and_wins(given):
    study = played(SPACES["int"], PrefoptSampler(SPACES["int"] if given else None, seed=2), 8, n_generate=2)
    values = [t.params["n"] for t in study.trials]
    assert set(values) <= {0, 1, 2, 3} and 3 in values
    losers = {w.number for _, w in study.preferences}
    assert 3 in [t.params["n"] for t in study.trials if t.number not in losers]


@pytest.mark.parametrize("name", SPACES)
def test_the_same_answers_give_the_same_trials(name, tmp_path):
    space = SPACES[name]
    first = played(space, PrefoptSampler(space, seed=5), 2)
    again = played(space, PrefoptSampler(space, seed=5), 2, storage=f"sqlite:///{tmp_path / 'o.db'}")
    assert [t.params for t in first.trials] == [t.params for t in again.trials]
    other = played(space, PrefoptSampler(space, seed=6), 2)
    assert [t.params for t in first.trials] != [t.params for t in other.trials]
    again._study._storage.remove_session()


def test_active_and_skipped_trials_are_not_proposed_again():
    from optuna_dashboard.preferential._system_attrs import report_skip

    space = SPACES["int"]
    study = preferential.create_study(n_generate=4, sampler=PrefoptSampler(space, seed=1))
    generate(study, space)
    assert sorted(t.params["n"] for t in study.trials) == [0, 1, 2, 3]
    study = preferential.create_study(n_generate=3, sampler=PrefoptSampler(space, seed=1))
    generate(study, space)
    gone = study.trials[0]
    report_skip(study._study._study_id, gone._trial_id, study._study._storage)
    generate(study, space)
    assert study.trials[-1].params["n"] not in {t.params["n"] for t in study.trials[:-1]}


def test_the_best_of_thirty_survives_noisy_answers():
    """Seventeen trials of thirty at most are seen, so that a sampler that does not learn has it in 57 % of runs."""
    space = {"n": IntDistribution(0, 9), "c": CategoricalDistribution(["a", "b", "z"])}
    for seed in range(5):
        study = played(space, PrefoptSampler(space, seed=seed), 15, noise=0.3, seed=seed)
        losers = {w.number for _, w in study.preferences}
        left = [liking(t.params) for t in study.trials if t.number not in losers]
        assert max(left) == 11 and len(study.trials) <= 17


def test_odd_reports_are_no_reason_to_stop():
    space = SPACES["grid"]
    study = preferential.create_study(n_generate=3, sampler=PrefoptSampler(space, seed=1))
    generate(study, space)
    a, b, c = study.trials
    study.report_preference(a, a)  # with itself
    study.report_preference(a, [b, c])  # the best of three
    for better, worse in ((b, c), (c, a)):  # and round in a circle
        study.report_preference(better, worse)
    with pytest.warns(UserWarning, match=r"trials \[0\] were compared with themselves"):
        trial = study.ask(space)
    assert trial.params["n"] in (0, 2, 4, 6)


def test_a_report_is_one_answer():
    from prefopt.integrations.preferences import read_preferences

    study = played(SPACES["grid"], PrefoptSampler(SPACES["grid"], seed=1), 2, n_generate=4)
    said = read_preferences(study._study, SPACES["grid"])
    assert [(answer.kind, answer.size) for _, answer in said.answers] == [("worst", 4), ("worst", 4)]
    worst = [options[answer.order[0]] for options, answer in said.answers]
    reported = [pairs[0][1].params for pairs in np.array(study.preferences, dtype=object).reshape(2, 3, 2)]
    assert sorted(worst, key=str) == sorted(reported, key=str)


def test_what_is_wrong_is_said_at_once():
    with pytest.raises(SettingError, match=r"unknown policy 'rucbb'.*did you mean 'rucb'"):
        PrefoptSampler(strategy="rucbb", settings={"preset": "x"})
    with pytest.raises(SettingError, match="seed must be a whole number"):
        PrefoptSampler(seed=1.5)
    study = preferential.create_study(n_generate=2, sampler=PrefoptSampler(SPACES["box"], strategy="rucb", seed=1))
    with pytest.raises(SettingError, match="finite spaces only"):
        study.ask(SPACES["box"])


@pytest.mark.slow
def test_top_values_are_reached_from_every_seed():
    for seed in range(20):
        study = played(SPACES["grid"], PrefoptSampler(SPACES["grid"], seed=seed), 14)
        assert {"n": 6, "c": "z"} in [t.params for t in study.trials], seed


def test_warnings_are_ours_only():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        played(SPACES["int"], PrefoptSampler(seed=1), 3)
