import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefopt import Arms, Box, Categorical, Column, Float, Grid, Int, Space
from prefopt.errors import DomainError
from prefopt.space import MOST_VALUES, as_space

NAN, INF = float("nan"), float("inf")


def through_json(space):
    back = Space.from_json(json.loads(json.dumps(space.to_json())))
    assert back.to_json() == space.to_json()
    return back


def every(space):
    return [space.decode(i) for i in range(space.domain.size)]


# Exact values -------------------------------------------------------------------------------------------------------


def test_a_step_of_a_tenth():
    space = Space([Float("t", 0, 1, step=0.1)])
    values = [params["t"] for params in every(space)]
    assert values == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [space.encode({"t": v}) for v in values] == list(range(11))
    assert space.decode(space.encode({"t": 0.1 + 0.2})) == {"t": 0.3}


@pytest.mark.parametrize(
    ("low", "high", "step", "values"),
    [
        (0.3, 0.7, 0.1, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (-0.3, 0.3, 0.15, [-0.3, -0.15, 0.0, 0.15, 0.3]),
        (0, 1, 0.3, [0.0, 0.3, 0.6, 0.9]),
        (0, 1, 1 / 3, [0.0, 1 / 3, 2 / 3, 1.0]),
        (0, 1, 5, [0.0]),
        (2, 2, 0.1, [2.0]),
        (1e-7, 3e-7, 1e-7, [1e-7, 2e-7, 3e-7]),
    ],
)
@pytest.mark.filterwarnings("ignore:parameter 't'. step .* ends at")
def test_steps(low, high, step, values):
    space = Space([Float("t", low, high, step=step)])
    assert [params["t"] for params in every(space)] == pytest.approx(values, rel=1e-15, abs=0)
    assert space.domain.points.min() == 0
    assert [space.encode(params) for params in every(space)] == list(range(len(values)))


def test_the_last_step_keeps_its_place_in_the_declared_range():
    with pytest.warns(
        UserWarning, match=r"'t': step 0.4 from 0.0 ends at 0.8, not at high=1.0; change the step or high"
    ):
        space = Space([Float("t", 0, 1, step=0.4)])
    assert space.domain.points[:, 0].tolist() == [0, 0.4, 0.8]
    assert through_json(space) == space  # and this says nothing again


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (Float("t", 0, 1, step=5), r"'t': step 5.0 from 0.0 ends at 0.0, not at high=1.0"),
        (Int("n", 0, 10, step=3), r"'n': step 3 from 0 ends at 9, not at high=10"),
    ],
)
def test_a_lost_end_is_said(parameter, message):
    with pytest.warns(UserWarning, match=message):
        Space([parameter])


def test_top_integer_is_reachable():
    space = Space([Int("k", 0, 3)])
    assert [params["k"] for params in every(space)] == [0, 1, 2, 3]
    box = Space([Int("k", 0, 3), Float("x", 0, 1)])
    drawn = {box.decode(row)["k"] for row in box.domain.sample(200, np.random.default_rng(0))}
    assert drawn == {0, 1, 2, 3}


def test_one_value_only():
    space = Space([Float("x", 2, 2), Int("n", 5, 5), Categorical("c", ["only"]), Float("l", 3, 3, log=True)])
    assert every(space) == [{"x": 2.0, "n": 5, "c": "only", "l": 3.0}]
    mixed = Space([Float("x", 2, 2), Categorical("c", ["only"]), Float("y", 0, 1)])
    row = mixed.encode({"x": 2, "c": "only", "y": 0.25})
    assert row.tolist() == [0, 0, 0.25]
    assert mixed.domain.contains(row)
    assert mixed.decode(row) == {"x": 2.0, "c": "only", "y": 0.25}
    assert np.isfinite(mixed.domain.sample(5, np.random.default_rng(0))).all()


def test_logarithms():
    space = Space([Float("lr", 1e-4, 1, log=True)])
    assert space.encode({"lr": 0.01})[0] == pytest.approx(0.5, abs=1e-15)
    assert [space.decode([u])["lr"] for u in (0.0, 0.25, 0.5, 1.0)] == [1e-4, 1e-3, 1e-2, 1.0]
    whole = Space([Int("n", 1, 100, log=True)])
    assert [params["n"] for params in every(whole)] == list(range(1, 101))
    assert whole.domain.points[9, 0] == pytest.approx(0.5, abs=1e-15)
    assert Space([Int("n", 2**52, 2**52 + 3, log=True)]).domain.size == 4


