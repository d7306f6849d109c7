"""Environments by name: reference values, answers' frequencies, compiled equals plain."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from prefopt.domain import Arms
from prefopt.environments import FiniteEnvironment, Person, load_candy, make_environment, utility_environment
from prefopt.environments.world import replier_for, reply
from prefopt.errors import EnvironmentSpecError, SettingError
from prefopt.links import link_probability


@pytest.mark.parametrize(
    ("name", "best", "top"),
    [
        ("forrester-30", 22, 6.019731),
        ("forrester-33", 24, 5.993277),
        ("camel-64", 29, 0.481108),
        ("goldstein-64", 34, -23.293),
        ("levy-64", 36, -0.24512),
    ],
)
def test_grid_optima(name, best, top):
    environment = make_environment(name)
    assert environment.best == best
    assert environment.utility.max() == pytest.approx(top, abs=1e-3)


def test_camel_has_two_best_arms():
    assert np.abs(make_environment("camel-64").utility_gap(np.array([29, 34]))).max() < 1e-12


def test_utility_settings():
    assert make_environment("1good-linear-16").P[0, 1] == pytest.approx(0.8)
    assert make_environment("arith-logit-16").P[0, [1, 15]] == pytest.approx([0.52498, 0.64566], abs=1e-5)
    assert make_environment("geom-natural-6").utility == pytest.approx([0.8, 0.7, 0.512, 0.374, 0.274, 0.2], abs=1e-3)


def test_links_by_hand():
    assert link_probability(1.0, 0.0, link="probit") == pytest.approx(0.7602, abs=1e-4)
    assert link_probability(2.0, 0.0, link="logit", scale=2.0) == pytest.approx(0.73106, abs=1e-5)
    with pytest.raises(EnvironmentSpecError, match="at most 1"):
        link_probability(2.0, 0.0, link="linear")


def test_candy_reproduces_win_percentages_up_to_the_common_shift():
    P, w = make_environment("candy85").P, load_candy().win_percent / 100
    assert (P.sum(axis=1) - 0.5) / 84 == pytest.approx(w - w.mean() + 0.5, abs=1e-9)


def test_unknown_names_and_broken_files(tmp_path):
    with pytest.raises(SettingError, match="prefopt list environments"):
        make_environment("nope")
    path = tmp_path / "broken.csv"
    path.write_text("0.5,0.6\n0.4,x\n")
    with pytest.raises(EnvironmentSpecError, match="line 2, column 2"):
        make_environment(str(path))


def _frequencies(environment, slate, n=4000, t=0):
    rng, m = np.random.default_rng(3), len(slate)
    wins, total = np.zeros((m, m)), np.zeros((m, m))
    for _ in range(n):
        reply(environment.world, t, np.array(slate), m, wins, rng)
        total += wins
    return total / n


def _pair(**person):
    return utility_environment("pair", Arms(3), [1.0, 0.0, 0.5], Person(**person))


# 4000 answers: one sd is below 0.008; 0.045 is more than five.
@pytest.mark.parametrize(
    ("person", "t", "expected"),
    [
        ({}, 0, 0.7311),
        ({"lapse": 0.1}, 0, 0.6849),
        ({"bias": 1.0}, 0, 0.8808),
        ({"fatigue": 0.01}, 50, 0.6155),
        ({"tie_threshold": 0.5}, 0, (0.6225 + 1 - 0.1824) / 2),
    ],
)
def test_frequencies_of_pairs(person, t, expected):
    assert _frequencies(_pair(**person), [0, 1], t=t)[0, 1] == pytest.approx(expected, abs=0.045)


def test_frequencies_of_plackett_luce_winner():
    wins = _frequencies(_pair(feedback="winner"), [0, 1, 2])
    share = np.exp([1.0, 0.0, 0.5])
    assert wins.sum(axis=1) / 2 == pytest.approx(share / share.sum(), abs=0.045)


@pytest.mark.parametrize("change", [{}, {"observe": 0.5}, {"feedback": "winner"}, {"feedback": "ranking"}])
def test_compiled_replier_answers_like_plain_reply(change):
    world = replace(make_environment("arith-linear-6"), **change).world
    replier, slate = njit(replier_for(world)), np.array([4, 1, 1, 0])
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    a, b = np.zeros((4, 4)), np.zeros((4, 4))
    for t in range(50):
        reply(world, t, slate, 4, a, one)
        replier(world, t, slate, 4, b, two)
        assert np.array_equal(a, b)


def test_box_answers_and_range():
    box = make_environment("forrester", link="noiseless")
    assert box.best_utility == pytest.approx(6.020740, abs=1e-5)
    assert box.utility_range == pytest.approx(6.02074 + 15.829732, abs=0.02)
    assert box.answer(np.array([[0.1], [0.757249]]), 0, np.random.default_rng(0)).wins[1, 0] == 1
    assert isinstance(make_environment("sushi16"), FiniteEnvironment)
