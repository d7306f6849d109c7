"""How well answers are predicted that the model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from prefopt.models.utility.comparisons import Said
from prefopt.report.belief import REPORT, Belief, Options
from prefopt.seeding import stream

#: Parts into which the questions are divided, each predicted from the others; fewer answers are not divided.
FOLDS, FEWEST = 10, 10
#: Edges of the bins of the predicted chance of the favoured side.
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same confidence: how many, their mean, the share that came true, and its interval."""

    pairs: int
    predicted: float
    came_true: float
    low: float
    high: float


@dataclass(frozen=True)
class HeldOut:
    """Predictions of held-out answers, pair by pair (a choice among m is m - 1 pairs, a tie none).

    Attributes:
        pairs: how many.
        answers: how many answers they come from.
        folds: parts of the questions; all answers about the same options are in one.
        accuracy: share in which the favoured side was preferred.
        brier: mean squared error of the predicted chance; a coin has 0.25.
        log_loss: mean negative log of the chance given to what happened; a coin has 0.693.
        bins: calibration.
    """

    pairs: int
    answers: int
    folds: int
    accuracy: float
    brier: float
    log_loss: float
    bins: tuple[Bin, ...]


def held_out(options: Options, compared: Sequence[Any], said: Sequence[Said], seed: int) -> HeldOut | None:
    """Every answer predicted by a model, hyper-parameters included, that knows none about the same options.

    None if there are less than ``FEWEST`` answers with a winner, or all are about the same options.
    """
    told = [one for one in said if pairs_of(one)]
    questions = list(dict.fromkeys(frozenset(one.slate) for one in told))
    folds = min(FOLDS, len(questions))
    if len(told) < FEWEST or folds < 2:
        return None
    order = stream(seed, len(said), REPORT, 1).permutation(len(questions))
    part = {questions[int(q)]: place % folds for place, q in enumerate(order)}
    chances = []
    for fold in range(folds):
        known = [one for one in said if part.get(frozenset(one.slate)) != fold]
        belief = Belief.of(options, compared, known)
        hidden = [one for one in told if part[frozenset(one.slate)] == fold]
        pairs = [(winner, loser, one.rater) for one in hidden for winner, loser in pairs_of(one)]
        chances += [belief.chance(compared[winner], compared[loser], rater) for winner, loser, rater in pairs]
    return scores(np.array(chances), len(told), folds)


def scores(chances: Any, answers: int, folds: int) -> HeldOut:
    """Scores of the chances (n,) that were given to what happened."""
    chances = np.clip(chances, 1e-6, 1 - 1e-6)
    confidence, hit = np.maximum(chances, 1 - chances), chances > 0.5
    place = np.clip(np.searchsorted(EDGES, confidence, side="right") - 1, 0, len(EDGES) - 2)
    bins = tuple(_bin(confidence[place == k], hit[place == k]) for k in range(len(EDGES) - 1) if np.any(place == k))
    brier, log_loss = float(np.mean((1 - chances) ** 2)), float(np.mean(-np.log(chances)))
    return HeldOut(len(chances), answers, folds, float(hit.mean()), brier, log_loss, bins)


def _bin(confidence: Any, hit: Any) -> Bin:
    """With the exact 95 % interval of Clopper and Pearson 1934."""
    n, k = len(hit), int(hit.sum())
    low = 0.0 if k == 0 else float(beta.ppf(0.025, k, n - k + 1))
    high = 1.0 if k == n else float(beta.ppf(0.975, k + 1, n - k))
    return Bin(n, float(confidence.mean()), k / n, low, high)


def pairs_of(one: Said) -> list[tuple[int, int]]:
    """(winner, loser) places that an answer names; of a ranking only neighbours, as the others follow from them."""
    wins, answer = one.answer.wins, one.answer
    pairs = [(int(j), int(k)) for j, k in np.argwhere(wins > wins.T)]
    if answer.kind == "ranking":
        pairs = [(j, k) for j, k in zip(answer.order[:-1], answer.order[1:], strict=True)]
    return [(one.slate[j], one.slate[k]) for j, k in pairs]
