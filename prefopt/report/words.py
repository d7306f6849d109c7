"""Values, parameters and spaces in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def number(value: Any) -> str:
    """A cell: floats short, nothing for None.

    >>> number(0.123456), number(None), number(3), number("a")
    ('0.1235', '', '3', 'a')
    """
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def day(text: str) -> str:
    """Date and time to the minute.

    >>> day("2026-03-04T05:06:07+00:00")
    '2026-03-04 05:06'
    """
    return text[:16].replace("T", " ")


def params_text(params: Any, most: int = 200) -> str:
    """Parameters on one line of at most ``most`` characters.

    >>> params_text({"dose": 14.5, "water": "soft"})
    'dose = 14.5, water = soft'
    """
    text = (
        ", ".join(f"{name} = {number(value)}" for name, value in params.items())
        if isinstance(params, Mapping)
        else str(params)
    )
    return text if len(text) <= most else text[: most - 1] + "…"


def space_rows(space: Mapping[str, Any]) -> list[list[str]]:
    """A space's JSON record as rows (name, what)."""
    if space["kind"] == "options":
        items = space["items"]
        return [["options", f"{len(items)}: " + "; ".join(params_text(item, 60) for item in items)]]
    if space["kind"] != "parameters":
        return [[space["kind"], "points in the unit cube"]]
    rows = []
    for p in space["parameters"]:
        if p["type"] == "categorical":
            what = "one of " + ", ".join(map(str, p["choices"]))
        else:
            what = f"{p['type']}, {number(p['low'])} to {number(p['high'])}"
            what += f" in steps of {number(p['step'])}" if "step" in p else ""
            what += ", logarithmic" if p.get("log") else ""
        rows.append([p["name"], what])
    rows += [["constraint", str(c)] for c in space.get("constraints", ())]
    return rows + ([["combinations allowed", str(len(space["allowed"]))]] if "allowed" in space else [])
