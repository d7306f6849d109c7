"""``prefopt raters|diagnostics|validate|exclude|include``: who answers, how reliably, and what does not count."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from prefopt.cli.opening import open_study
from prefopt.cli.study import Name, Where
from prefopt.errors import StudyError

Number = Annotated[int, typer.Argument(help="the number of the question")]


def raters(
    where: Where = "study.toml",
    name: Name = None,
    add: Annotated[str | None, typer.Option(help="Add a rater of this name.")] = None,
    remove: Annotated[str | None, typer.Option(help="Keep this rater's answers, and let them not count.")] = None,
    reason: Annotated[str, typer.Option(help="Why, with --remove.")] = "",
    restore: Annotated[str | None, typer.Option(help="Let a removed rater's answers count again.")] = None,
    erase: Annotated[str | None, typer.Option(help="Erase for ever who this rater was; the answers stay.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="With --erase: erase the answers too.")] = False,
) -> None:
    """List the raters; or add, remove, restore or erase one."""
    study = open_study(where, create=add is not None, name=name).study
    if sum(given is not None for given in (add, remove, restore, erase)) > 1:
        raise StudyError("give one of --add, --remove, --restore and --erase at a time")
    if add is not None:
        from prefopt.study.urls import shown

        rater = study.add_rater(add)
        typer.echo(
            f"{add} is {rater.id}; they answer with: prefopt run {shlex.quote(shown(where))} --rater {shlex.quote(add)}"
        )
    elif remove is not None:
        study.remove_rater(remove, reason)
        typer.echo(f"the answers of {remove} do not count any more; --restore lets them count again")
    elif restore is not None:
        study.restore_rater(restore)
        typer.echo(f"the answers of {restore} count again")
    elif erase is not None:
        left = study.erase_rater(erase, "erase" if answers else "keep")
        what = "erased too" if answers else f"now those of {left.id!r}"
        typer.echo(f"nothing tells any more who that was; the answers are {what}")
    else:
        known = {report.rater: report.summary() for report in study.diagnostics().raters}
        for rater in study.raters:
            called = f" ({rater.name})" if rater.name else ""
            why = f" [{rater.status}{': ' + rater.reason if rater.reason else ''}]" if rater.status != "active" else ""
            numbers = known.get(rater.id, f"{rater.id}: no answers").partition(": ")[2]
            typer.echo(f"{rater.id}{called}: {numbers}{why}")
        if not study.raters:
            typer.echo("no raters; --add NAME adds one")


def diagnostics(where: Where = "study.toml", name: Name = None) -> None:
    """Print how reliable each rater is, how far they agree, and what stands out in the answers."""
    from prefopt.cli.terminal import params_text

    found = open_study(where, name=name).study.diagnostics()
    remarks = found.lines(lambda candidate: f"[{params_text(candidate.params)}]")
    for line in found.summary() or ["no answers yet"]:
        typer.echo(line)
    for line in remarks:
        typer.echo(f"note: {line}")
    if found.summary() and not remarks:
        typer.echo("nothing stands out")


def validate(
    where: Where = "study.toml",
    name: Name = None,
    each: Annotated[int, typer.Option(min=1, help="Comparisons with each kind of rival.")] = 4,
    rater: Annotated[str | None, typer.Option(help="Who answers: a name, or the pseudonym of a rater.")] = None,
) -> None:
    """Test the recommendation blindly: ask about it and the centre, options at random and the runner-up, shuffled.

    An open question of the study waits until that is done.
    """
    from prefopt.cli.render import make_show
    from prefopt.cli.terminal import say, session

    opened = open_study(where, name=name)
    study = opened.study
    if study.validation() is None or study.validation().over:
        study.validate(each)

    def ask() -> Any:
        over = "the validation round is complete", "others have the questions that are left of the validation round"
        return study.ask_to_validate(rater) or over[0 if study.validation().over else 1]

    session(study, make_show(opened.render), ask=ask)
    say(str(study.validation()))


def exclude(
    question: Number,
    where: Annotated[str, typer.Option("--study", help="study.toml, a .db file, or a database URL")] = "study.toml",
    reason: Annotated[str, typer.Option(help="Why, which must be said; exports list it.")] = "",
    name: Name = None,
) -> None:
    """Keep the answer to a question, and let it not count."""
    changed = open_study(where, name=name).study.remove_answer(question, reason)
    how = "does not count any more" if changed else "did not count before either, and the reason stays"
    typer.echo(f"the answer to question {question} {how}; prefopt include lets it count again")


def include(
    question: Number,
    where: Annotated[str, typer.Option("--study", help="study.toml, a .db file, or a database URL")] = "study.toml",
    name: Name = None,
) -> None:
    """Let an excluded answer count again."""
    changed = open_study(where, name=name).study.restore_answer(question)
    typer.echo(f"the answer to question {question} counts {'again' if changed else 'already'}")
