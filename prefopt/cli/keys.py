"""One key from a person: a key press in a terminal, a character over a pipe."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: Key presses within so many seconds after a question has appeared cannot be meant for it.
TOO_SOON = 0.2
#: The rest of an escape sequence (an arrow, Insert, F5) follows its first byte within so many seconds.
SEQUENCE = 0.05
#: Control-C, control-D.
STOP = {"\x03", "\x04"}


def read_key() -> str:
    """The next character that is no blank; "q" at the end of the input, on control-C and control-D.

    In a terminal, keys that send an escape sequence are passed over.
    """
    if sys.stdin.isatty():
        return _pressed()
    while (character := sys.stdin.read(1)) and character.isspace():
        pass
    return "q" if not character or character in STOP else character


def forget_typed() -> None:
    """In a terminal, drop what was typed before the question could be read; a pipe keeps everything."""
    if not sys.stdin.isatty():
        return
    import termios

    time.sleep(TOO_SOON)
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _pressed() -> str:
    handle = sys.stdin.fileno()
    try:
        with _key_by_key(handle):
            while True:
                first = os.read(handle, 1)
                if first == b"\x1b":
                    while select.select([handle], [], [], SEQUENCE)[0] and os.read(handle, 1):
                        pass
                    continue
                text = _rest_of_character(handle, first)
                if not text or text in STOP:
                    return "q"
                if not text.isspace():
                    return text
    except (KeyboardInterrupt, OSError):  # control-C, or the terminal was closed
        return "q"


def _rest_of_character(handle: int, first: bytes) -> str:
    """The character in UTF-8 that begins with ``first``."""
    more = sum(first >= least for least in (b"\xc0", b"\xe0", b"\xf0"))
    return (first + (os.read(handle, more) if more else b"")).decode(errors="replace")


@contextmanager
def _key_by_key(handle: int) -> Iterator[None]:
    """The terminal without waiting for the return key, and without showing what is typed."""
    import termios
    import tty

    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle, termios.TCSANOW)  # what was typed between two keys is not dropped here
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
