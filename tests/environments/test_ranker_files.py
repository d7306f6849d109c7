"""From a learning-to-rank file to answers and regrets, against lists written out by hand."""

import numpy as np
import pytest

from prefopt import simulate
from prefopt.environments import (
    condorcet_subset,
    preference_matrix,
    ranker_environment,
    read_letor,
    subset_environment,
)
from prefopt.errors import EnvironmentSpecError

#: Three rankers. Query 1, documents a b c of which only a is good: they rank abc, cba, bac.
#: Query 2, documents d e of which only e is good: all rank ed.
FILE = """4 qid:1 1:3 2:1 3:2 # a
0 qid:1 1:2 2:2 3:3 # b
0 qid:1 1:1 2:3 3:1 # c
0 qid:2 1:1 2:1 3:1 # d
4 qid:2 1:2 2:2 3:2 # e
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "tiny.txt"
    file.write_text(FILE)
    return file


def environment(path, **settings):
    return ranker_environment(path, n_features=3, length=2, draws=800, **settings)


def test_matrix_by_hand(path):
    """Lists of two, perfect clicks.

    Query 1: ranker 0 owns a whoever drafts first, as the others begin elsewhere; 1 and 2 show c and b: no click.
    Query 2: whoever drafts first owns e. So 0 beats each other in (1 + 1/2) / 2; the two others are equal.
    """
    made = environment(path)
    close = 5.5 * 0.5 / np.sqrt(2 * 800)
    assert pytest.approx(np.array([[0.5, 0.75, 0.75], [0.25, 0.5, 0.5], [0.25, 0.5, 0.5]]), abs=close) == made.P
    assert made.best == 0 and made.name == "tiny"
    # two queries at 1 and 1/2: their sd is 0.354, the error of their mean 0.25
    assert made.error[0, 1] == pytest.approx(0.25, abs=close) and made.error[0, 0] == 0
    dropped = environment(path, ties="drop")
    assert dropped.P[0, 1] == pytest.approx(0.75, abs=close)
    assert dropped.P[1, 2] == pytest.approx(0.5, abs=2 * close)  # query 1 never decides it


def test_three_way_answers_by_hand(path):
    """Query 1, lists of two: ranker 0 shows a unless it drafts last, 4 of 6 orders. Query 2: the first has e."""
    made, rng, n = environment(path), np.random.default_rng(0), 6000
    wins = sum(made.answer(np.array([0, 1, 2]), t, rng).wins for t in range(n)) / n
    first, other = (4 / 6 + 1 / 3) / 2, (0 + 1 / 3) / 2
    expected = np.array([[0, first, first], [other, 0, other], [other, other, 0]])
    assert wins == pytest.approx(expected, abs=5.5 * 0.5 / np.sqrt(n))


def test_the_matrix_is_made_from_a_stream(path):
    """Queries are read while the matrix is made: the first one has been used when the broken line is met."""
    path.write_text(FILE + "broken\n")
    seen = []

    def watched():
        for query in read_letor(path, n_features=3):
            seen.append(query.qid)
            yield query

    with pytest.raises(EnvironmentSpecError, match=r"tiny\.txt, line 6: relevance label"):
        preference_matrix(watched(), np.random.default_rng(0))
    assert seen == ["1"]


@pytest.mark.parametrize(("policy", "slate_size"), [("ind-self-sparring", 3), ("rucb", 2), ("mdb", 3)])
def test_simulation_from_a_file(path, policy, slate_size):
    made = environment(path)
    run = simulate(policy, made, rounds=400, repetitions=2, seed=1, slate_size=slate_size, regret="strong-mean")
    uniform = simulate("random", made, rounds=400, repetitions=2, seed=1, slate_size=slate_size, regret="strong-mean")
    assert np.all(run.inference[:, -1, 0] == 0)
    assert run.mean()[-1] < uniform.mean()[-1]
    again = simulate(policy, made, rounds=400, repetitions=2, seed=1, slate_size=slate_size, regret="strong-mean")
    np.testing.assert_array_equal(again.regret, run.regret)


def test_part_of_a_file(path):
    assert len(environment(path, queries=1).queries) == 1
    some = environment(path, features=[2, 0], queries=1)
    assert some.best == 1 and some.P[1, 0] == 1
    turned = some.relabelled(np.array([1, 0]))
    assert turned.best == 0 and turned.error.shape == (2, 2)


def test_a_subset_of_rankers_keeps_its_queries(path):
    """The experiment of Sui et al.: subsets with a winner, feedback by multileaving, regret from the matrix."""
    whole = environment(path)
    arms = condorcet_subset(whole.P, 2, np.random.default_rng(2))
    some = subset_environment(whole, arms)
    assert [some.features[i] for i in range(2)] == arms.tolist()
    np.testing.assert_array_equal(some.P, whole.P[np.ix_(arms, arms)])
    run = simulate("ind-self-sparring", some, rounds=300, repetitions=2, seed=1, regret="strong-mean")
    assert np.all(run.inference[:, -1, 0] == 0)
    for wrong in ([0, 0], [0, 3], [-1, 0], []):
        with pytest.raises(EnvironmentSpecError, match=r"distinct options 0 \.\. 2"):
            subset_environment(whole, wrong)
