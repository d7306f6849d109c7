"""No two open questions are alike, however sure a policy is of what it wants to know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefopt.domain import Box, FloatArray, Grid
from prefopt.models.utility.posterior import Utility
from prefopt.policies.kernel.candidates import candidates


def unlike_open(
    domain: Grid | Box, utility: Utility, rows: FloatArray, waiting: Sequence[FloatArray], rng: np.random.Generator
) -> FloatArray:
    """``rows`` (m, d); if the same options are on a slate among ``waiting``, the last one gives way to another.

    That is the one of largest mean + sd of its difference to the first; the question stays if there is none.
    """
    taken = {_options(slate) for slate in waiting}
    if _options(rows) not in taken:
        return rows
    others = candidates(domain, utility, rows[0], rows, rng)
    gap, sd = utility.difference(others, np.broadcast_to(rows[0], others.shape))
    for other in others[np.argsort(-(gap + sd), kind="stable")]:
        made = np.vstack([rows[:-1], other])
        if len(_options(made)) == len(rows) and _options(made) not in taken:
            return made
    return rows


def _options(rows: FloatArray) -> frozenset[tuple[float, ...]]:
    return frozenset(tuple(row) for row in (np.round(rows, 9) + 0.0).tolist())
