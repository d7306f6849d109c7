"""Inputs on which other tools fail or quietly go wrong, and what happens here instead."""

import copy
import itertools
import pickle
import time

import numpy as np
import pytest
import torch
from botorch.acquisition.preference import qExpectedUtilityOfBestOption

from prefopt import Arms, Box, Categorical, Float, Grid, Int, Space, create_study
from prefopt.errors import AnswerError, DomainError, SettingError, StudyError
from prefopt.models.one_sided import OneSidedGP


def answer(study, n):
    for _ in range(n):
        query = study.ask()
        study.tell(query, best=min(query.ids))


def finite(study):
    """The recommendation, all of its numbers finite, and a question of distinct options."""
    found = study.recommend()
    assert np.isfinite([found.mean, found.sd, found.probability_best]).all()
    ids = study.ask().ids
    assert len(set(ids)) == len(ids) >= 2
    return found


def box(**keywords):
    return create_study(Box(1), **{"seed": 2, **keywords})


def at(study, *values):
    return [study.space.decode(np.array([x])) for x in values]


# Candidates close together -------------------------------------------------------------------------------------------


def test_an_incumbent_against_forty_near_duplicates():
    study = box()
    incumbent, *challengers = at(study, 0.5, *(0.5 + 1e-6 * np.arange(1, 41)))
    for k, challenger in enumerate(challengers):
        study.add_comparison(*((incumbent, challenger) if k % 3 else (challenger, incumbent)))
    assert len(study.ids) == 41
    assert len(study.comparisons) == 40
    finite(study)


def test_four_points_on_an_axis_of_a_billionth():
    study = create_study(Space([Float("x", 0, 1e-9)]), seed=1)
    points = [{"x": x} for x in (1e-10, 3e-10, 5e-10, 9e-10)]
    for better, worse in itertools.pairwise(points):
        study.add_comparison(better, worse)
    assert study.X.flatten().tolist() == pytest.approx([0.1, 0.3, 0.5, 0.9])
    assert study.comparisons.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert finite(study).params["x"] < 3e-10


def test_an_option_given_twice_is_refused_before_anybody_is_asked():
    with pytest.raises(DomainError, match="options 0 and 2 are the same, 'a'"):
        create_study(["a", "b", "a"])
    with pytest.raises(DomainError, match="Grid points 0 and 1 are the same point"):
        create_study(Grid(np.array([[0.5], [0.5]])))
    with pytest.raises(DomainError, match="options 'a' and 'b' have the same features"):
        create_study(Space.arms(["a", "b"], [[1.0], [1.0]]))
    study = box()
    point = at(study, 0.5)[0]
    with pytest.raises(AnswerError, match="cannot be compared with itself"):
        study.add_comparison(point, dict(point))


# Columns without variation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        Space([Float("x", 0, 1), Float("fixed", 3.5, 3.5), Categorical("only", ["a"])]),
        Space([Float("x", 0, 1, step=0.1), Int("fixed", 4, 4), Categorical("only", ["a"])]),
        Space.arms(["a", "b", "c", "d"], [[0.1, 7], [0.4, 7], [0.5, 7], [0.9, 7]]),
        Grid(np.array([[0.2, x] for x in (0.1, 0.4, 0.5, 0.9)])),
    ],
)
def test_a_constant_column(space):
    study = create_study(space, seed=1, strategy="kernel-self-sparring")
    answer(study, 8)
    found = finite(study)
    assert torch.isfinite(study.X).all()
    if isinstance(found.params, dict) and "fixed" in found.params:
        assert found.params["fixed"] in (3.5, 4)
        assert found.params["only"] == "a"


def test_nothing_varies():
    study = create_study(Space([Float("x", 2, 2), Categorical("only", ["a"])]), seed=1)
    assert study.enough == "there is only one option"
    with pytest.raises(StudyError, match="only one option, so there is nothing to compare"):
        study.ask()
    assert study.recommend().params == {"x": 2.0, "only": "a"}


# Answers that contradict or repeat (see also test_consistency) -------------------------------------------------------


@pytest.mark.parametrize("strategy", ["kernel-self-sparring", "ind-self-sparring", "d-ts", "rucb"])
@pytest.mark.parametrize("pairs", [[(0, 1)] * 50, [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0)] * 20])
def test_repeats_contradictions_and_circles_leave_numbers_finite(strategy, pairs):
    study = create_study(Grid.regular(6), seed=1, strategy=strategy)
    for winner, loser in pairs:
        study.add_comparison(winner, loser)
    assert finite(study).candidate.id in {0, 1, 2}
    assert study.diagnostics().lines()


# What an answer may be -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [float("nan"), 7, 17, -1, "a", 0.7, 1.9, True, [0], np.nan, 1.0])
def test_no_value_is_quietly_taken_for_an_answer(bad):
    study = create_study(list("bcdefg"), seed=3)
    query = study.ask()
    with pytest.raises(AnswerError, match=rf"question 1 \(candidates \[{query.ids[0]}, {query.ids[1]}\]\): "):
        study.tell(query, best=bad)
    assert study.answered == 0


def test_none_is_no_answer():
    study = create_study(list("bcdefg"), seed=3)
    with pytest.raises(AnswerError, match="give exactly one of best, worst"):
        study.tell(study.ask(), best=None)


@pytest.mark.parametrize(
    ("winner", "loser", "message"),
    [
        (17, 0, "there is no candidate 17; ids go from 0 to 5"),
        (0, -1, "there is no candidate -1"),
        (0.7, 1.9, "comparison names 0.7"),
        (3, 3, "cannot be compared with itself"),
        ("a", "z", "'z' is not among the 6 options"),
        (float("nan"), 0, "comparison names nan"),
    ],
)
def test_a_comparison_from_elsewhere_names_what_is_wrong(winner, loser, message):
    study = create_study(list("abcdef"), seed=3)
    with pytest.raises(AnswerError, match=message):
        study.add_comparison(winner, loser)
    assert study.comparisons.shape == (0, 2)


