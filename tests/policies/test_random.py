"""The null baseline on boxes."""

import numpy as np
import pytest

from prefopt import simulate
from prefopt.answer import Answer
from prefopt.domain import Arms, Box, Column
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.testing import check_policy

MIXED = Box([Column(), Column("category", (0.0, 1.0)), Column("levels", (0.0, 0.3, 1.0))])


@pytest.mark.parametrize("box", [Box(1), Box(3), MIXED, Box(2, [lambda x: x.sum(axis=1) < 0.5])])
def test_conformance(box):
    check_policy("random", box, slate_size=3)


def test_points_are_uniform_and_independent():
    policy = make_policy("random", Box(2))
    policy.init(np.random.default_rng(0))
    points = np.array([policy.ask(np.random.default_rng([1, t])) for t in range(2000)]).reshape(2000, 4)
    assert np.abs(points.mean(axis=0) - 0.5).max() < 5.5 * np.sqrt(1 / 12 / 2000)
    assert np.abs(np.corrcoef(points.T) - np.eye(4)).max() < 5.5 / np.sqrt(2000)


def test_recommends_the_largest_share_of_wins():
    policy = make_policy("random", Box(1), slate_size=3)
    with pytest.raises(SettingError, match="before init"):
        policy.best()
    policy.init(np.random.default_rng(0))
    policy.tell([[0.1], [0.2], [0.3]], Answer.ranking([1, 0, 2], 3), np.random.default_rng(0))
    policy.tell([[0.1], [0.2], [0.4]], Answer.best(0, 3), np.random.default_rng(0))
    assert policy.best() == pytest.approx([0.1])  # 3 of 4; 0.2 has 2 of 3, 0.3 and 0.4 none


def test_simulation_on_a_box_and_on_arms():
    run = simulate("random", "forrester", rounds=300, repetitions=2, seed=0, regret="strong-mean", relabel=False)
    grid = simulate("random", "forrester-300", rounds=300, repetitions=20, seed=0, regret="strong-mean")
    assert run.mean()[-1] == pytest.approx(grid.mean()[-1], rel=0.05)
    assert simulate("random", "arith-linear-6", rounds=5).recommended.shape == (1, 5)
    assert make_policy("random", Arms(3)).slate_size == 2
