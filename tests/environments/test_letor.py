"""Learning-to-rank files: what is read, that reading streams, and what is said of malformed lines."""

import gzip

import numpy as np
import pytest

from prefopt.environments.letor import Query, read_letor
from prefopt.errors import EnvironmentSpecError

GOOD = """2 qid:10 1:0.5 3:-7e1 # doc a
0 qid:10 2:3

# a comment alone
4 qid:9 1:1 2:2 3:3
"""


def written(tmp_path, text, name="data.txt"):
    path = tmp_path / name
    path.write_text(text)
    return path


def generated_file(path, rng, queries=6, n_features=5):
    """A file in the format of MSLR-WEB10K; returns the labels and features written."""
    wanted = []
    with path.open("w") as file:
        for q in range(queries):
            n = int(rng.integers(2, 9))
            labels, features = rng.integers(0, 5, n), rng.normal(size=(n, n_features)).round(6)
            for label, row in zip(labels, features, strict=True):
                file.write(f"{label} qid:{q + 1} " + " ".join(f"{f + 1}:{v}" for f, v in enumerate(row)) + "\n")
            wanted.append((labels, features))
    return wanted


def test_by_hand(tmp_path):
    first, second = read_letor(written(tmp_path, GOOD), n_features=3)
    assert (first.qid, second.qid) == ("10", "9")
    assert first.labels.tolist() == [2, 0] and second.labels.tolist() == [4]
    assert first.features.tolist() == [[0.5, 0, -70], [0, 3, 0]]
    assert second.features.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("packed", [False, True])
def test_generated_file_comes_back(tmp_path, packed):
    path = tmp_path / "train.txt"
    wanted = generated_file(path, np.random.default_rng(0))
    if packed:
        path = tmp_path / "train.txt.gz"
        path.write_bytes(gzip.compress((tmp_path / "train.txt").read_bytes()))
    read = list(read_letor(path, n_features=5))
    assert [q.qid for q in read] == [str(i + 1) for i in range(6)]
    for query, (labels, features) in zip(read, wanted, strict=True):
        np.testing.assert_array_equal(query.labels, labels)
        np.testing.assert_array_equal(query.features, features)


def test_reading_streams(tmp_path):
    """The first query is there before the broken line after the second one is looked at."""
    queries = read_letor(written(tmp_path, "1 qid:1 1:1\n1 qid:2 1:1\nbroken\n"), n_features=1)
    assert next(queries).qid == "1"
    with pytest.raises(EnvironmentSpecError, match="line 3"):
        next(queries)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x qid:1 1:0", "line 2: relevance label: expected a whole number 0 to 4, got 'x'"),
        ("-1 qid:1 1:0", "line 2: relevance label"),
        ("5 qid:1 1:0", "line 2: relevance label: expected 0 to 4, got 5 .*max_label"),
        ("1.5 qid:1 1:0", "line 2: relevance label"),
        ("1", "line 2: expected 'qid:ID' after the label, got nothing"),
        ("1 1:0", "line 2: expected 'qid:ID' after the label, got '1:0'"),
        ("1 qid: 1:0", "line 2: expected 'qid:ID'"),
        ("1 qid:1 1", "line 2: expected 'feature:value', got '1'"),
        ("1 qid:1 0:1", "line 2: feature number: expected 1 to 2, got 0"),
        ("1 qid:1 3:1", "line 2: feature number: expected 1 to 2, got 3 .*n_features"),
        ("1 qid:1 a:1", "line 2: feature number: expected a whole number"),
        ("1 qid:1 1:1 1:2", "line 2: feature 1 is given twice"),
        ("1 qid:1 2:x", "line 2: value of feature 2: expected a finite number, got 'x'"),
        ("1 qid:1 1:0 2:x", "line 2: value of feature 2: expected a finite number, got 'x'"),
        ("1 qid:1 1:inf 2:0", "line 2: value of feature 1: expected a finite number, got 'inf'"),
        ("1 qid:1 1:0 1:1", "line 2: feature 1 is given twice"),
        ("1 qid:1 2:nan", "line 2: value of feature 2: expected a finite number, got 'nan'"),
        ("1 qid:1 1:2:3", "line 2: value of feature 1: expected a finite number, got '2:3'"),
        ("1 qid:2 1:1\n1 qid:1 1:1", "line 3: query 1 ended above and starts again"),
    ],
)
def test_malformed_lines(tmp_path, line, message):
    with pytest.raises(EnvironmentSpecError, match=message):
        list(read_letor(written(tmp_path, f"1 qid:1 1:1\n{line}\n"), n_features=2))


def test_unreadable_files(tmp_path):
    with pytest.raises(EnvironmentSpecError, match=r"cannot read .*missing\.txt"):
        list(read_letor(tmp_path / "missing.txt"))
    with pytest.raises(EnvironmentSpecError, match="no documents"):
        list(read_letor(written(tmp_path, "# nothing\n")))
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(b"1 qid:1 1:1\n" * 1000)[:-12])
    with pytest.raises(EnvironmentSpecError, match=r"cannot read .*cut\.txt\.gz after line"):
        list(read_letor(cut))
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EnvironmentSpecError, match=r"cannot read .*binary\.txt"):
        list(read_letor(binary))


def test_query_shapes_must_fit():
    with pytest.raises(EnvironmentSpecError, match=r"query 7.*\(3,\) and \(2, 1\)"):
        Query("7", np.zeros(3, dtype=np.int64), np.zeros((2, 1)))
