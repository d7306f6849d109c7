"""``prefopt serve``: a study in the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from prefopt.cli.opening import Opened, open_study
from prefopt.cli.study import Name
from prefopt.errors import SettingError, StudyError
from prefopt.kinds import counted


def serve(
    where: Annotated[str | None, typer.Argument(help="study.toml, a study's .db file, or a database URL")] = None,
    name: Name = None,
    demo: Annotated[str | None, typer.Option(help="Serve a demo instead: colour, curve or recipe.")] = None,
    rater: Annotated[list[str] | None, typer.Option(help="Print a link for this rater; may be repeated.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other computers in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
    origin: Annotated[str | None, typer.Option(help="How links begin, if others reach it as https://...")] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds the policy may take for a question.")] = 10.0,
) -> None:
    """Ask in the browser: a link per rater, and a page for whoever runs the study."""
    from prefopt.study.urls import shown
    from prefopt.web.server import serve as start

    if (where is None) == (demo is None):
        where = "study.toml" if where is None and Path("study.toml").is_file() else where
        if (where is None) == (demo is None):
            raise StudyError("say what to serve: study.toml, a study's .db file, or --demo colour")
    opened, render, folder = opened_demo(demo) if demo is not None else opened_file(str(where), name)
    for note in opened.notes:
        typer.echo(f"note: {note}")
    typer.echo(
        f"study {opened.study.name}, {counted(opened.study.answered, 'answer')}, kept in {shown(opened.storage)}"
    )
    start(
        opened.study, render=render, folder=folder, host=host, port=port, raters=rater or (), timeout=timeout or None,
        origin=origin, say=typer.echo,
    )  # fmt: skip


def opened_demo(name: str) -> tuple[Opened, Callable[[Any], Any] | None, Path | None]:
    """A demo's study, kept in the working folder, and how its options are shown."""
    from prefopt.cli.demo import open_demo
    from prefopt.cli.demos import DEMOS
    from prefopt.errors import did_you_mean

    if name not in DEMOS:
        raise SettingError(f"no demo {name!r}; expected {', '.join(DEMOS)}{did_you_mean(name, DEMOS)}")
    return open_demo(name, {}, f"demo-{name}.db", simulate=False), DEMOS[name].picture, None


def opened_file(where: str, name: str | None) -> tuple[Opened, Callable[[Any], Any] | None, Path | None]:
    """The study of a study file or storage, its render function if it names one, and the folder of its files."""
    from prefopt.cli.render import load_function

    opened = open_study(where, create=True, name=name)
    folder = None if "://" in where else Path(where).resolve().parent
    hook = opened.render
    if hook is None or hook.startswith("python:"):
        return opened, None if hook is None else load_function(hook.removeprefix("python:")), folder
    note = f"render = {hook!r} is for the terminal; the browser shows files, parameters, or python:module:function"
    return Opened(opened.study, opened.storage, hook, (*opened.notes, note)), None, folder
