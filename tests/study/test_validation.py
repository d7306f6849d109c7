"""Blind validation of a recommendation, and what more answers are worth."""

import copy

import numpy as np
import pytest
from scipy.stats import binom

from prefopt import Arms, Box, Grid, create_study, load_study
from prefopt.errors import StudyError
from prefopt.study.gain import expected_largest, gain


def good(candidate):
    values = candidate.params.values() if isinstance(candidate.params, dict) else np.ravel(candidate.params)
    return -sum((v - 0.3) ** 2 for v in values)


def answered(space, n=12, worth=good, **keywords):
    strategy = "ind-self-sparring" if isinstance(space, Arms) else "kernel-self-sparring"
    study = create_study(space, **{"seed": 4, "strategy": strategy, **keywords})
    answer(study, n, worth)
    return study


def answer(study, n, worth, rater=None):
    for _ in range(n):
        query = study.ask(rater)
        study.tell(query, best=max(query.shown, key=worth), rater=rater)


def trials(study):
    return [row for row in study.history() if row["validation"]]


@pytest.mark.parametrize(
    ("space", "kinds"),
    [
        (Box(2), {"centre", "random", "runner-up"}),
        (Grid.regular(6, 6), {"centre", "random", "runner-up"}),
        (Arms(5), {"random", "runner-up"}),
    ],
)
def test_a_round_is_blind_and_teaches_nothing(space, kinds, tmp_path):
    worth = good if not isinstance(space, Arms) else lambda c: -c.id
    study = answered(space, storage=str(tmp_path / "s.db"), worth=worth)
    before, policy, told = study.recommend(), study.answered, len(study.comparisons)
    assert study.validation() is None
    planned = study.validate(each=3).planned
    assert {row["validation"] for row in trials(study)} == set()
    with pytest.raises(StudyError, match="under way"):
        study.validate()
    shown_first = 0
    for _ in range(planned):
        query = study.ask("ann")
        assert query.note == "" and query.repeat_of is None and not query.fallback
        best = study.validation().recommended
        shown_first += query.shown[0].params == best.params
        assert best.params in [c.params for c in query.shown]
        study.tell(query, best=next(c for c in query.shown if c.params == best.params), rater="ann")
    assert 0 < shown_first < planned
    found = study.validation()
    assert {row["validation"] for row in trials(study)} == kinds
    assert found.over and found.won == planned and found.p == pytest.approx(0.5**planned)
    assert {v.rival for v in found.versus} == kinds
    assert (study.answered, len(study.comparisons)) == (policy, told)
    after = study.recommend()
    assert after.params == before.params and after.mean == pytest.approx(before.mean, abs=1e-9)
    assert trials(study)[-1]["status"] == "answered" and study.ask("ann").number == 13 + planned
    assert not any(row["question"] == 13 + planned for row in trials(study))
    again = load_study(str(tmp_path / "s.db"))
    assert again.validation() == found
    study.close()
    again.close()


def test_the_test_is_exact_and_leaves_ties_out():
    study = answered(Grid.regular(6, 6))
    planned = study.validate(each=4).planned
    best = study.validation().recommended
    wins = 0
    for k in range(planned):
        query = study.ask()
        other = next(c for c in query.shown if c.id != best.id)
        if k == 0:
            study.tell(query, tie=True)
        elif k < 3:
            study.tell(query, best=other)
        else:
            study.tell(query, best=best)
            wins += 1
        if k == 5:
            assert f"{planned - 6} of {planned} are still to come" in str(study.validation())
    found = study.validation()
    assert (found.won, found.answered, sum(v.ties for v in found.versus)) == (wins, planned, 1)
    assert found.p == pytest.approx(binom.sf(wins - 1, planned - 1, 0.5))
    assert f"won {wins} of {planned - 1} comparisons" in str(found) and "exact sign test, p = 0.0" in str(found)
    study.remove_answer(trials(study)[1]["question"], "misread")
    assert study.validation().answered == planned - 1
    study.undo()
    assert study.ask().number == 12 + planned and study.validation().won == wins - 1


def test_a_round_can_be_ended_and_begun_anew():
    study = answered(Arms(6), worth=lambda c: -c.id)
    first = study.ask()
    study.validate(each=2)
    assert study.ask() == first  # the open question stays
    study.tell(first, best=min(first.ids))
    study.tell(query := study.ask(), best=min(query.ids))
    study.end_validation()
    assert study.validation().answered == 1 and study.validation().over
    study.tell(query := study.ask(), best=min(query.ids))
    assert len(trials(study)) == 1
    study.validate(each=1)
    assert study.validation().answered == 0
    assert copy.deepcopy(study).ask() == study.ask()


