"""A pot of coffee: two real parameters, a whole number and a choice, which interact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Column

FloatArray = NDArray[np.float64]

#: Temperature and minutes (continuous), spoons 1 .. 6 (levels), and which of three beans (a category), in the cube.
COLUMNS = (Column(), Column(), Column("levels", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)), Column("category", (0.0, 0.5, 1.0)))
#: Per bean: the best temperature, minutes and spoons (unit cube), and how far its best cup is below the best of all.
BEANS = ((0.30, 0.65, 0.6, 0.00), (0.75, 0.35, 0.2, 0.15), (0.55, 0.80, 0.8, 0.35))
#: How much a cup suffers from each of the three, and from spoons and minutes that do not balance.
WEIGHTS, BALANCE = (1.0, 1.6, 0.8), 1.2


def coffee(x: FloatArray) -> FloatArray:
    """Bitterness (n,) of cups (n, 4), rows of the unit cube; 0 at the best cup of the first bean.

    Bean by bean a convex quadratic plus a constant, so that its largest value is in a corner.
    """
    table = np.array(BEANS)[np.rint(2 * x[:, 3]).astype(np.int64)]
    off = x[:, :3] - table[:, :3]
    return np.asarray(off**2 @ np.array(WEIGHTS) + BALANCE * (off[:, 1] + off[:, 2]) ** 2 + table[:, 3])
