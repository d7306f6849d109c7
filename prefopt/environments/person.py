"""How a person with utilities answers: link, noise, lapses, ties, biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Arms, Grid
from prefopt.environments.base import NONE, FiniteEnvironment
from prefopt.environments.world import FEEDBACK, World
from prefopt.errors import EnvironmentSpecError
from prefopt.links import link_probability, matrix_of

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """How utilities become answers.

    Attributes:
        link: "linear", "natural", "logit", "probit" or "noiseless".
        scale: noise scale by which utilities are divided.
        lapse: chance e of pressing any key: P becomes (1 - 2 e) P + e.
        tie_threshold: just-noticeable difference d, in units of ``scale``. Logit (Rao and Kupper): the first
            is preferred with the link's probability at u - v - d, the second at v - u - d, else "the same";
            probit: likewise with the normal link. 0 means never.
        feedback: "pairs", "winner" or "ranking".
        observe: chance that a pair of the slate is observed ("pairs" only).
        bias: logits in favour of whatever is shown first.
        fatigue: growth, per answered question, of the chance of answering at random.
    """

    link: str = "logit"
    scale: float = 1.0
    lapse: float = 0.0
    tie_threshold: float = 0.0
    feedback: str = "pairs"
    observe: float = 1.0
    bias: float = 0.0
    fatigue: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lapse <= 0.5:
            raise EnvironmentSpecError(f"lapse is a chance between 0 and 1/2, got {self.lapse}")
        if self.tie_threshold < 0 or (self.tie_threshold > 0 and self.link not in ("logit", "probit", "noiseless")):
            raise EnvironmentSpecError(
                f"a tie threshold of {self.tie_threshold} with the {self.link} link: expected at least 0, and the "
                "logit, probit or noiseless link"
            )
        if self.feedback not in FEEDBACK:
            raise EnvironmentSpecError(f"feedback {self.feedback!r}; expected one of {', '.join(FEEDBACK)}")

    def matrices(self, utility: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P given that a preference is stated, and the chance of a tie ((0, 0) if never), both (K, K)."""
        if self.tie_threshold <= 0:
            return self.lapsed(matrix_of(utility, link=self.link, scale=self.scale)), np.zeros((0, 0))
        d = self.tie_threshold * self.scale
        u, v = utility[:, None], utility[None, :]
        forth = link_probability(u - d, v, link=self.link, scale=self.scale)
        back = link_probability(v - d, u, link=self.link, scale=self.scale)
        stated = forth + back
        P = np.where(stated > 0, forth / np.where(stated > 0, stated, 1.0), 0.5)
        np.fill_diagonal(P, 0.5)
        return self.lapsed(P), np.clip(1 - stated, 0, 1)

    def lapsed(self, P: FloatArray) -> FloatArray:
        """P of a person who sometimes presses any key."""
        return (1 - 2 * self.lapse) * P + self.lapse

    def worth(self, utility: FloatArray) -> FloatArray:
        """Plackett-Luce weights (K,) where the link has them (logit, natural), else empty."""
        if self.lapse or self.tie_threshold:
            return NONE
        if self.link == "logit":
            return np.asarray(np.exp((utility - utility.max()) / self.scale))
        return utility.copy() if self.link == "natural" else NONE

    def world(self, utility: FloatArray) -> World:
        """A ``World`` on the few options whose utilities are given."""
        P, ties = self.matrices(utility)
        return World(
            P, ties, self.worth(utility), FEEDBACK[self.feedback], self.observe, self.bias, self.fatigue, False
        )


def utility_environment(
    name: str, domain: Arms | Grid, utility: Any, person: Person | None = None
) -> FiniteEnvironment:
    """A finite environment from utilities (K,), answered as ``person`` does.

    Raises:
        EnvironmentSpecError: utilities that are not finite, or that the link cannot take.
    """
    u = np.asarray(utility, dtype=np.float64)
    who = person or Person()
    if u.ndim != 1 or not np.all(np.isfinite(u)):
        raise EnvironmentSpecError(f"{name}: expected one finite utility per option, got {utility!r}")
    P, ties = who.matrices(u)
    return FiniteEnvironment(
        name,
        domain,
        P,
        utility=u,
        worth=who.worth(u),
        ties=ties,
        feedback=who.feedback,
        observe=who.observe,
        bias=who.bias,
        fatigue=who.fatigue,
        best=int(np.argmax(u)),
    )