def test_who_sits_down_to_validate_is_asked_that_first():
    study = answered(Arms(6), worth=lambda c: -c.id, lease=1e-9)
    assert study.ask_to_validate() is None
    study.ask("ann")
    ordinary = study.ask()
    planned = study.validate(each=1).planned
    for _ in range(planned):
        query = study.ask_to_validate()
        assert query == study.ask_to_validate() != ordinary == study.ask()
        study.tell(query, best=min(query.ids))
    assert study.validation().over and study.validation().answered == planned == len(trials(study))
    assert study.ask_to_validate() is None and study.ask() == ordinary
    study.validate(each=1)
    study.ask_to_validate()
    study.end_validation()
    assert study.ask_to_validate().number == ordinary.number + planned + 1  # what is open can be answered
    study.pause("tea")
    assert study.ask_to_validate() is not None
    with pytest.raises(StudyError, match="paused"):
        study.ask_to_validate("ben")
    assert study.replay().matches


def test_several_raters_share_a_round():
    study = answered(Arms(6), worth=lambda c: -c.id)
    planned = study.validate(each=2).planned
    queries = [study.ask(f"rater{k}") for k in range(planned)]
    assert len({q.number for q in queries}) == planned == len(trials(study))
    for query in queries:
        study.tell(query, best=min(query.ids))
    assert study.validation().over and study.validation().answered == planned


def test_nothing_to_validate():
    with pytest.raises(StudyError, match="no answer yet"):
        create_study(list("abc"), seed=1).validate()
    study = create_study(list("abc"), seed=1)
    answer(study, 1, lambda c: -c.id)
    with pytest.raises(StudyError, match="each must be"):
        study.validate(each=0)


def test_what_was_expected_to_be_gained_is_gained():
    """Means of independent normal options, seen so often as said: the gain simulated, against the formula."""
    rng = np.random.default_rng(5)
    mean, sd, looks = np.array([0.5, 0.48, 0.4, 0.2]), np.array([0.1, 0.15, 0.1, 0.05]), 20
    draws, gained = 200_000, []
    for k in (2, 3, 4):
        chosen = np.argsort(-(mean + sd), kind="stable")[:k]
        truth = mean[chosen] + sd[chosen] * rng.standard_normal((draws, k))
        noise = 0.25 * k / looks
        seen = truth + np.sqrt(noise) * rng.standard_normal((draws, k))
        share = sd[chosen] ** 2 / (sd[chosen] ** 2 + noise)
        after = mean[chosen] + share * (seen - mean[chosen])
        gained.append(np.maximum(after.max(axis=1), mean.max()).mean() - mean.max())
    # standard errors are below 2e-4
    assert gain(mean, sd, looks) == pytest.approx(max(gained), abs=1e-3)
    assert expected_largest(np.zeros(2), np.ones(2), -8.0) == pytest.approx(1 / np.sqrt(np.pi), abs=1e-3)
    assert gain(np.array([0.6, 0.5]), np.zeros(2), 20) == pytest.approx(0, abs=1e-9)
    draws = rng.normal(0.6, 0.8, (200_000, 2)).max(axis=1)  # chances end at 1, standard error below 5e-4
    assert expected_largest(np.full(2, 0.6), np.full(2, 0.8), 0.6, 1.0) == pytest.approx(
        np.clip(draws, 0.6, 1.0).mean(), abs=2e-3
    )
    assert gain(np.full(8, 0.6), np.full(8, 0.8), 20) < 0.4


def test_the_gain_falls_and_enough_is_said():
    study = answered(Arms(8), n=5, worth=lambda c: -c.id)
    first = study.expected_gain()
    assert study.enough == "" and study.expected_gain(20) > first
    answer(study, 45, lambda c: -c.id)
    assert study.expected_gain() < first / 2
    assert "sure of the best" in study.enough
    with pytest.raises(StudyError, match="answers must be"):
        study.expected_gain(0)


def test_options_that_are_alike_are_enough_when_there_is_nothing_to_gain():
    study = create_study(Arms(3), seed=2)
    for _ in range(100):
        for pair in ("01", "12", "20", "10", "21", "02"):
            study.add_comparison(int(pair[0]), int(pair[1]))
    answer(study, 10, lambda c: -c.id)
    assert study.expected_gain() < 0.01
    assert study.recommend().probability_best < 0.95
    assert "ten more answers" in study.enough
