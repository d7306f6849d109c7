import csv
import json
import math

import numpy as np
import pytest

from prefopt.domain import Arms
from prefopt.environments import make_environment
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.regret import score
from prefopt.simulation import simulate
from prefopt.simulation.driver import make_loop, run_finite
from prefopt.simulation.plain import run_plain


def run(policy="ind-self-sparring", environment="arith-linear-6", **keywords):
    given = {"rounds": 200, "repetitions": 4, "seed": 3, **keywords}
    return simulate(policy, environment, **given)


def test_a_repetition_depends_on_seed_and_number_only():
    alone, two = run(), run(jobs=2)
    np.testing.assert_array_equal(alone.regret, two.regret)
    np.testing.assert_array_equal(run(repetitions=2).regret, alone.regret[:2])
    assert not np.array_equal(run(seed=4).regret, alone.regret)


def test_compiled_and_plain_loops_agree():
    fast, slow = run(record=True), run(record=True, compiled=False)
    for a, b in zip(fast.slates, slow.slates, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(fast.regret, slow.regret)


def test_regret_is_the_sum_over_the_recorded_slates():
    result = run(record=True, relabel=False, repetitions=1)
    utility = np.r_[0.8, np.linspace(0.7, 0.2, 5)]
    per_step = ((0.8 - utility[result.slates[0]]) / 2).sum(axis=1)
    np.testing.assert_allclose(result.curve()[0], per_step.cumsum()[result.checkpoints - 1])


def test_arms_get_fresh_names_in_every_repetition():
    """Whatever an algorithm's order of indices favours, the best arm is found under another name each time."""
    result = run(rounds=3000, repetitions=8)
    assert result.manifest["relabelled"] and np.all(result.inference[:, -1, 0] == 0)
    assert len(set(result.recommended[:, -1].tolist())) > 1
    fixed = run(rounds=3000, repetitions=8, relabel=False)
    assert not fixed.manifest["relabelled"] and set(fixed.recommended[:, -1].tolist()) == {0}


def test_inference_regret_is_that_of_the_recommended_option():
    person = make_environment("forrester-30")
    result = run("kernel-self-sparring", person, rounds=20)
    chosen = result.recommended
    np.testing.assert_allclose(result.inference[..., 0], person.P[22, chosen] - 0.5)
    scaled = (person.utility[22] - person.utility[chosen]) / np.ptp(person.utility)
    np.testing.assert_allclose(result.inference[..., 1], scaled)
    assert result.summary()["inference_regret"] == pytest.approx(result.inference[:, -1, 0].mean())
    assert result.summary()["inference_regret_utility"] == pytest.approx(scaled[:, -1].mean())


def test_inference_regret_on_a_box():
    person = make_environment("forrester")
    result = run("kernel-self-sparring", person, rounds=4, repetitions=2, settings={"raw_samples": 64, "features": 64})
    gap = person.best_utility - person.utility(result.recommended[:, -1])
    np.testing.assert_allclose(result.inference[:, -1, 0], 1 / (1 + np.exp(-gap)) - 0.5)
    np.testing.assert_allclose(result.inference[:, -1, 1], gap / person.utility_range)


def test_no_utility_no_regret_of_it():
    assert "inference_regret_utility" not in run(environment="sushi16").summary()


def test_progress_goes_to_standard_error(capfd):
    run(progress=True)
    shown = capfd.readouterr()
    assert "simulating" in shown.err and "100%" in shown.err
    assert shown.out == ""
    run()
    assert capfd.readouterr().err == ""


def test_several_regrets_in_one_run():
    result = run(regret=["strong-sum", "weak", "binary-weak"])
    assert result.regret.shape == (4, len(result.checkpoints), 3)
    assert np.all(result.mean("weak") * 2 <= result.mean("strong-sum") + 1e-12)
    with pytest.raises(SettingError, match="was not kept"):
        result.mean("borda")


@pytest.mark.parametrize("feedback", ["pairs", "winner", "ranking"])
def test_slates_of_four(feedback):
    result = run(slate_size=4, feedback=feedback, record=True)
    assert result.slates[0].shape == (200, 4)
    assert result.summary()["feedback"] == feedback


def test_learns():
    random = run("random", rounds=3000).summary()["mean"]
    assert run(rounds=3000).summary()["mean"] < random / 3


def test_summary_has_the_contract():
    summary = run().summary()
    names = "mean sd se checkpoints inference_regret inference_regret_utility microseconds_per_round seconds versions"
    assert set(names.split()) <= set(summary)
    assert summary["checkpoints"][-1] == [200, summary["mean"], summary["sd"]]
    assert summary["se"] == pytest.approx(summary["sd"] / 2)


def test_a_policy_class_of_ones_own():
    result = simulate(lambda domain, **k: make_policy("random", domain, **k), "arith-linear-6", rounds=10)
    assert result.regret.shape == (1, 10, 1)


def test_checkpoints_end_with_the_last_round():
    assert run(checkpoints=[10, 50]).checkpoints.tolist() == [10, 50, 200]
    with pytest.raises(SettingError, match="checkpoints must lie"):
        run(checkpoints=[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rounds": 0}, "rounds must be"),
        ({"repetitions": 1.5}, "repetitions must be"),
        ({"jobs": 0}, "jobs must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be"),
        ({"seed": None}, "seed must be"),
        ({"seed": "a"}, "seed must be"),
        ({"rounds": None}, "rounds must be a whole number of at least 1, got None"),
        ({"rounds": math.nan}, "rounds must be"),
        ({"repetitions": 2.0}, "repetitions must be"),
        ({"jobs": "2"}, "jobs must be a whole number of at least 1, or -1 for every core, got '2'"),
        ({"regret": []}, r"regret must be a name or a list of names .*got \[\]"),
        ({"regret": 3}, "regret must be"),
        ({"slate_size": 2.0}, "slate_size must be"),
        ({"settings": 3}, "settings must be a dict"),
        ({"settings": {"domain": 3}}, "ind-self-sparring has no setting 'domain'; it has slate_size"),
        ({"settings": {"horizon": "x"}}, "horizon to be a whole number or None, got 'x'"),
        ({"settings": {"etta": 1}}, "did you mean 'eta'"),
        ({"environment": 3}, "expected a name .*got 3"),
        ({"environment": None}, "expected a name .*got None"),
        ({"checkpoints": [1.5]}, r"checkpoints must be a list of whole numbers, got \[1.5\]"),
        ({"checkpoints": 5}, "checkpoints must be a list"),
        ({"policy": make_policy("random", Arms(3))}, "pass Random and settings"),
        ({"policy": 3}, "expected the name of a policy, or its class"),
        ({"regret": "none"}, "unknown regret"),
        ({"policy": "no-such"}, "unknown policy"),
        ({"environment": "no-such"}, "no-such"),
        ({"settings": {"eta": -1}}, "eta > 0"),
        ({"settings": {"nonsense": 1}}, "nonsense"),
        ({"settings": {"preset": "nonsense"}}, "no preset"),
        ({"slate_size": 1}, "slate_size must be a whole number of at least 2, got 1"),
    ],
)
def test_bad_input_says_what_was_wrong(wrong, message):
    with pytest.raises(SettingError, match=message):
        run(**wrong)


def test_saved_table_is_tidy(tmp_path):
    result = run()
    result.save(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * len(result.checkpoints)
    last = [float(row["value"]) for row in rows if row["t"] == "200"]
    assert np.mean(last) == result.summary()["mean"]
    told = json.loads((tmp_path / "x.json").read_text())
    assert (told["seed"], told["rounds"], told["repetitions"]) == (3, 200, 4)
    assert told["settings"]["eta"] == 1.0 and told["regrets"] == ["strong-sum"]
    assert told["versions"]["numpy"] == np.__version__


def test_frame():
    pytest.importorskip("pandas")
    assert run().to_frame().groupby("t").value.mean().iloc[-1] == pytest.approx(run().summary()["mean"])


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_takes_the_repetitions():
    distributed = pytest.importorskip("distributed")
    import joblib

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        far = run(jobs=2)
    np.testing.assert_array_equal(far.regret, run().regret)


@pytest.mark.parametrize("name", ["mdb", "multi-rucb"])
def test_a_question_about_one_option_alone_is_a_round(name):
    def start():
        return make_policy(name, Arms(6)), np.random.default_rng(1), np.random.default_rng(2)

    environment, checkpoints = make_environment("1good-linear-6"), np.array([700])
    policy, rng, person = start()
    plain = run_plain(policy, environment, ("strong-mean",), rng, person, checkpoints)
    assert policy.state.t[0] == 701
    assert len(policy.ask(rng)) == 1
    policy, rng, person = start()
    table = score(environment, ("strong-mean",), np.arange(6))
    looped = run_finite(make_loop(policy.rules), policy, environment.world, table, rng, person, checkpoints)
    np.testing.assert_array_equal(plain.regret, looped.regret)
    np.testing.assert_array_equal(plain.recommended, looped.recommended)
