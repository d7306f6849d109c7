import pickle

import numpy as np
import pytest

from prefopt import Arms, Box, Column, Grid
from prefopt.domain import is_finite
from prefopt.errors import DomainError


@pytest.mark.parametrize("size", [0, -1, True, 2.5, float("nan"), float("inf"), "3", None])
def test_arms_reject_what_is_no_count(size):
    with pytest.raises(DomainError, match="at least 1 arm"):
        Arms(size)


def test_arms_keep_a_plain_int():
    assert type(Arms(np.int64(4)).size) is int
    assert Arms(1).size == 1


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([0.1, 0.2], r"shape \(2,\)"),
        ([], "shape"),
        ([[]], "shape"),
        ([[0.5], [1.2]], "point 1, column 0 is 1.2"),
        ([[0.5, -0.1]], "point 0, column 1"),
        ([[0.5], [float("nan")]], "point 1, column 0 is nan"),
        ([[float("inf")]], "inf"),
        ([["a"]], "numbers"),
        ([[0.1, 0.2], [0.3]], "numbers"),
        ([[0.5, 0.5], [0.1, 0.1], [0.5, 0.5]], "points 0 and 2 are the same"),
        ([[0.5], [0.5 + 1e-14]], "points 0 and 1 are the same"),
        ([[0.0, 0.5], [0.9, 0.5 + 1e-13], [0.0, 0.5 + 2e-13]], "points 0 and 2 are the same"),
    ],
)
def test_grid_rejects(points, message):
    with pytest.raises(DomainError, match=message):
        Grid(points)


def test_grid_close_points_are_not_one():
    assert Grid([[0.5], [0.5 + 1e-10]]).size == 2


def test_grid_is_read_only_and_a_copy():
    points = np.array([[0.1], [0.2]])
    grid = Grid(points)
    points[0] = 0.9
    assert grid.points[0, 0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        grid.points[0] = 0.5


def test_product_runs_the_last_axis_fastest():
    grid = Grid.product([0, 0.5, 1], [0.25, 0.75])
    assert grid.points.tolist() == [[0, 0.25], [0, 0.75], [0.5, 0.25], [0.5, 0.75], [1, 0.25], [1, 0.75]]
    assert [axis.tolist() for axis in grid.axes] == [[0, 0.5, 1], [0.25, 0.75]]
    assert (grid.size, grid.dim) == (6, 2)


def test_axes_must_belong_to_the_points():
    grid = Grid.product([0, 1], [0, 1])
    with pytest.raises(DomainError, match="row-major product"):
        Grid(grid.points[::-1], grid.axes)
    with pytest.raises(DomainError, match="at least one axis"):
        Grid.product()
    with pytest.raises(DomainError, match="axis 1"):
        Grid.product([0, 1], ["a"])
    with pytest.raises(DomainError, match="the same point"):
        Grid.product([0, 1, 1])


@pytest.mark.parametrize("sizes", [(0,), (3, -1), (True,), (2.0,)])
def test_regular_needs_counts(sizes):
    with pytest.raises(DomainError, match="at least 1"):
        Grid.regular(*sizes)


def test_regular_includes_the_ends():
    assert Grid.regular(5).points[:, 0].tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert Grid.regular(1, 2).points.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        ("continuous", (0.5,)),
        ("levels", ()),
        ("category", ()),
        ("levels", (0.5, 0.2)),
        ("levels", (0.5, 0.5)),
        ("levels", (-0.1, 0.5)),
        ("levels", (0.5, float("nan"))),
        ("ordinal", (0.0, 1.0)),
    ],
)
def test_column_rejects(kind, levels):
    with pytest.raises(DomainError):
        Column(kind, levels)


def test_project_clips_and_snaps():
    box = Box([Column(), Column("levels", (0.0, 0.4, 1.0)), Column("category", (0.0, 0.5, 1.0))])
    rows = np.array([[1.7, 0.69, 0.3], [-2.0, 0.71, 0.1], [0.25, 0.19, 9.0]])
    assert box.project(rows).tolist() == [[1.0, 0.4, 0.5], [0.0, 1.0, 0.0], [0.25, 0.0, 1.0]]
    assert box.continuous.tolist() == [True, False, False]
    assert all(box.contains(row) for row in box.project(rows))


def test_contains():
    box = Box([Column(), Column("levels", (0.0, 0.5))], [lambda rows: rows[:, 0] <= rows[:, 1]])
    assert box.contains([0.5, 0.5])
    assert not box.contains([0.6, 0.5])  # the constraint
    assert not box.contains([0.1, 0.4])  # between levels
    assert not box.contains([-0.1, 0.5])
    assert not box.contains([np.nan, 0.5])
    assert not box.contains([0.1])
    assert not box.contains([0.1, 0.5, 0.5])


@pytest.mark.parametrize("columns", [0, -1, [], [Column(), "x"], ["continuous"]])
def test_box_needs_columns(columns):
    with pytest.raises(DomainError, match="Box needs"):
        Box(columns)


def test_sample_obeys_levels_and_constraints():
    box = Box([Column(), Column("levels", (0.0, 0.5, 1.0))], [lambda rows: rows.sum(axis=1) < 0.7])
    rows = box.sample(500, np.random.default_rng(1))
    assert rows.shape == (500, 2)
    assert all(box.contains(row) for row in rows)
    assert set(rows[:, 1]) == {0.0, 0.5}
    assert np.array_equal(rows, box.sample(500, np.random.default_rng(1)))


def test_sample_is_uniform():
    rows = Box([Column(), Column("category", (0.0, 1.0))]).sample(4000, np.random.default_rng(2))
    # Standard errors 0.0046 and 0.0079: six of them is a false alarm once in 5e8.
    assert abs(rows[:, 0].mean() - 0.5) < 0.028
    assert abs(rows[:, 1].mean() - 0.5) < 0.048


def test_sample_says_when_nothing_is_allowed():
    with pytest.raises(DomainError, match="relax"):
        Box(1, [lambda rows: rows[:, 0] > 2]).sample(3, np.random.default_rng(0))


@pytest.mark.parametrize("constraint", [lambda rows: True, lambda rows: rows > 0.5])
def test_a_constraint_answers_for_each_row(constraint):
    with pytest.raises(DomainError, match="booleans of shape"):
        Box(2, [constraint]).sample(1, np.random.default_rng(0))


def test_finite_or_not():
    assert is_finite(Arms(2)) and is_finite(Grid.regular(2))
    assert not is_finite(Box(1))


def test_domains_survive_pickling():
    grid = pickle.loads(pickle.dumps(Grid.regular(2, 3)))
    assert np.array_equal(grid.points, Grid.regular(2, 3).points)
    assert pickle.loads(pickle.dumps(Box([Column("levels", (0.0, 1.0))]))) == Box([Column("levels", (0.0, 1.0))])
