"""Beliefs averaged over hyper-parameters and lapse rates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.models.utility.average import CROSS, LAPSES, Averaged
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.given import default_hyper
from prefopt.models.utility.likelihood import Likelihood


def answers(wrong: int, n: int = 30) -> tuple[np.ndarray, Comparisons]:
    """Duels of a best point against far ones, ``wrong`` of them answered the other way."""
    X = np.concatenate([[[0.5]], np.linspace(0, 0.1, n)[:, None]])
    return X, Comparisons.of([Said((0, 1 + i), Answer.duel(int(i < wrong))) for i in range(n)], len(X))


def test_one_hypothesis_is_that_utility() -> None:
    hyper = default_hyper(Box(1))
    X, data = answers(2)
    mixture = Averaged.over(hyper, hyper.median, X, data, Likelihood(), steps=CROSS[:1])
    (only,) = mixture.members
    assert mixture.weights.tolist() == [1.0] and mixture.lapse == 0.0
    assert_allclose(mixture.win_probability(X[:1], X[1:2]), only.win_probability(X[:1], X[1:2], Likelihood()))
    found = [m.probability_best(X[:3], np.random.default_rng(0), 20_000) for m in (mixture, only)]
    assert_allclose(found[0], found[1], atol=0.03)


def test_weights_are_evidence_times_prior_and_the_mean_is_theirs() -> None:
    hyper = default_hyper(Box(1))
    X, data = answers(2)
    mixture = Averaged.over(hyper, hyper.median, X, data, Likelihood(), least=0.0)
    assert len(mixture.members) == len(CROSS)
    top = [u.found.evidence - 0.5 * (i * i + j * j) for u, (i, j) in zip(mixture.members, CROSS, strict=True)]
    expected = np.exp(np.array(top) - max(top))
    assert_allclose(mixture.weights, expected / expected.sum(), rtol=1e-9)
    assert_allclose(mixture.mean(X), mixture.weights @ [u.mean(X) for u in mixture.members])
    assert_allclose(mixture.draws(X[:2], 40_000, np.random.default_rng(1)).mean(axis=0), mixture.mean(X[:2]), atol=0.15)


def test_lapses_are_noticed_where_a_clear_difference_is_told_wrong() -> None:
    hyper = default_hyper(Box(1))
    rates = []
    for wrong in (0, 6):
        X, data = answers(wrong)
        mixture = Averaged.over(hyper, hyper.median, X, data, Likelihood(), steps=CROSS[:1], lapses=LAPSES)
        rates.append(mixture.lapse)
        assert mixture.weights.sum() == pytest.approx(1.0)
    prior = sum(lapse * chance for lapse, chance in LAPSES.items())
    assert rates[0] < prior < rates[1]
