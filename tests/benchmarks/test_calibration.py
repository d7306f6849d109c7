"""What a study states comes true about as often as it says, for people who answer as the model thinks."""

from __future__ import annotations

import numpy as np
import pytest
from calibration import MODELS, deciles, grouped, predictions, study, summary

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.models.utility.average import LAPSES
from prefopt.policies import make_policy


def test_every_model_is_asked_after_the_same_answers() -> None:
    policy = make_policy("eubo", Box(2), learn=False)
    policy.init(np.random.default_rng(0))
    for t in range(8):
        policy.tell(np.random.default_rng(t).random((2, 2)), Answer.duel(t % 2), np.random.default_rng(t))
    made = predictions(policy, 0.3)
    assert tuple(made) == MODELS
    rates = {model: {heard.lapse for heard in beliefs.likelihoods} for model, beliefs in made.items()}
    assert rates["Laplace"] == rates["EP"] == {0.0} and rates["told"] == {0.3}
    assert len(rates["stated"]) > 1 and rates["stated"] <= set(LAPSES)
    means = [beliefs.mean(policy.points) for beliefs in made.values()]
    assert min(np.abs(a - b).max() for i, a in enumerate(means) for b in means[:i]) > 1e-3


@pytest.mark.slow
def test_stated_chances_to_win_come_true() -> None:
    rows = [row for index in range(24) for row in study("plain", index, 0)]
    groups = grouped([row for row in rows if row["model"] == "stated"])
    found = {r["what"]: r for r in summary(groups, deciles(groups)) if r["problem"] == r["answers"] == "all"}
    assert found["win"]["largest"] < 0.05  # of every tenth of the stated chances
    assert found["best"]["mean"] < 0.05 and found["best"]["largest"] < 0.2  # few cases are in the highest tenths
