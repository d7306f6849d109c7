"""What utility models say of the raters of a study."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from prefopt import Arms, Grid, create_study
from prefopt.errors import StudyError


def asked(directions, n=30, errors=(0.0, 0.0)):
    study = create_study(Grid.regular(12), seed=3, strategy="random", repeats=0)
    rng = np.random.default_rng(1)
    for k in range(n * len(directions)):
        which = k % len(directions)
        query = study.ask("abc"[which])
        ordered = sorted(query.ids, reverse=directions[which] > 0)
        study.tell(query, best=ordered[rng.random() < errors[which]])
    return study


def test_a_hasty_rater_is_noisier():
    found = asked((1, 1), errors=(0.0, 0.35)).rater_model()
    assert list(found.noise) == ["a", "b"] and found.noise["b"] > 2 * found.noise["a"]
    assert found.lines()[0].startswith("a: noise 0.")


def test_raters_who_want_opposite_things():
    alike, opposite = asked((1, 1)).rater_model(), asked((1, -1)).rater_model()
    assert alike.deviation < opposite.deviation and opposite.deviation >= 1
    assert "times as much as what is shared" in opposite.lines()[-1]


def hasty(settings=None, n=24):
    """A study with the default strategy, whose second rater guesses."""
    study = create_study(Grid.regular(9), seed=3, settings=settings)
    ann, bob = study.add_rater("Ann"), study.add_rater("Bob")
    rng = np.random.default_rng(1)
    for k in range(n):
        query = study.ask((ann, bob)[k % 2])
        right = min(query.ids, key=lambda i: abs(study.params(i)["x0"] - 0.7))
        study.tell(query, best=right if k % 2 == 0 else query.ids[int(rng.random() < 0.5)], rater=query.rater)
    return study


def test_the_strategy_learns_how_noisy_each_rater_is():
    study = hasty()
    careful, careless = study.diagnostics().raters
    assert careless.noise > 1.5 * careful.noise
    assert f"noise {careful.noise:.1f} (1 is usual)" in study.diagnostics().summary()[0]
    assert study.replay().matches
    again = copy.deepcopy(study)
    assert again.recommend() == study.recommend() and again.ask("Ann") == study.ask("Ann")
    study.remove_rater("Bob", "hasty")
    assert [rater.noise for rater in study.diagnostics().raters] == [None, None]  # one is left, and is as all were
    assert study.replay().matches


def test_the_strategy_can_be_told_to_take_raters_for_alike():
    study = hasty({"raters": "alike"}, n=20)
    assert [rater.noise for rater in study.diagnostics().raters] == [None, None]
    assert study.replay().matches


def test_the_strategy_can_give_each_rater_deviations_of_their_own():
    study = hasty({"raters": "individual"}, n=20)
    assert study.diagnostics().raters[0].noise is None and study.recommend().params
    assert study.replay().matches


def test_a_noisy_rater_is_remarked():
    rater = replace(hasty(n=4).diagnostics().raters[0], noise=2.5)
    assert rater.remarks() == [
        "rater 1 answers with 2.5 times the usual noise: an answer counts as little as 16% of another's"
    ]


def test_what_it_needs():
    with pytest.raises(StudyError, match="no answer yet"):
        create_study(Grid.regular(4), seed=1, strategy="random").rater_model()
    with pytest.raises(StudyError, match="no neighbours"):
        create_study(Arms(4), seed=1).rater_model()
