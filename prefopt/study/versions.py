"""A new version of a study: another space, question or policy, with the old answers that still mean something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from prefopt.errors import DomainError, StudyError
from prefopt.space import Space, as_space
from prefopt.study.conduct import Conduct
from prefopt.study.create import checked_row
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.options import Options
from prefopt.study.said import Lesson
from prefopt.study.storage import Storage, StudyRecord

#: What of a study ``new_version`` may change, besides space and conduct.
PLAIN = ("question", "strategy", "settings", "query_size", "budget", "seed")
CONDUCT = ("repeats", "overlap", "lease")


def begin_version(
    storage: Storage, state: State, changes: Mapping[str, Any], space: Any, fill: Mapping[str, Any]
) -> StudyRecord:
    """Begin the version in ``storage``; see ``Study.new_version``.

    Raises:
        StudyError: nothing is changed, or another process has begun a version at the same moment.
        SettingError: a setting out of range, or a strategy that does not fit the space.
    """
    old, now = state.record, as_space(state.space if space is None else space)
    given = {name: value for name, value in changes.items() if value is not None}
    if unknown := set(given) - {*PLAIN, *CONDUCT}:
        raise StudyError(f"a new version changes {', '.join(('space', *PLAIN, *CONDUCT))}; got {sorted(unknown)}")
    if not given and now == state.space:
        raise StudyError("a new version needs a change: space=..., question=..., strategy=... or another setting")
    plain = {name: getattr(old, name) for name in PLAIN} | {name: given[name] for name in PLAIN if name in given}
    if plain["strategy"] != old.strategy and "settings" not in given:
        plain["settings"] = {}
    row = checked_row(now, name=old.name, **plain)
    conduct = Conduct(**(state.conduct.to_json() | {name: given[name] for name in CONDUCT if name in given}))
    carried, left_out = _carried(state, Options(now), fill)
    number = 1 + (state.version or {}).get("number", 1)
    about = {"number": number, "of": aside(old.name, number - 1), "kept": len(carried), "left_out": left_out}
    log = [
        Event("configured", conduct.to_json(), slot="configured"),
        Event("version", {**about, "changed": sorted(given) + ["space"] * (now != state.space)}, slot="version"),
        *state.raters.carried(),
        *carried,
    ]
    if not storage.supersede(old, about["of"], row, log):
        raise StudyError(f"study {old.name!r}: a version {number} was begun by another process; load_study opens it")
    found = storage.find(old.name, Space.from_json)
    if found is None:
        raise StudyError(f"study {old.name!r} is gone from {storage.shown!r}")
    return found


def older(storage: Storage, state: State) -> Iterator[StudyRecord]:
    """The versions before, latest first, as far as they are in ``storage``."""
    while state.version is not None:
        record = storage.find(state.version["of"], Space.from_json)
        if record is None:
            return
        yield record
        state = State(record)
        for event in storage.read(record):
            state.apply(event)


def aside(name: str, number: int) -> str:
    """What an older version is called from now on."""
    return f"{name} (version {number})"


def _carried(state: State, options: Options, fill: Mapping[str, Any]) -> tuple[list[Event], int]:
    """The answers that fit the new space, as comparisons made elsewhere, and how many do not."""
    kept, left_out = [], 0
    for lesson in state.lessons():
        event = _event(state, lesson, options, fill)
        if event is not None:
            kept.append(event)
        elif lesson.answer.kind != "skip":
            left_out += 1
    return kept, left_out


def _event(state: State, lesson: Lesson, options: Options, fill: Mapping[str, Any]) -> Event | None:
    slate = list(_encoded(state, lesson.slate, options, fill))
    out = list(_encoded(state, lesson.infeasible, options, fill))
    distinct = all(not options.same(a, b) for i, a in enumerate(slate) for b in slate[:i])
    if len(slate) < len(lesson.slate) or not distinct or (lesson.answer.kind == "skip" and not out):
        return None
    payload = {"slate": slate, "answer": lesson.answer.to_json(), "from": lesson.event.number}
    return replace(
        lesson.event,
        kind="compared",
        payload=payload | ({"out": out} if out else {}),
        slot="",
        token=None,
        number=0,
        time=0.0,
    )


def _encoded(state: State, ids: tuple[int, ...], options: Options, fill: Mapping[str, Any]) -> Iterator[Any]:
    """Those of the options ``ids`` that are in the new space, as in its events."""
    for i in ids:
        params = state.options.params(i)
        names = [p.name for p in getattr(options.space, "parameters", ())]
        if isinstance(params, Mapping) and names:
            known = {**fill, **params}
            params = {name: known[name] for name in names if name in known}
        with suppress(DomainError):
            yield options.encode(params)