def test_plain_python_values():
    space = Space([Float("x", 0, 1), Int("n", 0, 9), Categorical("c", np.array(["a", "b"]))])
    params = space.decode(space.encode({"x": np.float64(0.5), "n": np.int64(3), "c": np.str_("b")}))
    assert [type(v) for v in params.values()] == [float, int, str]
    assert list(params) == ["x", "n", "c"]


@pytest.mark.parametrize("value", [0.1, 0.7, 1.3, 12.345, 99.99, 3.0])
def test_short_decimals_of_a_continuous_range_come_back(value):
    for parameter in (Float("x", 0.05, 107.3), Float("x", 0.05, 107.3, log=True), Float("x", -1000, 1000)):
        space = Space([parameter])
        assert space.decode(space.encode({"x": value})) == {"x": value}


# Kinds of domain ----------------------------------------------------------------------------------------------------


def test_small_discrete_spaces_are_product_grids():
    space = Space([Int("k", 0, 3), Float("t", 0, 1, step=0.5), Categorical("c", ["a", "b"])])
    assert isinstance(space.domain, Grid)
    assert [len(axis) for axis in space.domain.axes] == [4, 3, 2]
    assert every(space)[:3] == [
        {"k": 0, "t": 0.0, "c": "a"},
        {"k": 0, "t": 0.0, "c": "b"},
        {"k": 0, "t": 0.5, "c": "a"},
    ]


def test_the_limit_of_a_grid():
    assert isinstance(Space([Int("n", 1, MOST_VALUES)]).domain, Grid)
    above = Space([Int("n", 1, MOST_VALUES + 1)])
    assert above.domain.columns == (Column(),)
    assert above.decode([1.0]) == {"n": MOST_VALUES + 1}
    two = Space([Int("n", 1, 100), Int("m", 1, 26)])
    assert [c.kind for c in two.domain.columns] == ["levels", "levels"]


def test_choices_are_equally_far_apart():
    points = Space([Categorical("c", "a b c d".split())]).domain.points
    gaps = [np.linalg.norm(points[i] - points[j]) for i in range(4) for j in range(i)]
    pair = Space([Categorical("c", ["a", "b"])]).domain.points
    assert gaps == pytest.approx([abs(pair[1, 0] - pair[0, 0])] * 6)
    # A squared-exponential kernel of length-scale 0.2 correlates two choices by 1/e, as on a box.
    assert math.exp(-(gaps[0] ** 2) / (2 * 0.2**2)) == pytest.approx(math.exp(-1))


def test_columns_of_a_mixed_space():
    space = Space([Float("x", 0, 1), Int("k", 0, 4), Categorical("c", ["a", "b", "c"]), Int("big", 0, 10**6)])
    assert [c.kind for c in space.domain.columns] == ["continuous", "levels", "category", "continuous"]
    assert space.domain.columns[2].levels == (0.0, 0.5, 1.0)
    params = {"x": 0.25, "k": 3, "c": "b", "big": 123457}
    assert space.decode(space.encode(params)) == params


def test_large_ranges_round_when_decoded():
    space = Space([Int("n", 1, 10**9, log=True), Float("t", 0, 1000, step=0.1)])
    for row in space.domain.sample(200, np.random.default_rng(3)):
        params = space.decode(row)
        assert space.decode(space.encode(params)) == params
    assert space.decode([1.0, 1.0]) == {"n": 10**9, "t": 1000.0}


# Constraints --------------------------------------------------------------------------------------------------------


def test_constraints_of_a_grid_are_remembered():
    space = Space([Int("a", 0, 3), Int("b", 0, 3)], [lambda p: p["a"] + p["b"] <= 2])
    assert space.domain.size == 6
    assert space.domain.axes is None
    assert all(p["a"] + p["b"] <= 2 for p in every(space))
    assert [space.encode(p) for p in every(space)] == list(range(6))
    with pytest.raises(DomainError, match="excluded by a constraint"):
        space.encode({"a": 3, "b": 3})
    back = through_json(space)
    assert back == space
    assert np.array_equal(back.domain.points, space.domain.points)
    with pytest.raises(DomainError, match="excluded"):
        back.encode({"a": 0, "b": 3})
    with pytest.raises(DomainError, match="every combination"):
        Space([Int("a", 0, 3)], [lambda p: p["a"] > 3])


