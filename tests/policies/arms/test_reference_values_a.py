"""Mean regret against values from an independent implementation of the same pseudo-code.

That one used 100 runs of 20,000 rounds with a random relabelling per run. A cell holds the strong regret
(sum) at 2,500 and at 20,000 rounds, its standard deviation there, and binary strong and weak regret at the end.
"""

import math

import numpy as np
import pytest

from prefopt.simulation import simulate

ENVIRONMENTS = ("sushi16", "mslr5", "1good-linear-16", "arith-linear-16")
# ruff: noqa: E501
# fmt: off
TABLE = {
    "if1": [(1115, 6974, 1462, 20000, 15220), (677, 2193, 521, 20000, 4691), (1387, 8322, 1724, 18761, 8979), (812, 5887, 1173, 20000, 14991)],
    "if2": [(1115, 6805, 1444, 20000, 15053), (677, 2142, 517, 20000, 4660), (1387, 7280, 1487, 15287, 8979), (812, 5861, 1154, 20000, 14991)],
    "beat-the-mean": [(1122, 6543, 295, 19678, 15697), (668, 2168, 192, 17134, 8326), (1405, 8313, 830, 15253, 12456), (820, 5907, 168, 19893, 17216)],
    "savage": [(1122, 6899, 317, 20000, 14829), (503, 914, 128, 11857, 1665), (1406, 8277, 565, 14840, 12750), (820, 6378, 100, 20000, 17398)],
    "rucb": [(919, 1842, 123, 19726, 3668), (215, 328, 81, 4588, 520), (1195, 1368, 149, 2701, 1857), (727, 2663, 308, 13576, 7953)],
    "rmed1": [(326, 504, 57, 11426, 1256), (115, 246, 81, 4911, 207), (255, 302, 34, 880, 127), (390, 772, 176, 7361, 778)],
    "rmed2": [(614, 804, 67, 11809, 1954), (132, 266, 81, 4902, 331), (702, 751, 48, 1697, 808), (560, 1130, 150, 9069, 1948)],
    "rmed2f": [(640, 877, 112, 12004, 2277), (133, 275, 89, 5017, 354), (858, 948, 138, 2025, 1136), (566, 1245, 236, 9468, 2696)],
    "d-ts": [(205, 399, 118, 7663, 2093), (82, 133, 54, 1796, 355), (168, 214, 38, 604, 109), (254, 397, 136, 2938, 600)],
    "d-ts-plus": [(206, 399, 144, 7840, 2832), (84, 135, 57, 1868, 359), (164, 209, 40, 594, 102), (252, 380, 128, 2745, 576)],
    "rcs": [(754, 1257, 164, 19417, 2120), (179, 281, 73, 4738, 234), (535, 590, 111, 1402, 566), (709, 1486, 314, 8661, 2907)],
    "ccb": [(922, 1815, 151, 19443, 3601), (213, 335, 92, 4947, 498), (1177, 1257, 132, 2510, 1679), (726, 2584, 314, 13141, 7691)],
    "ws-w": [(264, 1748, 656, 20000, 375), (221, 1763, 102, 20000, 40), (808, 6059, 104, 20000, 196), (342, 2660, 87, 20000, 513)],
    "ws-s": [(230, 612, 80, 9463, 957), (109, 165, 24, 1896, 45), (477, 696, 184, 2133, 186), (306, 660, 168, 4979, 475)],
    "btw": [(598, 4648, 63, 20000, 7226), (415, 3165, 38, 20000, 2457), (776, 6026, 24, 20000, 88), (494, 3522, 130, 20000, 2784)],
    "mbtw": [(506, 3507, 1072, 20000, 3774), (344, 2909, 235, 20000, 228), (785, 6035, 53, 20000, 117), (422, 3200, 264, 20000, 1285)],
    "merge-rucb": [(None, 1107, 646), (None, 444, 707), (None, 727, 109), (None, 1842, 712)],
}
# fmt: on
QUICK = ["rucb", "rmed1", "d-ts", "ws-w", "ws-s", "rcs", "ccb", "mbtw"]


def check(measured, expected, spread=None):
    """Means agree within four combined standard errors (ours serves for both if ``spread`` is unknown) and 5 %."""
    error = np.std(measured, ddof=1)
    both = math.sqrt(error**2 / len(measured) + (error if spread is None else spread) ** 2 / 100)
    assert abs(np.mean(measured) - expected) < 4 * both + 0.05 * expected, (np.mean(measured), expected, both)


@pytest.mark.parametrize("name", QUICK)
def test_first_2500_rounds_on_arith(name):
    run = simulate(name, "arith-linear-16", rounds=2500, repetitions=30, seed=1)
    check(run.regret[:, -1, 0], TABLE[name][3][0])


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("name", TABLE)
def test_table(name, place):
    kinds = ("strong-sum", "binary-strong", "binary-weak")
    run = simulate(
        name, ENVIRONMENTS[place], rounds=20000, repetitions=100, seed=1, regret=kinds, checkpoints=(2500, 20000)
    )
    early, late, spread, *binary = TABLE[name][place]
    if early is not None:
        check(run.regret[:, 0, 0], early)
    check(run.regret[:, 1, 0], late, spread)
    for kind, value in enumerate(binary, start=1):
        check(run.regret[:, 1, kind], value)
