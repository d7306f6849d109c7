"""Each regret on slates computed by hand."""

import numpy as np
import pytest

from prefopt.domain import Arms
from prefopt.environments import FiniteEnvironment, make_environment
from prefopt.errors import SettingError
from prefopt.regret import REGRETS, lower_bound, score, slate_regret

P = np.array([[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("strong-sum", 0.4),
        ("strong-mean", 0.2),
        ("strong-max", 0.3),
        ("weak", 0.1),
        ("binary-strong", 1.0),
        ("binary-weak", 1.0),
        ("utility-strong", 0.4),
        ("utility-weak", 0.2),
        ("copeland", 0.75),
        ("borda", 0.7 - (0.55 + 0.25) / 2),
    ],
)
def test_pair_without_the_best(name, expected):
    table = score(FiniteEnvironment("three", Arms(3), P), [name], np.arange(3))
    assert slate_regret(table, 0, np.array([1, 2]), 2) == pytest.approx(expected)
    assert slate_regret(table, 0, np.array([0, 0]), 2) == pytest.approx(0.0)


@pytest.mark.parametrize(("name", "expected"), [("utility-strong", 0.35), ("utility-weak", 0.1), ("binary-weak", 1.0)])
def test_utilities(name, expected):
    table = score(make_environment("arith-linear-6"), [name], np.arange(6))
    assert slate_regret(table, 0, np.array([1, 5]), 2) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("strong-sum", 0.1 + 0.3 + 0.3),
        ("strong-mean", 0.7 / 4),
        ("strong-max", 0.3),
        ("weak", 0.0),
        ("binary-strong", 1.0),
        ("binary-weak", 0.0),
        ("utility-strong", 2 * 0.7 / 4),
        ("utility-weak", 0.0),
        ("copeland", 1 - (1 + 0.5 + 0 + 0) / 4),
        ("borda", 0.7 - (0.7 + 0.55 + 0.25 + 0.25) / 4),
    ],
)
def test_slate_of_four(name, expected):
    """Options 0, 1, 2 and 2 again: every place of a slate counts."""
    table = score(FiniteEnvironment("three", Arms(3), P), [name], np.arange(3))
    assert slate_regret(table, 0, np.array([0, 1, 2, 2]), 4) == pytest.approx(expected)


def test_every_regret_has_its_row():
    assert set(REGRETS) == {
        *("strong-sum", "strong-mean", "strong-max", "weak", "binary-strong", "binary-weak"),
        *("utility-strong", "utility-weak", "copeland", "borda"),
    }
    assert all(kind.text for kind in REGRETS.values())


def test_equally_good_arms_cost_nothing():
    tied = np.array([[0.5, 0.5, 0.8], [0.5, 0.5, 0.8], [0.2, 0.2, 0.5]])
    table = score(FiniteEnvironment("tied", Arms(3), tied), ["binary-strong"], np.arange(3))
    assert table.loss.tolist() == [[0.0, 0.0, 1.0]]
    camel = score(make_environment("camel-64"), ["binary-strong"], np.arange(64)).loss[0]
    assert np.flatnonzero(camel == 0).tolist() == [29, 34]


def test_box():
    box = make_environment("forrester")
    points = np.array([[0.757249], [0.0]])
    table = score(box, ["utility-strong", "strong-sum"], points)
    gap = 6.020740 - -(4 * np.sin(-4.0))
    assert table.loss[0] == pytest.approx([0.0, gap], abs=1e-5)
    assert table.loss[1] == pytest.approx([0.0, 1 / (1 + np.exp(-gap)) - 0.5], abs=1e-5)
    with pytest.raises(SettingError, match="finite"):
        score(box, ["copeland"], points)


@pytest.mark.parametrize(
    ("name", "factor"),
    [("sushi16", 34.04), ("mslr5", 11.12), ("arxiv6", 20.73), ("arithmetic-8", 12.71), ("cyclic-4", 0.82)],
)
def test_lower_bound_of_komiyama_et_al(name, factor):
    assert lower_bound(make_environment(name).P) == pytest.approx(factor, abs=0.006)


def test_lower_bound_needs_a_winner():
    with pytest.raises(SettingError, match="Condorcet winner"):
        lower_bound(np.array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]))
