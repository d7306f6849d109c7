"""Drafts and clicks against lists and probabilities worked out by hand."""

from collections import Counter

import numpy as np
import pytest
from numba import njit

from prefopt.environments.clicks import CLICK_MODELS, ClickModel, check_labels, click_list, get_click_model
from prefopt.environments.interleaving import count_credit, credit_wins, draft, team_draft
from prefopt.errors import EnvironmentSpecError

A, B = [0, 1, 2, 3], [1, 2, 0, 3]


def frequencies(rankings, n=4000, **options):
    rng = np.random.default_rng(1)
    lists = (team_draft(rankings, rng, **options) for _ in range(n))
    return Counter((tuple(shown.tolist()), tuple(owner.tolist())) for shown, owner in lists)


def near(count, chance, n=4000):
    """Within 5.5 standard deviations: a false alarm has a chance below 1e-7."""
    return abs(count - n * chance) < 5.5 * np.sqrt(n * chance * (1 - chance))


def test_two_rankings_by_hand():
    """Round 1: A then B gives 0 1; B then A gives 1 0. Round 2 has 2 and 3 left, and both want 2 first."""
    drawn = frequencies([A, B])
    expected = {
        ((0, 1, 2, 3), (0, 1, 0, 1)),
        ((0, 1, 2, 3), (0, 1, 1, 0)),
        ((1, 0, 2, 3), (1, 0, 0, 1)),
        ((1, 0, 2, 3), (1, 0, 1, 0)),
    }
    assert set(drawn) == expected
    assert all(near(count, 1 / 4) for count in drawn.values())


def test_list_cut_in_the_middle_of_a_round():
    drawn = frequencies([A, B], length=1)
    assert set(drawn) == {((0,), (0,)), ((1,), (1,))}
    assert near(drawn[((0,), (0,))], 1 / 2)


def test_three_rankings_by_hand():
    """All want document 0: whoever drafts first has it, the next two take 1 and 2; six orders."""
    drawn = frequencies([[0, 1, 2]] * 3, length=3)
    assert len(drawn) == 6
    assert {shown for shown, _ in drawn} == {(0, 1, 2)}
    assert all(near(count, 1 / 6) for count in drawn.values())


def test_rounds_are_balanced_and_every_document_is_shown_once():
    rng = np.random.default_rng(2)
    for _ in range(200):
        rankings = [rng.permutation(9) for _ in range(4)]
        shown, owner = team_draft(rankings, rng, length=10)
        assert sorted(shown.tolist()) == list(range(9))
        assert sorted(owner[:4].tolist()) == sorted(owner[4:8].tolist()) == [0, 1, 2, 3]
        for team, ranking in enumerate(rankings):  # each draft was the team's highest document left
            for position in np.flatnonzero(owner == team):
                left = [d for d in ranking.tolist() if d not in shown[:position]]
                assert shown[position] == left[0]


def test_shared_prefix_belongs_to_nobody():
    drawn = frequencies([[5, 0, 1, 2], [5, 0, 2, 1]], length=4, shared_prefix=True)
    assert set(drawn) == {((5, 0, 1, 2), (-1, -1, 0, 1)), ((5, 0, 2, 1), (-1, -1, 1, 0))}
    assert set(frequencies([[1, 0]] * 2, n=10, length=9, shared_prefix=True)) == {((1, 0), (-1, -1))}


def test_a_team_without_documents_is_passed_over():
    """Top-2 rankings: after three documents nobody has one left, although the list has room for four."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        shown, owner = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.int64)
        used = np.zeros(3, dtype=bool)
        n = draft(np.array([[0, 1], [0, 2]]), 0, shown, owner, used, rng)
        assert n == 3 and sorted(shown[:3].tolist()) == [0, 1, 2]
        assert not used.any()


def test_compiled_draft_is_the_plain_one():
    compiled = njit(lambda r, s, o, u, g: draft(r, 0, s, o, u, g))
    rankings = np.array([np.random.default_rng(s).permutation(12) for s in range(3)])
    plain, quick = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(50):
        a, b, c, d = (np.empty(10, dtype=np.int64) for _ in range(4))
        assert draft(rankings, 0, a, b, np.zeros(12, dtype=bool), plain) == 10
        assert compiled(rankings, c, d, np.zeros(12, dtype=bool), quick) == 10
        assert a.tolist() == c.tolist() and b.tolist() == d.tolist()


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ([A], "two rankings"),
        ([A, [0, 1, 2]], "ranking 1"),
        ([A, [0, 1, 2, 2]], "ranking 1"),
        ([[-1, 0], [0, -1]], "ranking 0"),
        ([[0.0, 1.0], [1.0, 0.0]], "ranking 0"),
    ],
)
def test_impossible_rankings(rankings, message):
    with pytest.raises(EnvironmentSpecError, match=message):
        team_draft(rankings, np.random.default_rng(0))


def click_rates(model, grades, n=20000):
    rng, clicked, total = np.random.default_rng(5), np.zeros(len(grades), dtype=bool), np.zeros(len(grades))
    for _ in range(n):
        click_list(model, np.array(grades), len(grades), clicked, rng)
        total += clicked
    return total


def test_click_rates_by_hand():
    """Second of two: seen unless the user left, which takes a click and then the stop."""
    for name in ("perfect", "navigational", "informational"):
        model = CLICK_MODELS[name]
        for first in range(5):
            top, second = click_rates(model, [first, 2])
            seen = 1 - model.click[first] * model.stop[first]
            assert near(top, model.click[first], 20000) or model.click[first] in (0, 1)
            assert near(second, seen * model.click[2], 20000)
    assert click_rates(CLICK_MODELS["perfect"], [0, 4], 100).tolist() == [0, 100]
    assert click_rates(CLICK_MODELS["perfect-binary"], [1, 0], 100).tolist() == [100, 0]


def test_leaving_without_a_click_is_a_setting():
    model = ClickModel(np.array([0.0, 1.0]), np.array([0.25, 0.0]), after_click=False)
    assert near(click_rates(model, [0, 1])[1], 0.75, 20000)
    assert click_rates(model._replace(after_click=True), [0, 1], 100)[1] == 100


def test_the_published_click_models():
    for name in ("perfect", "navigational", "informational"):
        model = get_click_model(name)
        assert model.click.shape == model.stop.shape == (5,)
        assert np.all(np.diff(model.click) > 0)
    assert CLICK_MODELS["navigational"].stop[4] == 0.9 and CLICK_MODELS["informational"].click[0] == 0.4


def test_impossible_click_models():
    with pytest.raises(EnvironmentSpecError, match="navigational"):
        get_click_model("nope")
    with pytest.raises(EnvironmentSpecError, match=r"\[0, 1\]"):
        get_click_model(ClickModel(np.array([1.5]), np.array([0.0])))
    with pytest.raises(EnvironmentSpecError, match="per grade"):
        get_click_model(ClickModel(np.array([0.5, 1.0]), np.array([0.0])))
    with pytest.raises(EnvironmentSpecError, match="query 3: grades 0 to 4"):
        check_labels(np.array([0, 4]), CLICK_MODELS["perfect-binary"], "query 3")


def test_credit():
    credit = np.empty(3, dtype=np.int64)
    clicked = np.array([True, True, False, True, True, True])
    count_credit(np.array([0, -1, 1, 2, 0, 1]), clicked, 5, credit)  # the sixth position is not shown
    assert credit.tolist() == [2, 0, 1]
    assert credit_wins(credit).tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 0]]
