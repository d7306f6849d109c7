"""Ask questions in a terminal, key by key, or line by line over a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from prefopt.errors import AnswerError, StudyError

HELP = "keys: 1-{m} the better one   = about the same   s skip   u undo   ? help   q quit (everything is kept)"


#: How a question is put before a person: shows its options, numbered 1 to m in the order of ``query.shown``.
Show = Callable[[Any], None]


def read_key() -> str:
    """One key from the keyboard, or one line from a pipe; "q" at its end or on control-C."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip() if line else "q"
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        return sys.stdin.read(1).strip()
    except KeyboardInterrupt:
        return "q"
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def say(text: str = "") -> None:
    """One line to the person, at once."""
    print(text, flush=True)


def params_text(params: Any) -> str:
    """Parameters on one line."""
    if isinstance(params, Mapping):
        return "  ".join(f"{k}={format_value(v)}" for k, v in params.items())
    return str(params)


def format_value(value: Any) -> str:
    """A number short enough to read, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show_text(query: Any) -> None:
    """Every option as a line of parameters."""
    for number, candidate in enumerate(query.shown, start=1):
        say(f"  [{number}] {params_text(candidate.params)}")


def session(study: Any, show: Show = show_text, *, read: Callable[[], str] = read_key) -> None:
    """Ask until the person quits, the input ends, or the study has enough; every answer is kept at once."""
    told_help = False
    while not study.enough:
        query = study.ask()
        left = study.remaining
        say(
            f"\nQuestion {query.number}" + (f" (about {left} more)" if left is not None else "") + f": {study.question}"
        )
        if query.note:
            say(f"  ({query.note})")
        show(query)
        if not told_help:
            say("  " + HELP.format(m=len(query.shown)))
            told_help = True
        if not one_answer(study, query, read):
            say("\nStopped; every answer is kept.")
            return
    say(f"\nEnough: {study.enough}")


def one_answer(study: Any, query: Any, read: Callable[[], str]) -> bool:
    """Read keys until ``query`` is answered, skipped or gone; False when the person quits."""
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
        study.undo()
        say("  -> the last answer is taken back")
    else:
        say(("  " if key == "?" else f"  {key!r} is not a key here; ") + HELP.format(m=len(query.shown)))
        return False
    return True


def tell_best(study: Any) -> None:
    """Print what the study recommends and how sure it is."""
    best = study.recommend()
    say(f"\nBest so far: {params_text(best.params)}")
    say(f"  {best.probability_best:.0%} sure that it is the best of {best.candidate_set}")
    say(f"  {best.scale}: {best.mean:.2f} ± {best.sd:.2f}")
    for other in best.runners_up:
        say(f"  next: {params_text(other.params)}  ({other.probability_best:.0%})")
    tell_remarks(study)


def tell_remarks(study: Any) -> None:
    """Print where answers contradict each other or repeat, if they do."""
    for line in study.diagnostics().lines(lambda candidate: f"[{params_text(candidate.params)}]"):
        say(f"  note: {line}")
