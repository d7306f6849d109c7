"""Thompson sampling on a utility: self-sparring (Sui et al. 2017, Algorithm 2) with a Gaussian process over utilities.

The same as CoSpar (Tucker et al. 2020, "Preference-based learning for exoskeleton gait optimization", Algorithm 1)
without its buffer. For two options, up to a constant that moves no maximum, the pair of posterior samples of the
dueling function against one anchor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray, Grid
from prefopt.errors import SettingError
from prefopt.models.beliefs import joint_draws
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.rival import APART, filled
from prefopt.policies.kernel.utility_policy import UtilityPolicy, top

#: Grids of at most so many points are drawn exactly, larger ones by random features.
EXACT = 400


@dataclass(kw_only=True)
class UtilityThompson(UtilityPolicy):
    """Every place of the slate shows the best option of its own draw of the utility.

    Args:
        distinct: whether options must differ (the next best of the same draw). The published rule (false, preset
            ``sparring``) fills the slate with the best option once it is sure.
        features: random features of a draw on a box.
        raw_samples: Sobol points at which draws on a box are looked at first.
        restarts: of them, how many are climbed from, for each draw. The other settings are those of ``UtilityPolicy``.
    """

    distinct: bool = True
    features: int = 1024
    raw_samples: int = 512
    restarts: int = 12

    def check(self) -> None:
        """Raise ``SettingError`` unless sizes are positive."""
        if min(self.features, self.raw_samples, self.restarts) < 1:
            raise SettingError(
                "expected features, raw_samples and restarts >= 1, got "
                f"{self.features}, {self.raw_samples} and {self.restarts}"
            )

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The slate (m, d)."""
        by = 0.0 if isinstance(self.domain, Grid) else APART
        return filled(self.points[:0], self._ranked(utility, rng), distinct=self.distinct, by=by)

    def _ranked(self, utility: Utility, rng: np.random.Generator) -> list[FloatArray]:
        """For every place, options (n, d), best first by its draw; with ``reuse`` the first place's were shown."""
        if isinstance(self.domain, Grid) and self.domain.size <= EXACT:
            ranked, m = self.domain.points, self.slate_size
            values = joint_draws(*utility.joint(ranked), m, rng)
            best = [ranked[np.argsort(-value, kind="stable")] for value in values]
            known = self.shown
            if self.reuse and len(known):
                best[0] = known[np.argsort(-joint_draws(*utility.joint(known), 1, rng)[0], kind="stable")]
            return best
        paths = utility.paths(self.box, self.slate_size, rng, features=self.features)
        if isinstance(self.domain, Grid):
            best = [self.domain.points[np.argsort(-value, kind="stable")] for value in paths.values(self.domain.points)]
        else:
            raw = raw_points(self.domain, self.raw_samples, top(utility, self.shown, 32), rng)
            points, values = peaks(paths, self.domain, raw, restarts=self.restarts, finish=4)
            best = [p[np.argsort(-v, kind="stable")] for p, v in zip(points, values, strict=True)]
        if self.reuse and len(self.shown):
            best[0] = self.shown[np.argsort(-paths.values(self.shown)[0], kind="stable")]
        return best
