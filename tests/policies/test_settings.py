"""Settings are checked at the border: their types, their range, and those without effect."""

import json

import numpy as np
import pytest

from prefopt.domain import Arms, Box, Grid
from prefopt.errors import SettingError
from prefopt.policies import POLICIES, make_policy

DOMAINS = {"arms": Arms(5), "grid": Grid.regular(5), "box": Box(1)}
#: A value of the wrong type for every annotation, and what the message expects.
WRONG = {
    "int": (2.5, "a whole number"),
    "float": ("x", "a finite number"),
    "float | Sequence[float]": ([0.2, "x"], "a finite number, or a list"),
    "bool": (1, "true or false"),
    "str": (3, "a word"),
}


def every_setting():
    """(name, domain, setting, annotation) of every policy on every kind of domain."""
    for name, entry in POLICIES.items():
        for kind in entry.domains:
            policy = make_policy(name, DOMAINS[kind], horizon=10)
            for setting in policy.settings:
                yield name, kind, setting, type(policy).__dataclass_fields__[setting].type.removesuffix(" | None")


SETTINGS = [row for row in every_setting() if row[2] not in ("features", "kernel", "base") or row[3] in ("int", "str")]


@pytest.mark.parametrize(("name", "kind", "setting", "annotation"), SETTINGS)
def test_a_value_of_another_type_is_named(name, kind, setting, annotation):
    wrong, expected = WRONG[annotation]
    bad = [wrong, *([True] if annotation in ("int", "float") else []), *([np.inf] if annotation == "float" else [])]
    for value in bad:
        with pytest.raises(SettingError) as caught:
            make_policy(name, DOMAINS[kind], **{"horizon": 10, setting: value})
        message = str(caught.value)
        assert name in message and f"expects {setting} to be {expected}" in message and repr(value) in message


@pytest.mark.parametrize(
    ("name", "kind", "settings", "message"),
    [
        ("mbtw", "arms", {"restart": True}, "no effect on mbtw"),
        ("sparring-ts", "arms", {"factor": 1.0}, "no effect on 'ts'"),
        ("multi-sparring", "arms", {"anytime": True}, "no effect on 'ucb1'"),
        ("merge-rucb", "arms", {"delta": 0.1}, "pass C=None"),
        ("qsa", "arms", {"margin": 0.1}, "no effect"),
        ("kernel-self-sparring", "arms", {"lengthscale": [0.2]}, "no effect"),
        ("kernel-self-sparring", "grid", {"kernel": object(), "lengthscale": [0.3]}, "beside a kernel"),
        ("kernel-self-sparring", "box", {"kernel": object(), "outputscale": 2.0}, "beside a kernel"),
        ("qsa", "arms", {"features": "x"}, "numbers as features"),
        ("kernel-self-sparring", "box", {"kernel": 3}, "no posterior paths for a int"),
        ("if1", "arms", {"horizon": 0}, "at least one round"),
        ("borda-gp", "box", {"restarts": 0}, "got 1024, 512, 0 and 0.001"),
        ("qeubo", "box", {"tilt": -1.0}, "expected bend, tilt, opening >= 0, got 2.0, -1.0, None"),
        ("qeubo", "grid", {"outputscale": 0.0}, "expected lengthscale, outputscale > 0, got 0.35, 0.0"),
        ("random", "box", {"slate_size": 1}, "at least two places"),
        ("rucb", "arms", {"zeta": 1}, "zeta"),
    ],
)
def test_no_effect_or_out_of_range(name, kind, settings, message):
    with pytest.raises(SettingError, match=message) as caught:
        make_policy(name, DOMAINS[kind], **settings)
    assert name.split("-")[0] in str(caught.value)


@pytest.mark.parametrize(("name", "preset"), [(n, p) for n, entry in POLICIES.items() for p in entry.presets])
def test_a_preset_fits_every_domain(name, preset):
    for kind in POLICIES[name].domains:
        assert make_policy(name, DOMAINS[kind], horizon=10, preset=preset).settings["slate_size"] == 2


def test_numbers_of_numpy_become_json():
    policy = make_policy("merge-rucb", Arms(4), alpha=np.float64(0.6), p=np.int64(3), slate_size=np.int32(2))
    assert json.loads(json.dumps(policy.settings)) == {**policy.settings, "alpha": 0.6, "p": 3, "slate_size": 2}
    assert make_policy("rucb", Arms(4), alpha=1).alpha == 1
