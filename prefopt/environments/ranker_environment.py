"""A simulated search engine's user: answers come from multileaving, regret from the preference matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.domain import Arms
from prefopt.environments.base import best_arm, check_matrix
from prefopt.environments.clicks import ClickModel, check_labels, get_click_model
from prefopt.environments.interleaving import credit_wins
from prefopt.environments.letor import MSLR_FEATURES, MSLR_MAX_LABEL, Query, read_letor
from prefopt.environments.rankers import columns, impression, preference_matrix, rank
from prefopt.errors import EnvironmentSpecError
from prefopt.seeding import stream

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankerEnvironment:
    """Single-feature rankers judged by clicks on a multileaved list of a random query.

    An answer compares every pair of places: more clicked documents win, equal credit is no comparison.
    An arm on two places drafts for both, and chance decides which has more credit. Two arms are
    interleaved; the click outcomes of three or more do not follow P exactly, as teams compete for places.

    Args:
        name: shown in tables and on plots.
        queries: the queries, held in memory.
        P: preference matrix of the rankers (K, K) that the regrets use; see ``preference_matrix``.
        features: feature column (0-based) of each ranker, (K,); all columns if None.
        click: a name in ``CLICK_MODELS``, or a ``ClickModel``.
        length: longest list shown.
        shared_prefix: see ``team_draft``.
        error: standard error of P (K, K), for the record.

    Raises:
        EnvironmentSpecError: no queries, grades that the click model lacks, or a matrix that does not fit.

    Source: the web-search experiment of Sui et al. 2017; Schuth et al. 2014.
    """

    name: str
    queries: Sequence[Query]
    P: FloatArray
    features: Sequence[int] | None = None
    click: str | ClickModel = "perfect"
    length: int = 10
    shared_prefix: bool = False
    error: FloatArray | None = None
    domain: Arms = field(init=False)
    best: int = field(init=False)
    model: ClickModel = field(init=False)

    feedback = "pairs"

    def __post_init__(self) -> None:
        P = check_matrix(self.P, self.name)
        model = get_click_model(self.click)
        if not self.queries or self.length < 1:
            raise EnvironmentSpecError(f"{self.name}: expected at least one query and a length of at least 1")
        for query in self.queries:
            check_labels(query.labels, model, f"{self.name}, query {query.qid}")
            if columns(query, self.features).shape[1] != len(P):
                raise EnvironmentSpecError(
                    f"{self.name}, query {query.qid}: {columns(query, self.features).shape[1]} rankers, but the "
                    f"preference matrix has {len(P)} rows"
                )
        derived = {"P": P, "model": model, "domain": Arms(len(P)), "best": best_arm(P)}
        for attribute, value in derived.items():
            object.__setattr__(self, attribute, value)

    def answer(self, slate: NDArray[np.int64], t: int, rng: np.random.Generator) -> Answer:
        """Multileave the rankers of ``slate`` (m,) for a random query and compare their credits.

        Args:
            slate: ranker indices, repetitions allowed.
            t: questions answered before; this user does not tire.
            rng: draws the query, the order of equal documents, the draft and the clicks.
        """
        query = self.queries[int(rng.integers(0, len(self.queries)))]
        chosen = columns(query, self.features)[:, np.asarray(slate, dtype=np.int64)]
        rankings = rank(chosen, rng, self.length)
        credit = impression(rankings, query.labels, self.model, self.length, self.shared_prefix, rng)
        return Answer.pairs(credit_wins(credit))

    def relabelled(self, order: NDArray[np.int64]) -> RankerEnvironment:
        """The same rankers with ranker ``order[i]`` called i (also a selection of them)."""
        features = range(len(self.P)) if self.features is None else self.features
        pick = np.ix_(order, order)
        error = None if self.error is None else self.error[pick]
        return replace(self, P=self.P[pick], error=error, features=[features[i] for i in order])

    def advantage(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray:
        """phi(b1, x) = P(best beats x) - 1/2 of each ranker index, (n,)."""
        return np.asarray(self.P[self.best, np.asarray(options, dtype=np.int64)] - 0.5)

    def utility_gap(self, options: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray | None:
        """None: rankers have no utility."""
        return None


def ranker_environment(
    path: str | Path,
    *,
    n_features: int = MSLR_FEATURES,
    max_label: int = MSLR_MAX_LABEL,
    queries: int | None = None,
    features: Sequence[int] | None = None,
    click: str | ClickModel = "perfect",
    length: int = 10,
    shared_prefix: bool = False,
    ties: str = "half",
    draws: int = 1,
    seed: int = 0,
    name: str | None = None,
) -> RankerEnvironment:
    """The rankers of a user's own learning-to-rank file as an environment for ``simulate``.

    Args:
        path: a LETOR file, see ``read_letor``.
        n_features: features per document.
        max_label: the highest relevance grade.
        queries: how many of the file's queries to keep in memory, from its beginning; all if None.
        features: columns (0-based) to use as rankers; all if None.
        click: a name in ``CLICK_MODELS``, or a ``ClickModel``.
        length: longest list shown.
        shared_prefix: see ``team_draft``.
        ties: rule of the preference matrix that regrets use, "half" or "drop"; see ``preference_matrix``.
        draws: interleavings per query and pair for that matrix.
        seed: of that matrix.
        name: shown in tables; by default the file's.

    Raises:
        EnvironmentSpecError: a malformed file (the line is named), or a setting out of range.
    """
    kept = list(islice(read_letor(path, n_features=n_features, max_label=max_label), queries))
    shown: Any = {"features": features, "click": click, "length": length, "shared_prefix": shared_prefix}
    P, error = preference_matrix(kept, stream(seed, 0), draws=draws, ties=ties, **shown)
    return RankerEnvironment(name or Path(path).name.split(".")[0], kept, P, error=error, **shown)
