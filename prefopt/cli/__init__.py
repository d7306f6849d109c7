"""The ``prefopt`` command. Heavy libraries are imported by the commands that need them, never for ``--help``."""

from __future__ import annotations

import codecs
import io
import sys

import typer

from prefopt.cli import demo, people, serve, simulate, study
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
app.command("serve")(serve.serve)
app.command("best")(study.best)
app.command("history")(study.history)
app.command("undo")(study.undo)
app.command("replay")(study.replay)
app.command("import")(study.import_)
app.command("raters")(people.raters)
app.command("diagnostics")(people.diagnostics)
app.command("validate")(people.validate)
app.command("exclude")(people.exclude)
app.command("include")(people.include)
app.command("report")(study.report)
app.command("export")(study.export)
app.command("simulate")(simulate.simulate)
app.command("list")(simulate.list_names)


#: For terminals and pipes that cannot write these characters.
PLAIN = {"±": "+-", "µ": "u", "–": "-", "…": "..."}


def plain(error: UnicodeError) -> tuple[str, int]:
    r"""What is written instead of characters that the output's encoding does not have; options stay distinct.

    >>> plain(UnicodeEncodeError("ascii", "1 ± \u65e5", 2, 5, ""))
    ('+- \\u65e5', 5)
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in characters), error.end


def main() -> None:
    """Run the command line; what went wrong is one line on standard error and exit code 2."""
    codecs.register_error("plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    try:
        app()
    except PrefoptError as error:
        typer.echo(f"prefopt: {error}", err=True)
        sys.exit(2)