def test_constraints_of_a_box_see_real_units():
    def light(p):
        return p["mass"] * p["n"] <= 100

    space = Space([Float("mass", 1, 1000, log=True), Int("n", 1, 5)], [light])
    rows = space.domain.sample(100, np.random.default_rng(0))
    assert all(light(space.decode(row)) for row in rows)
    with pytest.raises(DomainError, match="the constraint light"):
        space.encode({"mass": 900, "n": 5})
    with pytest.raises(DomainError, match="cannot be stored"):
        space.to_json()
    with pytest.raises(DomainError, match="function of the parameters' dict, got 3"):
        Space([Float("x", 0, 1)], [3])


# What is rejected ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space(Float("x", 0, 1)), "a space needs a list of parameters, such as .*got Float"),
        (lambda: Space(3), "a space needs a list of parameters, .*got 3"),
        (lambda: Float("x", 1, 0), "'x': low 1.0 exceeds high 0.0"),
        (lambda: Float("x", NAN, 1), "'x': low must be finite"),
        (lambda: Float("x", 0, INF), "'x': high must be finite"),
        (lambda: Float("x", -1e308, 1e308), "'x'.*too wide"),
        (lambda: Float("x", 1e-300, 1e10, log=True), "'x'.*too wide"),
        (lambda: Float("x", 0, 1, log=True), "'x'.*low > 0"),
        (lambda: Float("x", 1, 2, log=True, step=0.1), "'x': log and step"),
        (lambda: Float("x", 1, 2, step=0), "'x': step must be positive"),
        (lambda: Float("x", 1, 2, step=-0.5), "'x': step must be positive"),
        (lambda: Float("x", 1, 2, step=NAN), "'x': step must be finite"),
        (lambda: Float("x", "1", 2), "'x': low must be a number"),
        (lambda: Float("x", True, 2), "'x': low must be a number"),
        (lambda: Float("x", 1, 2, log="yes"), "'x': log is true or false"),
        (lambda: Float("", 0, 1), "name"),
        (lambda: Float(3, 0, 1), "name"),
        (lambda: Int("n", 3, 1), "'n': low 3 exceeds high 1"),
        (lambda: Int("n", 0.5, 3), "'n': low must be a whole number"),
        (lambda: Int("n", True, 3), "'n': low must be a number"),
        (lambda: Int("n", 0, 3, log=True), "'n'.*low > 0"),
        (lambda: Int("n", 0, 3, step=0), "'n': step"),
        (lambda: Int("n", 1, 9, log=True, step=2), "'n': log and step"),
        (lambda: Int("n", 0, 2**60), r"'n'.*2\*\*53"),
        (lambda: Int("n", 0, INF), "'n': high must be finite"),
        (lambda: Categorical("c", []), "'c': needs at least one choice"),
        (lambda: Categorical("c", ["a", "b", "a"]), "'c': choice 'a' is listed twice"),
        (lambda: Categorical("c", [1, True]), "'c'.*listed twice"),
        (lambda: Categorical("c", [["a"], ["b"]]), "'c': choice .* is a list"),
        (lambda: Categorical("c", [NAN]), "'c'.*finite"),
        (lambda: Categorical("c", "abc"), "'c': choices is a list"),
        (lambda: Categorical("c", 3), "'c': choices is a list"),
        (lambda: Space([]), "at least one parameter"),
        (lambda: Space([Int("a", 0, 1), Float("a", 0, 1)]), "'a' is declared twice"),
        (lambda: Space([Int("a", 0, 1), "b"]), "entry 1 is 'b'"),
    ],
)
def test_spaces_that_cannot_exist(make, message):
    with pytest.raises(DomainError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 1.01}, "'x': 1.01 is outside of 0.0 to 1.0"),
        ({"x": "0.5"}, "'x': the value must be a number"),
        ({"x": NAN}, "'x': the value must be finite"),
        ({"x": None}, "'x'"),
        ({"x": True}, "'x'"),
        ({"n": True}, "'n'"),
        ({"n": 3.5}, "'n': the value must be a whole number"),
        ({"n": 10}, "'n': 10 is outside of 1 to 9"),
        ({"n": 2}, "'n': 2 is not on the step 2"),
        ({"t": 0.35}, "'t': 0.35 is not on the step 0.1 from 0.0; the nearest value is"),
        ({"c": "d"}, "'c': 'd' is not a choice; expected one of 'a', 'b', 'c'"),
        ({"c": ["a"]}, "'c'"),
        ({"y": 1}, "unknown parameter 'y'; expected x, n, t, c"),
    ],
)
def test_params_that_are_not_in_the_space(change, message):
    space = Space([Float("x", 0, 1), Int("n", 1, 9, step=2), Float("t", 0, 1, step=0.1), Categorical("c", list("abc"))])
    good = {"x": 0.5, "n": 3, "t": 0.3, "c": "a"}
    assert space.decode(space.encode(good)) == good
    with pytest.raises(DomainError, match=message):
        space.encode({**good, **change})
    with pytest.raises(DomainError, match="missing parameter 't'"):
        space.encode({k: v for k, v in good.items() if k != "t"})
    with pytest.raises(DomainError, match="expected a dict"):
        space.encode(list(good.values()))


