"""Preferential Bayesian optimisation (BOPPER): Gonzalez, Dai, Damianou, Lawrence 2017, on finite domains.

A Gaussian process over pairs classifies duels; questions follow from the soft-Copeland score. Section and equation
numbers are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prefopt.domain import Box, Domain
from prefopt.models import grid_posterior as gp
from prefopt.models.copeland import expected_improvement, logistic_moments, pure_exploration, soft_copeland
from prefopt.models.duels import Duels
from prefopt.models.pairs import PairPosterior, PairPrior, root_of
from prefopt.policies.base import Rules
from prefopt.policies.kernel.awaiting import AwaitingFinite
from prefopt.policies.kernel.choices import base_matrix, json_able
from prefopt.policies.kernel.pair_choices import check_pair_choices, is_mirrored
from prefopt.policies.rules import uniform_index
from prefopt.seeding import stream

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Values of the largest acquisition that count as equal to it.
SAME = 1e-12
#: Most products of pairs, options and landmarks that one Copeland expected improvement may cost.
WORK = 2_000_000


class State(NamedTuple):
    """What it remembers."""

    acquisition: str  # how a question is chosen
    initial: int  # so many random questions first
    pairs: int  # most pairs among which the best one is looked for
    prior: PairPrior  # f before any answer
    root: FloatArray  # R with R^T R = k, (r, K)
    landmarks: IntArray  # options over which a score is a mean, (M,)
    asked: NDArray[np.int64]  # answers so far, (1,)
    duels: Duels  # the distinct pairs told, and the mode of f at them


def top(values: FloatArray, rng: np.random.Generator) -> int:
    """The index of the largest of ``values``, uniform among (nearly) equal ones."""
    ties = np.flatnonzero(values >= values.max() - SAME)
    return int(ties[uniform_index(len(ties), rng)])


def candidates(state: State, most: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """All pairs of two options, in one order if the other says the same, or a random ``most`` of them."""
    K, both = len(state.prior.k), not state.prior.skew
    if K * (K - 1) // (1 if both else 2) > most:
        a = rng.integers(0, K, most)
        return a, (a + rng.integers(1, K, most)) % K
    a, b = np.triu_indices(K, 1)
    return (np.concatenate([a, b]), np.concatenate([b, a])) if both else (a, b)


def random_pair(K: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two distinct options (twice the only one)."""
    first = uniform_index(K, rng)
    return first, (first + 1 + uniform_index(max(1, K - 1), rng)) % K


def dueling_thompson(state: State, f: PairPosterior, rng: np.random.Generator) -> tuple[int, int]:
    """Dueling Thompson sampling (section 3.3): the best option of one draw, and its most uncertain opponent."""
    everyone = np.arange(len(state.prior.k))
    drawn = expit(f.draw(state.root, everyone, state.landmarks, rng))
    first = top(drawn.mean(axis=1), rng)
    others = np.delete(everyone, first)
    return first, int(others[top(pure_exploration(f, np.full(len(others), first), others), rng)])


