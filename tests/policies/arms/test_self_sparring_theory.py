"""What Sui et al. 2017 prove of independent self-sparring: logarithmic regret, a posterior that tends to the truth."""

import numpy as np
import pytest

from prefopt.domain import Arms
from prefopt.environments import make_environment
from prefopt.policies import make_policy
from prefopt.regret import score
from prefopt.seeding import stream
from prefopt.simulation import simulate
from prefopt.simulation.driver import compiled_loop, run_finite


@pytest.mark.slow
def test_regret_per_doubling_of_the_horizon_tends_to_a_constant():
    """Theorem 2: O(K ln T / Delta). Means at 2,500, 5,000, 10,000, 20,000 rounds are 187.5, 216.0, 241.8, 265.0."""
    points = (2500, 5000, 10000, 20000, 40000, 80000)
    run = simulate("ind-self-sparring", "1good-linear-16", rounds=80000, repetitions=200, seed=2, checkpoints=points)
    regret = run.regret[:, :, 0]
    error = regret.std(axis=0, ddof=1) / 200**0.5
    expected = np.array([187.5, 216.0, 241.8, 265.0])
    assert (np.abs(regret.mean(axis=0)[:4] - expected) < 5 * 1.5 * error[:4]).all()
    doubling = np.diff(regret, axis=1)
    spread = doubling.std(axis=0, ddof=1) / 200**0.5
    # a power T^a would multiply the increments by 2^a; here they do not grow, and do not vanish
    ratio = doubling[:, 1:].mean(axis=0) / doubling[:, :-1].mean(axis=0)
    assert ((ratio > 0.75) & (ratio < 1 + 5 * spread[1:] / doubling.mean(axis=0)[:-1])).all(), ratio


def posterior_means(count_self, rounds, repetitions=16):
    """(repetitions, K) posterior means at the end on five arms with P_ij = 1/2 + 0.05 (j - i)."""
    world = make_environment("arithmetic-5")
    found = []
    for r in range(repetitions):
        policy = make_policy("ind-self-sparring", Arms(5), count_self=count_self)
        losses = score(world, ("strong-sum",), np.arange(5))
        loop, rngs = compiled_loop(policy.rules, world.world), (stream(3, r, 0), stream(3, r, 1))
        run_finite(loop, policy, world.world, losses, *rngs, np.array([rounds]))
        found.append((policy.state.S + 1) / (policy.state.S + policy.state.F + 2))
    return np.array(found)


def test_posterior_means_tend_to_the_chance_of_beating_the_best_arm():
    """Theorem 1: for the best arm to one half, which is what counting its duels with itself is for."""
    P = make_environment("arithmetic-5").P
    short, long = posterior_means(True, 2000), posterior_means(True, 50000)
    assert np.abs(long[:, 0] - 0.5).max() < 0.005 < np.abs(short[:, 0] - 0.5).mean()
    error = long.std(axis=0, ddof=1) / len(long) ** 0.5
    assert (np.abs(long.mean(axis=0) - P[:, 0])[1:] < 0.03 + 5 * error[1:]).all(), long.mean(axis=0)
    assert posterior_means(False, 2000)[:, 0].mean() > 0.54
