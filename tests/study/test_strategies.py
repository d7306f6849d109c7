"""What a study tells its policy: how many options a question shows, and the budget as the horizon."""

import pytest

from prefopt.domain import Arms, Grid
from prefopt.errors import HorizonError, SettingError
from prefopt.policies import POLICIES, make_policy, resolve_settings
from prefopt.study import create_study
from prefopt.study.learner import build_policy

#: Presets that need a horizon, or do not, unlike their policy.
NEEDS = {
    ("merge-rucb", "zoghi2015"): True,
    ("multi-sparring", "exp3"): True,
    ("sparring-exp3", "anytime"): False,
    ("rex3", "anytime"): False,
}
CASES = [(name, preset) for name, entry in POLICIES.items() for preset in (None, *entry.presets)]
CASES.remove(("bopper", "sui2017"))  # its length-scale is refused for a list of arms


def options(name, size):
    """So many options of a kind that the policy takes."""
    return Arms(size) if "arms" in POLICIES[name].domains else Grid.regular(size)


def horizon_of(name, settings, **keywords):
    study = create_study(options(name, 4), seed=1, strategy=name, settings=settings, **keywords)
    assert study.record.settings == resolve_settings(name, settings)
    return build_policy(study.record, options(name, 4)).horizon


@pytest.mark.parametrize(("name", "preset"), CASES)
def test_the_budget_is_the_horizon_of_a_policy_whose_resolved_settings_need_one(name, preset):
    given = {} if preset is None else {"preset": preset}
    if NEEDS.get((name, preset), POLICIES[name].needs_horizon):
        with pytest.raises(HorizonError, match="number of rounds it will play: pass horizon="):
            make_policy(name, options(name, 4), **given)
        with pytest.raises(SettingError, match="give the study a budget"):
            horizon_of(name, given)
    else:
        assert make_policy(name, options(name, 4), **given).horizon is None
        assert horizon_of(name, given) is None
    assert horizon_of(name, given, budget=12) == 12
    assert horizon_of(name, {**given, "horizon": 99}, budget=12) == 99


@pytest.mark.parametrize("name", [name for name, entry in POLICIES.items() if entry.slates != "2"])
def test_a_policy_is_told_how_many_options_a_question_shows(name):
    study = create_study(options(name, 8), seed=1, strategy=name, query_size=4, budget=9)
    assert build_policy(study.record, options(name, 8)).slate_size == 4
    if POLICIES[name].slates == "varies":  # MDB begins with all, of which a person is shown at most six
        assert len(study.ask().shown) == (6 if name == "mdb" else 4)
