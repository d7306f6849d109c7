import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefopt import Answer
from prefopt.errors import AnswerError

NAN = float("nan")


def test_what_each_kind_says():
    assert Answer.duel(0).wins.tolist() == [[0, 1], [0, 0]]
    assert Answer.best(1, 3).wins.tolist() == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert Answer.worst(1, 3).wins.tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert Answer.ranking([2, 0, 1], 3).wins.tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    assert Answer.tie(2).wins.tolist() == [[0, 0.5], [0.5, 0]]
    assert Answer.skip("too dark", 3).wins.tolist() == np.zeros((3, 3)).tolist()
    assert Answer.skip("too dark", 3).reason == "too dark"


def test_partial_rankings():
    assert Answer.ranking([3, 1], 4).wins.sum() == 1
    below = Answer.ranking([3, 1], 4, below=True).wins
    assert below.tolist() == [[0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 0]]
    assert np.array_equal(Answer.ranking([2], 3, below=True).wins, Answer.best(2, 3).wins)
    with pytest.raises(AnswerError, match="at least two"):
        Answer.ranking([2], 3)
    with pytest.raises(AnswerError, match="at least two"):
        Answer.ranking([], 3, below=True)


@pytest.mark.parametrize("position", [2, -1, 7, True, 1.0, NAN, "a", None])
def test_a_position_is_one_of_the_slate(position):
    with pytest.raises(AnswerError, match=r"0 to 1|0 to 2"):
        Answer.duel(position)
    for make in (Answer.best, Answer.worst):
        with pytest.raises(AnswerError):
            make(3 if position == 2 else position, 3)
    with pytest.raises(AnswerError):
        Answer.ranking([0, position], 2)


@pytest.mark.parametrize("size", [1, 0, -3, True, 2.0, NAN, "2", None])
def test_a_slate_has_two_options(size):
    makers = (
        Answer.tie,
        lambda m: Answer.skip("", m),
        lambda m: Answer.best(0, m),
        lambda m: Answer.ranking([0, 1], m),
    )
    for make in makers:
        with pytest.raises(AnswerError, match="at least two options"):
            make(size)


def test_no_option_is_compared_with_itself():
    with pytest.raises(AnswerError, match="twice"):
        Answer.ranking([0, 1, 0], 3)
    with pytest.raises(AnswerError, match="position 1 is compared with itself"):
        Answer.pairs([[0, 1], [0, 0.5]])
    with pytest.raises(AnswerError, match="compared with itself"):
        Answer.pairs([[float("inf"), 1], [0, 0]])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [1, 0]], "positions 0 and 1: the two halves disagree"),
        ([[0, 0.7], [0.2, 0]], "disagree"),
        ([[0, 1], [NAN, 0]], "positions 0 and 1: one half is nan"),
        ([[0, 0], [NAN, 0]], "one half is nan"),
        ([[0, 1.5], [-0.5, 0]], "lie in"),
        ([[0, float("inf")], [0, 0]], "lie in"),
        ([[0, 1, 0], [0, 0, 1]], "square"),
        ([0, 1], "square"),
        ([[0]], "at least two rows"),
        ([[0, "x"], [0, 0]], "numbers"),
        ([[0, 1], [0]], "numbers"),
        (None, "square"),
    ],
)
def test_pair_matrices_that_contradict_themselves(matrix, message):
    with pytest.raises(AnswerError, match=message):
        Answer.pairs(matrix)


def test_pairs_not_compared():
    answer = Answer.pairs([[NAN, 1, NAN], [0, 0, 0], [NAN, 0, 0]])
    assert answer.wins.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert Answer.pairs([[0, 0.3], [0.7, 0]]).wins[1, 0] == 0.7


def test_wins_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Answer.tie().wins[0, 1] = 1


@st.composite
def answers(draw):
    size = draw(st.integers(2, 6))
    order = draw(st.permutations(range(size)))
    kind = draw(st.sampled_from(["best", "worst", "ranking", "below", "pairs", "tie", "skip"]))
    if kind == "best":
        return Answer.best(order[0], size)
    if kind == "worst":
        return Answer.worst(order[0], size)
    if kind == "ranking":
        return Answer.ranking(order[: draw(st.integers(2, size))], size)
    if kind == "below":
        return Answer.ranking(order[: draw(st.integers(1, size))], size, below=True)
    if kind == "tie":
        return Answer.tie(size)
    if kind == "skip":
        return Answer.skip(draw(st.text(max_size=5)), size)
    matrix = np.zeros((size, size))
    for j in range(size):
        for k in range(j):
            matrix[j, k] = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
            matrix[k, j] = 1 - matrix[j, k]
    return Answer.pairs(matrix)


@settings(max_examples=60, deadline=None)
@given(answers())
def test_json_and_the_form_of_wins(answer):
    back = Answer.from_json(json.loads(json.dumps(answer.to_json())))
    assert back == answer
    assert np.array_equal(back.wins, answer.wins)
    sums = answer.wins + answer.wins.T
    assert set(sums.ravel()) <= {0.0, 1.0}
    assert not np.diag(answer.wins).any()


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "guess", "size": 2},
        {"kind": "best", "size": 2},
        {"kind": "best", "size": 2, "order": []},
        {"kind": "best", "size": 3, "order": [0, 1]},
        {"kind": "best", "size": 2, "order": [5]},
        {"kind": "ranking", "size": 2, "order": None},
        {"kind": "pairs"},
        {"kind": "tie"},
        None,
        [],
    ],
)
def test_records_are_validated_again(record):
    with pytest.raises(AnswerError):
        Answer.from_json(record)


def test_an_option_alone_is_compared_with_nothing():
    answer = Answer.alone()
    assert answer.wins.tolist() == [[0.0]]
    assert Answer.from_json(answer.to_json()) == answer
    with pytest.raises(AnswerError, match="at least two"):
        Answer.best(0, 1)