def test_choices_keep_their_type():
    space = Space([Categorical("c", [1, 2.5, "1", False, None])])
    assert [p["c"] for p in every(space)] == [1, 2.5, "1", False, None]
    for wrong in (True, 1.0, 0):
        with pytest.raises(DomainError, match="not a choice"):
            space.encode({"c": wrong})
    assert through_json(space) == space


@pytest.mark.parametrize("option", [-1, 4, True, 1.0, "a", None])
def test_options_that_do_not_exist(option):
    for space in (Space([Int("k", 0, 3)]), Space.arms("a b c d".split()), as_space(Grid.regular(4))):
        with pytest.raises(DomainError, match="0 to 3"):
            space.decode(option)


@pytest.mark.parametrize("row", [[0.5], [0.5, 1.5], [0.5, NAN], [0.1, 0.2, 0.3]])
def test_rows_that_do_not_exist(row):
    with pytest.raises(DomainError, match="row of 2 numbers"):
        Space([Float("x", 0, 1), Float("y", 0, 1)]).decode(row)


# Other ways to say it -----------------------------------------------------------------------------------------------


def test_tables():
    spec = {
        "dose": {"type": "float", "low": 14, "high": 20, "step": 0.5},
        "rate": {"type": "float", "low": 1e-4, "high": 1, "log": True},
        "cups": {"type": "int", "low": 1, "high": 3},
        "water": {"type": "categorical", "choices": ["soft", "hard"]},
    }
    space = Space.from_dict(spec)
    assert space.parameters == (
        Float("dose", 14, 20, step=0.5),
        Float("rate", 1e-4, 1, log=True),
        Int("cups", 1, 3),
        Categorical("water", ["soft", "hard"]),
    )
    assert as_space(spec) == space == through_json(space)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"low": 0, "high": 1}, "'x': type None; expected one of float, int, categorical"),
        ({"type": "real", "low": 0, "high": 1}, "'x': type 'real'"),
        ({"type": "float", "low": 0}, "'x': missing key 'high'"),
        ({"type": "int", "low": 0, "high": 1, "choices": [1]}, "'x': unknown key 'choices'"),
        ({"type": "categorical"}, "'x': missing key 'choices'"),
        ({"type": "categorical", "choices": ["a"], "low": 1}, "'x': unknown key 'low'"),
        ({"type": "float", "low": "0", "high": 1}, "'x': low must be a number"),
        (3, "'x': expected a table"),
    ],
)
def test_tables_that_are_wrong(table, message):
    with pytest.raises(DomainError, match=message):
        Space.from_dict({"x": table})


def test_optuna_distributions():
    optuna = pytest.importorskip("optuna")
    d = optuna.distributions
    space = as_space(
        {
            "x": d.FloatDistribution(0, 1),
            "lr": d.FloatDistribution(1e-4, 1, log=True),
            "t": d.FloatDistribution(0, 1, step=0.1),
            "n": d.IntDistribution(1, 100, log=True),
            "k": d.IntDistribution(0, 6, step=3),
            "c": d.CategoricalDistribution(["a", None, 3]),
            "one": d.FloatDistribution(2, 2),
        }
    )
    assert space.parameters == (
        Float("x", 0, 1),
        Float("lr", 1e-4, 1, log=True),
        Float("t", 0, 1, step=0.1),
        Int("n", 1, 100, log=True),
        Int("k", 0, 6, step=3),
        Categorical("c", ["a", None, 3]),
        Float("one", 2, 2),
    )
    with pytest.raises(DomainError, match="'x': int is no Optuna distribution"):
        as_space({"x": 3})


