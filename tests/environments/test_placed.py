"""Hills with their top at a given place, and the stand-in for the sushi survey."""

import numpy as np
import pytest

from prefopt.environments import make_environment
from prefopt.environments.placed import PLACES, SHAPES, placed, top_of
from prefopt.environments.sushi_like import majority_scores, rankings, sushi_like
from prefopt.errors import EnvironmentSpecError, SettingError


def top(problem):
    """Where the hill is highest, by search."""
    rng = np.random.default_rng(0)
    points = rng.random((300, problem.dim))
    for width in 0.3 * 0.7 ** np.arange(30):  # the cone has an edge at its top: no gradients
        best = points[np.argmax(problem.utility(points))]
        points = np.concatenate([best[None], np.clip(best + width * rng.standard_normal((100, problem.dim)), 0, 1)])
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.parametrize("place", PLACES)
def test_the_top_is_where_it_was_asked_for_and_depths_go_from_0_to_1(place, dim, seed):
    hill = placed(place, dim, seed)
    found = top(hill)
    assert -hill.utility(found[None])[0] == pytest.approx(0, abs=0.02)
    on_edge = int((np.minimum(found, 1 - found) < 0.01).sum())
    if place == "corner":
        assert on_edge == dim
    elif place == "face":
        assert on_edge >= 1
    depth = -hill.utility(np.random.default_rng(1).random((2000, dim)))
    corners = np.array(np.meshgrid(*[(0.0, 1.0)] * dim)).reshape(dim, -1).T
    assert depth.min() >= 0 and depth.max() <= 1
    assert (-hill.utility(corners)).max() == pytest.approx(1)


def test_tops_anywhere_are_uniform_and_faces_are_all_met():
    tops = np.array([top_of("anywhere", 3, np.random.default_rng(s)) for s in range(2000)])
    assert np.abs(tops.mean(axis=0) - 0.5).max() < 0.04  # six standard errors
    faces = np.array([top_of("face", 3, np.random.default_rng(s)) for s in range(2000)])
    on = [((faces[:, j] == side).mean()) for j in range(3) for side in (0, 1)]
    assert sum(on) == pytest.approx(1) and min(on) > 0.11


def test_shapes_take_turns():
    depths = [-placed("anywhere", 2, seed).utility(np.array([[0.0, 0.0]]))[0] for seed in range(len(SHAPES))]
    assert len(set(depths)) == 3
    for place, dim in (("edge", 2), ("face", 0), ("face", 13)):
        with pytest.raises(SettingError, match=r"unknown place 'edge'|1 to 12 dimensions"):
            placed(place, dim, 0)


def test_shapes_differ_near_the_top_as_their_names_say():
    """Half way down the distance: the cone at 1/2, the quadratic at 1/4, the bump below most of its depth."""
    for seed, expected in ((0, 0.5), (1, 0.25), (2, 0.567)):
        hill = placed("corner", 3, seed)
        start = np.round(top(hill))
        corners = np.array(np.meshgrid(*[(0.0, 1.0)] * 3)).reshape(3, -1).T
        far = corners[np.argmin(hill.utility(corners))]
        assert -hill.utility((0.5 * (start + far))[None])[0] == pytest.approx(expected, abs=1e-3)


def test_sushi_like_scores_follow_what_people_like():
    person = sushi_like(np.random.default_rng(3))
    assert (person.utility.min(), person.utility.max()) == (0, 1)
    assert np.array_equal(person.utility, sushi_like(np.random.default_rng(3)).utility)
    # the order is learnable from the features: a quadratic regression explains most of it
    X = person.domain.points
    design = np.column_stack([np.ones(100), X, X**2])
    fitted = design @ np.linalg.lstsq(design, person.utility, rcond=None)[0]
    assert np.corrcoef(fitted, person.utility)[0, 1] > 0.8
    with pytest.raises(EnvironmentSpecError, match="at least 10 kinds"):
        sushi_like(np.random.default_rng(0), size=5)


def test_rankings_show_distinct_kinds_and_strong_tastes_decide():
    rng = np.random.default_rng(0)
    items = np.arange(12.0)[:, None]
    seen, liked = rankings(np.full((50, 1), 100.0), items, 10, rng)
    assert all(len(set(row)) == 10 for row in seen.tolist())
    assert np.array_equal(np.argsort(liked, axis=1), np.argsort(seen, axis=1))
    assert np.array_equal(majority_scores(seen, liked, 12), np.arange(12) / 11)


def test_candy_surface_passes_through_the_sweets():
    box = make_environment("candy")
    listed = make_environment("candy85")
    alone = [i for i, p in enumerate(listed.domain.points) if (listed.domain.points[:, :2] == p[:2]).all(1).sum() == 1]
    assert len(alone) > 40
    assert box.utility(listed.domain.points[alone, :2]) == pytest.approx(listed.utility[alone], abs=1e-9)
    assert np.isfinite(box.utility(np.random.default_rng(0).random((500, 2)))).all()
