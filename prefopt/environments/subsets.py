"""Random subsets of the arms of a large preference matrix that have a Condorcet winner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.domain import Arms
from prefopt.environments.base import FiniteEnvironment, best_arm, check_matrix
from prefopt.environments.ranker_environment import RankerEnvironment
from prefopt.errors import EnvironmentSpecError


def condorcet_winner(P: NDArray[np.float64]) -> int | None:
    """The arm that beats every other one with more than 1/2, or None.

    >>> condorcet_winner(np.array([[0.5, 0.4], [0.6, 0.5]]))
    1
    """
    best = best_arm(P)
    return best if (P[best] > 0.5).sum() == len(P) - 1 else None


def condorcet_subset(P: Any, size: int, rng: np.random.Generator, *, attempts: int = 10_000) -> NDArray[np.int64]:
    """``size`` distinct arms of P (K, K), uniform among the subsets with a Condorcet winner, in random order.

    Args:
        P: preference matrix.
        size: arms wanted, 1 to K.
        rng: of the draw.
        attempts: subsets tried before giving up.

    Raises:
        EnvironmentSpecError: not a preference matrix, ``size`` out of range, or no such subset found.

    Source: the experiments with 16 of 136 rankers in Brost et al. 2016 and Sui et al. 2017.
    """
    matrix = check_matrix(P, "condorcet_subset")
    if not 1 <= size <= len(matrix):
        raise EnvironmentSpecError(f"a subset of {size} arms; the matrix has {len(matrix)}")
    for _ in range(attempts):
        chosen = rng.choice(len(matrix), size=size, replace=False).astype(np.int64)
        if condorcet_winner(matrix[np.ix_(chosen, chosen)]) is not None:
            return chosen
    raise EnvironmentSpecError(
        f"none of {attempts} random subsets of {size} of the {len(matrix)} arms has a Condorcet winner; take fewer arms"
    )


def subset_environment(
    environment: FiniteEnvironment | RankerEnvironment, arms: ArrayLike
) -> FiniteEnvironment | RankerEnvironment:
    """The same person on the options ``arms`` only, called 0, 1, ... in that order.

    Raises:
        EnvironmentSpecError: an option twice, or none of the environment's.
    """
    index, size = np.asarray(arms, dtype=np.int64), len(environment.P)
    if index.ndim != 1 or not len(index) or index.min() < 0 or index.max() >= size or len(set(index)) < len(index):
        raise EnvironmentSpecError(f"a subset names distinct options 0 .. {size - 1}, got {index.tolist()}")
    if isinstance(environment, RankerEnvironment):
        return environment.relabelled(index)
    pick = np.ix_(index, index)
    return replace(
        environment,
        domain=Arms(len(index)),
        P=environment.P[pick],
        utility=environment.utility[index] if environment.utility.size else environment.utility,
        worth=environment.worth[index] if environment.worth.size else environment.worth,
        ties=environment.ties[pick] if environment.ties.size else environment.ties,
        best=None,
    )
