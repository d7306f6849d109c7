"""BoTorch's own utility model on the same data, to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from prefopt.errors import SettingError
from prefopt.models.one_sided import to_tensor
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.given import as_said


def to_pairwise_gp(X: Any, said: Any, *, link: str = "probit", kernel: Any = None) -> Any:
    """A ``botorch.models.PairwiseGP`` on what it can take of the answers: every winner against every loser.

    It knows neither choices nor ties, weights nor raters: a choice becomes duels, ties are left out, an answer of
    weight 2 is two. Fit it with ``botorch.fit.fit_gpytorch_mll`` and ``PairwiseLaplaceMarginalLogLikelihood``.

    Args:
        X: (q, d) options in the unit cube.
        said: a sequence of ``Said``, or rows [winner, loser] (n, 2).
        link: "probit" (of the difference over sqrt 2) or "logit".
        kernel: a GPyTorch ``ScaleKernel``; None for BoTorch's default.

    Raises:
        SettingError: unknown link, or no decided comparison at all.
    """
    from botorch.models.likelihoods.pairwise import PairwiseLogitLikelihood, PairwiseProbitLikelihood
    from botorch.models.pairwise_gp import PairwiseGP

    links = {"probit": PairwiseProbitLikelihood, "logit": PairwiseLogitLikelihood}
    if link not in links:
        raise SettingError(f"unknown link {link!r}; expected 'logit' or 'probit'")
    points = to_tensor(X)
    data = Comparisons.of(as_said(said), len(points))
    decided = ~data.tie[data.stage]
    often = np.maximum(1, np.round(data.weight[data.stage][decided])).astype(np.int64)
    rows = np.repeat(np.column_stack([data.ahead, data.behind])[decided], often, axis=0)
    if not len(rows):
        raise SettingError("PairwiseGP needs at least one comparison that was not a tie")
    return PairwiseGP(points, torch.tensor(rows), likelihood=links[link](), covar_module=kernel)
