"""Beliefs averaged over lapse rates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.models.utility.average import LAPSES, Averaged
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.given import default_hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.policies import make_policy


def answers(wrong: int, n: int = 30) -> tuple[np.ndarray, Comparisons]:
    """Duels of a best point against far ones, ``wrong`` of them answered the other way."""
    X = np.concatenate([[[0.5]], np.linspace(0, 0.1, n)[:, None]])
    return X, Comparisons.of([Said((0, 1 + i), Answer.duel(int(i < wrong))) for i in range(n)], len(X))


def believed(wrong: int, lapse: float = 0.0) -> tuple[np.ndarray, Utility]:
    hyper = default_hyper(Box(1))
    X, data = answers(wrong)
    prior, heard = hyper.prior(hyper.median), Likelihood(lapse=lapse)
    return X, Utility.after(prior, X, data, heard, infer=expectation_propagation)


def test_one_hypothesis_is_that_utility() -> None:
    X, only = believed(2)
    certain = Averaged.of(only, Likelihood())
    alone = certain.over_lapses({0.0: 1.0})
    for mixture in (certain, alone):
        assert mixture.weights.tolist() == [1.0] and mixture.lapse == 0.0
        assert_allclose(
            mixture.win_probability(X[:1], X[1:2]), only.win_probability(X[:1], X[1:2], Likelihood()), atol=1e-3
        )
    found = [m.probability_best(X[:3], np.random.default_rng(0), 20_000) for m in (certain, only)]
    assert_allclose(found[0], found[1], atol=0.03)


def test_weights_are_evidence_times_prior_and_the_mean_is_theirs() -> None:
    X, only = believed(6)
    lapses = {0.0: 0.3, 0.2: 0.5, 0.4: 0.2}
    mixture = Averaged.of(only, Likelihood()).over_lapses(lapses)
    assert [heard.lapse for heard in mixture.likelihoods] == list(lapses)
    top = np.array([believed(6, lapse)[1].found.evidence + np.log(chance) for lapse, chance in lapses.items()])
    expected = np.exp(top - top.max())
    assert_allclose(mixture.weights, expected / expected.sum(), rtol=1e-2)
    assert_allclose(mixture.mean(X), mixture.weights @ [u.mean(X) for u in mixture.members])
    assert_allclose(mixture.draws(X[:2], 40_000, np.random.default_rng(1)).mean(axis=0), mixture.mean(X[:2]), atol=0.15)


def test_rates_out_of_question_are_left_out() -> None:
    _, only = believed(0)
    mixture = Averaged.of(only, Likelihood()).over_lapses({0.0: 0.5, 0.9: 0.5})
    assert [heard.lapse for heard in mixture.likelihoods] == [0]


def test_lapses_are_noticed_where_a_clear_difference_is_told_wrong() -> None:
    rates = []
    for wrong in (0, 6):
        mixture = Averaged.of(believed(wrong)[1], Likelihood()).over_lapses()
        rates.append(mixture.lapse)
        assert mixture.weights.sum() == pytest.approx(1.0)
    prior = sum(lapse * chance for lapse, chance in LAPSES.items())
    assert rates[0] < prior < rates[1]


def test_the_rates_thought_of_are_pieces_of_a_beta_distribution() -> None:
    rates = np.array(list(LAPSES))
    ends = np.concatenate([[0], (rates[1:] + rates[:-1]) / 2, [1]])
    assert_allclose(list(LAPSES.values()), np.diff(beta.cdf(ends, 1, 7)), atol=6e-4)


def two_priors() -> tuple[Box, Averaged]:
    """With a centre and without, after six duels."""
    box = Box(2)
    policy = make_policy("knowledge-gradient", box, learn=False)
    policy.init(np.random.default_rng(0))
    for _ in range(6):
        pair = policy.ask(np.random.default_rng(1))
        policy.tell(pair, Answer.duel(int(pair[1, 0] > pair[0, 0])), np.random.default_rng(2))
    return box, policy.beliefs()


def test_both_priors_count_by_evidence_and_odds() -> None:
    _, beliefs = two_priors()
    assert len(beliefs.members) == 2 and beliefs.weights.sum() == pytest.approx(1.0)
    evidence = np.array([u.found.evidence for u in beliefs.members])
    odds = np.log([0.3, 0.7])
    found = Averaged.by_evidence(beliefs.members, beliefs.likelihoods, odds)
    assert_allclose(found.weights, np.exp(odds + evidence) / np.exp(odds + evidence).sum())
    assert found.likeliest is beliefs.members[int(np.argmax(found.weights))]
    alone = Averaged.by_evidence(beliefs.members, beliefs.likelihoods, np.array([0.0, -30.0]))
    assert alone.members == beliefs.members[:1] and alone.weights.tolist() == [1.0]


def test_the_mean_path_is_the_mean_and_its_slope() -> None:
    box, beliefs = two_priors()
    path, X = beliefs.mean_path(box), np.random.default_rng(3).random((7, 2))
    value, slope = path.value_and_gradient(X, np.zeros(7, dtype=np.int64))
    assert_allclose(path.values(X)[0], beliefs.mean(X), atol=1e-9)
    assert_allclose(value, beliefs.mean(X), atol=1e-9)
    for j, step in enumerate(1e-5 * np.eye(2)):
        assert_allclose(slope[:, j], (beliefs.mean(X + step) - beliefs.mean(X - step)) / 2e-5, rtol=1e-4, atol=1e-5)


def test_differences_of_a_mixture_are_those_of_its_draws() -> None:
    _, beliefs = two_priors()
    X = np.random.default_rng(3).random((2, 2))
    drawn = beliefs.draws(X, 200_000, np.random.default_rng(4))
    mean, sd = beliefs.difference(X[:1], X[1:])
    away = drawn[:, 0] - drawn[:, 1]
    assert_allclose([mean[0], sd[0]], [away.mean(), away.std()], atol=0.03)


def test_lapses_are_averaged_over_within_each_prior() -> None:
    _, beliefs = two_priors()
    lapses = {0.0: 0.5, 0.1: 0.5}
    mixture = beliefs.over_lapses(lapses)
    assert len(mixture.members) == 4 and [heard.lapse for heard in mixture.likelihoods] == [0.0, 0.1] * 2
    for prior, member in zip(beliefs.members, mixture.members[::2], strict=True):
        assert member.prior == prior.prior
    one = beliefs.over_lapses({0.0: 1.0})
    assert_allclose(one.weights, beliefs.weights)
    assert_allclose(mixture.weights.reshape(2, 2).sum(axis=1), beliefs.weights)  # a prior is as probable as before
