"""How a candidate is shown: a Python function, a command, or its parameters as text."""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from prefopt.cli.terminal import Show, params_text, say, show_text
from prefopt.errors import StudyError

#: A command that is done within so many seconds has its output shown under its option; a viewer stays open.
PROMPT = 0.5


def load_function(name: str) -> Callable[..., Any]:
    """The function called ``module:function``; the working folder is searched too.

    Raises:
        StudyError: it cannot be imported, or is no function of one argument.
    """
    module, _, function = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), function)
    except Exception as error:  # whatever the person's module does
        what = f"{type(error).__name__}: {error}"
        raise StudyError(f"render {name!r}: expected 'module:function' that can be imported here ({what})") from error
    if not callable(found):
        raise StudyError(f"render {name!r} is a {type(found).__name__}, expected a function of the parameters")
    try:
        inspect.signature(found).bind({})
    except TypeError as error:
        raise StudyError(f"render {name!r}: expected a function of one argument, the parameters ({error})") from error
    except ValueError:  # a built-in function that does not tell its arguments
        pass
    return found  # type: ignore[no-any-return]


def viewer(path: Path) -> list[str]:
    """The command that opens a file with the system's own program."""
    if sys.platform == "darwin":
        return ["open", str(path)]
    if sys.platform == "win32":
        return ["cmd", "/c", "start", "", str(path)]
    return ["xdg-open", str(path)]


def split(template: str) -> list[str]:
    """The words of a command template; raises StudyError for quotes that do not match or no word at all."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise StudyError(f"render command {template!r}: {error}; close the quotes") from error
    if not words:
        raise StudyError('render is empty; expected a command such as "xdg-open {file}" or "python:module:function"')
    return words


def fill(template: str, params: Any) -> list[str]:
    """The words of a command template with ``{name}`` replaced by parameters.

    A plain option goes by ``{file}``, ``{value}`` and ``{option}``.

    >>> fill("play --freq {hz}", {"hz": 440.0}), fill("xdg-open {file}", "a.png")
    (['play', '--freq', '440.0'], ['xdg-open', 'a.png'])
    """
    values = params if isinstance(params, dict) else dict.fromkeys(("file", "value", "option"), params)
    words = split(template)
    try:
        return [word.format(**values) for word in words]
    except (KeyError, IndexError, AttributeError, ValueError, TypeError) as error:
        there = ", ".join(f"{{{name}}}" for name in values)
        what = f"no parameter {error}" if isinstance(error, KeyError) else str(error)
        raise StudyError(f"render command {template!r}: {what}; there are {there}") from error


@dataclass(frozen=True)
class Running:
    """A command that was started for option ``number``."""

    number: int
    words: list[str]
    process: subprocess.Popen[bytes]
    output: IO[bytes]

    def report(self) -> None:
        """Say what the ended command wrote, and if it failed."""
        self.output.seek(0)
        for line in self.output.read().decode(errors="replace").splitlines():
            say(f"      {line}")
        self.output.close()
        if self.process.returncode:
            say(f"  (option {self.number}: {self.words[0]} failed with exit code {self.process.returncode})")


#: Viewers that were started and may still be open.
_viewers: list[Running] = []


def run_command(words: list[str], number: int) -> None:
    """Run a command; its output is shown, what it cannot do is said, and the question goes on in any case."""
    output = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the command runs)
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    except (OSError, ValueError) as error:
        output.close()
        say(f"  (could not run {words[0]}: {getattr(error, 'strerror', None) or error})")
        return
    running = Running(number, words, process, output)
    try:
        process.wait(PROMPT)
    except subprocess.TimeoutExpired:
        _viewers.append(running)
    else:
        running.report()


def report_ended() -> None:
    """Say what commands of earlier options wrote that have ended meanwhile."""
    for running in [running for running in _viewers if running.process.poll() is not None]:
        _viewers.remove(running)
        running.report()


def show_one(hook: str | Callable[..., Any], params: Any, number: int) -> None:
    """Show one candidate through ``hook``; a returned path is opened, returned text is printed."""
    if isinstance(hook, str):
        run_command(fill(hook, params), number)
        return
    try:
        made = hook(params)
    except Exception as error:  # the person's function; the parameters are on the screen, so the question goes on
        say(f"  (the render function failed: {type(error).__name__}: {error})")
        return
    if isinstance(made, Path):
        run_command(viewer(made), number)
    elif made is not None:
        say(str(made))


def make_show(hook: str | Callable[..., Any] | None) -> Show:
    """A ``Show`` from a render hook; the parameters stand next to the number in any case.

    Args:
        hook: None (parameters as text), a function of the parameters that returns a ``Path`` to open,
            text to print, or None if it has shown the candidate itself; ``"python:module:function"``; or a
            command template such as ``"xdg-open {file}"``.

    Raises:
        StudyError: no such function, or a template with unbalanced quotes.
    """
    if hook is None:
        return show_text
    chosen = hook
    if isinstance(hook, str):
        chosen = load_function(hook.removeprefix("python:")) if hook.startswith("python:") else hook
    if isinstance(chosen, str):
        split(chosen)

    def show(query: Any) -> None:
        report_ended()
        for number, candidate in enumerate(query.shown, start=1):
            say(f"  [{number}] {params_text(candidate.params)}")
            show_one(chosen, candidate.params, number)

    return show