def ask(state: State, rng: np.random.Generator, slate: NDArray[np.int64]) -> int:
    """Two random options at first and by ``random``, else those that the acquisition likes best."""
    K = len(state.prior.k)
    if K == 1 or state.acquisition == "random" or state.asked[0] < state.initial:
        slate[:2] = random_pair(K, rng)
        return 2
    f = state.duels.posterior(state.prior)
    if state.acquisition == "dts":
        slate[:2] = dueling_thompson(state, f, rng)
        return 2
    everyone = np.arange(K)
    if state.acquisition == "pe":  # section 3.1
        a, b = candidates(state, state.pairs, rng)
        value = pure_exploration(f, a, b)
    else:  # section 3.2
        a, b = candidates(state, min(state.pairs, max(1, WORK // (K * len(state.landmarks)))), rng)
        value = expected_improvement(f, a, b, everyone, state.landmarks)
    i = top(value, rng)
    slate[0], slate[1] = a[i], b[i]
    return 2


def tell(state: State, slate: NDArray[np.int64], m: int, wins: FloatArray, rng: np.random.Generator) -> None:
    """Count the duels and find the mode of f, starting from the last one."""
    state.duels.learn(slate[:m], wins, state.prior)
    state.asked[0] += 1


def best(state: State) -> int:
    """The largest soft-Copeland score (section 2.3: the Condorcet winner, if there is one)."""
    f, everyone = state.duels.posterior(state.prior), np.arange(len(state.prior.k))
    return int(np.argmax(soft_copeland(f, everyone, state.landmarks)))


def mutual(f: PairPosterior, options: IntArray) -> FloatArray:
    """The chance that each of ``options`` (m,) beats each other one, (m, m), from both sides where they disagree."""
    chance = logistic_moments(*f.table(options, options))[0]
    chance = (chance + 1 - chance.T) / 2
    np.fill_diagonal(chance, 0.0)
    return chance


@dataclass(kw_only=True)
class FiniteBOPPER(AwaitingFinite):
    """Preferential Bayesian optimisation over a finite set; runs as plain Python in simulations, too.

    See ``BOPPER`` for the arguments.
    """

    acquisition: str = "dts"
    kernel: str = "skew"
    base: Any = None
    lengthscale: float | Sequence[float] = 0.2
    outputscale: float = 16.0
    mirror: bool | None = None
    initial: int = 0
    landmarks: int = 128
    pairs: int = 4096
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True
    compilable: ClassVar[bool] = False
    prior: gp.Prior = field(init=False, repr=False, compare=False)

    def check(self) -> None:
        """Choices are known, scales and sizes positive; takes the kernel matrix once."""
        check_pair_choices(self)
        self.prior = gp.make_prior(base_matrix(self.domain, self.base, self.lengthscale, type(self).lengthscale))

    def start(self, rng: np.random.Generator) -> State:
        """Nothing told; the same landmarks in every run."""
        K, everyone = self.domain.size, np.arange(self.domain.size)
        few = self.landmarks < K
        landmarks = np.sort(stream(0).choice(everyone, self.landmarks, replace=False)) if few else everyone
        pairs = PairPrior(self.kernel, float(self.outputscale), self.prior.covariance)
        return State(
            acquisition=self.acquisition,
            initial=self.initial,
            pairs=self.pairs,
            prior=pairs,
            root=root_of(self.prior),
            landmarks=landmarks,
            asked=np.zeros(1, dtype=np.int64),
            duels=Duels(pairs.skew, is_mirrored(self)),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able; a kernel object is given by its class name, for the record."""
        return json_able(super().settings, name="base")

    def level(self, options: IntArray) -> FloatArray:
        """Soft-Copeland scores of ``options`` (n,), (n,)."""
        return soft_copeland(self.state.duels.posterior(self.state.prior), options, self.state.landmarks)

    def shown(self) -> IntArray:
        """The options compared so far, (q,)."""
        return np.unique(np.concatenate(self.state.duels.pairs))

    def expected(self, slate: IntArray) -> FloatArray:
        """The chance that each option of ``slate`` beats each other one, (m, m), zeros on the diagonal."""
        return mutual(self.state.duels.posterior(self.state.prior), slate)

    def preference(self) -> FloatArray:
        """Posterior chance that option i beats j, (K, K)."""
        everyone = np.arange(self.domain.size)
        return logistic_moments(*self.state.duels.posterior(self.state.prior).table(everyone, everyone))[0]


def BOPPER(domain: Domain, **settings: Any) -> Any:
    """Preferential Bayesian optimisation (PBO) by duels on a ``Grid`` or a ``Box`` (``Arms``: pairs stand alone).

    A Gaussian process over pairs [x, x'] gives the chance that x beats x', sigmoid(f([x, x'])); the option with the
    largest soft-Copeland score, its mean chance against all others, is recommended. Assumes that pairs that look alike
    have like outcomes, not that there is a utility; aims at a good recommendation, not at good questions.

    Args:
        domain: where to choose.
        settings: ``acquisition``: "dts" (dueling Thompson sampling), "cei" (Copeland expected improvement), "pe" (pure
            exploration), or "random"; ``kernel`` of pairs: "se", "skew", "difference" or "sum" (see
            ``prefopt.models.pairs``); ``base``, the kernel of options that it is made of ("rbf", "matern52",
            "matern32", or a GPyTorch kernel with its own scales); ``lengthscale`` (0.2; one, or one a column, in units
            of the cube); ``outputscale`` (16; of f, in squared logits); ``mirror`` (None: true for "se", where every
            duel is then told the other way round too; the others know); ``initial`` (0) random questions first;
            ``landmarks`` (128), at most so many options over which scores are means; ``pairs`` (4096), at most so
            many pairs looked at by "pe" and "cei" (more than there are: a random choice in every question);
            ``reuse`` (False: whether one option of every question is one shown before).

    Preset ``sui2017`` is the baseline of Sui et al. 2017: a squared exponential kernel of pairs with parameter 1, and
    nothing mirrored. Inference is Laplace's approximation; the paper does not say which it used.

    Source: Gonzalez et al. 2017 (ICML); Sui et al. 2017, section 5.

    >>> from prefopt.domain import Grid
    >>> policy = BOPPER(Grid.regular(5))
    >>> policy.init(np.random.default_rng(0))
    >>> len(policy.ask(np.random.default_rng(1)))
    2
    """
    if isinstance(domain, Box):
        from prefopt.policies.kernel.bopper_box import BoxBOPPER

        return BoxBOPPER(domain, **settings)
    return FiniteBOPPER(domain, **settings)
