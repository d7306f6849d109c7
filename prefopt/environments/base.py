"""Simulated people: what every environment offers to the simulator and to the regrets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.answer import Answer
from prefopt.domain import Arms, Domain, Grid
from prefopt.environments.world import FEEDBACK, World, as_answer, reply
from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]
NONE = np.zeros(0)


@runtime_checkable
class Environment(Protocol):
    """A simulated person: answers slates and knows the truth.

    ``domain`` says what an option is: an index on a finite domain, a row of the unit cube on a box.
    """

    name: str
    domain: Domain

    def answer(self, slate: NDArray[np.float64] | NDArray[np.int64], t: int, rng: np.random.Generator) -> Answer:
        """What the person says of the m options of ``slate`` after ``t`` other answers."""

    def advantage(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray:
        """phi(b1, x) = P(best beats x) - 1/2 of each option, (n,) for n options."""

    def utility_gap(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray | None:
        """u(b1) - u(x) of each option, (n,), or None where there is no utility."""


@dataclass(frozen=True, eq=False)
class FiniteEnvironment:
    """A person described by a preference matrix on K options.

    Args:
        name: shown in tables and on plots.
        domain: ``Arms(K)`` or a ``Grid`` of K points.
        P: shape (K, K), P[i, j] the chance that i beats j; P + P^T = 1, diagonal 1/2.
        utility: (K,) if the matrix comes from utilities, else empty.
        worth: (K,) Plackett-Luce weights for winner and ranking feedback, else empty (then the winner
            of a slate is drawn from the normalised product of its P against the others).
        ties: (K, K) chance of "about the same", or empty ("pairs" only).
        feedback: "pairs", "winner" or "ranking".
        observe: chance that each pair of a slate is observed ("pairs" only).
        bias: logits in favour of whatever is shown first (position bias).
        fatigue: growth, per answered question, of the chance of answering at random.
        best: index of the best arm; found by ``best_arm`` if None.
    """

    name: str
    domain: Arms | Grid
    P: FloatArray
    utility: FloatArray = field(default_factory=lambda: NONE)
    worth: FloatArray = field(default_factory=lambda: NONE)
    ties: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    feedback: str = "pairs"
    observe: float = 1.0
    bias: float = 0.0
    fatigue: float = 0.0
    best: int | None = None

    def __post_init__(self) -> None:
        P = check_matrix(self.P, self.name)
        if len(P) != self.domain.size:
            raise EnvironmentSpecError(f"{self.name}: a {P.shape} matrix for a domain of {self.domain.size} options")
        if self.feedback not in FEEDBACK:
            raise EnvironmentSpecError(f"{self.name}: feedback {self.feedback!r}; expected one of {sorted(FEEDBACK)}")
        if not 0 < self.observe <= 1 or not self.fatigue >= 0 or not np.isfinite(self.bias):
            raise EnvironmentSpecError(
                f"{self.name}: expected 0 < observe <= 1, fatigue >= 0 and a finite bias, got "
                f"{self.observe}, {self.fatigue}, {self.bias}"
            )
        check_pairs_only(self.feedback, observe=self.observe, ties=bool(self.ties.size))
        object.__setattr__(self, "P", P)
        if self.best is None:
            object.__setattr__(self, "best", best_arm(P))

    @property
    def world(self) -> World:
        """The person as plain arrays, for the compiled loop."""
        plain = self.feedback == "pairs" and self.observe == 1 and not (self.bias or self.fatigue or self.ties.size)
        return World(
            np.ascontiguousarray(self.P),
            np.ascontiguousarray(self.ties),
            np.ascontiguousarray(self.worth),
            FEEDBACK[self.feedback],
            float(self.observe),
            float(self.bias),
            float(self.fatigue),
            plain,
        )

    @property
    def utility_range(self) -> float:
        """Largest minus smallest utility of the domain; nan where there is no utility."""
        return float(np.ptp(self.utility)) if self.utility.size else float("nan")

    def answer(self, slate: NDArray[np.int64], t: int, rng: np.random.Generator) -> Answer:
        """What the person says of the option indices ``slate`` (m,) after ``t`` other answers.

        >>> person = FiniteEnvironment("sure", Arms(2), np.array([[0.5, 1.0], [0.0, 0.5]]))
        >>> person.answer(np.array([1, 0]), 0, np.random.default_rng(0)).wins
        array([[0., 0.],
               [1., 0.]])
        """
        m = len(slate)
        wins = np.zeros((m, m))
        reply(self.world, t, np.asarray(slate, dtype=np.int64), m, wins, rng)
        return as_answer(wins, self.feedback)

    def relabelled(self, order: NDArray[np.int64]) -> FiniteEnvironment:
        """The same person with option ``order[i]`` called i."""
        assert self.best is not None
        return replace(
            self,
            domain=Arms(self.domain.size),
            P=self.P[np.ix_(order, order)],
            utility=self.utility[order] if self.utility.size else NONE,
            worth=self.worth[order] if self.worth.size else NONE,
            ties=self.ties[np.ix_(order, order)] if self.ties.size else self.ties,
            best=int(np.flatnonzero(order == self.best)[0]),
        )

    def advantage(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray:
        """phi(b1, x) = P(best beats x) - 1/2 of each option index, (n,)."""
        return self.P[self.best, np.asarray(options, dtype=np.int64)] - 0.5

    def utility_gap(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray | None:
        """u(b1) - u(x) of each option index, (n,), or None where there is no utility."""
        if not self.utility.size:
            return None
        return self.utility[self.best] - self.utility[np.asarray(options, dtype=np.int64)]


def check_matrix(matrix: ArrayLike, where: str) -> FloatArray:
    """``matrix`` as a float64 preference matrix (K, K).

    Raises:
        EnvironmentSpecError: not square, not a number, outside [0, 1], diagonal not 1/2, or halves that disagree.
    """
    try:
        P = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EnvironmentSpecError(f"{where}: a preference matrix holds numbers only ({error})") from error
    if P.ndim != 2 or P.shape[0] != P.shape[1] or not len(P):
        raise EnvironmentSpecError(f"{where}: a preference matrix is square, got shape {P.shape}")
    for i, j in np.argwhere(~((P >= 0) & (P <= 1)))[:1]:
        raise EnvironmentSpecError(
            f"{where}: row {i}, column {j} (option {i} against option {j}, counted from 0) is {P[i, j]}, expected a "
            "probability in [0, 1]"
        )
    for i in np.flatnonzero(np.abs(np.diag(P) - 0.5) > 1e-6)[:1]:
        raise EnvironmentSpecError(
            f"{where}: row {i}, column {i} is {P[i, i]}, expected 1/2: the diagonal is an option against itself"
        )
    for i, j in np.argwhere(np.abs(P + P.T - 1) > 1e-6)[:1]:
        raise EnvironmentSpecError(
            f"{where}: row {i}, column {j} and row {j}, column {i} are {P[i, j]} and {P[j, i]}; options {i} and {j} "
            "against each other must add up to 1"
        )
    np.fill_diagonal(P, 0.5)
    return P


def check_pairs_only(feedback: str, *, observe: float, ties: bool) -> None:
    """Raise ``EnvironmentSpecError`` if an option that speaks of single pairs meets feedback that has none."""
    if feedback != "pairs" and (observe < 1 or ties):
        what = f"observe={observe}" if observe < 1 else "a tie threshold (ties)"
        raise EnvironmentSpecError(
            f"{what} is about single pairs and does nothing with feedback {feedback!r}; take feedback 'pairs' or leave "
            "it out"
        )


def best_arm(P: FloatArray) -> int:
    """The Condorcet winner; without one, the arm of largest Copeland score, then of largest Borda score.

    >>> best_arm(np.array([[0.5, 0.4], [0.6, 0.5]]))
    1
    """
    copeland = (P > 0.5).sum(axis=1)
    borda = P.sum(axis=1)
    return int(max(range(len(P)), key=lambda i: (copeland[i], borda[i], -i)))
