"""``prefopt new|run|best|history|undo|export``: a study kept in a file, asked in the terminal."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from prefopt.errors import DomainError, StudyError

Where = Annotated[str, typer.Argument(help="study.toml, a study's .db file, or a database URL")]

TEMPLATE = """# A study: what is compared, and how it is asked. Edit, then: prefopt run {file}
name = "{name}"
question = "Which is better?"
storage = "{name}.db"         # a file, or a database URL
query_size = 2                # options per question
budget = 20                   # questions you are willing to answer
# seed = 7                    # drawn once and kept if left out
# strategy = "kernel-self-sparring"   # see: prefopt list policies
# render = "xdg-open {{file}}"  # a command per option, or "python:module:function"

# Either a list of options:
# options = ["a.png", "b.png", "c.png"]
# or parameters:
# constraints = ["dose + 2*grind <= 36"]
[parameters.dose]
type = "float"
low = 14.0
high = 20.0
step = 0.5

[parameters.grind]
type = "int"
low = 1
high = 10

[parameters.water]
type = "categorical"
choices = ["soft", "hard"]
"""

KEYS = {"name", "question", "storage", "query_size", "budget", "seed", "strategy", "settings", "render"}
SPACE_KEYS = {"parameters", "options", "constraints"}


def read_toml(path: Path) -> dict[str, Any]:
    """The study file; raises StudyError naming the file and what is wrong with it."""
    try:
        spec = tomllib.loads(path.read_text())
    except FileNotFoundError as error:
        raise StudyError(f"no file {path}; `prefopt new {path}` writes one to edit") from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error
    unknown = sorted(set(spec) - KEYS - SPACE_KEYS)
    if unknown:
        raise StudyError(f"{path}: unknown key {unknown[0]!r}; expected {', '.join(sorted(KEYS | SPACE_KEYS))}")
    if ("parameters" in spec) == ("options" in spec):
        raise StudyError(f"{path}: give either [parameters.NAME] tables or a list of options")
    if "constraints" in spec and "options" in spec:
        raise StudyError(f"{path}: constraints are about parameters; leave the forbidden options out of the list")
    return spec


def open_study(where: str, *, create: bool = False) -> tuple[Any, Any]:
    """The study at ``where`` and its render hook; a TOML study is created at first use if ``create``."""
    from prefopt.space import Space
    from prefopt.study import create_study, load_study

    if not where.endswith(".toml"):
        return load_study(where), None
    path = Path(where)
    spec = read_toml(path)
    name = spec.get("name", path.stem)
    storage = spec.get("storage", f"{name}.db")
    if "://" not in storage:
        storage = str(path.parent / storage)
    if not create:
        return load_study(storage, study_name=name), spec.get("render")
    try:
        if "options" in spec:
            space: Any = Space.arms(spec["options"])
        else:
            space = Space.from_dict(spec["parameters"], spec.get("constraints", ()))
    except DomainError as error:
        raise StudyError(f"{path}: {error}") from error
    keywords = {k: spec[k] for k in ("question", "query_size", "budget", "seed", "strategy", "settings") if k in spec}
    study = create_study(space, storage=storage, study_name=name, load_if_exists=True, **keywords)
    return study, spec.get("render")


def new(path: Annotated[Path, typer.Argument(help="the study file, study.toml")]) -> None:
    """Write a study file to edit, or create the study that an existing one describes."""
    if not path.exists():
        path.write_text(TEMPLATE.format(name=path.stem, file=path))
        typer.echo(f"wrote {path}; edit it, then: prefopt run {path}")
        return
    study, _ = open_study(str(path), create=True)
    typer.echo(f"study {study.name} is ready; answer with: prefopt run {path}")


def run(where: Where = "study.toml") -> None:
    """Ask questions until you quit; every answer is kept at once."""
    from prefopt.cli.render import make_show
    from prefopt.cli.terminal import session, tell_best

    study, hook = open_study(where, create=True)
    session(study, make_show(hook))
    tell_best(study)
    typer.echo(f"continue with: prefopt run {where}")


def best(where: Where = "study.toml") -> None:
    """Print the recommended option, how sure it is, and the runners-up."""
    from prefopt.cli.terminal import tell_best

    tell_best(open_study(where)[0])


def history(where: Where = "study.toml") -> None:
    """Print every question and what was said, and where answers contradict each other."""
    from prefopt.cli.terminal import tell_remarks

    study, _ = open_study(where)
    for row in study.history():
        typer.echo("  ".join(f"{k}={v}" for k, v in row.items() if v not in (None, "", [])))
    tell_remarks(study)


def undo(where: Where = "study.toml", n: Annotated[int, typer.Option(help="how many answers")] = 1) -> None:
    """Take back the last answers; they stay in the log, marked as undone."""
    open_study(where)[0].undo(n)
    typer.echo(f"took back {n} answer{'s' if n != 1 else ''}")


def export(
    target: Annotated[Path, typer.Argument(help="file.csv or file.json")],
    where: Annotated[str, typer.Option("--study", help="study.toml, a .db file, or a database URL")] = "study.toml",
) -> None:
    """Write every question, what was shown and what was said to a CSV or JSON file."""
    open_study(where)[0].export(target)
    typer.echo(f"wrote {target}")
