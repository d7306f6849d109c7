"""From an Optuna preferential study to a study of ours, and back."""

from __future__ import annotations

import warnings
from typing import Any

from prefopt.answer import Answer
from prefopt.errors import MissingDependency, StudyError
from prefopt.integrations.preferences import read_preferences
from prefopt.parameters import Categorical, Int
from prefopt.space import Space
from prefopt.study.create import create_study
from prefopt.study.csv_files import OwnAnswer
from prefopt.study.study import Study

try:
    import optuna
except ImportError as error:
    raise MissingDependency("optuna and optuna-dashboard", "optuna", "prefopt.integrations.optuna_studies") from error


def from_preferential(source: Any, **keywords: Any) -> Study:
    """A study of ours with the trials and preferences of an ``optuna_dashboard`` preferential study.

    Trials are candidates with the own ids "trial 0", "trial 1", ...; trials with the same parameters are one. It
    recommends after any answers, also where no trial of the source was never beaten.

    Args:
        source: the ``PreferentialStudy`` (or the ``optuna.Study`` inside).
        keywords: for ``create_study``, such as ``storage``.

    Raises:
        StudyError: the trials share no parameter with the same range.
    """
    inner = getattr(source, "_study", source)
    trials = [t for t in inner.get_trials(deepcopy=False) if t.params]
    shared = dict(trials[0].distributions) if trials else {}
    for trial in trials:
        shared = {name: d for name, d in shared.items() if trial.distributions.get(name) == d}
    if not shared:
        raise StudyError(f"the {len(trials)} trials share no parameter with the same range, so there is no space")
    space = Space.from_optuna(shared)
    first: dict[str, str] = {}
    owner: dict[int, str] = {}
    for trial in trials:
        params = {name: trial.params[name] for name in shared}
        owner[trial.number] = first.setdefault(repr(space.encode(params)), f"trial {trial.number}")
    designs = {f"trial {t.number}": {n: t.params[n] for n in shared} for t in trials}
    said = read_preferences(inner, shared)
    answers = []
    for numbers, (_, answer) in zip(said.trials, said.answers, strict=True):
        ids = tuple(owner[n] for n in numbers)
        if len(set(ids)) < len(ids):
            warnings.warn(f"trials {numbers} have the same parameters: left out what was said of them", stacklevel=2)
        else:
            answers.append(OwnAnswer(ids, answer))
    study = create_study(space, **keywords)
    study.add_designs({name: designs[name] for name in dict.fromkeys(owner.values())}, answers)
    return study


def to_preferential(study: Study, target: Any) -> int:
    """Add the candidates of ``study`` as trials, and what was said of them as preferences, to a ``PreferentialStudy``.

    Ties and skips have no place there.

    Args:
        study: a study over named parameters, or a list of options (a categorical parameter ``option``).
        target: an ``optuna_dashboard`` preferential study, usually empty.

    Returns:
        How many answers could be reported.
    """
    distributions = _distributions(study.space)
    first = len(target.trials)
    place = {}
    for number, candidate in enumerate(study.ids):
        params = study.params(candidate)
        values = params if isinstance(params, dict) and "option" not in distributions else {"option": params}
        target.add_trial(
            optuna.create_trial(
                params=values, distributions=distributions, value=0.0, user_attrs={"prefopt candidate": candidate}
            )
        )
        place[candidate] = first + number
    trials = target.get_trials()
    reported = 0
    for ids, answer in study.said():
        reports = _reports(answer)
        for better, worse in reports:
            target.report_preference([trials[place[ids[p]]] for p in better], [trials[place[ids[p]]] for p in worse])
        reported += bool(reports)
    return reported


def _reports(answer: Answer) -> list[tuple[list[int], list[int]]]:
    """Pairs (better, worse) of positions, one for one answer where the dashboard knows the kind."""
    rest = [p for p in range(answer.size) if p not in answer.order]
    if answer.kind == "best":
        return [(list(answer.order), rest)]
    if answer.kind == "worst":
        return [(rest, list(answer.order))]
    wins = answer.wins
    return [([j], [k]) for j in range(answer.size) for k in range(answer.size) if wins[j, k] > wins[k, j]]


def _distributions(space: Any) -> dict[str, Any]:
    if not isinstance(space, Space):
        items = getattr(space, "items", None)
        if items is None or not all(isinstance(item, str | int | float) for item in items):
            raise StudyError(f"Optuna takes named parameters or options that are texts or numbers, got {space!r}")
        return {"option": optuna.distributions.CategoricalDistribution(list(items))}
    made = {}
    for p in space.parameters:
        if isinstance(p, Categorical):
            made[p.name] = optuna.distributions.CategoricalDistribution(list(p.choices))
        else:
            kind = "IntDistribution" if isinstance(p, Int) else "FloatDistribution"
            step = {} if p.step is None else {"step": p.step}  # type: ignore[attr-defined]
            made[p.name] = getattr(optuna.distributions, kind)(p.low, p.high, log=p.log, **step)  # type: ignore[attr-defined]
    return made
