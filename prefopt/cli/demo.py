"""``prefopt demo``: something to compare at once, with no download."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from prefopt.cli.demos import DEMOS, Demo
from prefopt.cli.opening import Opened, adopt
from prefopt.cli.terminal import say, session, tell_best
from prefopt.errors import NoStudyError, SettingError, did_you_mean
from prefopt.kinds import counted


def simulated_keys(demo: Demo, seed: int, answered: int) -> tuple[Callable[[Any], None], Callable[[], str]]:
    """A ``Show`` that remembers the question and a ``read`` that answers it as the simulated person would."""
    from prefopt.seeding import stream

    person = stream(seed, 99, answered)
    seen: list[Any] = []

    def show(query: Any) -> None:
        seen[:] = [c.params for c in query.shown]
        show_all(demo, query)

    def read() -> str:
        noisy = [demo.utility(params) + person.gumbel() for params in seen]
        return str(1 + max(range(len(noisy)), key=noisy.__getitem__))

    return show, read


def show_all(demo: Demo, query: Any) -> None:
    """Every candidate, drawn under its number."""
    for number, candidate in enumerate(query.shown, start=1):
        say(f"  [{number}]")
        demo.draw(candidate.params)


def demo(
    name: Annotated[str, typer.Argument(help="colour, curve or recipe")] = "colour",
    simulate: Annotated[bool, typer.Option("--simulate", help="Let a simulated person answer.")] = False,
    questions: Annotated[int | None, typer.Option(min=1, help="How many answers in all; 12 if left out.")] = None,
    slate: Annotated[int | None, typer.Option(help="Options per question; 2 if left out.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the questions; drawn if left out.")] = None,
    storage: Annotated[str | None, typer.Option(help="Keep the answers in this file (else until the end).")] = None,
    more: Annotated[int | None, typer.Option(min=1, help="Ask so many more, even if there are enough.")] = None,
) -> None:
    """Answer a dozen questions and see what comes out."""
    if name not in DEMOS:
        raise SettingError(f"no demo {name!r}; expected {', '.join(DEMOS)}{did_you_mean(name, DEMOS)}")
    given = {"query_size": slate, "seed": seed, "budget": questions}
    opened = open_demo(name, {key: value for key, value in given.items() if value is not None}, storage, simulate)
    study, chosen = opened.study, DEMOS[name]
    until = None
    if more is not None:
        until = study.answered + more
        study = opened.planned(until).study if storage else study
    say(f"prefopt demo {name}: {counted(study.budget, 'question')}; the better option is found from your answers.")
    for note in opened.notes:
        say(f"note: {note}")
    if simulate:
        show, read = simulated_keys(chosen, study.seed, study.answered)
        session(study, show, read=read, until=until)
    else:
        session(study, lambda query: show_all(chosen, query), until=until)
    tell_best(study)
    if storage:
        from prefopt.study.urls import shown

        words = ["prefopt", "demo", name, "--storage", shown(storage), *(["--simulate"] if simulate else [])]
        words += ["--more", "6"] if study.enough else []
        say(f"\nContinue with: {shlex.join(words)}")
    say(SNIPPET)


def open_demo(name: str, given: dict[str, Any], storage: str | None, simulate: bool) -> Opened:
    """The demo's study: the stored one with what is ``given`` adopted, or a new one."""
    from prefopt.study import create_study, load_study

    chosen, study_name = DEMOS[name], f"demo-{name}"
    if storage is not None:
        with suppress(NoStudyError):
            study = load_study(storage, study_name=study_name)
            study, notes = adopt(study, storage, "the command", given, chosen.space())
            return Opened(study, storage, notes=notes)
    keywords = {"budget": 12, "seed": 7 if simulate else None, **given}
    study = create_study(
        chosen.space(),
        storage=storage,
        study_name=study_name,
        question=chosen.question,
        load_if_exists=True,
        **keywords,
    )
    return Opened(study, storage or "")


SNIPPET = """
The same in Python:
    from prefopt import Float, Space, create_study
    study = create_study(Space([Float("sweetness", 0, 10, step=0.5)]), storage="tea.db", budget=12)
    while not study.enough:
        query = study.ask()
        print([c.params for c in query.shown])
        study.tell(query, best=query.shown[int(input("which, 1 or 2? ")) - 1].id)
    print(study.recommend())"""
