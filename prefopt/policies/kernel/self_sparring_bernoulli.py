"""KernelSelfSparring with Bernoulli outcomes on finite domains: Sui et al. 2017, Algorithm 4, another likelihood.

Step numbers are those of Algorithm 4. f = sigmoid(g), g a GP given the counts by Laplace's approximation (Rasmussen
and Williams 2006, section 3.4): a draw of the prior, corrected at the tried options (Matheron's rule).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from prefopt.data import Tally
from prefopt.models import grid_posterior as gp
from prefopt.models.beliefs import as_probability, joint_draws
from prefopt.policies.base import Rules
from prefopt.policies.kernel.choices import check_likelihood
from prefopt.policies.kernel.self_sparring import FiniteKernelSelfSparring, FloatArray


class State(NamedTuple):
    """What it remembers."""

    m: int  # slots per round
    distinct: bool  # whether the second slot must differ from the first
    count_self: bool  # whether a duel of an option with itself counts
    nothing: gp.GridPosterior  # g before any answer
    n: FloatArray  # tries, (K,)
    s: FloatArray  # wins, (K,)


class Fit(NamedTuple):
    """Laplace's approximation at the q options tried."""

    tried: NDArray[np.int64]  # (q,)
    cross: FloatArray  # prior covariance of all options with them, (K, q)
    targets: FloatArray  # what they are taken to have shown, (q,)
    noise: FloatArray  # with these variances, (q,)
    factor: Any  # Cholesky factor of their covariance with noise

    def correction(self, gap: FloatArray) -> FloatArray:
        """What ``gap`` (q,) between the targets and a function there says about all options, (K,)."""
        return np.asarray(self.cross @ cho_solve(self.factor, gap))


def fit(state: State) -> Fit | None:
    """The fit to the counts; None without any."""
    from prefopt.models.bernoulli import laplace

    tried = np.flatnonzero(state.n)
    if not len(tried):
        return None
    prior = state.nothing.prior
    cross = prior.covariance[:, tried]
    targets, noise = laplace(prior.mean[tried], cross[tried], state.n[tried], state.s[tried])
    return Fit(tried, cross, targets, noise, cho_factor(cross[tried] + np.diag(noise), lower=True))


def draw(state: State, at: Fit | None, rng: np.random.Generator) -> FloatArray:
    """One joint draw of g, (K,)."""
    g = np.empty(len(state.n))
    gp.draw_into(state.nothing, rng, g)
    if at is None:
        return g
    seen = g[at.tried] + np.sqrt(at.noise) * rng.standard_normal(len(at.tried))
    return g + at.correction(at.targets - seen)


def latent_mean(state: State, at: Fit | None) -> FloatArray:
    """Posterior mean of g, (K,)."""
    mean = state.nothing.prior.mean
    return mean if at is None else mean + at.correction(at.targets - mean[at.tried])


def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Every slot plays the best option of its own joint draw from the posterior."""
    at = fit(state)
    for j in range(state.m):  # 3
        g = draw(state, at, rng)  # 4
        if state.distinct and j > 0 and g.size > 1:
            g[slate[0]] = -np.inf  # the next best of the same draw
        slate[j] = np.argmax(g)  # 5
    return state.m


def tell(state: State, slate: NDArray[np.int64], m: int, wins: FloatArray, rng: np.random.Generator) -> None:
    """Every ordered pair of slots with an outcome is one observation of the first slot's option."""
    Tally(state.n, state.s).add(slate[:m], wins, count_self=state.count_self)  # 8-9


def best(state: State) -> int:
    """The largest posterior mean among the options tried; of all, if none was."""
    at = fit(state)
    mean = latent_mean(state, at)
    return int(np.argmax(mean)) if at is None else int(at.tried[np.argmax(mean[at.tried])])


@dataclass(kw_only=True)
class BernoulliKernelSelfSparring(FiniteKernelSelfSparring):
    """Self-sparring with one GP of logits over a finite set; runs as plain Python in simulations, too.

    ``outputscale`` and ``mean`` are in logits, and there is no ``noise``; the other arguments are those of
    ``KernelSelfSparring``.
    """

    likelihood: str = "bernoulli"
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    compilable: ClassVar[bool] = False

    def check(self) -> None:
        """As without a likelihood; a noise variance does not apply."""
        check_likelihood(self.likelihood, self.noise)
        super().check()

    def start(self, rng: np.random.Generator) -> Any:
        """The prior."""
        gaussian = super().start(rng)
        counts = np.zeros(self.domain.size), np.zeros(self.domain.size)
        return State(gaussian.m, gaussian.distinct, gaussian.count_self, gaussian.posterior, *counts)

    def restore(self, tries: ArrayLike, wins: ArrayLike) -> None:
        """Set the state to that after these counts, (K,) each. Raises SettingError as the Gaussian one."""
        n, s = self.check_counts(tries, wins)
        self.state = self.start(np.random.default_rng(0))._replace(n=n, s=s)

    def level(self, options: NDArray[np.int64]) -> FloatArray:
        """F at the mode of the logits at ``options`` (n,), (n,)."""
        return np.asarray(expit(latent_mean(self.state, fit(self.state))[options]))

    def shown(self) -> NDArray[np.int64]:
        """The options with outcomes, (q,)."""
        return np.flatnonzero(self.state.n)

    def posterior(self) -> tuple[FloatArray, FloatArray]:
        """Mean (K,) and covariance (K, K) of f, P(option beats the environment)."""
        return as_probability(*self.latent())

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """``size`` joint draws of f, (size, K)."""
        return np.asarray(expit(joint_draws(*self.latent(), size, rng)))

    def latent(self) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (K,) and covariance (K, K) of g, the logits of f."""
        at, prior = fit(self.state), self.prior.covariance
        spread = prior if at is None else prior - at.cross @ cho_solve(at.factor, at.cross.T)
        return latent_mean(self.state, at), spread
