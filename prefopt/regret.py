"""Regrets by name: what one question costs, from a loss per option and a rule that joins a slate's losses.

phi(b1, x) = P(b1 beats x) - 1/2 with b1 the best option; u is the utility. Strong regret of more than two options is
their sum in "strong-sum" and their mean in "strong-mean"; which of the two Sui et al. 2017 plot for m > 2 could not be
verified: for two options equation (1) is the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from prefopt.environments.base import Environment
from prefopt.errors import SettingError, did_you_mean
from prefopt.jit import jitable

FloatArray = NDArray[np.float64]
SUM, MEAN, MIN, MAX = 0, 1, 2, 3
#: Utilities closer than this are equal: mirror-image optima of test functions differ in the last digit.
SAME_UTILITY = 1e-12


class Regret(NamedTuple):
    """One kind of regret."""

    loss: Callable[[Environment, NDArray[Any]], FloatArray]  # loss of each option, (n,)
    reduce: int  # how the losses of a slate are joined
    text: str  # for tables and plots


class Score(NamedTuple):
    """Several regrets of one environment as plain arrays, for the compiled loop."""

    loss: FloatArray  # (R, K)
    reduce: NDArray[np.int64]  # (R,)


def _advantage(environment: Environment, options: NDArray[Any]) -> FloatArray:
    return environment.advantage(options)


def _not_best(environment: Environment, options: NDArray[Any]) -> FloatArray:
    """1 unless the option is as good as the best one (of equals, each counts as the best)."""
    gap = environment.utility_gap(options)
    if gap is None:
        P = _matrix(environment, "binary")
        wins, best = (P > 0.5).sum(axis=1), environment.best  # type: ignore[attr-defined]
        as_good = (P[best] == 0.5) & (wins == wins[best])
        return np.asarray(~as_good[np.asarray(options, dtype=np.int64)], dtype=np.float64)
    return (gap > SAME_UTILITY).astype(np.float64)


def _utility(environment: Environment, options: NDArray[Any]) -> FloatArray:
    """u(b1) - u(x); without utilities u(x) = 2 P(x beats b1), the rule of Chen & Frazier 2017 for real data."""
    gap = environment.utility_gap(options)
    return 2 * environment.advantage(options) if gap is None else gap


def _score_gap(score: FloatArray, options: NDArray[Any]) -> FloatArray:
    return np.asarray(score.max() - score[np.asarray(options, dtype=np.int64)])


def _matrix(environment: Environment, kind: str) -> FloatArray:
    P: FloatArray | None = getattr(environment, "P", None)
    if P is None:
        raise SettingError(
            f"{kind} regret needs a preference matrix on a finite domain; {environment.name} has {environment.domain!r}"
        )
    return P


def _copeland(environment: Environment, options: NDArray[Any]) -> FloatArray:
    P = _matrix(environment, "copeland")
    return _score_gap((P > 0.5).sum(axis=1) / max(1, len(P) - 1), options)


def _borda(environment: Environment, options: NDArray[Any]) -> FloatArray:
    P = _matrix(environment, "borda")
    return _score_gap((P.sum(axis=1) - 0.5) / max(1, len(P) - 1), options)


REGRETS: dict[str, Regret] = {
    "strong-sum": Regret(_advantage, SUM, "sum of phi(b1, x) over the slate (for two options Sui et al. 2017, eq. 1)"),
    "strong-mean": Regret(_advantage, MEAN, "mean of phi(b1, x) over the slate"),
    "strong-max": Regret(_advantage, MAX, "largest phi(b1, x) of the slate"),
    "weak": Regret(_advantage, MIN, "smallest phi(b1, x) of the slate"),
    "binary-strong": Regret(_not_best, MAX, "1 unless every option is the best one"),
    "binary-weak": Regret(_not_best, MIN, "1 if the best option is not on the slate"),
    "utility-strong": Regret(_utility, MEAN, "u(b1) minus the mean utility of the slate"),
    "utility-weak": Regret(_utility, MIN, "u(b1) minus the best utility of the slate"),
    "copeland": Regret(_copeland, MEAN, "largest Copeland score minus the slate's mean"),
    "borda": Regret(_borda, MEAN, "largest Borda score minus the slate's mean"),
}


def get_regret(name: str) -> Regret:
    """The regret called ``name``; raises SettingError with the list of names."""
    if name not in REGRETS:
        raise SettingError(
            f"unknown regret {name!r}; expected one of {', '.join(REGRETS)}{did_you_mean(name, REGRETS)}"
        )
    return REGRETS[name]


def score(environment: Environment, names: Sequence[str], options: NDArray[Any]) -> Score:
    """The losses of ``options`` (n of them) under each of the R named regrets."""
    kinds = [get_regret(name) for name in names]
    loss = np.array([kind.loss(environment, options) for kind in kinds], dtype=np.float64)
    return Score(loss.reshape(len(kinds), len(options)), np.array([kind.reduce for kind in kinds], dtype=np.int64))


def lower_bound(P: FloatArray) -> float:
    """The least factor of ln T that any consistent algorithm's ``strong-mean`` regret can have.

    Args:
        P: preference matrix with a Condorcet winner, (K, K).

    Returns:
        The sum over the other arms i of min_j (phi(b1, i) + phi(b1, j)) / (2 d(P_ij, 1/2)), j an arm that beats i;
        infinite if an arm only ties with the others.

    Raises:
        SettingError: there is no Condorcet winner.

    Source: Komiyama et al. 2015, Theorem 2.

    >>> round(lower_bound(np.array([[0.5, 0.8], [0.2, 0.5]])), 3)
    0.778
    """
    K = len(P)
    winners = np.flatnonzero((P > 0.5).sum(axis=1) == K - 1)
    if len(winners) == 0:
        raise SettingError("the lower bound on strong regret needs a Condorcet winner, and the matrix has none")
    phi = P[winners[0]] - 0.5
    divergence = 2 * (np.log(2) - entr(P) - entr(1 - P))
    cost = np.full((K, K), np.inf)
    np.divide(phi[:, None] + phi[None, :], divergence, out=cost, where=P < 0.5)
    return float(np.delete(cost.min(axis=1), winners[0]).sum())


@jitable
def slate_regret(score: Score, r: int, slate: NDArray[np.int64], m: int) -> float:
    """Regret r of a slate of m options (indices into ``score.loss``)."""
    how = score.reduce[r]
    value = score.loss[r, slate[0]]
    for j in range(1, m):
        loss = score.loss[r, slate[j]]
        if how <= 1:
            value += loss
        elif (how == 2) == (loss < value):
            value = loss
    return float(value / m if how == 1 else value)
