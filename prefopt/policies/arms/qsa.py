"""QSA: Jamieson & Nowak 2011, "Active ranking using pairwise comparisons", Figure 2 (query selection algorithm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from prefopt.answer import Answer
from prefopt.domain import Arms, Grid
from prefopt.errors import AnswerError, SettingError
from prefopt.policies.checks import check_settings


@dataclass(kw_only=True)
class QSA:
    """Insertion into a ranked list, asking only what the answers so far do not imply.

    Assumes utilities linear in the features (theta . a_i), hence a total order; aims at weak regret (few
    questions until the best is found); needs no horizon. A question is ambiguous if linear programs find a
    theta in [-1, 1]^d for either answer; otherwise the answer is imputed. Afterwards the two best of the
    list are shown. Noise: every ambiguous question is asked until one side has a majority of ``repeats``
    answers (Chen & Frazier 2017 do not say how they repeat; 1 trusts every answer). Either answer to an
    ambiguous question fits the earlier ones, so wrong answers mislead but never contradict each other. Options with
    the same features are compared too. A tie is half a win to each side; a majority that ends level goes
    to the newcomer's rival; a pair that was not compared is asked again.

    Args:
        domain: ``Arms`` or ``Grid``.
        features: (K, d) feature vectors; None takes a grid's points, and for bare arms one column per arm,
            with which nothing is implied and QSA is insertion sort.
        repeats: odd number of answers per question.
        margin: smallest |theta . (a_i - a_j)| that counts as a preference, > 0.

    Source: Jamieson & Nowak 2011, Figure 2, in its linear form.
    """

    domain: Arms | Grid = field(kw_only=False)
    slate_size: int = 2
    horizon: int | None = None
    features: ArrayLike | None = None
    repeats: int = 1
    margin: float = 1e-6

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Arms | Grid):
            raise SettingError(f"qsa needs a finite domain (Arms or Grid), got {self.domain!r}")
        check_settings(self)
        if self.slate_size != 2:
            raise SettingError(f"qsa compares two options at a time, got slate_size={self.slate_size}")
        if self.repeats < 1 or self.repeats % 2 == 0 or not self.margin > 0:
            raise SettingError(f"qsa needs odd repeats and margin > 0, got {self.repeats} and {self.margin}")
        given = self.features
        if given is None:
            given = self.domain.points if isinstance(self.domain, Grid) else np.eye(self.domain.size)
        try:
            self.points: NDArray[np.float64] = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SettingError(f"qsa needs numbers as features ({self.domain.size}, d): {error}") from error
        if self.points.ndim != 2 or len(self.points) != self.domain.size or not np.isfinite(self.points).all():
            raise SettingError(f"qsa needs finite features ({self.domain.size}, d), got shape {self.points.shape}")
        if self.features is None and isinstance(self.domain, Arms) and self.margin != type(self).margin:
            raise SettingError(f"qsa without features implies nothing: margin={self.margin} has no effect")
        self.one_hot = self.features is None and isinstance(self.domain, Arms)
        self.order: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able."""
        features = None if self.features is None else self.points.tolist()
        names = ("slate_size", "horizon", "repeats", "margin")
        return {"features": features} | {name: getattr(self, name) for name in names}

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything; options are inserted in a random order."""
        self.order = [int(i) for i in rng.permutation(self.domain.size)]  # options to come, the first one next
        self.ranked = [self.order.pop(0)]  # best first
        self.low, self.high = 0, 1  # the next option's place lies in [low, high]
        self.votes = [0.0, 0.0]  # for the newcomer, for its rival
        self.halves: list[NDArray[np.float64]] = []  # a_winner - a_loser of the answers
        self._advance()

    def ask(self, rng: np.random.Generator, pending: Sequence[NDArray[Any]] = ()) -> NDArray[np.int64]:
        """The newcomer and its rival, or the two best once all are ranked."""
        if not hasattr(self, "ranked"):
            raise SettingError("ask before init: call policy.init(rng) first")
        if self.order:
            return np.array([self.order[0], self.ranked[self._middle()]])
        return np.array([self.ranked[0], self.ranked[min(1, len(self.ranked) - 1)]])

    def tell(self, slate: NDArray[Any], answer: Answer, rng: np.random.Generator) -> None:
        """Count the answer if it is about the open question; decide it at a majority."""
        options = [int(i) for i in slate]
        if answer.size != len(options) or not all(0 <= i < self.domain.size for i in options):
            raise AnswerError(f"slate {options} and answer about {answer.size} do not fit {self.domain.size} options")
        if not self.order:
            return
        new, rival = self.order[0], self.ranked[self._middle()]
        if new not in options or rival not in options:
            return
        a, b = options.index(new), options.index(rival)
        self.votes[0] += answer.wins[a, b]
        self.votes[1] += answer.wins[b, a]
        if 2 * max(self.votes) > self.repeats or sum(self.votes) >= self.repeats:
            won = self.votes[0] > self.votes[1]
            self._constrain(self.points[new] - self.points[rival] if won else self.points[rival] - self.points[new])
            self._place(won)
            self._advance()

    def best(self) -> int:
        """The top of the list."""
        return self.ranked[0]

    def _middle(self) -> int:
        return (self.low + self.high) // 2

    def _place(self, won: bool) -> None:
        """One step of the binary search."""
        middle = self._middle()
        self.low, self.high = (self.low, middle) if won else (middle + 1, self.high)
        self.votes = [0.0, 0.0]
        if self.low == self.high:
            self.ranked.insert(self.low, self.order.pop(0))
            self.low, self.high = 0, len(self.ranked)

    def _advance(self) -> None:
        """Impute answers up to the next ambiguous question; at most K log2 K steps."""
        while self.order:
            difference = self.points[self.order[0]] - self.points[self.ranked[self._middle()]]
            forth, back = self._possible(difference), self._possible(-difference)
            if forth == back:
                return
            self._place(forth)

    def _possible(self, half: NDArray[np.float64]) -> bool:
        """Whether some theta in [-1, 1]^d fits all answers and theta . half >= margin."""
        if self.one_hot:
            return True
        rows = -np.array([*self.halves, half])
        cost = np.zeros(rows.shape[1])
        return bool(linprog(cost, A_ub=rows, b_ub=np.full(len(rows), -self.margin), bounds=(-1, 1)).status == 0)

    def _constrain(self, half: NDArray[np.float64]) -> None:
        """Add an answer, unless it is about options with the same features, of which it says nothing."""
        if self._possible(half):
            self.halves.append(half)
