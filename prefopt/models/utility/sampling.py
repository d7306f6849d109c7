"""Exact draws from a utility after answers, whatever the likelihood: elliptical slice sampling.

Murray, Adams and MacKay 2010, Figure 2, for many chains at once. The ellipse may be the prior's or, so that steps are
nearly independent, an approximation's, with the rest of the likelihood as what is sampled (Nishihara et al. 2014).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.laplace import Approximation
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Prior


def elliptical_step(
    state: FloatArray,
    level: FloatArray,
    other: FloatArray,
    log_likelihood: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """One step of C chains under a Gaussian prior of zero mean.

    Args:
        state: where the chains are, (C, n).
        level: their log likelihoods, (C,).
        other: an independent draw of the prior for each, (C, n).
        log_likelihood: of states (c, n), (c,).
        rng: the random stream.

    Returns:
        The new states (C, n) and their log likelihoods (C,).
    """
    state, level = state.copy(), level.copy()
    threshold = level + np.log(rng.random(len(state)))
    angle = rng.uniform(0, 2 * np.pi, len(state))
    low, high = angle - 2 * np.pi, angle.copy()
    todo = np.arange(len(state))
    here = state.copy()
    while len(todo):
        turn = angle[todo, None]
        proposal = here[todo] * np.cos(turn) + other[todo] * np.sin(turn)
        value = log_likelihood(proposal)
        good = value > threshold[todo]
        state[todo[good]], level[todo[good]] = proposal[good], value[good]
        todo = todo[~good]
        below = angle[todo] < 0
        low[todo[below]], high[todo[~below]] = angle[todo[below]], angle[todo[~below]]
        angle[todo] = rng.uniform(low[todo], high[todo])
    return state, level


def posterior_draws(
    prior: Prior,
    points: FloatArray,
    data: Comparisons,
    likelihood: Likelihood,
    Z: FloatArray,
    rng: np.random.Generator,
    *,
    around: Approximation | None = None,
    chains: int = 256,
    warm: int = 50,
    steps: int = 50,
    thin: int = 5,
) -> FloatArray:
    """Draws of the utility at Z (n, d) given the answers, (chains * steps / thin, n).

    Args:
        prior: the Gaussian process.
        points: distinct options, (q, d).
        data: what was said of them.
        likelihood: how answers come about.
        Z: where the utility is wanted.
        rng: the random stream.
        around: the approximation whose ellipses are used; None for the prior's, which need many more steps.
        chains: independent ones, started from ``around``.
        warm: steps before the first draw.
        steps: steps after that.
        thin: one draw in so many steps.
    """
    both, q = np.concatenate([points, Z]), len(points)
    if around is None:
        mean, covariance = prior.mean(both), prior.covariance(both, both)
    else:
        mean, covariance = Utility(prior, points, data, around).joint(both)
        shift = around.root.times(around.root.transposed(around.h)) + around.alpha

    def log_likelihood(state: FloatArray) -> FloatArray:
        h = data.differences((mean + state)[:, :q].T)
        value = likelihood.log_probability(h, data)
        if around is not None:
            value = value - shift @ h + 0.5 * np.sum(around.root.transposed(h) ** 2, axis=0)
        return value

    zero = np.zeros(len(both))
    state = joint_draws(zero, covariance, chains, rng)
    level, kept = log_likelihood(state), []
    others = joint_draws(zero, covariance, chains * (warm + steps), rng).reshape(-1, chains, len(both))
    for t, other in enumerate(others):
        state, level = elliptical_step(state, level, other, log_likelihood, rng)
        if t >= warm and (t - warm) % thin == thin - 1:
            kept.append(mean[q:] + state[:, q:])
    return np.concatenate(kept)
