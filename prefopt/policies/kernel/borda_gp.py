"""Borda-GP: a Gaussian process over Borda scores, learned from duels with random opponents.

f(x) = E P(x beats y), y uniform. If the opponents are uniform, a duel is an unbiased observation of f(x), whatever the
policy does, so that an ordinary bandit rule applies (Xu et al. 2020, COMP-GP-UCB; Mehta et al. 2023). Nobody else's
target stands still like this; the price is a random opponent in every question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box, Domain
from prefopt.errors import SettingError
from prefopt.models import grid_posterior as gp
from prefopt.models.arrays import largest
from prefopt.policies.base import Rules, rule
from prefopt.policies.kernel.awaiting import AwaitingFinite
from prefopt.policies.kernel.choices import check_scales, finite_prior, json_able
from prefopt.policies.rules import argmax_random, uniform_index

FloatArray = NDArray[np.float64]


class State(NamedTuple):
    """What Borda-GP remembers."""

    m: int  # slots per round; the first is the one that is learned of
    draws: bool  # Thompson sampling; else upper bounds
    width: float  # of the bounds, in standard deviations
    posterior: gp.GridPosterior  # tries and wins of the first slot's options
    scratch: FloatArray  # (2, K)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """The best option by a draw, or by its upper bound, against random others."""
    f = state.scratch[0]
    if state.draws:
        gp.draw_into(state.posterior, rng, f)
    else:
        gp.upper_into(state.posterior, state.width, f, state.scratch[1])
    slate[0] = argmax_random(f, rng)
    for j in range(1, state.m):
        slate[j] = uniform_index(max(f.size - 1, 1), rng)
        if slate[j] >= slate[0] and f.size > 1:
            slate[j] += 1
    return state.m


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Every comparison of the first slot with another option is one observation of the first slot's."""
    tries = won = 0.0
    for k in range(1, m):
        if slate[k] != slate[0]:
            tries += wins[0, k] + wins[k, 0]
            won += wins[0, k]
    if tries > 0.0:
        gp.observe(state.posterior, slate[0], tries, won)
        gp.settle(state.posterior)


@rule
def best(state: State) -> int:
    """The largest posterior mean."""
    gp.mean_into(state.posterior, state.scratch[0])
    return largest(state.scratch[0])


def check_borda(policy: Any) -> None:
    """Raise ``SettingError`` for an unknown acquisition function, or numbers out of range."""
    if policy.acquisition not in ("ts", "ucb"):
        raise SettingError(f"expected acquisition 'ts' or 'ucb', got {policy.acquisition!r}")
    check_scales(policy)
    if not (policy.noise > 0 and policy.outputscale > 0 and policy.beta >= 0):
        raise SettingError(
            f"expected noise > 0, outputscale > 0 and beta >= 0, got {policy.noise}, {policy.outputscale} and "
            f"{policy.beta}"
        )


@dataclass(kw_only=True)
class FiniteBordaGP(AwaitingFinite):
    """Borda-GP over a finite set; see ``BordaGP`` for the arguments."""

    acquisition: str = "ts"
    beta: float = 4.0
    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 0.1
    noise: float = 0.25
    mean: float = 0.5
    kernel: Any = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    prior: gp.Prior = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales and noise are positive, choices known."""
        check_borda(self)
        self.prior = finite_prior(self)

    def start(self, rng: np.random.Generator) -> State:
        """The prior."""
        posterior = gp.start_posterior(self.prior, float(self.noise))
        width = math.sqrt(self.beta)
        return State(self.slate_size, self.acquisition == "ts", width, posterior, np.zeros((2, self.domain.size)))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a kernel object is given by its class name, for the record."""
        return json_able(super().settings)

    def level(self, options: NDArray[np.int64]) -> FloatArray:
        """Posterior mean of the Borda scores of ``options`` (n,), (n,)."""
        return np.asarray(gp.mean_of(self.state.posterior)[options])

    def shown(self) -> NDArray[np.int64]:
        """The options learned of, those of the first slot, (q,)."""
        return np.flatnonzero(self.state.posterior.n)


def BordaGP(domain: Domain, **settings: Any) -> Any:
    """Bandit rules on a Gaussian process over Borda scores, on ``Arms``, a ``Grid`` or a ``Box``.

    Args:
        domain: where to choose. On ``Arms`` nothing is correlated.
        settings: ``slate_size`` (2); ``acquisition`` ("ts", Thompson sampling, or "ucb", mean + sqrt(``beta``)
            standard deviations; 4.0); ``lengthscale`` (0.2; one, or one a column, in units of the cube);
            ``outputscale`` (0.1, about the variance of a uniform score); ``noise`` (0.25, the largest variance of a
            0/1 outcome); ``mean`` (0.5); ``kernel`` ("rbf", "matern52", "matern32", or a GPyTorch kernel with its own
            scales); ``reuse`` (False: whether one option of every question is one shown before).
            A box takes ``features``, ``raw_samples``, ``restarts`` and ``merge``, too.

    Source: Xu et al. 2020 (COMP-GP-UCB), without its direct queries; Mehta et al. 2023.

    >>> from prefopt.domain import Grid
    >>> policy = BordaGP(Grid.regular(5), acquisition="ucb")
    >>> policy.init(np.random.default_rng(0))
    >>> len(policy.ask(np.random.default_rng(1)))
    2
    """
    if isinstance(domain, Box):
        from prefopt.policies.kernel.borda_gp_box import BoxBordaGP

        return BoxBordaGP(domain, **settings)
    return FiniteBordaGP(domain, **settings)
