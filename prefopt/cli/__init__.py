"""The ``prefopt`` command. Heavy libraries are imported by the commands that need them, never for ``--help``."""

from __future__ import annotations

import sys

import typer

from prefopt.cli import demo, simulate, study
from prefopt.errors import PrefoptError

app = typer.Typer(
    help="Find the best option by comparing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo")(demo.demo)
app.command("new")(study.new)
app.command("run")(study.run)
app.command("best")(study.best)
app.command("history")(study.history)
app.command("undo")(study.undo)
app.command("export")(study.export)
app.command("simulate")(simulate.simulate)
app.command("list")(simulate.list_names)


def main() -> None:
    """Run the command line; what went wrong is one line on standard error and exit code 2."""
    try:
        app()
    except PrefoptError as error:
        typer.echo(f"prefopt: {error}", err=True)
        sys.exit(2)
