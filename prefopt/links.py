"""From two utilities to the chance that the first is preferred; utility is always maximised.

Linear, natural and logit are the usual ones of dueling bandits (Ailon, Karnin, Joachims 2014). That Sui et al. 2017
use the same formulas under these names is assumed: their equations could not be read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr

from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]


def linear(x: FloatArray, y: FloatArray) -> FloatArray:
    """(1 + x - y) / 2; utilities may differ by at most 1."""
    gap = x - y
    if np.abs(gap).max(initial=0.0) > 1 + 1e-12:
        raise EnvironmentSpecError(
            f"the linear link needs utilities that differ by at most 1, got a difference of {np.abs(gap).max():.4g}; "
            "rescale the utilities (scale='unit') or take another link"
        )
    return np.asarray(np.clip((1 + gap) / 2, 0, 1))


def natural(x: FloatArray, y: FloatArray) -> FloatArray:
    """X / (x + y), one half if both are 0; utilities must not be negative."""
    if min(np.min(x), np.min(y)) < 0:
        raise EnvironmentSpecError("the natural link needs utilities of at least 0; take another link or shift them")
    total = np.asarray(x + y)
    return np.asarray(np.where(total > 0, x / np.where(total > 0, total, 1.0), 0.5))


def logit(x: FloatArray, y: FloatArray) -> FloatArray:
    """1 / (1 + exp(y - x))."""
    return np.asarray(expit(x - y))


def probit(x: FloatArray, y: FloatArray) -> FloatArray:
    """Phi((x - y) / sqrt 2): the larger of two utilities with unit normal noise each."""
    return np.asarray(ndtr((x - y) / np.sqrt(2)))


def noiseless(x: FloatArray, y: FloatArray) -> FloatArray:
    """1 for the larger utility, one half for equal ones."""
    return np.asarray((1 + np.sign(x - y)) / 2)


LINKS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "linear": linear,
    "natural": natural,
    "logit": logit,
    "probit": probit,
    "noiseless": noiseless,
}


def link_probability(utility: ArrayLike, other: ArrayLike, *, link: str = "logit", scale: float = 1.0) -> FloatArray:
    """P(option with ``utility`` beats one with ``other``), elementwise.

    Args:
        utility: of the first option, any shape.
        other: of the second, broadcastable with ``utility``.
        link: a name in ``LINKS``.
        scale: noise scale; utilities are divided by it (linear, logit, probit).

    Raises:
        EnvironmentSpecError: unknown link, a scale that is not positive, or utilities the link cannot take.

    >>> float(link_probability(0.8, 0.2, link="natural"))
    0.8
    """
    if link not in LINKS:
        raise EnvironmentSpecError(f"unknown link {link!r}; expected one of {', '.join(LINKS)}")
    if not scale > 0:
        raise EnvironmentSpecError(f"the noise scale must be positive, got {scale}")
    divisor = 1.0 if link in ("natural", "noiseless") else scale
    return LINKS[link](np.asarray(utility, dtype=np.float64) / divisor, np.asarray(other, dtype=np.float64) / divisor)