@pytest.mark.parametrize(
    ("misuse", "error", "message"),
    [
        (lambda study: study.ask(3), StudyError, "rater must be a text of at most 255 characters or None, got 3"),
        (lambda study: study.ask("x" * 256), StudyError, "rater must be a text of at most 255"),
        (lambda study: study.ask(timeout="x"), StudyError, "timeout must be a number of seconds of at least 0.*'x'"),
        (lambda study: study.ask(timeout=-1), StudyError, "timeout must be"),
        (lambda study: study.ask(timeout=np.nan), StudyError, "timeout must be"),
        (lambda study: study.tell(study.ask(), tie=True, rater=3), StudyError, "rater must be"),
        (lambda study: study.tell(study.ask(), tie=True, token=4), StudyError, "token must be a text.*got 4"),
        (lambda study: study.add("tea", rater=3), StudyError, "rater must be"),
        (lambda study: study.add_comparison("a", "b", rater=3), StudyError, "rater must be"),
        (lambda study: study.add(np.nan), DomainError, "numbers must be finite, got nan"),
        (lambda study: study.add(object()), DomainError, "is a object; expected a name, number, path, dict or list"),
        (lambda study: study.export(None), StudyError, "export needs the path of a .csv or .json file"),
    ],
)
def test_what_is_refused_leaves_nothing_in_the_log(misuse, error, message):
    study = create_study(["a", "b", "c"], seed=1)
    before = (study.ask(), len(study._storage.read(study.record)))
    with pytest.raises(error, match=message):
        misuse(study)
    assert (study.ask(), len(study._storage.read(study.record))) == before


def test_own_ideas_are_kept_as_plain_values():
    study = create_study(["a", True], seed=1)
    assert study.add(np.int64(1)).params == 1
    assert study.add(1).id == 2


def test_a_running_study_can_be_copied():
    study = box()
    answer(study, 4)
    query = study.ask()
    for made in (pickle.loads(pickle.dumps(study)), copy.deepcopy(study)):
        assert made.ask() == query
        made.tell(query, worst=query.ids[0])
        assert (made.answered, study.answered) == (5, 4)


# Few data, and many --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [Box(2), Grid.regular(5, 5), Arms(4)])
def test_no_answer_yet_and_one_answer(space):
    study = create_study(space, seed=1)
    assert study.comparisons.shape == (0, 2)
    assert study.X.shape[0] == 0
    finite(study)
    answer(study, 1)
    found = finite(study)
    assert found.sd > 0.1  # wide: one answer says little


def first_question(size):
    """Processor time of a question after ``size / 2`` comparisons of as many points: the best of three."""
    study = create_study(Box(4), seed=1)
    rows = study.space.domain.sample(size, np.random.default_rng(0))
    points = [study.space.decode(row) for row in rows]
    for a, b in zip(points[::2], points[1::2], strict=True):
        study.add_comparison(*((a, b) if sum(a.values()) > sum(b.values()) else (b, a)))
    taken = []
    for rater in "abc":
        began = time.process_time()
        assert len(study.ask(rater).ids) == 2
        taken.append(time.process_time() - began)
    return min(taken)


def test_time_does_not_explode_with_the_number_of_points():
    """Four times the points: 64 times the time of a fit whose cost is cubic, 4 times that of climbing a path."""
    assert first_question(400) < 8 * first_question(100)


# The model itself, as BoTorch uses it --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_named(bad):
    with pytest.raises(SettingError, match=r"X row 2, column 1 is (nan|inf)"):
        OneSidedGP([[0.1, 0.2], [0.3, 0.4], [0.5, bad]], [1, 1, 1], [1, 0, 1])
    with pytest.raises(DomainError, match=r"Grid point 1, column 0 is (nan|inf)"):
        Grid(np.array([[0.0], [bad]]))
    with pytest.raises(DomainError, match="features: row 1, column 0"):
        Space.arms(["a", "b"], [[0.0], [bad]])
    with pytest.raises(DomainError, match="parameter 'x'"):
        create_study(Space([Float("x", 0, 1)])).add({"x": bad})


def test_everything_is_double():
    model = OneSidedGP(torch.rand(3, 2, dtype=torch.float32), [1, 1, 2], [1, 0, 1])
    for X in (torch.rand(4, 2, dtype=torch.float32), torch.rand(4, 2, dtype=torch.float64)):
        assert model.posterior(X).mean.dtype == torch.float64


def test_an_acquisition_function_on_a_model_without_data():
    model = OneSidedGP(np.zeros((0, 2)), [], [])
    value = qExpectedUtilityOfBestOption(model)(torch.rand(5, 2, 2, dtype=torch.float64))
    assert value.shape == (5,)
    assert torch.isfinite(value).all()


def test_batches_and_state_dicts():
    X = np.random.default_rng(0).random((6, 2))
    model, other = (OneSidedGP(X, np.ones(6), np.arange(6) % 2, noise=noise) for noise in (0.025, 0.3))
    batch = torch.rand(3, 6, 2, dtype=torch.float64)
    together = model.posterior(batch)
    assert together.mean.shape == (3, 6, 1)
    for alone, row in zip(batch, together.mean, strict=True):
        assert torch.allclose(model.posterior(alone).mean, row)
    other.load_state_dict(model.state_dict(), strict=True)
    other.refresh()
    assert torch.allclose(other.posterior(batch).mean, together.mean)
