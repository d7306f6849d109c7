"""Reading learning-to-rank files (LETOR, SVMlight), such as a user's own copy of MSLR-WEB10K or MSLR-WEB30K."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import EnvironmentSpecError

FloatArray = NDArray[np.float64]
#: Features per document and the highest relevance grade of MSLR-WEB10K and MSLR-WEB30K.
MSLR_FEATURES, MSLR_MAX_LABEL = 136, 4


@dataclass(frozen=True, eq=False)
class Query:
    """One query and its n documents.

    Attributes:
        qid: its identifier in the file.
        labels: relevance grade of each document, (n,), 0 is irrelevant.
        features: (n, F), column f is feature f + 1 of the file.
    """

    qid: str
    labels: NDArray[np.int64]
    features: FloatArray

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.labels.shape != (len(self.features),) or not self.features.size:
            raise EnvironmentSpecError(
                f"query {self.qid}: expected labels (n,) and features (n, F) with n, F >= 1, got shapes "
                f"{self.labels.shape} and {self.features.shape}"
            )


def read_letor(
    path: str | Path, *, n_features: int = MSLR_FEATURES, max_label: int = MSLR_MAX_LABEL
) -> Iterator[Query]:
    """The queries of a file, one after the other; only one is in memory at a time.

    A line is one document: ``label qid:ID 1:value 2:value ... [# comment]``. Features count from 1, a
    missing one is 0, and the lines of one query are contiguous. Empty lines are skipped.

    Args:
        path: a text file, or a gzip-compressed one whose name ends in ``.gz``.
        n_features: F, features per document.
        max_label: the highest relevance grade.

    Raises:
        EnvironmentSpecError: the file cannot be read, holds no document, or a line is malformed; the message
            names the file, the line and the offending piece.
    """
    finished: set[str] = set()
    qid = ""
    labels: list[int] = []
    rows: list[FloatArray] = []
    for number, line in _lines(Path(path)):
        parsed = parse_line(line, f"{path}, line {number}", n_features, max_label)
        if parsed is None:
            continue
        label, new, row = parsed
        if rows and new != qid:
            finished.add(qid)
            yield Query(qid, np.array(labels, dtype=np.int64), np.array(rows))
            labels, rows = [], []
        if new in finished:
            raise EnvironmentSpecError(
                f"{path}, line {number}: query {new} ended above and starts again; sort the file so that the "
                "lines of one query stand together"
            )
        qid = new
        labels.append(label)
        rows.append(row)
    if not rows:
        raise EnvironmentSpecError(f"{path}: no documents; expected lines such as '2 qid:10 1:0.5 2:3'")
    yield Query(qid, np.array(labels, dtype=np.int64), np.array(rows))


def parse_line(line: str, where: str, n_features: int, max_label: int) -> tuple[int, str, FloatArray] | None:
    """Label, query and features (F,) of one line, or None if it is empty or only a comment.

    >>> parse_line("2 qid:10 1:0.5 3:7 # doc 4", "line 1", 3, 4)
    (2, '10', array([0.5, 0. , 7. ]))
    """
    tokens = line.split("#", 1)[0].split()
    if not tokens:
        return None
    label = _whole(tokens[0], 0, max_label, f"{where}: relevance label", "max_label")
    qid = tokens[1].removeprefix("qid:") if len(tokens) > 1 and tokens[1].startswith("qid:") else ""
    if not qid:
        found = repr(tokens[1]) if len(tokens) > 1 else "nothing"
        raise EnvironmentSpecError(f"{where}: expected 'qid:ID' after the label, got {found}")
    dense = _dense(tokens[2:], _heads(n_features))
    if dense is not None:
        return label, qid, dense
    row, given = np.zeros(n_features), set()
    for token in tokens[2:]:
        index, colon, value = token.partition(":")
        if not colon:
            raise EnvironmentSpecError(f"{where}: expected 'feature:value', got {token!r}")
        feature = _whole(index, 1, n_features, f"{where}: feature number", "n_features")
        if feature in given:
            raise EnvironmentSpecError(f"{where}: feature {feature} is given twice")
        given.add(feature)
        row[feature - 1] = _number(value, f"{where}: value of feature {feature}")
    return label, qid, row


@cache
def _heads(n_features: int) -> list[str]:
    return [f"{feature}:" for feature in range(1, n_features + 1)]


def _dense(tokens: list[str], heads: list[str]) -> FloatArray | None:
    """The features of a flawless line that gives all in order, the quick way; None for any other line."""
    if len(tokens) != len(heads) or [t[: len(h)] for t, h in zip(tokens, heads, strict=True)] != heads:
        return None
    try:
        row = np.array([float(t[len(h) :]) for t, h in zip(tokens, heads, strict=True)])
    except ValueError:
        return None
    return row if np.all(np.isfinite(row)) else None


def _whole(text: str, low: int, high: int, what: str, argument: str) -> int:
    """``text`` as a whole number in low .. high."""
    if not (text.isascii() and text.isdigit()):
        raise EnvironmentSpecError(f"{what}: expected a whole number {low} to {high}, got {text!r}")
    if not low <= int(text) <= high:
        raise EnvironmentSpecError(f"{what}: expected {low} to {high}, got {text} (other data: pass {argument}=...)")
    return int(text)


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise EnvironmentSpecError(f"{what}: expected a finite number, got {text!r}")
    return value


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a plain or compressed file, from 1."""
    number = 0
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                yield number, line
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise EnvironmentSpecError(f"cannot read {path} after line {number}: {error}") from error
