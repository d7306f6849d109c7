"""From what the command line names to a study: found, created, or brought in line with its edited study file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefopt.cli.files import StudyFile, read_file
from prefopt.errors import NoStudyError, PrefoptError, StudyError
from prefopt.kinds import counted

#: What of a study file ``create_study`` takes as it is.
PASSED = ("question", "query_size", "budget", "seed", "strategy", "aim", "settings", "repeats", "overlap", "lease")


@dataclass(frozen=True)
class Opened:
    """A study, where it is kept, the file's render hook, and what the person should know of the opening."""

    study: Any
    storage: str
    render: str | None = None
    notes: tuple[str, ...] = ()

    def planned(self, answers: int) -> Opened:
        """The same with a budget of at least ``answers``, if it has a budget."""
        from prefopt.study import load_study

        budget = self.study.budget
        if budget is None or budget >= answers:
            return self
        return Opened(
            load_study(self.storage, study_name=self.study.name, budget=answers), self.storage, self.render, self.notes
        )


def open_study(where: str, *, create: bool = False, name: str | None = None) -> Opened:
    """The study at ``where``: a study file, a storage file, or a database URL.

    Args:
        where: what to open.
        create: make the study of a study file at first use, and adopt what was edited in it since.
        name: which study of a storage that holds several.

    Raises:
        StudyError: it is not there, or its study file was edited in what cannot be changed any more.
    """
    from prefopt.study import load_study

    if not where.endswith(".toml"):
        check_storage(where)
        return Opened(load_study(where, study_name=name), where)
    file = read_file(Path(where))
    if name not in (None, file.name):
        raise StudyError(f"--name says which study of a .db file or database; {where} names its own, {file.name!r}")
    try:
        found = load_study(file.storage, study_name=file.name)
    except NoStudyError as error:
        if Path(file.storage).is_dir():
            raise StudyError(f"{where}: storage {file.storage!r} is a folder, expected a file") from error
        if not create:
            raise StudyError(
                f"study {file.name!r} of {where} has no question yet; begin with: prefopt run {shlex.quote(where)}"
            ) from error
        return Opened(_created(file), file.storage, file.spec.get("render"))
    if not create:
        return Opened(found, file.storage, file.spec.get("render"))
    spec = {"query_size": 2, "settings": {}, **file.spec}
    found, notes = adopt(found, file.storage, where, spec, file.space())
    return Opened(found, file.storage, file.spec.get("render"), notes)


def check_storage(where: str) -> None:
    """Raise StudyError if ``where`` is a file name and no such file is there."""
    if "://" in where or Path(where).is_file():
        return
    what = "is a folder" if Path(where).is_dir() else "is not there"
    raise StudyError(
        f"{where} {what}; expected a study.toml, a study's .db file or a database URL. "
        "`prefopt new study.toml` begins a study, `prefopt run study.toml` asks"
    )


def _created(file: StudyFile) -> Any:
    from prefopt.study import create_study

    keywords = {key: file.spec[key] for key in PASSED if key in file.spec}
    try:
        return create_study(file.space(), storage=file.storage, study_name=file.name, load_if_exists=True, **keywords)
    except StudyError:
        raise
    except PrefoptError as error:
        raise StudyError(f"{file.path}: {error}") from error


def adopt(study: Any, storage: str, where: str, spec: Mapping[str, Any], space: Any) -> tuple[Any, tuple[str, ...]]:
    """The study with what was changed in ``spec`` since: more answers, another question, new options of a list.

    Returns:
        The study and lines that say what was done.

    Raises:
        StudyError: something else was changed; nothing is adopted.
    """
    from prefopt.study import load_study
    from prefopt.study.urls import shown

    found = list(differences(study, spec, space))
    if found:
        listed = "".join(f"\n  {line}" for line in found)
        raise StudyError(
            f"{where} does not fit study {study.name!r} in {shown(storage)} ({counted(study.answered, 'answer')}) any "
            f"more:{listed}\n"
            f"Put this back; or begin a new version that keeps the answers that still fit: prefopt new "
            f"{shlex.quote(where)} --version; or a new study with another name or storage."
        )
    notes, changes = [], {}
    if "question" in spec and spec["question"] != study.question:
        changes["question"] = spec["question"]
    budget, planned = spec.get("budget"), study.budget
    if budget is not None and (planned is None or budget > planned):
        changes["budget"] = budget
        notes.append(f"{budget} answers are planned now ({'no number' if planned is None else planned} before)")
    elif budget is not None and budget < planned:
        notes.append(f"{planned} answers stay planned; the budget of {budget} in {where} is smaller")
    if changes:
        study = load_study(storage, study_name=study.name, **changes)
    for item in new_options(study, space):
        study.add(item)
        notes.append(f"new option: {item}")
    return study, tuple(notes)


