"""Options of a simulated person: each has its effect, or is refused with the reason."""

import numpy as np
import pytest
from scipy.special import expit, logit

from prefopt import simulate
from prefopt.domain import Arms
from prefopt.environments import FiniteEnvironment, Person, make_environment, matrix_environment, utility_environment
from prefopt.environments.named import OPTIONS
from prefopt.environments.world import reply
from prefopt.errors import EnvironmentSpecError, SettingError

P = np.array([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]])
APPLY = {"lapse": 0.2, "tie_threshold": 0.5, "observe": 0.3, "bias": 1.0, "fatigue": 0.01}
REFUSED = {"link": "probit", "noise": 2.0, "scale": "unit"}
#: Names whose environment is a preference matrix, of every kind.
MATRICES = ["sushi16", "mslr5", "arxiv6", "total-order-0.8-5", "arithmetic-6", "cyclic-5", "bvsc-5", "swirl-1-5"]
MATRICES += ["hard-condorcet-5", "random-condorcet-5-0", "random-cyclic-5-0"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "p.csv"
    np.savetxt(file, P, delimiter=",")
    return file


def rates(environment, slate=(0, 1), n=4000, t=50):
    """Mean of ``wins`` over answers after ``t`` others; one sd is below 0.008."""
    rng, m = np.random.default_rng(3), len(slate)
    wins, total = np.zeros((m, m)), np.zeros((m, m))
    for _ in range(n):
        reply(environment.world, t, np.array(slate), m, wins, rng)
        total += wins
    return total / n


def expected(option, p):
    """The mean outcome of the first of two by hand."""
    value = APPLY[option]
    forth, back = expit(logit(p) - 0.5), expit(-logit(p) - 0.5)
    return {
        "lapse": (1 - 2 * value) * p + value,
        "tie_threshold": forth + (1 - forth - back) / 2,
        "observe": value * p,
        "bias": expit(logit(p) + value),
        "fatigue": 0.5 * p + 0.25,  # 50 answers at 0.01 each
    }[option]


@pytest.mark.parametrize("option", APPLY)
@pytest.mark.parametrize("given", ["array", "file", "name", "utilities"])
def test_every_habit_has_its_effect(option, given, path):
    source = {"array": P, "file": path, "name": "sushi16", "utilities": "arith-logit-6"}[given]
    p = make_environment(source).P[0, 1]
    changed = make_environment(source, **{option: APPLY[option]})
    assert rates(changed)[0, 1] == pytest.approx(expected(option, p), abs=0.045)
    assert changed.best == 0


def test_ties_of_a_matrix_equal_those_of_the_utilities_behind_it():
    u = np.array([1.0, 0.2, -0.5])
    one = utility_environment("u", Arms(3), u, Person(tie_threshold=0.4, lapse=0.05))
    two = make_environment(utility_environment("u", Arms(3), u).P, tie_threshold=0.4, lapse=0.05)
    np.testing.assert_allclose(one.P, two.P, atol=1e-12)
    np.testing.assert_allclose(one.ties, two.ties, atol=1e-12)


def test_sure_preferences_are_never_ties():
    sure = make_environment(np.array([[0.5, 1.0], [0.0, 0.5]]), tie_threshold=3.0)
    assert sure.P.tolist() == [[0.5, 1.0], [0.0, 0.5]] and sure.ties[0, 1] == 0


@pytest.mark.parametrize("feedback", ["winner", "ranking"])
def test_feedback_reaches_a_matrix(feedback, path):
    for source in (P, path, "sushi16", "cyclic-5"):
        assert make_environment(source, feedback=feedback).feedback == feedback
    wins = rates(make_environment(P, feedback="winner"), (0, 1, 2), t=0)
    weight = np.array([0.7 * 0.9, 0.3 * 0.6, 0.1 * 0.4])
    assert wins.sum(axis=1) / 2 == pytest.approx(weight / weight.sum(), abs=0.045)


@pytest.mark.parametrize("option", REFUSED)
@pytest.mark.parametrize("name", MATRICES)
def test_what_a_matrix_cannot_use_is_refused(option, name, path):
    for source, called in ((name, name), (str(path), "p.csv"), (P, "the matrix")):
        with pytest.raises(SettingError, match=f"'{option}' does not apply to .*{called}: its preference matrix"):
            make_environment(source, **{option: REFUSED[option]})


@pytest.mark.parametrize(
    ("name", "option", "because"),
    [
        ("1good-linear-16", {"link": "logit"}, "the name says the link, linear"),
        ("1good-linear-16", {"scale": "unit"}, "scale is for test functions"),
        ("candy85", {"scale": "unit"}, "scale is for test functions"),
        ("yelp-like-9-0", {"scale": "std"}, "scale is for test functions"),
    ],
)
def test_what_a_name_has_fixed_is_refused(name, option, because):
    with pytest.raises(SettingError, match=f"does not apply to {name}: {because}"):
        make_environment(name, **option)


@pytest.mark.parametrize("option", [*OPTIONS, "scale"])
def test_an_environment_that_is_built_takes_no_options(option):
    value = {**APPLY, **REFUSED}[option]
    with pytest.raises(SettingError, match=f"'{option}' does not apply to arith-linear-6: it is built already"):
        make_environment(make_environment("arith-linear-6"), **{option: value})


@pytest.mark.parametrize("name", ["sushi16", "forrester", "forrester-30", "candy85", "1good-linear-16"])
def test_unknown_options_are_named(name):
    with pytest.raises(SettingError, match=r"no option 'lapses'; expected link, noise, lapse"):
        make_environment(name, lapses=0.1)


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ({"lapse": 0.6}, "lapse is a chance between 0 and 1/2, got 0.6"),
        ({"lapse": float("nan")}, "lapse"),
        ({"scale": 0.0}, "scale is a positive number"),
        ({"observe": 0.0}, "observe is a chance above 0"),
        ({"bias": float("inf")}, "bias is a finite number"),
        ({"fatigue": -1.0}, "fatigue"),
        ({"tie_threshold": -1.0}, "tie_threshold"),
        ({"feedback": "stars"}, "feedback is one of pairs, winner, ranking, got 'stars'"),
        ({"link": "cubic"}, "unknown link 'cubic'"),
        ({"link": "linear", "tie_threshold": 1.0}, "logit, probit or noiseless"),
        ({"link": "natural", "scale": 2.0}, "a noise scale of 2.0 does nothing with the natural link"),
        ({"link": "noiseless", "scale": 2.0}, "does nothing with the noiseless link"),
        ({"feedback": "winner", "tie_threshold": 1.0}, "does nothing with feedback 'winner'"),
        ({"feedback": "ranking", "observe": 0.5}, "observe=0.5 is about single pairs"),
    ],
)
def test_people_that_contradict_themselves(person, message):
    with pytest.raises(EnvironmentSpecError, match=message):
        Person(**person)


