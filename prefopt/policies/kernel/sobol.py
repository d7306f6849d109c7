"""Quasi-random slates and the recommendation of a utility model: the baseline that a choice of questions must beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prefopt.domain import Box, FloatArray, Grid
from prefopt.models.box_search import sobol_points
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.open_questions import unlike_open
from prefopt.policies.kernel.rival import apart
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top
from prefopt.seeding import stream

#: The sequence is not followed further than this in search of allowed points.
LONGEST = 2**15
#: Random points that are looked at where the sequence would show an option beside itself.
TRIES = 64


@dataclass(kw_only=True)
class Sobol(UtilityPolicy):
    """Question t shows the t-th m points of a scrambled Sobol sequence, less those that are not allowed.

    On a grid the nearest points that are not on the slate. The settings are those of ``UtilityPolicy``; they count for
    the recommendation only, except ``reuse``, whose first option is the best one shown.
    """

    opening: int | None = 0
    seed: int = field(default=0, init=False, repr=False, compare=False)

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything; ``rng`` scrambles the sequence."""
        super().init(rng)
        self.seed = int(rng.integers(2**31))

    def ask(self, rng: np.random.Generator, pending: Sequence[Any] = ()) -> Any:
        """The next slate; an open question counts as asked."""
        m, utility = self.slate_size, self.utility()
        start = m * (len(self.answers) + len(pending))
        rows = self.sequence(start + m)[start:]
        if self.reuse and len(self.shown):
            rows = np.vstack([top(utility, self.shown, 1), rows[:-1]])
        slate = rows[:0]
        for row in rows:
            slate = np.vstack([slate, self._nearest(row, slate, rng)])
        waiting = [self.as_rows(other, len(other)) for other in pending]
        return self.as_slate(unlike_open(self.domain, utility, slate, waiting, rng))

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The next slate as rows (m, d)."""
        slate = self.ask(rng)
        return self.as_rows(slate, len(slate))

    def sequence(self, size: int) -> FloatArray:
        """The first ``size`` allowed points (size, d) of the sequence; random ones follow if it is too long."""
        points, n = np.zeros((0, self.box.dim)), size
        while len(points) < size and n <= LONGEST:
            points = sobol_points(self.box, n, np.random.default_rng(self.seed))
            points, n = points[self.box.feasible(points)], 2 * n
        if len(points) < size:
            points = np.vstack([points, self.box.sample(size - len(points), stream(self.seed))])
        return points[:size]

    def _nearest(self, row: FloatArray, slate: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The allowed option (d,) nearest to ``row`` that is not on ``slate``; ``row`` if there is none."""
        around = self.domain.points if isinstance(self.domain, Grid) else row[None]
        if isinstance(self.domain, Box) and not len(apart(around, slate)):
            around = self.domain.sample(TRIES, rng)
        left = apart(around, slate)
        left = left if len(left) else around
        return np.asarray(left[int(np.argmin(((left - row) ** 2).sum(axis=1)))])
