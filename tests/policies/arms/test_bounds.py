"""Parts that several algorithms share."""

import time

import numpy as np
import pytest

from prefopt.policies.arms.bounds import most_victories


def copeland_then_borda(W):
    """The arms of the highest score, from the definition."""
    K = len(W)
    scores = []
    for i in range(K):
        means = [W[i, j] / (W[i, j] + W[j, i]) if W[i, j] + W[j, i] > 0 else 0.5 for j in range(K) if j != i]
        scores.append(sum(mean > 0.5 for mean in means) + sum(means) / K)
    return np.flatnonzero(np.array(scores) > max(scores) - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_most_victories_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    W = rng.integers(0, 4, (7, 7)) * (rng.random((7, 7)) < 0.4).astype(float)
    assert most_victories(W) in copeland_then_borda(W)


def test_the_best_of_many_arms_is_quick_without_compiling():
    W = np.zeros((2000, 2000))
    W[17, 3] = 1.0
    began = time.process_time()
    assert most_victories(W) == 17
    assert time.process_time() - began < 0.5
