"""KernelSelfSparring: Sui, Zhuang, Burdick, Yue 2017, "Multi-dueling bandits with dependent arms", Algorithm 4.

Step numbers are those of Algorithm 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.answer import Answer
from prefopt.data import Tally
from prefopt.domain import Box, Domain
from prefopt.errors import SettingError
from prefopt.models import grid_posterior as gp
from prefopt.models.arrays import largest
from prefopt.models.beliefs import joint_draws
from prefopt.policies.base import Rules, rule
from prefopt.policies.kernel.awaiting import AwaitingFinite
from prefopt.policies.kernel.choices import (
    check_choices,
    check_numbers,
    check_scales,
    finite_prior,
    json_able,
    must_differ,
    variance_of,
)

FloatArray = NDArray[np.float64]


class State(NamedTuple):
    """What KernelSelfSparring remembers."""

    m: int  # slots per round
    distinct: bool  # whether the second slot must differ from the first
    count_self: bool  # whether a duel of an option with itself counts
    posterior: gp.GridPosterior  # D_t: mean, covariance, tries and wins of the GP
    scratch: FloatArray  # one draw, (K,)


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Every slot plays the best option of its own joint draw from the posterior."""
    f = state.scratch
    for j in range(state.m):  # 3
        gp.draw_into(state.posterior, rng, f)  # 4
        if state.distinct and j > 0 and f.size > 1:
            f[slate[0]] = -math.inf  # the next best of the same draw
        slate[j] = largest(f)  # 5
    return state.m


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Every ordered pair of slots with an outcome is one observation of the first slot's option."""
    for j in range(m):  # 8
        tries = won = 0.0
        for k in range(m):
            if j != k and (state.count_self or slate[j] != slate[k]):
                tries += wins[j, k] + wins[k, j]
                won += wins[j, k]
        if tries > 0.0:
            gp.observe(state.posterior, slate[j], tries, won)  # 9
    gp.settle(state.posterior)


@rule
def best(state: State) -> int:
    """The largest posterior mean among the options tried; of all, if none was."""
    mean, n = state.scratch, state.posterior.n
    gp.mean_into(state.posterior, mean)
    top = -1
    for i in range(n.size):
        if n[i] > 0.0 and (top < 0 or mean[i] > mean[top]):
            top = i
    return top if top >= 0 else largest(mean)