def test_optuna_is_not_imported():
    code = (
        "import sys; from prefopt.space import Space;"
        "D = type('IntDistribution', (), dict(low=0, high=3, log=False, step=1));"
        "assert Space.from_optuna({'k': D()}).domain.size == 4;"
        "assert not {'optuna', 'torch', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lists_of_options():
    space = as_space(["tea", "coffee", "cocoa"])
    assert space.domain == Arms(3)
    assert [space.encode(item) for item in space.items] == [0, 1, 2]
    assert through_json(space) == space
    records = Space.arms([{"path": Path("a.png"), "gain": np.float64(0.5)}, {"path": "b.png", "gain": 1}])
    assert records.decode(0) == {"path": "a.png", "gain": 0.5}
    assert records.encode({"gain": 0.5, "path": Path("a.png")}) == 0
    records.decode(0)["path"] = "changed"
    assert records.decode(0)["path"] == "a.png"
    assert through_json(records).items == records.items
    assert as_space(Arms(4)).decode(3) == 3
    assert as_space(range(3)).items == (0, 1, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space.arms([]), "empty"),
        (lambda: Space.arms("abc"), "list of options"),
        (lambda: Space.arms(["a", "b", "a"]), "options 0 and 2 are the same, 'a'"),
        (lambda: Space.arms(["a", object()]), "option 1 is a object"),
        (lambda: Space.arms(["a", NAN]), "option 1: numbers must be finite"),
        (lambda: Space.arms([{1: "a"}]), "keys of a record"),
        (lambda: Space.arms(["a", "b"]).encode("c"), "'c' is not among the 2 options 'a', 'b'"),
        (lambda: as_space("abc"), "is no space"),
        (lambda: as_space(3), "is no space"),
        (lambda: as_space([Int("a", 0, 1), "b"]), "entry 1 is 'b'"),
        (lambda: as_space({}), "at least one parameter"),
        (lambda: Space.from_json({"kind": "cube"}), "unknown kind of space 'cube'"),
    ],
)
def test_lists_that_are_wrong(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_features():
    space = Space.arms(["a", "b", "c"], features=[[0, 5, 1], [10, 5, 3], [5, 5, 2]])
    assert space.domain.points.tolist() == [[0, 0, 0], [1, 0, 1], [0.5, 0, 0.5]]
    bounded = Space.arms(["a", "b"], features=[[2], [4]], bounds=[[0], [8]])
    assert bounded.domain.points.tolist() == [[0.25], [0.5]]
    for each in (space, bounded):
        assert np.array_equal(through_json(each).domain.points, each.domain.points)
    assert Space.arms(["a"], features=[[3.0]]).domain.points.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("features", "bounds", "message"),
    [
        ([[1], [1]], None, "'a' and 'b' have the same features"),
        ([[1], [2], [3]], None, r"shape \(2, d\)"),
        ([1, 2], None, r"shape \(2, d\)"),
        ([[1], [NAN]], None, "row 1, column 0 is nan"),
        ([["x"], [1]], None, "table of numbers"),
        ([[1], [9]], [[0], [8]], "feature 0 of option 'b' is 9.0"),
        ([[1], [2]], [[8], [0]], "lows above the row of highs"),
        ([[1], [2]], [[0, 0], [8, 8]], r"shape \(2, 1\)"),
        (None, [[0], [1]], "no features came"),
    ],
)
def test_features_that_are_wrong(features, bounds, message):
    with pytest.raises(DomainError, match=message):
        Space.arms(["a", "b"], features=features, bounds=bounds)