def test_other_feedback_cannot_silence_an_option():
    with pytest.raises(EnvironmentSpecError, match="a tie threshold"):
        make_environment(make_environment("arith-logit-6", tie_threshold=0.5), feedback="winner")
    with pytest.raises(EnvironmentSpecError, match=r"observe=0\.5"):
        make_environment(make_environment("forrester", observe=0.5), feedback="ranking")


def test_a_matrix_is_an_array_or_a_file(path):
    for made in (matrix_environment(P), matrix_environment(P.tolist()), matrix_environment(path)):
        assert isinstance(made, FiniteEnvironment)
        np.testing.assert_allclose(made.P, P)
    assert (matrix_environment(P).name, matrix_environment(path).name) == ("matrix", "p")
    assert matrix_environment(P, name="mine", person=Person(bias=1.0), feedback="winner").feedback == "winner"
    with pytest.raises(EnvironmentSpecError, match=r"link .probit. and noise scale 1\.0 do not apply"):
        matrix_environment(P, person=Person(link="probit"))
    given, read = (simulate("rucb", source, rounds=50, repetitions=2, seed=1) for source in (P, path))
    np.testing.assert_array_equal(given.regret, read.regret)


@pytest.mark.parametrize(
    ("cell", "value", "message"),
    [
        ((1, 2), np.nan, r"row 1, column 2 \(option 1 against option 2, counted from 0\) is nan"),
        ((2, 0), 1.2, r"row 2, column 0 .* is 1.2, expected a probability in \[0, 1\]"),
        ((0, 2), -0.1, "row 0, column 2"),
        ((0, 1), 0.8, "row 0, column 1 and row 1, column 0 are 0.8 and 0.3; options 0 and 1 against each other"),
        ((1, 1), 0.4, "row 1, column 1 is 0.4, expected 1/2: the diagonal is an option against itself"),
    ],
)
def test_the_cell_of_a_broken_matrix_is_named(cell, value, message, path):
    broken = P.copy()
    broken[cell] = value
    np.savetxt(path, broken, delimiter=",")
    for source in (broken, path):
        with pytest.raises(EnvironmentSpecError, match=message):
            matrix_environment(source)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (P[:2], r"square, got shape \(2, 3\)"),
        (P[0], r"square, got shape \(3,\)"),
        (np.zeros((0, 0)), "square"),
        ([[0.5, "x"], [0.2, 0.5]], "numbers only"),
        ([[0.5, 0.5], [0.5]], "numbers only"),
    ],
)
def test_things_that_are_no_matrix(matrix, message):
    with pytest.raises(EnvironmentSpecError, match=message):
        matrix_environment(matrix)


