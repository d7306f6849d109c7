"""Mean regret against values from an independent implementation of the same pseudo-code.

That one used 100 runs of 20,000 rounds with a random relabelling per run. A cell holds the strong regret
(sum) at 2,500 and at 20,000 rounds, its standard deviation there, and binary strong and weak regret at the end.
The row of "beat-the-mean" is from a second plain implementation, in which an arm never meets itself, as is our default.
"name:preset" is a policy with one of its presets.
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
    "beat-the-mean": [(1122, 5577, 421, 20000, 13346), (615, 1476, 127, 19622, 2725), (1406, 6471, 607, 11839, 9730), (820, 5715, 221, 20000, 16952)],
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
    "sparring-ucb1": [(633, 1979, 83, 15393, 5682), (242, 762, 58, 9442, 1688), (820, 2009, 275, 5780, 916), (584, 2458, 105, 15269, 5762)],
    "sparring-exp3": [(932, 2387, 151, 16026, 7221), (461, 1075, 98, 10861, 3013), (1288, 2882, 164, 6712, 2894), (721, 2612, 189, 15231, 7351)],
    "sparring-ts": [(271, 581, 85, 11551, 2658), (105, 207, 60, 3302, 340), (283, 438, 45, 1287, 172), (328, 713, 109, 5718, 1138)],
    "versatile-db": [(426, 1016, 105, 12877, 3475), (181, 447, 107, 6071, 870), (500, 924, 83, 2648, 433), (445, 1224, 190, 8792, 2219)],
    "ind-self-sparring": [(188, 378, 93, 8332, 2472), (74, 133, 48, 2149, 321), (188, 265, 45, 771, 113), (248, 470, 119, 3886, 810)],
    "ind-self-sparring:sui2017": [(109, 267, 184, 8093, 5532), (60, 164, 327, 2391, 1677), (124, 187, 544, 432, 190), (156, 295, 396, 2534, 1260)],
    "d-ts:sui2017": [(122, 290, 183, 8870, 4903), (50, 94, 195, 1223, 647), (96, 113, 46, 299, 79), (192, 343, 391, 2734, 1419)],
}
# Beat the Mean as in the first implementation, where an arm may be drawn against itself.
SELF_PAIRS = [(1122, 6543, 295, 19678, 15697), (668, 2168, 192, 17134, 8326), (1405, 8313, 830, 15253, 12456), (820, 5907, 168, 19893, 17216)]
# Four options per question: sum over the slots at 20,000 rounds, mean over the slots, standard deviation of the sum.
FOUR = {
    "ind-self-sparring": [(111, 27.6, 20), (208, 51.9, 40)],
    "mdb": [(323, 30.6, 31), (722, 127, 92)],
    "multi-sparring": [(4398, 1100, 73), (5146, 1287, 76)],
    "multi-sparring:ts": [(903, 226, 43), (1412, 353, 80)],
}
# Strong regret (sum) at 20,000 rounds of at least 40 runs; MergeRUCB is left out, its row is without the merging of lone arms.
LOGIT = {"if2": 3168, "beat-the-mean": 3229, "savage": 3230, "rucb": 2695, "sparring-ucb1": 2109, "sparring-exp3": 2001, "rmed1": 1310, "ws-s": 718, "d-ts:sui2017": 572, "d-ts": 550, "ind-self-sparring": 622, "ind-self-sparring:sui2017": 401}
ARITHMETIC = {"d-ts": 181, "ws-s": 292, "sparring-ts": 333, "rmed1": 340, "rmed2": 378, "rcs": 382, "rmed2f": 426, "rucb": 597, "versatile-db": 634, "ccb": 637}
# fmt: on
ALL = ("strong-sum", "binary-strong", "binary-weak")
QUICK = ["rucb", "rmed1", "d-ts", "ws-s", "ind-self-sparring", "versatile-db"]


def check(measured, expected, spread=None, runs=100):
    """Means agree within four combined standard errors (ours serves for both if ``spread`` is unknown) and 5 %."""
    ours = np.std(measured, ddof=1)
    both = math.sqrt(ours**2 / len(measured) + (ours if spread is None else spread) ** 2 / runs)
    assert abs(np.mean(measured) - expected) < 4 * both + 0.05 * expected, (np.mean(measured), expected, both)


def play(key, environment, regret="strong-sum", rounds=20000, repetitions=100, slate_size=2, **settings):
    """Cumulative regrets of every repetition at 2,500 and at ``rounds``, (repetitions, 2 or 1, regrets)."""
    name, _, preset = key.partition(":")
    return simulate(
        name, environment, rounds=rounds, repetitions=repetitions, seed=1, regret=regret, slate_size=slate_size,
        checkpoints=(2500,), settings={"preset": preset or "default", **settings},
    ).regret  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_first_2500_rounds_on_arith(name):
    check(play(name, "arith-linear-16", rounds=2500, repetitions=30)[:, -1, 0], TABLE[name][3][0])


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("name", TABLE)
def test_table(name, place):
    check_row(play(name, ENVIRONMENTS[place], ALL), TABLE[name][place])


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
def test_beat_the_mean_with_arms_against_themselves(place):
    check_row(play("beat-the-mean", ENVIRONMENTS[place], ALL, self_pairs=True), SELF_PAIRS[place])


def check_row(regret, row):
    early, late, spread, *binary = row
    if early is not None:
        check(regret[:, 0, 0], early)
    check(regret[:, 1, 0], late, spread)
    for kind, value in enumerate(binary, start=1):
        check(regret[:, 1, kind], value)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(2))
@pytest.mark.parametrize("name", FOUR)
def test_four_options(name, place):
    regret = play(name, ENVIRONMENTS[2 + place], ("strong-sum", "strong-mean"), slate_size=4)
    total, mean, spread = FOUR[name][place]
    check(regret[:, 1, 0], total, spread)
    check(regret[:, 1, 1], mean)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [(n, "arith-logit-16", x) for n, x in LOGIT.items()] + [(n, "arithmetic-8", x) for n, x in ARITHMETIC.items()],
)
def test_other_environments(name, environment, expected):
    check(play(name, environment)[:, -1, 0], expected, runs=40)
