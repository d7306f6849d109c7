"""What a utility model says of options: against draws of the posterior, and in simple cases."""

import numpy as np
import pytest
from scipy.special import expit

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.standing import HOPEFUL, standings
from prefopt.seeding import stream


def believed(answers=20):
    rng = stream(5)
    points = rng.random((2 * answers, 2))
    said = [Said((2 * t, 2 * t + 1), Answer.duel(int(points[2 * t, 0] < points[2 * t + 1, 0]))) for t in range(answers)]
    hyper = Hyper(Box(2))
    return Utility.after(hyper.prior(hyper.median), points, Comparisons.of(said), Likelihood())


def test_chances_are_those_of_posterior_draws():
    utility, rng = believed(8), stream(1)
    Z = np.vstack([utility.points, [[1.0, 0.5], [0.0, 0.5]]])
    found = standings(Averaged.of(utility, Likelihood()), Z, rng)
    f = joint_draws(*utility.joint(Z), 20_000, rng)
    against = expit(f[:, :, None] - f[:, None, :16])  # all 16 shown
    assert found.mean == pytest.approx(against.mean(axis=(0, 2)), abs=0.02)
    assert found.best == pytest.approx(np.bincount(f.argmax(axis=1), minlength=len(Z)) / len(f), abs=0.08)
    assert found.mean[-2] > found.mean[-1]
    assert found.best.sum() == pytest.approx(1)


def test_only_options_that_are_possible_are_best():
    utility = believed()
    among = np.arange(40) % 2 == 0
    found = standings(Averaged.of(utility, Likelihood()), utility.points, stream(1), among)
    assert not found.best[~among].any()
    assert found.best.sum() == pytest.approx(1)


def test_many_equal_options_and_no_answers():
    hyper = Hyper(Box(2))
    utility = Utility.after(hyper.prior(hyper.median), np.zeros((0, 2)), Comparisons.of([]), Likelihood())
    found = standings(Averaged.of(utility, Likelihood()), np.full((HOPEFUL + 50, 2), 0.3), stream(1))
    assert found.mean == pytest.approx(0.5)
    assert found.sd == pytest.approx(0.0, abs=1e-6)
    assert found.best.sum() == pytest.approx(1)
