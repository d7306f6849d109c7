"""``prefopt demo``: something to compare at once, with no download."""

from __future__ import annotations

import colorsys
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from prefopt.cli.terminal import say, session, tell_best
from prefopt.errors import SettingError


@dataclass(frozen=True)
class Demo:
    """One demonstration.

    Attributes:
        question: what is asked.
        space: builds the space.
        draw: prints one candidate.
        utility: what the simulated person likes, about 0 to 4 logits.
    """

    question: str
    space: Callable[[], Any]
    draw: Callable[[Any], None]
    utility: Callable[[Any], float]


def colour_space() -> Any:
    """Hue in steps of 15 degrees, five degrees of lightness."""
    from prefopt.space import Float, Space

    return Space([Float("hue", 0, 345, step=15), Float("lightness", 0.3, 0.7, step=0.1)])


def to_rgb(params: Any) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a hue (degrees) and lightness.

    >>> to_rgb({"hue": 0.0, "lightness": 0.5})
    (242, 13, 13)
    """
    red, green, blue = (round(255 * c) for c in colorsys.hls_to_rgb(params["hue"] / 360, params["lightness"], 0.9))
    return red, green, blue


def draw_colour(params: Any) -> None:
    """A swatch where the terminal shows colours, and the colour's code."""
    red, green, blue = to_rgb(params)
    code = f"#{red:02x}{green:02x}{blue:02x}"
    swatch = f"\x1b[48;2;{red};{green};{blue}m{' ' * 16}\x1b[0m " if sys.stdout.isatty() else ""
    for _ in range(2 if swatch else 0):
        say(f"      {swatch}")
    say(f"      {swatch}{code}  hue {params['hue']:g}, lightness {params['lightness']:g}")


def likes_teal(params: Any) -> float:
    """A person who likes a middle teal."""
    away, light = (params["hue"] - 180) / 90, params["lightness"] - 0.5
    return float(4 * math.exp(-(away**2)) - 20 * light**2)


def curve_space() -> Any:
    """How often a curve swings and how fast it dies away."""
    from prefopt.space import Float, Space

    return Space([Float("swings", 0.5, 6.0), Float("fading", 0.0, 5.0)])


def draw_curve(params: Any) -> None:
    """The curve exp(-fading x) cos(2 pi swings x) over [0, 1] in seven rows of text."""
    width, rows = 64, 7
    values = [
        math.exp(-params["fading"] * x / width) * math.cos(2 * math.pi * params["swings"] * x / width)
        for x in range(width)
    ]
    heights = [round((1 - v) / 2 * (rows - 1)) for v in values]
    for row in range(rows):
        say("      " + "".join("*" if h == row else " " for h in heights).rstrip())


def likes_calm(params: Any) -> float:
    """A person who likes two slow swings."""
    return float(4 - (params["swings"] - 2) ** 2 / 2 - (params["fading"] - 1.5) ** 2 / 2)


RECIPES = [
    "espresso, oat milk, cinnamon",
    "filter coffee, black",
    "cold brew, orange peel",
    "cappuccino, cocoa",
    "flat white, no sugar",
    "mocha, chilli",
]


def recipe_space() -> Any:
    """Six cards, about which nothing else is known."""
    from prefopt.space import Space

    return Space.arms(RECIPES)


DEMOS = {
    "colour": Demo("Which colour do you like better?", colour_space, draw_colour, likes_teal),
    "curve": Demo("Which curve looks better?", curve_space, draw_curve, likes_calm),
    "recipe": Demo(
        "Which would you rather drink?",
        recipe_space,
        lambda card: say(f"      {card}"),
        lambda card: 3.0 - abs(RECIPES.index(card) - 2),
    ),
}


def simulated_keys(demo: Demo, seed: int) -> tuple[Callable[[Any], None], Callable[[], str]]:
    """A ``Show`` that remembers the question and a ``read`` that answers it as the simulated person would."""
    from prefopt.seeding import stream

    person = stream(seed, 99)
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
    questions: Annotated[int, typer.Option(help="How many questions at most.")] = 12,
    slate: Annotated[int, typer.Option(help="Options per question.")] = 2,
    seed: Annotated[int | None, typer.Option(help="Seed of the questions; drawn if left out.")] = None,
    storage: Annotated[str | None, typer.Option(help="Keep the answers in this file (else until the end).")] = None,
) -> None:
    """Answer a dozen questions and see what comes out."""
    if name not in DEMOS:
        raise SettingError(f"no demo {name!r}; expected {', '.join(DEMOS)}")
    if simulate and seed is None:
        seed = 7
    chosen = DEMOS[name]
    say(f"prefopt demo {name}: {questions} questions; the better option is found from your answers.")
    from prefopt.study import create_study

    study = create_study(
        chosen.space(),
        storage=storage,
        study_name=f"demo-{name}",
        query_size=slate,
        seed=seed,
        budget=questions,
        question=chosen.question,
        load_if_exists=True,
    )
    if simulate:
        show, read = simulated_keys(chosen, study.seed)
        session(study, show, read=read)
    else:
        session(study, lambda query: show_all(chosen, query))
    tell_best(study)
    if storage:
        say(f"\nContinue with: prefopt demo {name} --storage {storage} --questions {2 * questions}")
    say(SNIPPET)


SNIPPET = """
The same in Python:
    from prefopt import Float, Space, create_study
    study = create_study(Space([Float("sweetness", 0, 10, step=0.5)]), storage="tea.db", budget=12)
    while not study.enough:
        query = study.ask()
        print([c.params for c in query.shown])
        study.tell(query, best=query.shown[int(input("which, 1 or 2? ")) - 1].id)
    print(study.recommend())"""
