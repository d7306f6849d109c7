"""The finite settings of the literature, entry by entry."""

import numpy as np
import pytest

from prefopt.environments import load_candy, make_environment
from prefopt.environments.settings import UTILITIES
from prefopt.environments.subsets import condorcet_winner
from prefopt.errors import EnvironmentSpecError
from prefopt.policies import make_policy


def matrix(name):
    P = make_environment(name).P
    np.testing.assert_allclose(P + P.T, 1, atol=1e-12)
    return P


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("1good", 6, [0.8, 0.2, 0.2, 0.2, 0.2, 0.2]),
        ("2good", 6, [0.8, 0.7, 0.2, 0.2, 0.2, 0.2]),
        ("3good", 6, [0.8, 0.7, 0.7, 0.2, 0.2, 0.2]),
        ("6good", 8, [0.8, 0.7, 0.7, 0.7, 0.7, 0.7, 0.2, 0.2]),
        ("6good", 3, [0.8, 0.7, 0.7]),
        ("arith", 6, [0.8, 0.7, 0.575, 0.45, 0.325, 0.2]),
        ("geom", 6, [0.8, 0.7, 0.51178, 0.37417, 0.27356, 0.2]),
        ("arith", 1, [0.8]),
        ("geom", 2, [0.8, 0.7]),
    ],
)
def test_utilities(name, size, expected):
    np.testing.assert_allclose(UTILITIES[name](size), expected, atol=1e-5)


def test_sixteen_arms_have_the_published_steps():
    assert np.diff(UTILITIES["arith"](16))[1:] == pytest.approx([-1 / 28] * 14)
    geometric = UTILITIES["geom"](16)
    assert geometric[2:] / geometric[1:-1] == pytest.approx([(2 / 7) ** (1 / 14)] * 14)


@pytest.mark.parametrize(
    ("link", "expected"), [("linear", 0.55), ("natural", 0.8 / 1.5), ("logit", 0.524979), ("noiseless", 1.0)]
)
def test_links_of_the_two_best_arms(link, expected):
    assert matrix(f"arith-{link}-16")[0, 1] == pytest.approx(expected, abs=1e-6)


def test_total_order():
    assert matrix("total-order-0.8-4")[np.triu_indices(4, 1)].tolist() == [0.8] * 6
    with pytest.raises(EnvironmentSpecError, match="1/2 < p <= 1"):
        make_environment("total-order-0.5-4")


def test_arithmetic_stops_at_one():
    P = matrix("arithmetic-12")
    assert P[0, 1:4] == pytest.approx([0.55, 0.6, 0.65])
    assert P[0, 10:].tolist() == [1, 1]


def test_cyclic():
    expected = [[0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]]
    np.testing.assert_allclose(matrix("cyclic-4"), expected)


def test_the_borda_winner_is_not_the_condorcet_winner():
    P = matrix("bvsc-20")
    borda = (P.sum(axis=1) - 0.5) / 19
    assert condorcet_winner(P) == make_environment("bvsc-20").best == 0
    assert np.argmax(borda) == 1 and borda[:2] == pytest.approx([0.51, 18.49 / 19])


@pytest.mark.parametrize("x", [0.2, 1])
def test_swirl(x):
    P = matrix(f"swirl-{x}-20")
    assert P[0, 1:] == pytest.approx([0.5 + x / 10] * 19)
    assert P[1, 1:].tolist() == [0.5] + [1] * 9 + [0] * 9
    assert (P[1:] == 1).sum(axis=1).tolist() == [9] * 19


def test_hard_condorcet():
    P = matrix("hard-condorcet-100")
    assert P[0, [1, 99]] == pytest.approx([0.51, 1.0])
    assert P[97, 98] == pytest.approx(0.5 + 99 / 200)


def test_random_matrices():
    with_winner, without = matrix("random-condorcet-8-3"), matrix("random-cyclic-8-3")
    assert condorcet_winner(with_winner) == 0 and condorcet_winner(without) is None
    assert not np.array_equal(with_winner, matrix("random-condorcet-8-4"))
    np.testing.assert_array_equal(without, matrix("random-cyclic-8-3"))
    for size in (1, 4):
        with pytest.raises(EnvironmentSpecError, match="at least 5 arms"):
            make_environment(f"random-cyclic-{size}-0")


@pytest.mark.parametrize("size", [5, 6, 16])
def test_random_matrices_without_a_condorcet_winner_have_one_copeland_winner(size):
    for seed in range(20):
        scores = (matrix(f"random-cyclic-{size}-{seed}") > 0.5).sum(axis=1)
        assert (scores == scores.max()).sum() == 1 and scores.max() < size - 1


@pytest.mark.parametrize(
    ("name", "size", "winner", "gap"), [("sushi16", 16, 0, 0.012), ("mslr5", 5, 0, 0.0352), ("arxiv6", 6, 0, 0.04)]
)
def test_shipped_matrices(name, size, winner, gap):
    """Size, Condorcet winner and its smallest margin, as published."""
    P = matrix(name)
    assert P.shape == (size, size) and condorcet_winner(P) == winner
    assert np.delete(P[0], 0).min() - 0.5 == pytest.approx(gap, abs=1e-4)
    copeland = sorted((P > 0.5).sum(axis=1).tolist())
    assert (copeland == list(range(size))) == (name != "arxiv6")  # the others are total orders


def test_candy_is_a_finite_problem_with_features():
    candy, person = load_candy(), make_environment("candy85")
    assert len(candy.names) == person.domain.size == 85
    assert candy.features.shape == (85, 2) and candy.features.min() >= 0 and candy.features.max() <= 1
    np.testing.assert_array_equal(person.domain.points[:, :2], candy.features)
    _, twins = np.unique(candy.features, axis=0, return_counts=True)
    assert twins[twins > 1].sum() == 30 and person.domain.points[:, 2].max() == pytest.approx(0.3)
    assert person.best == np.argmax(candy.win_percent)
    assert candy.names[person.best].startswith("Reese")
    order = np.argsort(candy.win_percent)
    assert np.all(np.diff(person.utility[order]) >= 0)


def test_kernels_see_the_features_of_sweets():
    """Twins (equal sugar and price) correlate by exp(-0.1^2 / (2 0.2^2)) = 0.88, unlike sweets hardly at all."""
    candy, policy = load_candy(), make_policy("kernel-self-sparring", make_environment("candy85").domain)
    first, twin, other = (candy.names.index(n) for n in ("Milky Way", "Snickers Crisper", "Haribo Gold Bears"))
    assert policy.prior.covariance[first, twin] == pytest.approx(np.exp(-1 / 8))
    assert policy.prior.covariance[first, other] == pytest.approx(
        np.exp(-((candy.features[first] - candy.features[other]) ** 2).sum() / 0.08)
    )


@pytest.mark.parametrize("size", [1, 2])
def test_settings_of_few_arms(size):
    for name in ("total-order-0.8", "arithmetic", "cyclic", "bvsc", "swirl-1", "hard-condorcet", "geom-logit"):
        assert make_environment(f"{name}-{size}").domain.size == size
