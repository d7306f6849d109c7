"""How a person with utilities answers: link, noise, lapses, ties, biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from prefopt.domain import Arms, Grid
from prefopt.environments.base import NONE, FiniteEnvironment, best_arm, check_matrix, check_pairs_only
from prefopt.environments.world import FEEDBACK, World
from prefopt.errors import EnvironmentSpecError
from prefopt.links import LINKS, link_probability

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """How utilities become answers.

    Attributes:
        link: "linear", "natural", "logit", "probit" or "noiseless".
        scale: noise scale by which utilities are divided; the natural link has none, the noiseless one only
            as the unit of ``tie_threshold``.
        lapse: chance e of pressing any key: P becomes (1 - 2 e) P + e.
        tie_threshold: just-noticeable difference d, in units of ``scale``. Logit (Rao and Kupper): the first
            is preferred with the link's probability at u - v - d, the second at v - u - d, else "the same";
            probit: likewise with the normal link. 0 means never. For "pairs" only.
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
        if self.link not in LINKS:
            raise EnvironmentSpecError(f"unknown link {self.link!r}; expected one of {', '.join(LINKS)}")
        for name, allowed, words in (
            ("scale", 0 < self.scale < np.inf, "a positive number"),
            ("lapse", 0 <= self.lapse <= 0.5, "a chance between 0 and 1/2"),
            ("tie_threshold", 0 <= self.tie_threshold < np.inf, "a number of at least 0"),
            ("observe", 0 < self.observe <= 1, "a chance above 0"),
            ("bias", np.isfinite(self.bias), "a finite number of logits"),
            ("fatigue", 0 <= self.fatigue < np.inf, "a number of at least 0"),
            ("feedback", self.feedback in FEEDBACK, f"one of {', '.join(FEEDBACK)}"),
        ):
            if not allowed:
                raise EnvironmentSpecError(f"{name} is {words}, got {getattr(self, name)!r}")
        self._check_pairing()

    def _check_pairing(self) -> None:
        """Every option must have an effect beside the others."""
        ties = self.tie_threshold > 0
        if ties and self.link not in ("logit", "probit", "noiseless"):
            raise EnvironmentSpecError(
                f"a tie threshold of {self.tie_threshold} with the {self.link} link: expected the logit, probit or "
                "noiseless link"
            )
        if self.scale != 1 and (self.link == "natural" or (self.link == "noiseless" and not ties)):
            raise EnvironmentSpecError(
                f"a noise scale of {self.scale} does nothing with the {self.link} link; leave it out or change the link"
            )
        check_pairs_only(self.feedback, observe=self.observe, ties=ties)

    def matrices(self, utility: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P given that a preference is stated, and the chance of a tie ((0, 0) if never), both (K, K)."""
        return self._matrices(*self._sides(utility[:, None], utility[None, :]))

    def judged(self, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Likewise for a person whose chances P (K, K) are given; ties as with the logits of P for utilities."""
        if self.tie_threshold <= 0:
            return self._matrices(P, 1 - P)
        gap = logit(P)
        return self._matrices(expit(gap - self.tie_threshold), expit(-gap - self.tie_threshold))

    def chance(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """P(first beats second) given that a preference is stated, elementwise, from their utilities."""
        return self._given_stated(*self._sides(u, v))

    def _sides(self, u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The chances that the first and that the second is preferred; what lacks to 1 is "the same"."""
        d = self.tie_threshold * self.scale
        forth = link_probability(u - d, v, link=self.link, scale=self.scale)
        back = link_probability(v - d, u, link=self.link, scale=self.scale) if d > 0 else 1 - forth
        return forth, back

    def _given_stated(self, forth: FloatArray, back: FloatArray) -> FloatArray:
        if self.tie_threshold <= 0:
            return self.lapsed(forth)
        stated = forth + back
        return self.lapsed(np.where(stated > 0, forth / np.where(stated > 0, stated, 1.0), 0.5))

    def _matrices(self, forth: FloatArray, back: FloatArray) -> tuple[FloatArray, FloatArray]:
        P = self._given_stated(forth, back)
        np.fill_diagonal(P, 0.5)
        return P, np.clip(1 - forth - back, 0, 1) if self.tie_threshold > 0 else np.zeros((0, 0))

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

    @property
    def habits(self) -> dict[str, Any]:
        """What of this person does not depend on the options, as fields of ``FiniteEnvironment``."""
        return {name: getattr(self, name) for name in ("feedback", "observe", "bias", "fatigue")}

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
        name, domain, P, utility=u, worth=who.worth(u), ties=ties, best=int(np.argmax(u)), **who.habits
    )


def preference_environment(name: str, P: Any, person: Person | None = None) -> FiniteEnvironment:
    """A finite environment from a preference matrix (K, K), answered as ``person`` does.

    Lapses, ties (in logits of P), position bias, fatigue, and what is observed apply; link and scale do not.

    Raises:
        EnvironmentSpecError: not a preference matrix, or a person with a link or noise scale of its own.
    """
    who = person or Person()
    if (who.link, who.scale) != ("logit", 1.0):
        raise EnvironmentSpecError(
            f"{name}: link {who.link!r} and noise scale {who.scale} do not apply, because the matrix gives the chances "
            "as they are; leave both at their defaults"
        )
    matrix = check_matrix(P, name)
    judged, ties = who.judged(matrix)
    return FiniteEnvironment(name, Arms(len(matrix)), judged, ties=ties, best=best_arm(matrix), **who.habits)
