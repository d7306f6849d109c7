"""``prefopt new|run|best|history|undo|replay|import|report|export``: a study kept in a file, asked in the terminal."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from prefopt.cli.opening import begin_version, open_study
from prefopt.errors import StudyError
from prefopt.kinds import counted

Where = Annotated[str, typer.Argument(help="study.toml, a study's .db file, or a database URL")]
Name = Annotated[str | None, typer.Option(help="Which study, if a .db file or database holds several.")]


def new(
    path: Annotated[Path, typer.Argument(help="the study file, study.toml")],
    version: Annotated[bool, typer.Option("--version", help="Begin a new version, after another edit.")] = False,
) -> None:
    """Write a study file to edit, or create the study that an existing one describes."""
    from prefopt.cli.files import template

    command = f"prefopt run {shlex.quote(str(path))}"
    if path.suffix != ".toml":
        raise StudyError(f"a study file ends in .toml, got {str(path)!r}: prefopt new {path.with_suffix('.toml').name}")
    if not path.exists():
        try:
            path.write_text(template(path), encoding="utf-8")
        except OSError as error:
            raise StudyError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
        typer.echo(f"wrote {path}; edit it, then: {command}")
        return
    if version:
        made = begin_version(str(path)).version
        kept = f"{counted(made['kept'], 'answer')} kept, {made['left_out']} that no longer fit left in {made['of']!r}"
        typer.echo(f"version {made['number']} is ready ({kept}); answer with: {command}")
        return
    opened = open_study(str(path), create=True)
    for note in opened.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"study {opened.study.name} is ready; answer with: {command}")


def run(
    where: Where = "study.toml",
    name: Name = None,
    more: Annotated[int | None, typer.Option(min=1, help="Ask so many more, even if the study has enough.")] = None,
    rater: Annotated[str | None, typer.Option(help="Who answers: a name, or the pseudonym of a rater.")] = None,
) -> None:
    """Ask questions until you quit; every answer is kept at once."""
    from prefopt.cli.render import make_show
    from prefopt.cli.terminal import session, tell_best
    from prefopt.study.urls import shown

    opened = open_study(where, create=True, name=name)
    show = make_show(opened.render)
    until = None
    if more is not None:
        until = opened.study.answered + more
        opened = opened.planned(until)
    for note in opened.notes:
        typer.echo(f"note: {note}")
    session(opened.study, show, until=until, rater=rater)
    tell_best(opened.study)
    again = f"prefopt run {shlex.quote(shown(where))}" + (f" --name {shlex.quote(name)}" if name else "")
    again += f" --rater {shlex.quote(rater)}" if rater else ""
    if not opened.study.enough:
        typer.echo(f"continue with: {again}")
    elif opened.study.answered:  # else there is only one option, and nothing to ask
        typer.echo(f"to go on: {again} --more 10")


def best(where: Where = "study.toml", name: Name = None) -> None:
    """Print the recommended option, how sure it is, and the runners-up."""
    from prefopt.cli.terminal import tell_best

    tell_best(open_study(where, name=name).study)


def history(
    where: Where = "study.toml",
    name: Name = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about every question, for machines.")] = False,
) -> None:
    """Print every question and what was said, and where answers contradict each other."""
    from prefopt.cli.table import history_lines
    from prefopt.cli.terminal import tell_remarks

    study = open_study(where, name=name).study
    if as_json:
        typer.echo(json.dumps(study.history()))
        return
    for line in history_lines(study.history()):
        typer.echo(line)
    tell_remarks(study)


def undo(
    where: Where = "study.toml",
    n: Annotated[int, typer.Option(help="how many answers")] = 1,
    name: Name = None,
) -> None:
    """Take back the last answers; they stay in the log, marked as undone."""
    open_study(where, name=name).study.undo(n)
    typer.echo(f"took back {n} answer{'s' if n != 1 else ''}")


def replay(where: Where = "study.toml", name: Name = None) -> None:
    """Compute every question again from the log and say whether it matches; exit code 1 if one does not."""
    result = open_study(where, name=name).study.replay()
    for line in result.lines():
        typer.echo(line)
    if not result.matches:
        raise typer.Exit(1)


def import_(
    answers: Annotated[
        Path, typer.Argument(help="CSV of answers: winner,loser (and tie, rater, seconds), or what export wrote")
    ],
    designs: Annotated[Path | None, typer.Option(help="CSV of designs: id and one column per parameter.")] = None,
    where: Annotated[str, typer.Option("--study", help="study.toml, a .db file, or a database URL")] = "study.toml",
    name: Name = None,
) -> None:
    """Add designs that exist already, by their own ids, and what was said of them; a second time adds only new rows."""
    study = open_study(where, create=True, name=name).study
    added = study.import_csv(designs, answers)
    designs_too = f" about {counted(len(study.names), 'design')}" if study.names else ""
    typer.echo(f"{counted(added, 'new answer')}{designs_too}; study {study.name} goes on from there")


def report(
    where: Where = "study.toml",
    name: Name = None,
    out: Annotated[Path | None, typer.Option(help="The page; a .csv and a .json are written beside it.")] = None,
) -> None:
    """Write everything about a study as one page, a table and JSON."""
    from prefopt.report import write_report

    study = open_study(where, name=name).study
    safe = re.sub(r"[^\w .-]", "_", study.name)
    for path in write_report(study, out if out is not None else Path(f"{safe}-report.html")):
        typer.echo(f"wrote {path}")


def export(
    target: Annotated[Path, typer.Argument(help="file.csv or file.json")],
    where: Annotated[str, typer.Option("--study", help="study.toml, a .db file, or a database URL")] = "study.toml",
    name: Name = None,
    designs: Annotated[
        Path | None, typer.Option(help="Write a CSV of designs here, and TARGET about their ids.")
    ] = None,
) -> None:
    """Write every question, what was shown and what was said to a CSV or JSON file; import reads the CSV."""
    study = open_study(where, name=name).study
    if designs is None:
        study.export(target)
    else:
        study.export_csv(designs, target)
    typer.echo(f"wrote {target}" + (f" and {designs}" if designs else ""))
