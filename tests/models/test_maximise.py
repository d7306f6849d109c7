"""Climbing many starts at once."""

import numpy as np
import pytest

from prefopt.models.maximise import begin, climb
from prefopt.seeding import stream


@pytest.mark.parametrize("d", [2, 3])
def test_rough_hills_from_thousands_of_starts(d):
    """Steps across steep slopes leave curvatures that are singular but for rounding; nobody stops or goes down."""
    rng, n = stream(d), 20_000
    frequency, phase = 9.0 * rng.standard_normal((n, 8, d)), rng.uniform(0, 2 * np.pi, (n, 8))

    def hills(x, which):
        angle = np.einsum("nkd,nd->nk", frequency[which], x) + phase[which]
        return np.cos(angle).sum(axis=1), -np.einsum("nk,nkd->nd", np.sin(angle), frequency[which])

    at = begin(hills, rng.random((n, d)), np.arange(n), np.ones(d, dtype=bool))
    before = at.value.copy()
    climb(hills, at, np.arange(n))
    assert np.all(at.value >= before) and np.all((at.x >= 0) & (at.x <= 1))
    assert np.all(np.linalg.eigvalsh(at.curvature)[:, 0] > 0)
    resting = np.abs(np.clip(at.x + hills(at.x, np.arange(n))[1], 0, 1) - at.x).max(axis=1)
    assert np.mean(resting <= 1e-5) > 0.98
