"""Start a study, or open one again."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from prefopt.domain import Arms, Box
from prefopt.errors import NoStudyError, SettingError, StudyError, did_you_mean
from prefopt.kinds import counted, is_whole
from prefopt.policies import get_entry, resolve_settings
from prefopt.space import Space, as_space
from prefopt.study.conduct import LEASE, Conduct
from prefopt.study.events import Event
from prefopt.study.filling import MOST
from prefopt.study.learner import build_policy
from prefopt.study.naming import check_text, is_storable
from prefopt.study.storage import Storage, StudyRecord
from prefopt.study.study import Study
from prefopt.study.urls import shown

#: What a person may want, and the strategy for it where options have neighbours.
AIMS = {"best": "knowledge-gradient", "while-learning": "kernel-self-sparring"}


def create_study(
    space: Any,
    *,
    query_size: int = 2,
    storage: str | PathLike[str] | None = None,
    study_name: str = "study",
    seed: int | None = None,
    strategy: str | None = None,
    aim: str = "best",
    settings: Mapping[str, Any] | None = None,
    budget: int | None = None,
    load_if_exists: bool = False,
    question: str = "Which is better?",
    repeats: float | None = None,
    overlap: float = 0.0,
    lease: float | None = LEASE,
) -> Study:
    """A new study.

    Args:
        space: a ``Space``, a domain, a dict of Optuna distributions, or a list of arms.
        query_size: how many distinct options a question shows, 2 to 6 (all of them if there are fewer; strategies with
            slates of varying length choose fewer). Where the policy proposes an option twice, another one takes the
            place, and the policy is told what was said of the options shown.
        storage: ``"study.db"`` (an SQLite file), ``"postgresql://user@host/database"`` (extra ``postgres``) for several
            machines, or None to keep it in memory.
        study_name: its name in the storage.
        seed: same seed and same answers, same questions; None draws one and stores it.
        strategy: name of a policy (``prefopt list policies``); None chooses by the space and ``aim``. It is kept, so
            that the study can be opened again; a class of your own gets a name by an ``Entry`` in
            ``prefopt.policies.POLICIES``.
        aim: "best" to find the best option in few answers, whatever is shown on the way, or "while-learning" if what is
            shown should be good already. Of a list without neighbours both mean the same strategy.
        settings: the policy's hyper-parameters, or ``{"preset": ...}``.
        budget: how many answers are planned, which is also what a policy that needs a horizon is told.
        load_if_exists: open the study of that name if there is one, instead of raising.
        question: the sentence put to the person.
        repeats: share of questions, 0 to 0.5, that secretly repeat one of the same rater's with the sides swapped, from
            which ``diagnostics`` tells how reliable the rater is; None is 0.07 for raters who have a name.
        overlap: share of questions, 0 to 0.5, that another rater has answered before, so that raters can be compared.
        lease: seconds for which a question is reserved for its rater; after that it may be asked to another. None for
            ever.

    Raises:
        StudyError: the name is taken or none, or the storage cannot be opened.
        SettingError: a setting out of range, or a strategy that does not fit the space.

    >>> study = create_study(["tea", "coffee", "cocoa"], seed=1)
    >>> query = study.ask()
    >>> study.tell(query, best=query.shown[0])
    >>> study.answered
    1
    """
    space, conduct = as_space(space), Conduct(repeats, overlap, lease)
    _check_texts(storage, study_name=study_name, question=question)
    row = checked_row(
        space,
        name=study_name,
        query_size=query_size,
        seed=seed,
        strategy=chosen_strategy(space.domain, strategy, aim),
        settings=settings,
        budget=budget,
        question=question,
    )
    database = Storage(None if storage is None else str(storage))
    log = [Event("configured", conduct.to_json(), slot="configured")]
    if not database.create(row, log) and not load_if_exists:
        database.close()
        raise StudyError(
            f"storage {shown(storage)!r} has a study {study_name!r} already: load_study({shown(storage)!r}, "
            f"study_name={study_name!r}) opens it, load_if_exists=True does so by itself"
        )
    return _opened(database, study_name)


def checked_row(
    space: Any,
    *,
    name: str,
    query_size: int,
    seed: int | None,
    strategy: str,
    settings: Mapping[str, Any] | None,
    budget: int | None,
    question: str,
) -> dict[str, Any]:
    """The row of a study in its storage, from the arguments of ``create_study``; raises as that does."""
    _check_texts(None, study_name=name, question=question)
    _check_count("query_size", query_size, 2)
    if budget is not None:
        _check_count("budget", budget, 1)
    row = {
        "name": name,
        "seed": _checked_seed(seed),
        "space": space.to_json(),
        "strategy": strategy,
        "settings": _storable(resolve_settings(strategy, {} if settings is None else settings)),
        "query_size": int(query_size),
        "budget": budget,
        "question": question,
        "version": version("prefopt-bo"),
    }
    if isinstance(space.domain, Box):
        space.domain.sample(1, np.random.default_rng(0))  # constraints that nothing fits are said here
    check_strategy(StudyRecord(**{**row, "space": space, "id": 0, "created": 0.0}))
    size = getattr(space.domain, "size", query_size)
    if 1 < size < query_size:
        warnings.warn(
            f"query_size={query_size}, but there are {counted(size, 'option')}: a question shows all of them",
            stacklevel=3,
        )
    return row


def load_study(
    storage: str, *, study_name: str | None = None, budget: int | None = None, question: str | None = None
) -> Study:
    """Open a study again, exactly where it was; a missing file is not created.

    Args:
        storage: as given to ``create_study``.
        study_name: may be left out if the storage holds only one study.
        budget: another number of planned answers, kept from now on: a finished study goes on with a larger one.
        question: another sentence put to the person, kept from now on; only while nobody has answered.

    Raises:
        NoStudyError: no such study (the message lists those there are) or no such file.
        StudyError: several studies and no name, written by a newer prefopt, or another question after answers.
        SettingError: ``budget`` is no whole number of at least 1.
    """
    if budget is not None:
        _check_count("budget", budget, 1)
    database = Storage(storage, create=False)
    names = database.names()
    if study_name is None and len(names) == 1:
        study_name = names[0]
    if study_name not in names:
        database.close()
        held = f"it holds {', '.join(map(repr, names))}" if names else "it holds no study; create_study makes one"
        if study_name is None and names:
            raise StudyError(
                f"storage {shown(storage)!r}: say which study, study_name=... (in the terminal --name); {held}"
            )
        wanted = "no study" if study_name is None else f"study {study_name!r} is not there"
        raise NoStudyError(f"storage {shown(storage)!r}: {wanted}; {held}")
    study = _opened(database, study_name)
    if question is not None and question != study.question and study.answered:
        database.close()
        raise StudyError(
            f"study {study_name!r} has {counted(study.answered, 'answer')} to {study.question!r}, and {question!r} is "
            f"another question. Leave it as it was; or load_study(...).new_version(question={question!r}) begins a new "
            "version that keeps these answers"
        )
    changes = {"budget": budget, "question": question}
    if given := {name: value for name, value in changes.items() if value is not None}:
        database.change(study_name, **given)
        return _opened(database, study_name)
    return study


def default_strategy(domain: Any, aim: str = "best") -> str:
    """The policy for people who do not choose one: a Gaussian process where options have neighbours."""
    return "ind-self-sparring" if isinstance(domain, Arms) else AIMS[aim]


def chosen_strategy(domain: Any, strategy: str | None, aim: str) -> str:
    """``strategy``, or the default one for ``aim``."""
    if not isinstance(aim, str) or aim not in AIMS:
        hint = did_you_mean(str(aim), AIMS)
        raise SettingError(f"unknown aim {aim!r}; expected one of {', '.join(map(repr, AIMS))}{hint}")
    if strategy is None:
        return default_strategy(domain, aim)
    if aim != "best":
        raise SettingError(f"aim={aim!r} chooses a strategy, and strategy={strategy!r} is given: leave one of them out")
    return strategy


def check_strategy(record: StudyRecord) -> None:
    """Raise SettingError unless the strategy takes the space and the number of options shown."""
    entry, domain = get_entry(record.strategy), record.space.domain
    if isinstance(domain, Box) and "box" not in entry.domains:
        raise SettingError(
            f"strategy {record.strategy!r} needs a finite list or grid of options, this space is continuous: give its "
            "parameters a step, or take strategy='knowledge-gradient'"
        )
    if entry.slates == "2" and record.query_size != 2:
        raise SettingError(
            f"strategy {record.strategy!r} compares two options at a time, got query_size={record.query_size}: take "
            "query_size=2 or a strategy for more ('prefopt list policies' shows them)"
        )
    if record.settings.get("slate_size", record.query_size) != record.query_size:
        raise SettingError(
            f"settings say slate_size={record.settings['slate_size']!r}, the study shows "
            f"query_size={record.query_size} options per question: leave slate_size out"
        )
    if record.query_size > MOST:
        raise SettingError(f"a person compares 2 to {MOST} options at once, got query_size={record.query_size}")
    build_policy(record, domain)


def _opened(database: Storage, name: str) -> Study:
    record = database.find(name, Space.from_json)
    if record is None:
        raise StudyError(f"storage {database.shown!r}: study {name!r} is gone; it holds {database.names()}")
    return Study(database, record)


def _check_texts(storage: Any, study_name: Any, question: Any) -> None:
    if storage is not None and (not isinstance(storage, str | PathLike) or not str(storage).strip()):
        raise StudyError(f"storage must be a file name, a postgresql:// URL, or None for memory, got {storage!r}")
    for name, value in (("study_name", study_name), ("question", question)):
        if not isinstance(value, str) or not value.strip() or not is_storable(value):
            raise StudyError(f"{name} must be a text that is not empty, got {value!r}")
    check_text(study_name=study_name)


def _storable(settings: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(settings, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"settings of a study are kept in its file, so they are numbers, texts, lists and dicts: {error}"
        ) from error


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(31)
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise SettingError(f"seed must be a whole number from 0 to 2**63 - 1, got {seed!r}")
    return int(seed)


def _check_count(name: str, value: Any, least: int) -> None:
    if not is_whole(value) or value < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, got {value!r}")
