"""LineCoSpar: Tucker et al. 2020 (IROS), Algorithm 1.

"Human preference-based learning for high-dimensional optimization of exoskeleton walking gaits". Thompson sampling on
a random line through the best option shown so far, and on the options shown. The cost does not grow with the
dimension, and corners, where the maxima of draws in many dimensions lie, do not draw all questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray, Grid
from prefopt.errors import SettingError
from prefopt.models.beliefs import joint_draws
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.rival import APART, apart, filled
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top

#: Of the options shown, so many of largest posterior mean are looked at.
VISITED = 128


@dataclass(kw_only=True)
class LineCoSpar(UtilityPolicy):
    """Every place of the slate shows the best option, on a line and among those shown, of its own draw.

    A category keeps its choice on most of the line, and changes at random elsewhere.

    Args:
        length: points of the line.
        buffer: so many places show again what the last question had in its first places (preset ``tucker2020``: 1).
        distinct: whether options must differ. The published rule is false. The other settings are those of
            ``UtilityPolicy``.
    """

    length: int = 64
    buffer: int = 0
    distinct: bool = True

    def check(self) -> None:
        """Raise ``SettingError`` unless length >= 1 and 0 <= buffer < slate_size."""
        if self.length < 1 or not 0 <= self.buffer < self.slate_size:
            raise SettingError(
                f"expected length >= 1 and 0 <= buffer < slate_size={self.slate_size}, got {self.length} and "
                f"{self.buffer}"
            )

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The slate (m, d): options by Thompson sampling first, then those of the buffer."""
        visited = top(utility, self.shown, VISITED)  # V
        best = visited[0] if len(visited) else self.champion(utility, quick=True)
        line = self.line(best, rng)  # L
        Z = np.vstack([best, apart(visited, best[None]), line])
        draws = joint_draws(*utility.joint(Z), self.slate_size, rng)
        rankings = [Z[np.argsort(-f, kind="stable")] for f in draws]
        if self.reuse and len(visited):
            among = joint_draws(*utility.joint(visited), 1, rng)[0]
            rankings[0] = visited[np.argsort(-among, kind="stable")]
        again = self._buffered()
        by = 0.0 if isinstance(self.domain, Grid) else APART
        new = rankings[: self.slate_size - len(again)]
        slate = filled(again, new, distinct=self.distinct, by=by)
        return np.vstack([slate[len(again) :], again])

    def line(self, best: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Allowed options (n, d) on a random line through ``best`` (d,), less that one; random ones if there are none.

        On a face of the cube the line leads inside.
        """
        direction = rng.standard_normal(self.box.dim)
        direction = np.where(best <= 0, np.abs(direction), np.where(best >= 1, -np.abs(direction), direction))
        category = np.array([c.kind == "category" for c in self.box.columns])
        direction[category | [len(c.levels) == 1 for c in self.box.columns]] = 0.0
        steps = np.linspace(*inside(best, direction), self.length)
        rows = np.clip(best + steps[:, None] * direction, 0.0, 1.0)
        for j in np.flatnonzero(category):
            other = rng.choice(np.array(self.box.columns[j].levels), size=self.length)
            rows[:, j] = np.where(rng.random(self.length) < 1 / self.box.dim, other, best[j])
        if isinstance(self.domain, Grid):
            rows = self.domain.points[np.unique(self.as_slate(rows))]
        else:
            rows = self.box.project(rows)
            rows = np.unique(rows[self.box.feasible(rows)], axis=0)
        rows = apart(rows, best[None])
        if len(rows):
            return rows
        return apart(self.domain.points if isinstance(self.domain, Grid) else self.box.sample(16, rng), best[None])

    def _buffered(self) -> FloatArray:
        """The first ``buffer`` allowed options of the last answer, (b, d)."""
        last = self.answers[-1].slate if self.answers else ()
        rows = self.points[list(last)] if last else self.points[:0]
        return rows[self.box.feasible(rows)][: self.buffer]


def inside(start: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """The least and the largest t with ``start`` + t ``direction`` in the unit cube, (d,) each.

    >>> inside(np.array([0.5, 0.1]), np.array([1.0, -0.2]))
    (-0.5, 0.5)
    """
    moves = direction != 0
    if not moves.any():
        return 0.0, 0.0
    ends = np.stack([-start[moves], 1 - start[moves]]) / direction[moves]
    return float(ends.min(axis=0).max()), float(ends.max(axis=0).min())
