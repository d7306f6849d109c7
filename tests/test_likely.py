"""A region where somebody expects the best option: said, stored, used, and overruled."""

import json

import numpy as np
import pytest

from prefopt import create_study, load_study
from prefopt.answer import Answer
from prefopt.coordinates import Coordinates
from prefopt.domain import Box, Column, Grid
from prefopt.errors import DomainError
from prefopt.policies import make_policy
from prefopt.seeding import stream
from prefopt.space import Categorical, Float, Int, Space

STRENGTH = Float("strength", 0, 10, likely=(3, 6))


def test_where_it_goes_and_comes_back_from_json():
    wide = Space([STRENGTH, Float("rate", 1, 100, log=True, likely=(1, 10)), Categorical("milk", ["yes", "no"])])
    assert [c.likely for c in wide.domain.columns] == [(0.3, 0.6), (0.0, 0.5), None]
    grid = Space([Int("cups", 1, 5, likely=[2, 3]), Int("sugar", 0, 2), Categorical("milk", ["cow", "oat", "no"])])
    assert grid.domain.likely == ((0.25, 0.5), (0.0, 1.0), None, None, None)
    plain = Space([Int("cups", 1, 5), Int("sugar", 0, 2)])
    assert plain.domain.likely is None
    assert "likely" not in json.dumps(plain.to_json())
    for space in (wide, grid, plain):
        assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space


def test_bare_domains_keep_it():
    for domain in (Box([Column(likely=(0.1, 0.3)), Column()]), Grid(np.eye(2), likely=((0.2, 0.4), None))):
        again = Coordinates.from_json(json.loads(json.dumps(Coordinates(domain).to_json()))).domain
        if isinstance(domain, Box):
            assert again.columns == domain.columns
        else:
            assert again.likely == domain.likely


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Float("x", 0, 10, likely=(3, 11)), r"'x': likely \(3, 11\) must be a range within 0.0 to 10.0"),
        (lambda: Float("x", 0, 10, likely=(6, 3)), "its smaller end first"),
        (lambda: Int("x", 0, 10, likely=3), r"likely is two numbers such as \(0, 10\), got 3"),
        (lambda: Int("x", 0, 10, likely="36"), "likely is two numbers"),
        (lambda: Float("x", 0, 10, likely={6, 3}), "likely is two numbers"),
        (lambda: Float("x", 0, 10, likely=("a", 3)), "an end of likely must be a number"),
        (lambda: Column(likely=(0.2, 0.2)), "0 <= low < high <= 1"),
        (lambda: Column("category", (0.0, 1.0), likely=(0.2, 0.4)), "a category has no order"),
        (lambda: Grid(np.eye(2), likely=((0.0, 1.0),)), "one entry a dimension, 2, got 1"),
    ],
)
def test_what_cannot_be_meant(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_the_first_questions_are_there_and_a_category_is_not_pulled():
    policy = make_policy("qeubo", Box([Column(likely=(0.6, 0.8)), Column()]))
    policy.init(stream(0))
    first = policy.first[:, :, 0]
    assert np.all((first > 0.6) & (first < 0.8))
    grid = Space([Categorical("milk", ["yes", "no"]), Int("cups", 1, 3)]).domain
    mean = make_policy("qeubo", grid).hyper.prior(make_policy("qeubo", grid).hyper.median).mean(grid.points)
    assert mean[:3] == pytest.approx(mean[3:])
    assert mean[1] > mean[0]


def far(likely, top, seed, answers):
    """How far from ``top`` what is recommended is, after so many answers of a person with noise, on two columns."""
    policy = make_policy("qeubo", Box([Column(likely=likely)] * 2), learn=False)
    policy.init(stream(seed))
    luck = stream(seed, 1)
    for t in range(answers):
        slate = policy.ask(stream(seed, t))
        utility = -12 * np.linalg.norm(slate - top, axis=1)
        policy.tell(slate, Answer.duel(int(np.argmax(utility + luck.gumbel(size=2)))), stream(seed, t))
    return float(np.linalg.norm(policy.best() - top))


def test_it_helps_when_right_and_does_not_ruin_when_wrong():
    top = np.array([0.78, 0.86])
    right, none, wrong = (
        np.mean([[far(likely, top, seed, answers) for answers in (4, 24)] for seed in range(4)], axis=0)
        for likely in ((0.7, 0.9), None, (0.1, 0.3))
    )
    assert right[0] < 0.7 * none[0]
    assert wrong[1] < 0.25


def test_a_study_keeps_it(tmp_path):
    path = str(tmp_path / "s.db")
    study = create_study(Space([STRENGTH, Float("time", 1, 2)]), storage=path, seed=1)
    question = study.ask()
    study.close()
    again = load_study(path)
    assert again.ask() == question
    assert again.space.parameters[0] == STRENGTH
    assert all(3 <= c.params["strength"] <= 6 for c in question.shown)
    again.close()
