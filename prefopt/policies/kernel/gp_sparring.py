"""GP-Sparring: Sparring (Ailon et al. 2014) of GP-UCB learners, the baseline of Sui et al. 2017, section 5.

GP-UCB: Srinivas, Krause, Kakade, Seeger 2010, "Gaussian process optimization in the bandit setting", Algorithm 1.
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
from prefopt.policies.kernel.choices import (
    check_choices,
    check_numbers,
    check_scales,
    finite_prior,
    json_able,
    variance_of,
)
from prefopt.policies.rules import argmax_random

FloatArray = NDArray[np.float64]


class State(NamedTuple):
    """What the m learners, one per slot, remember; row j of an array is that of learner j's ``GridPosterior``."""

    delta: float  # chance with which the bounds may fail
    scale: float  # beta_t is divided by it
    count_self: bool  # whether a duel of an option with itself counts
    t: NDArray[np.int64]  # rounds answered, (1,)
    prior: gp.Prior  # the GP before any answer, the same for all
    noise: float  # variance of one 0/1 outcome
    n: FloatArray  # tries, (m, K)
    s: FloatArray  # wins, (m, K)
    root: FloatArray  # sqrt(n), (m, K)
    S: FloatArray  # posterior covariances before the updates in W, (m, K, K)
    W: FloatArray  # updates that S lacks, (m, R, K)
    waiting: NDArray[np.int64]  # points with tries that neither has, (m, K)
    tries: FloatArray  # those tries, (m, K)
    updates: NDArray[np.int64]  # counters, (m, 3)
    scratch: FloatArray  # (3, K)


@rule
def learner(x: State, j: int) -> gp.GridPosterior:
    """What slot j's learner knows."""
    counts = x.n[j], x.s[j], x.root[j]
    return gp.GridPosterior(
        x.prior, x.noise, *counts, x.S[j], x.W[j], x.waiting[j], x.tries[j], x.updates[j], x.scratch[0]
    )


@rule
def exploration(K: int, t: int, delta: float, scale: float) -> float:
    """beta_t = 2 log(K t^2 pi^2 / (6 delta)) of Srinivas et al. 2010, Theorem 1, over ``scale``; t = 1, 2, ..."""
    return 2.0 * math.log(K * float(t) * float(t) * math.pi**2 / (6.0 * delta)) / scale


@rule
def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Every slot plays the option with its learner's largest mu + sqrt(beta_t) sd; ties are broken at random."""
    upper, work = state.scratch[1], state.scratch[2]
    beta = exploration(upper.size, state.t[0] + 1, state.delta, state.scale)
    for j in range(len(state.n)):
        gp.upper_into(learner(state, j), math.sqrt(max(beta, 0.0)), upper, work)
        slate[j] = argmax_random(upper, rng)
    return len(state.n)


