"""How good options seem under a utility model, as chances: to win a comparison, and to be the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import FloatArray
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.raters import SHARED
from prefopt.models.utility.win import win_probability

#: So many options stand for all that were shown; so many of the most hopeful ones may be the best; joint draws.
SHOWN, HOPEFUL, DRAWS = 16, 256, 1000


class Standings(NamedTuple):
    """Of n options: their chance to win against a typical one shown (mean and standard deviation), and to be best."""

    mean: FloatArray
    sd: FloatArray
    best: FloatArray


def standings(
    beliefs: Averaged, Z: FloatArray, rng: np.random.Generator, among: NDArray[np.bool_] | None = None
) -> Standings:
    """What is believed of the rows of Z (n, d).

    The chance to win is that in the eyes of a rater of the usual noise against options shown so far, averaged over at
    most ``SHOWN`` of them. Its standard deviation says how much the utility behind it may be off (a tangent at the
    mean), the person's noise not included.
    The chance of being best is from joint draws of the ``HOPEFUL`` ones of largest mean + 2 sd, the others have none.

    Args:
        beliefs: one utility or more, and how answers come about.
        Z: options.
        rng: of the draws.
        among: which options may be the best, (n,); None for all.
    """
    members = zip(beliefs.members, beliefs.likelihoods, strict=True)
    each = np.array([_against_shown(utility, likelihood, Z) for utility, likelihood in members])  # (s, 3, n)
    chance, _, hope = np.einsum("s,skn->kn", beliefs.weights, each)
    sd = np.sqrt(beliefs.weights @ (each[:, 1] ** 2 + (each[:, 0] - chance) ** 2))
    sd = np.minimum(sd, np.sqrt(chance * (1 - chance)))  # no chance of this mean can spread more
    best = np.zeros(len(Z))
    rows = np.arange(len(Z)) if among is None else np.flatnonzero(among)
    rows = rows[np.argsort(-hope[rows], kind="stable")[:HOPEFUL]]
    best[rows] = beliefs.probability_best(Z[rows], rng, DRAWS)
    return Standings(chance, sd, best)


def _against_shown(utility: Utility, likelihood: Likelihood, Z: FloatArray) -> FloatArray:
    """Chances of the rows of Z (n, d) to win, their standard deviations, and mean + 2 sd of utilities, (3, n)."""
    shown = utility.points if len(utility.points) else Z[:SHOWN]
    shown = shown[np.unique(np.linspace(0, len(shown) - 1, SHOWN).astype(int))]
    mean, V = utility.mean_and_root(Z)
    level, root = utility.mean_and_root(shown)
    covariance = utility.prior.covariance(Z, shown) - V @ root.T
    own = utility.prior.variance(Z) - np.einsum("nm,nm->n", V, V)
    others = utility.prior.covariance(shown, shown) - root @ root.T
    gap = mean[:, None] - level
    sd = np.sqrt(np.maximum(own[:, None] + np.diag(others) - 2 * covariance, 0.0))
    chance = win_probability(gap.ravel(), sd.ravel(), likelihood, SHARED).reshape(gap.shape)
    slope = (chance * (1 - chance)).mean(axis=1)
    spread = np.sqrt(np.maximum(own - 2 * covariance.mean(axis=1) + others.mean(), 0.0))
    return np.array([chance.mean(axis=1), slope * spread, mean + 2 * spread])
