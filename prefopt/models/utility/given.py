"""What users give to a utility model, checked: options, what was said of them, beliefs by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.models.one_sided import to_tensor
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.prior import Trend


def default_hyper(box: Box, *, centred: bool = True) -> Hyper:
    """The default beliefs on ``box``, with the prior of a centre unless told otherwise."""
    numeric = tuple(j for j, c in enumerate(box.columns) if c.kind != "category")
    half = (0.5,) * len(numeric)
    return Hyper(box, trend=Trend(numeric, half, half) if centred and numeric else None)


def as_said(said: Any) -> list[Said]:
    """``Said`` as they are, rows [winner, loser] as duels."""
    if isinstance(said, Sequence) and all(isinstance(one, Said) for one in said):
        return list(said)
    rows = np.asarray(said)
    rows = rows.reshape(-1, 2) if not rows.size else rows
    if rows.ndim != 2 or rows.shape[1] != 2 or (rows.size and rows.dtype.kind not in "iu"):
        raise SettingError(f"expected a list of Said, or whole numbers (n, 2), rows [winner, loser]; got {said!r}")
    return [Said((int(a), int(b)), Answer.duel(0)) for a, b in rows]


def check_points(X: Any, d: int | None = None) -> Tensor:
    """Options as float64 rows (q, d); raises SettingError if they are not finite, or not of dimension ``d``."""
    points = to_tensor(X).detach()
    if points.ndim != 2 or (d is not None and points.shape[1] != d):
        raise SettingError(f"expected options of shape (q, {'d' if d is None else d}), got {tuple(points.shape)}")
    for row, column in torch.argwhere(~torch.isfinite(points)).tolist()[:1]:
        raise SettingError(f"X row {row}, column {column} is {points[row, column].item()}: it must be finite")
    return points


def check_comparisons(said: list[Said], q: int) -> Comparisons:
    """The stages of ``said``; raises SettingError if an answer is not about as many of the ``q`` rows as it says."""
    for number, one in enumerate(said):
        if len(one.slate) != one.answer.size or not all(0 <= i < q for i in one.slate):
            raise SettingError(
                f"answer {number} is about rows {one.slate}; expected {one.answer.size} of the {q} rows of X"
            )
    return Comparisons.of(said, q)
