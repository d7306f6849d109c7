import numpy as np

from prefopt import Answer
from prefopt.data import Tally, win_counts


def test_tally_counts_each_side_of_each_duel():
    tally = Tally.empty(4)
    tally.add(np.array([1, 3]), Answer.duel(1).wins)
    tally.add(np.array([0, 1, 3]), Answer.best(2, 3).wins)
    assert tally.tries.tolist() == [1, 2, 0, 3]
    assert tally.wins.tolist() == [0, 0, 0, 3]


def test_ties_skips_and_fractions():
    tally = Tally.empty(2)
    tally.add(np.array([0, 1]), Answer.tie().wins)
    tally.add(np.array([0, 1]), Answer.skip().wins)
    tally.add(np.array([0, 1]), Answer.pairs([[0, 0.75], [0.25, 0]]).wins)
    assert tally.tries.tolist() == [2, 2]
    assert tally.wins.tolist() == [1.25, 0.75]


def test_duels_with_itself():
    slate = np.array([2, 2])
    counted, left_out = Tally.empty(3), Tally.empty(3)
    counted.add(slate, Answer.duel(0).wins)
    left_out.add(slate, Answer.duel(0).wins, count_self=False)
    assert (counted.tries[2], counted.wins[2]) == (2, 1)
    assert not left_out.tries.any()


def test_win_counts_add_up_repeated_options():
    asked = [
        (np.array([0, 2]), Answer.duel(1)),
        (np.array([2, 0]), Answer.duel(0)),
        (np.array([0, 1, 1]), Answer.ranking([1, 0, 2], 3)),
        (np.array([0, 1]), Answer.skip()),
        (np.array([0, 1]), Answer.tie()),
    ]
    expected = [[0, 1.5, 0], [1.5, 1, 0], [2, 0, 0]]
    assert win_counts(3, asked).tolist() == expected
    assert win_counts(2, []).tolist() == [[0, 0], [0, 0]]