@rule
def tell(state: State, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Every learner observes the outcomes of its own slot (a slot more than there are learners: of the next one)."""
    for j in range(m):
        tries = won = 0.0
        for k in range(m):
            if j != k and (state.count_self or slate[j] != slate[k]):
                tries += wins[j, k] + wins[k, j]
                won += wins[j, k]
        if tries > 0.0:
            mine = learner(state, j % len(state.n))
            gp.observe(mine, slate[j], tries, won)
            gp.settle(mine)
    state.t[0] += 1


@rule
def tried(state: State, i: int) -> bool:
    """Whether any learner has seen option i compared."""
    seen = False
    for j in range(len(state.n)):
        seen = seen or state.n[j, i] > 0.0
    return seen


@rule
def best(state: State) -> int:
    """The largest posterior mean, summed over the learners, among the options tried; of all, if none was."""
    total, mean, top = state.scratch[1], state.scratch[2], -1
    for j in range(len(state.n)):
        gp.mean_into(learner(state, j), mean)
        for i in range(total.size):
            total[i] = mean[i] + (total[i] if j > 0 else 0.0)
    for i in range(total.size):
        if tried(state, i) and (top < 0 or total[i] > total[top]):
            top = i
    return top if top >= 0 else largest(total)


@dataclass(kw_only=True)
class FiniteGPSparring(AwaitingFinite):
    """One GP-UCB learner per slot over a finite set, each learning from its own slot's outcomes only.

    ``Arms`` are uncorrelated. See ``GPSparring`` for the arguments.
    """

    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 1.0
    noise: float | None = None
    mean: float = 0.0
    delta: float = 0.1
    beta_scale: float = 5.0
    feedback: str = "pairs"
    self_duel: str = "coin"
    kernel: Any = None
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    prior: gp.Prior = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Scales and noise are positive, delta is a chance, choices known."""
        check_choices(self.feedback, self.self_duel, None, self.slate_size)
        check_scales(self)
        check_numbers(self)
        if not (0 < self.delta < 1 and self.beta_scale > 0):
            raise SettingError(f"expected 0 < delta < 1 and beta_scale > 0, got {self.delta} and {self.beta_scale}")
        self.prior = finite_prior(self)

    def start(self, rng: np.random.Generator) -> State:
        """The prior, once for every slot."""
        m, K = self.slate_size, self.domain.size
        empty = gp.start_posterior(self.prior, variance_of(self))
        fields = ("n", "s", "root", "S", "W", "waiting", "tries", "updates")
        each: dict[str, Any] = {name: np.repeat(getattr(empty, name)[None], m, axis=0) for name in fields}
        return State(
            delta=float(self.delta),
            scale=float(self.beta_scale),
            count_self=self.self_duel == "coin",
            t=np.zeros(1, dtype=np.int64),
            prior=self.prior,
            noise=empty.noise,
            scratch=np.zeros((3, K)),
            **each,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a kernel object is given by its class name, for the record."""
        return json_able(super().settings)

    def level(self, options: NDArray[np.int64]) -> FloatArray:
        """Posterior mean at ``options`` (n,) of all learners on average, (n,)."""
        means = np.array([gp.mean_of(learner(self.state, j)) for j in range(self.slate_size)])
        return np.asarray(means.mean(axis=0)[options])

    def shown(self) -> NDArray[np.int64]:
        """The options of which any learner has seen outcomes, (q,)."""
        return np.flatnonzero(self.state.n.any(axis=0))

    def posterior(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Mean (K,) and covariance (K, K) of what the learner of ``slot`` believes."""
        mine = learner(self.state, slot)
        return gp.mean_of(mine), gp.covariance_of(mine)


def GPSparring(domain: Domain, **settings: Any) -> Any:
    """Sparring of GP-UCB learners, one per slot, any slate size, on ``Arms``, a ``Grid`` or a ``Box``.

    Assumes that options that look alike are about equally good; aims at strong regret; needs no horizon. Every learner
    has the one-sided Gaussian process of ``KernelSelfSparring`` to itself and sees the outcomes of its slot only.

    Args:
        domain: where to choose. On ``Arms`` nothing is correlated.
        settings: ``slate_size`` (2); ``lengthscale`` (0.2; one, or one a column, in units of the cube);
            ``outputscale`` (1.0); ``noise`` (None: 0.05, or 0.25 for winner-only feedback); ``mean`` (0.0);
            ``delta`` (0.1) and ``beta_scale`` (5.0) of beta_t = 2 log(K t^2 pi^2 / (6 delta)) / beta_scale: Srinivas et
            al. 2010 scale the bound of their Theorem 1 down by a factor of five (1.0 leaves it as it is);
            ``feedback`` ("pairs" or "winner"; only sets the default noise); ``self_duel`` ("coin" counts the duel of
            an option with itself, "skip" does not); ``kernel`` ("rbf", "matern52", "matern32", or a GPyTorch kernel
            with its own scales); ``reuse`` (False: whether one option of every question is one shown before).
            A box has a constant ``beta`` instead, see ``BoxGPSparring``.

    Source: Sui et al. 2017, section 5 (preset ``sui2017`` has their noise); Srinivas et al. 2010, Algorithm 1.

    >>> from prefopt.domain import Grid
    >>> policy = GPSparring(Grid.regular(5), slate_size=3)
    >>> policy.init(np.random.default_rng(0))
    >>> len(policy.ask(np.random.default_rng(1)))
    3
    """
    if isinstance(domain, Box):
        from prefopt.policies.kernel.gp_sparring_box import BoxGPSparring

        return BoxGPSparring(domain, **settings)
    return FiniteGPSparring(domain, **settings)
