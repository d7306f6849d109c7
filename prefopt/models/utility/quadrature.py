"""Nodes and weights for expectations over a few independent standard normal variables."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import norm, qmc

from prefopt.domain import FloatArray

#: Single rows: a trapezoid rule over so many standard deviations, this fine in standard deviations and in logits.
REACH, FINE, LOGITS, MOST = 7.5, 0.3, 1.2, 401
#: Two and three differences: so many Gauss-Hermite nodes each; more of them: so many quasi-random points in all
#: (the second number where they must reach wider). Nodes with a weight below exp(-SLIGHT) of the largest are left out.
TENSOR, CLOUD, SLIGHT = {2: (16, 24), 3: (9, 13)}, 512, 14.0


def nodes(k: int, widest: float, wide: bool) -> tuple[FloatArray, FloatArray]:
    """Nodes (k, N) and their log weights (N,).

    Args:
        k: number of variables.
        widest: for one variable, its largest standard deviation in logits.
        wide: for several, whether the nodes must reach beyond where most of the weight is.
    """
    if k > 1:
        return _fixed(k, wide)
    n = min(MOST, 1 + int(np.ceil(2 * REACH / min(FINE, LOGITS / widest))))
    z = np.linspace(-REACH, REACH, n)
    log_weight = -0.5 * z * z
    return z[None], log_weight - np.log(np.exp(log_weight).sum())


@lru_cache
def _fixed(k: int, wide: bool) -> tuple[FloatArray, FloatArray]:
    if k not in TENSOR:
        half = norm.ppf(qmc.Sobol(k, seed=0).random(CLOUD // 2)).T
        return np.concatenate([half, -half], axis=1), np.full(CLOUD, -np.log(CLOUD))
    x, w = hermegauss(TENSOR[k][wide])
    grid = np.stack(np.meshgrid(*[x] * k, indexing="ij")).reshape(k, -1)
    total = np.stack(np.meshgrid(*[np.log(w / w.sum())] * k, indexing="ij")).reshape(k, -1).sum(axis=0)
    keep = total > total.max() - SLIGHT
    return grid[:, keep], total[keep]