def test_an_unreadable_file_is_named(tmp_path):
    with pytest.raises(EnvironmentSpecError, match=r"cannot read the preference matrix .*none\.csv"):
        make_environment(str(tmp_path / "none.csv"))


def _orders(environment, slate, n=6000):
    """How often each full order of the slate is answered."""
    rng, m, found = np.random.default_rng(6), len(slate), {}
    wins = np.zeros((m, m))
    for _ in range(n):
        reply(environment.world, 0, np.array(slate), m, wins, rng)
        order = tuple(np.argsort(-wins.sum(axis=1), kind="stable").tolist())
        found[order] = found.get(order, 0) + 1
    return {order: count / n for order, count in found.items()}


@pytest.mark.parametrize("link", ["logit", "natural"])
def test_rankings_follow_plackett_luce(link):
    """The chance of an order is a product over its stages; one sd is below 0.0065."""
    u = np.array([1.0, 0.4, 0.7])
    worth = np.exp(u) if link == "logit" else u
    person = utility_environment("three", Arms(3), u, Person(link=link, feedback="ranking"))
    found = _orders(person, [0, 1, 2])
    assert len(found) == 6
    for order, share in found.items():
        left, chance = worth.copy(), 1.0
        for place in order:
            chance *= left[place] / left.sum()
            left[place] = 0
        assert share == pytest.approx(chance, abs=0.036)


@pytest.mark.parametrize(
    ("person", "t", "weight"),
    [
        ({}, 0, np.exp([1.0, 0.4, 0.7])),
        ({"scale": 0.5}, 0, np.exp([2.0, 0.8, 1.4])),
        ({"bias": 1.0}, 0, np.exp([2.0, 0.4, 0.7])),  # logits for what is shown first
        ({"fatigue": 0.01}, 100, np.ones(3)),  # wholly tired: any of them
        ({"lapse": 0.5}, 0, np.ones(3)),
    ],
)
def test_habits_of_one_who_names_the_winner(person, t, weight):
    made = utility_environment("three", Arms(3), [1.0, 0.4, 0.7], Person(feedback="winner", **person))
    assert rates(made, (0, 1, 2), t=t).sum(axis=1) / 2 == pytest.approx(weight / weight.sum(), abs=0.045)


@pytest.mark.parametrize("option", APPLY)
def test_every_habit_has_its_effect_on_a_box(option):
    box = make_environment("forrester", scale="unit", **{option: APPLY[option]})
    points, n, total = np.array([[0.75], [0.1]]), 3000, 0.0
    p = expit(np.subtract(*box.utility(points)))
    rng = np.random.default_rng(8)
    for _ in range(n):
        total += box.answer(points, 50, rng).wins[0, 1]
    assert total / n == pytest.approx(expected(option, p), abs=5.5 * 0.5 / np.sqrt(n))
    grid = make_environment("forrester-5", scale="unit", **{option: APPLY[option]})
    best, second = grid.best, (grid.best + 1) % 5
    np.testing.assert_allclose(box.person.chance(*grid.utility[[best, second]]), grid.P[best, second])
    assert box.advantage(points)[1] == pytest.approx(box.person.chance(1.0, box.utility(points)[1]) - 0.5)


@pytest.mark.parametrize(("feedback", "kind"), [("pairs", "pairs"), ("winner", "best"), ("ranking", "ranking")])
@pytest.mark.parametrize("name", ["arith-logit-6", "sushi16", "forrester"])
def test_people_answer_directly(name, feedback, kind):
    person = make_environment(name, feedback=feedback)
    slate = np.array([[0.1], [0.5], [0.9]]) if name == "forrester" else np.array([0, 3, 5])
    one, two = (person.answer(slate, 0, np.random.default_rng(9)) for _ in range(2))
    assert one == two and one.kind == kind and one.size == 3
    assert one.wins.sum() == (2 if feedback == "winner" else 3)