def test_bare_domains():
    grid = as_space(Grid.regular(3, 2))
    assert grid.decode(3) == {"x0": 0.5, "x1": 1.0}
    assert [grid.encode(p) for p in every(grid)] == list(range(6))
    assert [a.tolist() for a in through_json(grid).domain.axes] == [[0, 0.5, 1], [0, 1]]
    scattered = through_json(as_space(Grid([[0.1, 0.2], [0.3, 0.7]])))
    assert scattered.encode({"x0": 0.3, "x1": 0.7}) == 1
    with pytest.raises(DomainError, match="not a point of the grid"):
        scattered.encode({"x0": 0.3, "x1": 0.2})
    box = through_json(as_space(Box([Column(), Column("levels", (0.0, 0.3, 1.0))])))
    assert box.encode({"x0": 0.123, "x1": 0.3}).tolist() == [0.123, 0.3]
    for wrong in ({"x0": 0.1}, {"x0": 0.1, "x1": 0.4}, {"x0": "a", "x1": 0}, {"x0": NAN, "x1": 0}, [0.1, 0.3]):
        with pytest.raises(DomainError):
            box.encode(wrong)
    with pytest.raises(DomainError, match="cannot be stored"):
        as_space(Box(1, [lambda rows: rows[:, 0] < 1])).to_json()


def test_spaces_pass_through_and_can_be_pickled():
    for given_ in (Space([Float("x", 0, 1)]), Space.arms(["a", "b"]), as_space(Grid.regular(3))):
        assert as_space(given_) is given_
        assert pickle.loads(pickle.dumps(given_)).to_json() == given_.to_json()


# Random spaces ------------------------------------------------------------------------------------------------------

decimals = st.builds(lambda n, places: n / 10**places, st.integers(-99999, 99999), st.integers(0, 4))


@st.composite
def parameters(draw, name):
    kind = draw(st.sampled_from(["float", "log", "step", "int", "logint", "category"]))
    if kind == "category":
        choices = st.lists(st.one_of(st.text(max_size=3), st.integers(2, 9)), min_size=1, max_size=5, unique=True)
        return Categorical(name, draw(choices))
    if kind in ("int", "logint"):
        low = draw(st.integers(1, 10**6) if kind == "logint" else st.integers(-(10**6), 10**6))
        return Int(name, low, low + draw(st.sampled_from([0, 1, 3, 17, 10**5])), log=kind == "logint")
    low, high = sorted([draw(decimals), draw(decimals)])
    if kind == "log":
        first = abs(low) + 0.01
        return Float(name, first, first + (high - low), log=True)
    step = draw(st.sampled_from([0.1, 0.05, 0.3, 7.0, 1e-4])) if kind == "step" else None
    return Float(name, low, high, step=step)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.filterwarnings("ignore:parameter 'p.'. step .* ends at")
def test_random_spaces_come_back(data):
    space = Space([data.draw(parameters(f"p{j}")) for j in range(data.draw(st.integers(1, 4)))])
    back = through_json(space)
    assert back == space
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if isinstance(space.domain, Grid):
        for i in [*rng.integers(0, space.domain.size, 5).tolist(), 0, space.domain.size - 1]:
            assert space.encode(space.decode(i)) == i
            assert back.decode(i) == space.decode(i)
        return
    corners = np.array([np.zeros(space.domain.dim), np.ones(space.domain.dim)])
    for row in np.concatenate([space.domain.sample(5, rng), space.domain.project(corners)]):
        params = space.decode(row)
        again = space.encode(params)
        assert space.domain.contains(again)
        for parameter, old, new in zip(space.parameters, row, again, strict=True):
            value, repeated = params[parameter.name], parameter.at(new)
            if parameter.count is None:  # as exact as float64 is at this magnitude
                assert abs(repeated - value) <= 8 * math.ulp(max(abs(parameter.low), abs(parameter.high)))
                assert abs(new - old) <= 1e-12 + 8 * math.ulp(parameter.high) / (parameter.high - parameter.low)
            else:
                assert repeated == value
                assert new == old or parameter.count > MOST_VALUES


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(-500, 500), st.integers(1, 400), st.sampled_from([1, 2, 5, 25]), st.integers(0, 4))
def test_stepped_values_are_the_decimals_one_would_write(start, count, width, places):
    low, high, step = (n / 10**places for n in (start, start + count * width, width))
    parameter = Float("t", low, high, step=step)
    written = [float(f"{(start + i * width) / 10**places:.{places}f}") for i in range(count + 1)]
    assert [parameter.value(i) for i in range(parameter.count)] == written
    assert [parameter.index(parameter.check(v)) for v in written] == list(range(count + 1))