def begin_version(where: str) -> Any:
    """A new version of the study of the study file ``where``, with everything that was edited in it.

    Raises:
        StudyError: nothing was edited.
    """
    from prefopt.study import load_study

    file = read_file(Path(where))
    study = load_study(file.storage, study_name=file.name)
    now = {**vars(study.record), **vars(study.conduct)}
    changes = {key: file.spec[key] for key in PASSED if key in file.spec and file.spec[key] != now[key]}
    space = file.space()
    if not changes and space == study.space:
        raise StudyError(
            f"{where} says what study {file.name!r} has already: edit what is asked or what can be chosen in it, then "
            f"prefopt new {shlex.quote(where)} --version begins the new version"
        )
    return study.new_version(space=None if space == study.record.space else space, **changes)


def differences(study: Any, spec: Mapping[str, Any], space: Any) -> Iterator[str]:
    """What ``spec`` and ``space`` say otherwise than the study, and cannot be changed, a line each."""
    from prefopt.policies import resolve_settings
    from prefopt.study.create import chosen_strategy

    record = study.record
    yield from space_differences(record.space, study.space, space)
    if "question" in spec and study.answered and spec["question"] != study.question:
        yield f"question = {spec['question']!r}, the answers are to {study.question!r}"
    for key in ("seed", "strategy", "query_size"):
        if key in spec and spec[key] != getattr(record, key):
            yield f"{key} = {spec[key]!r}, the study has {getattr(record, key)!r}"
    for key in ("repeats", "overlap", "lease"):
        if key in spec and spec[key] != getattr(study.conduct, key):
            yield f"{key} = {spec[key]!r}, the study has {getattr(study.conduct, key)!r}"
    if "aim" in spec and "strategy" not in spec:
        wanted = chosen_strategy(record.space.domain, None, spec["aim"])
        if wanted != record.strategy:
            yield f"aim = {spec['aim']!r} is strategy {wanted!r}, the study has {record.strategy!r}"
    if "settings" in spec:
        settings = resolve_settings(record.strategy, spec["settings"])
        if settings != record.settings:
            yield f"settings {settings}, the study has {record.settings}"


def space_differences(created: Any, now: Any, given: Any) -> Iterator[str]:
    """What ``given`` says otherwise than the space a study was created with and has by now."""
    from prefopt.items import Options
    from prefopt.space import Space

    if isinstance(created, Options) and isinstance(given, Options):
        gone = [item for item in created.items if item not in given.items]
        yield from (f"option {item!r} is not in the list any more" for item in gone)
    elif isinstance(created, Space) and isinstance(given, Space):
        old, new = ({p.name: p for p in space.parameters} for space in (created, given))
        yield from (f"parameter {name} is not in the study" for name in new if name not in old)
        yield from (f"parameter {name} is gone" for name in old if name not in new)
        both = [name for name in new if name in old and old[name] != new[name]]
        yield from (f"parameter {new[name]!r}, the study has {old[name]!r}" for name in both)
        if old == new and created != given:
            yield "the order of the parameters or the constraints are others"
    else:
        yield f"{given!r}, the study has {now!r}"


def new_options(study: Any, space: Any) -> list[Any]:
    """The items of ``space``, a list of options, that the study does not have yet."""
    from prefopt.items import Options

    if not isinstance(space, Options) or not isinstance(study.space, Options):
        return []
    return [item for item in space.items if item not in study.space.items]