@dataclass(kw_only=True)
class FiniteKernelSelfSparring(AwaitingFinite):
    """Self-sparring with one Gaussian process over a finite set, any slate size.

    f(b) = P(b beats the environment) has a GP prior; a compared pair adds a 1 for the winner and a 0 for the loser,
    a tie one half for each. ``Arms`` are uncorrelated. The slates follow the paper; the default noise and
    ``distinct`` are chosen not to lock in. See ``KernelSelfSparring`` for the arguments.
    """

    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 1.0
    noise: float | None = None
    mean: float = 0.0
    feedback: str = "pairs"
    self_duel: str = "coin"
    distinct: bool | None = None
    kernel: Any = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    prior: gp.Prior = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales and noise are positive, choices known; ``distinct`` is for two slots."""
        check_choices(self.feedback, self.self_duel, self.distinct, self.slate_size)
        check_scales(self)
        check_numbers(self)
        self.prior = finite_prior(self)

    @property
    def variance(self) -> float:
        """The noise in force: as given, or the default for the kind of feedback."""
        return variance_of(self)

    def start(self, rng: np.random.Generator) -> State:
        """The prior."""
        posterior = gp.start_posterior(self.prior, self.variance)
        return State(
            self.slate_size, must_differ(self), self.self_duel == "coin", posterior, np.zeros(self.domain.size)
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a kernel object is given by its class name, for the record."""
        return json_able(super().settings)

    def restore(self, tries: ArrayLike, wins: ArrayLike) -> None:
        """Set the state to that after these counts, (K,) each, in any order of answers.

        Raises:
            SettingError: wrong lengths, negative counts, or more wins than tries.
        """
        n, s = self.check_counts(tries, wins)
        fresh = self.start(np.random.default_rng(0))
        self.state = fresh._replace(posterior=gp.posterior_of(self.prior, self.variance, n, s))

    def learn(self, told: Iterable[tuple[NDArray[np.int64], Answer]]) -> None:
        """Set the state to that after all these answers to slates at once, from their counts."""
        counts = Tally.empty(self.domain.size)
        for slate, answer in told:
            counts.add(slate, answer.wins, count_self=self.self_duel == "coin")
        self.restore(counts.tries, counts.wins)

    def check_counts(self, tries: ArrayLike, wins: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Tries and wins as float64 arrays (K,); raises SettingError if they are none."""
        n, s = np.array(tries, dtype=np.float64), np.array(wins, dtype=np.float64)
        if n.shape != (self.domain.size,) or s.shape != n.shape or not np.all((s >= 0) & (s <= n)):
            raise SettingError(f"restore expects 0 <= wins <= tries, {self.domain.size} of each, got {n} and {s}")
        return n, s

    def posterior(self) -> tuple[FloatArray, FloatArray]:
        """Mean (K,) and covariance (K, K) of f, P(option beats the environment)."""
        return gp.mean_of(self.state.posterior), gp.covariance_of(self.state.posterior)

    def level(self, options: NDArray[np.int64]) -> FloatArray:
        """Posterior mean of f at ``options`` (n,), (n,)."""
        return np.asarray(gp.mean_of(self.state.posterior)[options])

    def shown(self) -> NDArray[np.int64]:
        """The options with outcomes, (q,)."""
        return np.flatnonzero(self.state.posterior.n)

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """``size`` joint draws of f, (size, K)."""
        return joint_draws(*self.posterior(), size, rng)


def KernelSelfSparring(domain: Domain, **settings: Any) -> Any:
    """Self-sparring with one Gaussian process, any slate size, on ``Arms``, a ``Grid`` or a ``Box``.

    Assumes that options that look alike are about equally good; needs no horizon. Aims at weak regret, since its two
    options differ and cannot both be the best; at strong regret with preset ``paper`` (or ``distinct=False``).

    Args:
        domain: where to choose. On ``Arms`` nothing is correlated.
        settings: ``slate_size`` (2); ``lengthscale`` (0.2; one, or one a column, in units of the cube);
            ``outputscale`` (1.0); ``noise`` (None: 0.05, or 0.25 for winner-only feedback); ``mean`` (0.0);
            ``feedback`` ("pairs" or "winner"; only sets the default noise); ``self_duel`` ("coin" counts the duel of
            an option with itself, "skip" does not; ``IndSelfSparring`` says ``count_self`` true or false);
            ``distinct`` (None: true for two slots); ``likelihood`` ("gaussian" as published, or "bernoulli": logits
            by Laplace's approximation, no noise, slower); ``kernel`` ("rbf", "matern52", "matern32", or a GPyTorch
            kernel with its own scales); ``reuse`` (False: whether one option of every question is one shown before).
            A box takes more, see ``BoxKernelSelfSparring``.

    Hyper-parameters are fixed, as in the paper: no answer changes them. To learn them from earlier answers, fit them
    with ``prefopt.models.one_sided`` and pass the kernel: ``kernel=OneSidedGP(X, tries, wins).fit().covar_module``.

    Source: Sui et al. 2017, Algorithm 4.

    >>> from prefopt.domain import Grid
    >>> policy = KernelSelfSparring(Grid.regular(5), slate_size=3)
    >>> policy.init(np.random.default_rng(0))
    >>> len(policy.ask(np.random.default_rng(1)))
    3
    """
    if isinstance(domain, Box):
        from prefopt.policies.kernel.self_sparring_box import BoxKernelSelfSparring

        return BoxKernelSelfSparring(domain, **settings)
    if settings.get("likelihood", "gaussian") != "gaussian":
        from prefopt.policies.kernel.self_sparring_bernoulli import BernoulliKernelSelfSparring

        return BernoulliKernelSelfSparring(domain, **settings)
    settings.pop("likelihood", None)
    return FiniteKernelSelfSparring(domain, **settings)
