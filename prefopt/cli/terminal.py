"""Ask questions in a terminal, key by key, or over a pipe."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from prefopt.cli.keys import forget_typed, read_key
from prefopt.errors import AnswerError, StudyError
from prefopt.frontend.content import format_value
from prefopt.kinds import counted

HELP = "keys: 1-{m} the better one   = about the same   s skip   u undo   ? help   q quit (everything is kept)"


T = TypeVar("T")

#: How a question is put before a person: shows its options, numbered 1 to m in the order of ``query.shown``.
Show = Callable[[Any], None]


def say(text: str = "") -> None:
    """One line to the person, at once."""
    print(text, flush=True)


def params_text(params: Any) -> str:
    """Parameters on one line."""
    if isinstance(params, Mapping):
        return "  ".join(f"{k}={format_value(v)}" for k, v in params.items())
    return str(params)


def show_text(query: Any) -> None:
    """Every option as a line of parameters."""
    for number, candidate in enumerate(query.shown, start=1):
        say(f"  [{number}] {params_text(candidate.params)}")


def plainly(action: Callable[[], T]) -> T:
    """The result of ``action``; its warnings are said in a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    known = getattr(result, "note", "")  # a question says itself what is odd about it
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        if not known or known not in text:
            say(f"  note: {' '.join(text.split())}")
    return result


def session(
    study: Any,
    show: Show = show_text,
    *,
    read: Callable[[], str] = read_key,
    until: int | None = None,
    rater: str | None = None,
    ask: Callable[[], Any] | None = None,
) -> None:
    """Ask until the person quits, the input ends, or the study has enough; every answer is kept at once.

    Args:
        study: what to ask.
        show: puts a question before the person.
        read: the next key.
        until: ask until there are so many answers, whether or not the study has enough.
        rater: who answers.
        ask: instead of ``until`` and ``rater``: the next question, or a text: why there is none now.
    """
    try:
        enough = questions(study, show, read, until, rater, ask)
    except KeyboardInterrupt:
        enough = ""
    say(f"\nEnough: {enough}" if enough else "\nStopped; every answer is kept.")


def questions(
    study: Any,
    show: Show,
    read: Callable[[], str],
    until: int | None,
    rater: str | None = None,
    ask: Callable[[], Any] | None = None,
) -> str:
    """Ask one question after another; returns why there are enough, or "" when the person quits."""
    told_help = False
    asked = ask or (lambda: reason_to_stop(study, until) or study.ask(rater))
    while not isinstance(query := plainly(asked), str):
        left = study.remaining if until is None else until - study.answered
        more = f" (about {left} more)" if left is not None and ask is None else ""
        say(f"\nQuestion {query.number}{more}: {study.question}")
        if query.note:
            say(f"  ({query.note})")
        show(query)
        if not told_help:
            say("  " + HELP.format(m=len(query.shown)))
            told_help = True
        if not one_answer(study, query, read):
            return ""
    return query


def reason_to_stop(study: Any, until: int | None) -> str:
    """Why no further question is asked now, or ""."""
    if until is None:  # a validation round is asked to its end, however many answers there are
        return "" if study.progress().testing else plainly(lambda: str(study.enough))
    return f"the study has {counted(study.answered, 'answer')}" if study.answered >= until else ""


def one_answer(study: Any, query: Any, read: Callable[[], str]) -> bool:
    """Read keys until ``query`` is answered, skipped or gone; False when the person quits."""
    if read is read_key:
        forget_typed()
    began = time.monotonic()
    while True:
        key = read()
        if key == "q":
            return False
        try:
            if act(study, query, key, time.monotonic() - began):
                return True
        except (AnswerError, StudyError) as error:
            say(f"  {error}")


def act(study: Any, query: Any, key: str, seconds: float) -> bool:
    """Do what ``key`` says; True if the question is dealt with."""
    if key.isdecimal() and 1 <= int(key) <= len(query.shown):
        study.tell(query, best=query.shown[int(key) - 1].id, seconds=seconds)
        say(f"  -> {key}")
    elif key in ("=", "0"):
        study.tell(query, tie=True, seconds=seconds)
        say("  -> about the same")
    elif key == "s":
        study.tell(query, skip="skipped", seconds=seconds)
        say("  -> skipped")
    elif key == "u":
        study.undo(rater=query.rater)
        say("  -> the last answer is taken back")
    else:
        say(("  " if key == "?" else f"  {key!r} is not a key here; ") + HELP.format(m=len(query.shown)))
        return False
    return True


def tell_best(study: Any) -> None:
    """Print what the study recommends and how sure it is."""
    if not any(row["answer"] not in (None, "skip") and row["status"] != "automatic" for row in study.history()):
        say("\nNo answers yet, so nothing is known of the best.")
        return
    best = plainly(study.recommend)
    say(f"\nBest so far: {params_text(best.params)}")
    say(f"  {best.probability_best:.0%} sure that it is the best of {best.candidate_set}")
    say(f"  {best.scale}: {best.mean:.2f} ± {best.sd:.2f}")
    for other in best.runners_up:
        say(f"  next: {params_text(other.params)}  ({other.probability_best:.0%})")
    if best.remark:
        say(f"  {best.remark}")
    say(f"  ten more answers are expected to raise its chance to win by {plainly(study.expected_gain):.2f}")
    if study.validation() is not None:
        say(f"  {study.validation()}")
    tell_remarks(study)


def tell_remarks(study: Any) -> None:
    """Print what stands out in the answers: contradictions, repeats, raters who are not reliable."""
    for line in study.diagnostics().lines(lambda candidate: f"[{params_text(candidate.params)}]"):
        say(f"  note: {line}")
