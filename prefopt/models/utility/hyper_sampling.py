"""Hyper-parameters drawn from their posterior, instead of the most probable ones: few answers leave them open.

Elliptical slice sampling (Murray, Adams and MacKay 2010, Figure 2) with the evidence, in which the utility is
integrated out, as the likelihood: the log hyper-parameters are Gaussian before any answer. A lapse rate with a beta
prior is Phi^-1 of its quantile, which is Gaussian too. Nothing has to be tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import betaincinv, ndtr

from prefopt.domain import FloatArray
from prefopt.errors import SettingError
from prefopt.kinds import are_real, is_whole
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.hyper import REACH, Hyper
from prefopt.models.utility.laplace import Approximation, laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.sampling import elliptical_step

#: Chains begin at independent draws of the prior; steps before the first draw, and from one draw to the next.
CHAINS, WARM, THIN = 4, 10, 4


def hyper_draws(
    hyper: Hyper,
    points: FloatArray,
    data: Comparisons,
    likelihood: Likelihood,
    size: int,
    rng: np.random.Generator,
    *,
    lapse: tuple[float, float] | None = None,
    mean: FloatArray | None = None,
    infer: Callable[..., Approximation] = laplace,
    chains: int = CHAINS,
    warm: int = WARM,
    thin: int = THIN,
) -> list[tuple[FloatArray, Likelihood]]:
    """Draws of theta (d + 2,) and of how answers come about.

    Args:
        hyper: beliefs before any answer.
        points: distinct options, (q, d).
        data: what was said of them.
        likelihood: how answers come about, but for the lapse rate if ``lapse`` is given.
        size: how many draws.
        rng: the random stream.
        lapse: (a, b) of the beta prior of the lapse rate; None for that of ``likelihood``.
        mean: prior mean (q,) at the points; None for that of ``hyper``.
        infer: ``laplace`` or ``expectation_propagation``, for the evidence.
        chains: independent chains, which take turns.
        warm: steps of each before its first draw.
        thin: steps of each from one draw to the next.

    Raises:
        SettingError: a size that is no whole number of at least 1, or a beta prior without finite, positive parameters.
    """
    counts = (size, chains, thin, warm)
    if not all(map(is_whole, counts)) or min(size, chains, thin) < 1 or warm < 0:
        raise SettingError(f"expected whole numbers size, chains, thin >= 1 and warm >= 0, got {counts}")
    if lapse is not None and not (np.shape(lapse) == (2,) and are_real(lapse) and min(lapse) > 0):
        raise SettingError(f"lapse is (a, b) of a beta prior, two finite numbers above 0, got {lapse!r}")
    width = len(hyper.sd) + (lapse is not None)

    def meaning(state: FloatArray) -> tuple[FloatArray, Likelihood]:
        theta = hyper.median + hyper.sd * np.clip(state[: len(hyper.sd)], -REACH, REACH)
        heard = likelihood if lapse is None else replace(likelihood, lapse=_rate(*lapse, float(state[-1])))
        return theta, heard

    def log_evidence(states: FloatArray) -> FloatArray:
        return np.array([of(*meaning(state)) for state in states])

    def of(theta: FloatArray, heard: Likelihood) -> float:
        m, K = hyper.prior(theta).of_differences(points, data)
        return infer(K, m if mean is None else data.differences(mean), data, heard).evidence

    state = rng.standard_normal((chains, width))
    level = log_evidence(state)
    kept: list[FloatArray] = []
    for step in range(warm + thin * -(-size // chains)):
        state, level = elliptical_step(state, level, rng.standard_normal(state.shape), log_evidence, rng)
        if step >= warm and (step - warm) % thin == thin - 1:
            kept.extend(state)
    return [meaning(one) for one in kept[:size]]


def _rate(a: float, b: float, z: float) -> float:
    """The lapse rate below which the beta prior has the mass that a standard normal variable has below z."""
    return float(min(betaincinv(a, b, ndtr(z)), 1 - 1e-9))
