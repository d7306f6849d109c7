"""How a candidate is shown: a Python function, a command, or its parameters as text."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from prefopt.cli.terminal import Show, say, show_text
from prefopt.errors import StudyError


def load_function(name: str) -> Callable[..., Any]:
    """The function called ``module:function``; the working folder is searched too.

    Raises:
        StudyError: it cannot be imported or called.
    """
    module, _, function = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise StudyError(f"render {name!r}: expected 'module:function' that can be imported here ({error})") from error
    if not callable(found):
        raise StudyError(f"render {name!r} is a {type(found).__name__}, expected a function of the parameters")
    return found  # type: ignore[no-any-return]


def viewer(path: Path) -> list[str]:
    """The command that opens a file with the system's own program."""
    if sys.platform == "darwin":
        return ["open", str(path)]
    if sys.platform == "win32":
        return ["cmd", "/c", "start", "", str(path)]
    return ["xdg-open", str(path)]


def fill(template: str, params: Any) -> list[str]:
    """The words of a command template with ``{name}`` replaced by parameters (``{value}`` for a plain option).

    >>> fill("play --freq {hz}", {"hz": 440.0})
    ['play', '--freq', '440.0']
    """
    values = params if isinstance(params, dict) else {"value": params}
    try:
        return [word.format(**values) for word in shlex.split(template)]
    except (KeyError, IndexError, ValueError) as error:
        raise StudyError(f"render command {template!r}: no parameter {error}; there are {', '.join(values)}") from error


#: Viewers that were started and may still be open.
_viewers: list[subprocess.Popen[bytes]] = []


def run_command(words: list[str]) -> None:
    """Run a viewer and do not wait; what it cannot do is said, and the question goes on."""
    _viewers[:] = [viewer for viewer in _viewers if viewer.poll() is None]
    try:
        _viewers.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    except OSError as error:
        say(f"  (could not run {words[0]}: {error.strerror or error})")


def show_one(hook: str | Callable[..., Any], params: Any) -> None:
    """Show one candidate through ``hook``; a returned path is opened, returned text is printed."""
    if isinstance(hook, str):
        run_command(fill(hook, params))
        return
    made = hook(params)
    if isinstance(made, Path):
        run_command(viewer(made))
    elif made is not None:
        say(str(made))


def make_show(hook: str | Callable[..., Any] | None) -> Show:
    """A ``Show`` from a render hook.

    Args:
        hook: None (parameters as text), a function of the parameters that returns a ``Path`` to open,
            text to print, or None if it has shown the candidate itself; ``"python:module:function"``; or a
            command template such as ``"xdg-open {file}"``.
    """
    if hook is None:
        return show_text
    chosen = (
        load_function(hook.removeprefix("python:")) if isinstance(hook, str) and hook.startswith("python:") else hook
    )

    def show(query: Any) -> None:
        for number, candidate in enumerate(query.shown, start=1):
            say(f"  [{number}]")
            show_one(chosen, candidate.params)

    return show
