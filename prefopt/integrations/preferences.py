"""What people said in an ``optuna_dashboard.preferential`` study, as answers about parameters."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from prefopt.answer import Answer

#: Under these names a preferential study keeps its answers, each a list of pairs (better, worse) of trial numbers,
#: and the trials that were skipped.
VALUES, SKIPPED = "preference:values", "preference:skip_trial:"

Params = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What is known of a preferential study.

    Attributes:
        answers: trials' parameters and what was said of them, in an order that depends on nothing but the answers.
        trials: the numbers of the same trials.
        active: parameters of the trials that are neither reported worse nor skipped.
        skipped: those of the skipped ones.
    """

    answers: list[tuple[list[Params], Answer]]
    trials: list[list[int]]
    active: list[Params]
    skipped: list[Params]


def read_preferences(study: Any, names: Collection[str]) -> Said:
    """The answers of an Optuna ``Study`` that has preferences, about the parameters ``names``.

    A trial that was reported better than several at once is the best of them, one reported worse the worst. A trial
    "compared with itself" says nothing and is left out with a warning.
    """
    attrs = study._storage.get_study_system_attrs(study._study_id)  # as the dashboard's own sampler reads them
    trials = {t.number: t for t in study.get_trials(deepcopy=False) if set(names) <= set(t.params)}
    params = {n: {name: t.params[name] for name in names} for n, t in trials.items()}
    groups = [[(int(b), int(w)) for b, w in pairs] for key, pairs in attrs.items() if key.startswith(VALUES)]
    found = [made for pairs in sorted(groups, key=lambda g: (sorted(map(max, g)), g)) for made in _answers(pairs)]
    found = [(numbers, answer) for numbers, answer in found if all(n in params for n in numbers)]
    worse = {w for pairs in groups for b, w in pairs if b != w}
    skipped = {n for n, t in trials.items() if f"{SKIPPED}{t._trial_id}" in attrs}
    return Said(
        answers=[([params[n] for n in numbers], answer) for numbers, answer in found],
        trials=[numbers for numbers, _ in found],
        active=[params[n] for n, t in trials.items() if n not in worse | skipped and _is_shown(t)],
        skipped=[params[n] for n in sorted(skipped)],
    )


def _is_shown(trial: Any) -> bool:
    return trial.state.name in ("RUNNING", "COMPLETE")


def _answers(pairs: list[tuple[int, int]]) -> list[tuple[list[int], Answer]]:
    """One report as one answer where it is one, else pair by pair."""
    kept = [(b, w) for b, w in pairs if b != w]
    if len(kept) < len(pairs):
        alone = sorted({b for b, w in pairs if b == w})
        warnings.warn(f"trials {alone} were compared with themselves, which says nothing: left out", stacklevel=4)
    better, worse = list(dict.fromkeys(b for b, _ in kept)), list(dict.fromkeys(w for _, w in kept))
    if len(kept) > 1 and len(better) == 1 and len(worse) == len(kept):
        return [([*better, *worse], Answer.best(0, 1 + len(worse)))]
    if len(kept) > 1 and len(worse) == 1 and len(better) == len(kept):
        return [([*worse, *better], Answer.worst(0, 1 + len(better)))]
    return [([b, w], Answer.duel(0)) for b, w in kept]
