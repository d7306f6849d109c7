"""Points of a box under linear constraints, however thin what they leave."""

import numpy as np
import pytest

from prefopt import Box, Categorical, Float, Int, Linear, Space, create_study
from prefopt.errors import DomainError, StudyError
from prefopt.polytope import find_polytope


def rules(*texts):
    return [Linear.parse(text) for text in texts]


def sampled(dim, *texts, n=2000):
    found = find_polytope(dim, rules(*texts))
    points = found.sample(n, np.random.default_rng(1))
    assert Box(dim, list(texts)).feasible(points).all()
    assert ((points >= 0) & (points <= 1)).all()
    return found, points


def test_a_small_triangle_is_covered_evenly():
    _, points = sampled(2, "x0 + x1 <= 0.01")
    # uniform on a right triangle of side s: mean s/3, variance s^2/18, covariance -s^2/36; five standard errors
    assert np.abs(points.mean(axis=0) - 0.01 / 3).max() < 5 * 0.01 / np.sqrt(18 * 2000)
    assert np.cov(points.T) == pytest.approx(1e-4 * np.array([[1 / 18, -1 / 36], [-1 / 36, 1 / 18]]), rel=0.25, abs=0)


def test_a_long_thin_strip_is_walked_along():
    _, points = sampled(2, "x0 - x1 <= 0", "x0 - x1 >= -0.00001")
    assert points[:, 0].mean() == pytest.approx(0.5, abs=5 / np.sqrt(12 * 2000))
    assert points[:, 0].std() == pytest.approx(1 / np.sqrt(12), rel=0.1)


@pytest.mark.parametrize(
    ("texts", "dim"),
    [
        (("x0 <= 0.5", "x0 >= 0.5"), 2),
        (("x0 + x1 + x2 <= 1", "x0 + x1 + x2 >= 1"), 2),
        (("x0 + x1 <= 0",), 1),
        (("x0 + x1 + x2 >= 3",), 0),
        (("x0 + x1 + x2 <= 3",), 3),
    ],
)
def test_faces_are_found(texts, dim):
    found, points = sampled(3, *texts, n=50)
    assert len(found.span) == dim
    assert np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-6) == dim


def test_nothing_left_is_known_without_trying():
    assert find_polytope(2, rules("x0 + x1 >= 2.001")) is None
    with pytest.raises(DomainError, match=r"no point of the unit cube satisfies 3 <= 1\*x0 \+ 1\*x1; relax one"):
        Box(2, ["x0 + x1 >= 3"]).sample(1, np.random.default_rng(0))
    space = Space([Float("a", 0, 1), Float("b", 0, 1)], ["a <= 0.4", "a >= 0.6"])
    with pytest.raises(DomainError, match=r"satisfy 1\*a <= 0.4 and 0.6 <= 1\*a; relax one"):
        create_study(space)


UNITS = [
    Float("a", 10, 20),
    Float("b", -1, 1),
    Int("n", 0, 100),
    Categorical("c", ["x", "y"]),
    Float("r", 1, 100, log=True),
]


@pytest.mark.parametrize(
    "constraints",
    [
        ["a + b <= 9.01"],
        ["a >= 15", "a <= 15"],
        ["a + 0.1*n <= 10.05"],
        ["n >= 100", "b >= 0.999"],
        ["a - 10*b <= 0.01", "r >= 50"],
        ["a <= 10.001", lambda params: params["c"] == "y"],
    ],
)
def test_named_parameters_in_their_units(constraints):
    space = Space(UNITS, constraints)
    for row in space.domain.sample(20, np.random.default_rng(2)):
        params = space.decode(row)
        assert space.encode(params) == pytest.approx(row, abs=1e-6)
        assert all(rule(params) for rule in space.constraints)


def test_a_study_on_a_thin_set():
    study = create_study(Space([Float("a", 0, 1), Float("b", 0, 1)], ["a + b <= 0.01"]), seed=1)
    for _ in range(3):
        query = study.ask()
        assert all(c.params["a"] + c.params["b"] <= 0.01 * (1 + 1e-6) for c in query.candidates)
        study.tell(query, best=query.shown[0])
    alone = create_study(Space([Float("a", 0, 1), Float("b", 0, 1)], ["a + b >= 2"]), seed=1)
    with pytest.raises(StudyError, match="only one option that its constraints allow"):
        alone.ask()
