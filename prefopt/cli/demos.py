"""What the demos compare: colours, curves, recipes, each with a simulated person's taste."""

from __future__ import annotations

import colorsys
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prefopt.cli.terminal import say

#: Names the language of a picture.
SVG = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Demo:
    """One demonstration.

    Attributes:
        question: what is asked.
        space: builds the space.
        draw: prints one candidate.
        utility: what the simulated person likes, about 0 to 4 logits.
        picture: what one candidate is in a browser; None shows its text.
    """

    question: str
    space: Callable[[], Any]
    draw: Callable[[Any], None]
    utility: Callable[[Any], float]
    picture: Callable[[Any], Any] | None = None


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


def colour_picture(params: Any) -> bytes:
    """The colour as a picture."""
    red, green, blue = to_rgb(params)
    fill = f'fill="rgb({red},{green},{blue})"'
    return f'<svg xmlns="{SVG}" viewBox="0 0 400 240"><rect width="400" height="240" rx="16" {fill}/></svg>'.encode()


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


def curve_picture(params: Any) -> bytes:
    """The curve as a picture."""
    steps = [i / 200 for i in range(201)]
    heights = [math.exp(-params["fading"] * x) * math.cos(2 * math.pi * params["swings"] * x) for x in steps]
    line = " ".join(f"{10 + 380 * x:.1f},{120 - 105 * y:.1f}" for x, y in zip(steps, heights, strict=True))
    paper, pen = '<rect width="400" height="240" rx="16" fill="#fff"/>', 'fill="none" stroke="#0b5f6b" stroke-width="3"'
    return f'<svg xmlns="{SVG}" viewBox="0 0 400 240">{paper}<polyline points="{line}" {pen}/></svg>'.encode()


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
    "colour": Demo("Which colour do you like better?", colour_space, draw_colour, likes_teal, colour_picture),
    "curve": Demo("Which curve looks better?", curve_space, draw_curve, likes_calm, curve_picture),
    "recipe": Demo(
        "Which would you rather drink?",
        recipe_space,
        lambda card: say(f"      {card}"),
        lambda card: 3.0 - abs(RECIPES.index(card) - 2),
    ),
}
