"""The figures of a report, each an SVG text; needs matplotlib (extra ``plot``)."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prefopt.errors import MissingDependency

#: One colour per rater and side, dark enough on white paper; patterns of lines tell them apart without colour.
COLOURS = ("#1b5e8c", "#b4541a", "#2e7d4f", "#7a3e9d", "#8c6d1f", "#555555")
LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "x")
#: Inches of one small panel, and panels in a row.
PANEL, ACROSS = (2.6, 2.1), 3


def figure(panels: int = 1, size: tuple[float, float] = PANEL, across: int = ACROSS) -> tuple[Any, list[Any]]:
    """A matplotlib figure of its own (no global state), and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("matplotlib", "plot", "the figures of a report") from error
    columns = min(across, panels)
    rows = math.ceil(panels / columns)
    made = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    axes = list(np.atleast_1d(made.subplots(rows, columns)).reshape(-1))
    for empty in axes[panels:]:
        empty.set_visible(False)
    for ax in axes:
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    return made, axes[:panels]


def svg(made: Any) -> str:
    """The figure as an SVG element for a page, the same for the same contents; text stays text."""
    import matplotlib

    file = io.StringIO()
    style = {"svg.hashsalt": "prefopt", "svg.fonttype": "none", "font.family": "sans-serif", "text.parse_math": False}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the reader's browser has other fonts
        made.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def plot_slices(slices: Sequence[Mapping[str, Any]]) -> str:
    """Utility along every parameter through the recommended option, with 95 % bands."""
    made, axes = figure(len(slices))
    for ax, one in zip(axes, slices, strict=True):
        mean, half = np.array(one["mean"]), 1.96 * np.array(one["sd"])
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in one["values"])
        if numeric:
            ax.plot(one["values"], mean, color=COLOURS[0], lw=1.2)
            ax.fill_between(one["values"], mean - half, mean + half, color=COLOURS[0], alpha=0.18, lw=0)
            ax.axvline(one["at"], color="#444444", lw=0.8, ls=":")
            if one["log"]:
                ax.set_xscale("log")
        else:
            places = np.arange(len(mean))
            ax.errorbar(places, mean, yerr=half, fmt="o", color=COLOURS[0], ms=4, lw=1, capsize=3)
            ax.set_xticks(places, [str(v) for v in one["values"]], rotation=20)
            ax.set_xlim(-0.5, len(mean) - 0.5)
        ax.axhline(0, color="#999999", lw=0.6)
        ax.set_xlabel(one["parameter"], fontsize=8)
    axes[0].set_ylabel("utility, the recommended = 0", fontsize=7)
    return svg(made)


def plot_options(options: Sequence[Mapping[str, Any]], label: Any) -> str:
    """Utility of the leading options less that of the recommended one, with 95 % intervals."""
    made, (ax,) = figure(1, (7.0, 0.9 + 0.24 * len(options)))
    places = np.arange(len(options))[::-1]
    mean, half = np.array([o["mean"] for o in options]), 1.96 * np.array([o["sd"] for o in options])
    ax.errorbar(mean, places, xerr=half, fmt="o", color=COLOURS[0], ms=4, lw=1, capsize=3)
    ax.axvline(0, color="#999999", lw=0.6)
    ax.set_yticks(places, [label(o["params"]) for o in options], fontsize=7)
    ax.set_xlabel("utility, the recommended = 0", fontsize=8)
    return svg(made)


def plot_calibration(found: Mapping[str, Any]) -> str:
    """Predicted chance of the favoured side against the share in which it was preferred, with exact 95 % intervals."""
    made, (ax,) = figure(1, (3.4, 2.9))
    bins = found["bins"]
    x, y = np.array([b["predicted"] for b in bins]), np.array([b["came_true"] for b in bins])
    low, high = np.array([b["low"] for b in bins]), np.array([b["high"] for b in bins])
    ax.plot([0.5, 1], [0.5, 1], color="#999999", lw=0.8)
    ax.errorbar(x, y, yerr=[y - low, high - y], fmt="o", color=COLOURS[0], ms=4, lw=1, capsize=3)
    for b in bins:
        ax.annotate(f"n = {b['pairs']}", (b["predicted"], b["came_true"]), (4, -9), textcoords="offset points", size=6)
    ax.set_xlim(0.48, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("predicted chance of the favoured side", fontsize=8)
    ax.set_ylabel("share in which it was preferred", fontsize=8)
    return svg(made)


def plot_seconds(history: Sequence[Mapping[str, Any]]) -> str:
    """Seconds of every answer in order, one line per rater; "" if nobody measured."""
    times: dict[str, list[float]] = {}
    for row in history:
        if row["seconds"] is not None:
            times.setdefault(row["rater"] or "the rater", []).append(row["seconds"])
    if not times:
        return ""
    made, (ax,) = figure(1, (7.0, 2.2))
    for n, (rater, seconds) in enumerate(times.items()):
        style = {"color": COLOURS[n % len(COLOURS)], "ls": LINES[n % len(LINES)], "marker": MARKERS[n % len(MARKERS)]}
        ax.plot(range(1, len(seconds) + 1), seconds, ms=3, lw=0.8, label=rater, **style)
    ax.set_ylim(0, max(1.0, 1.25 * max(map(max, times.values()))))  # room for the names
    ax.set_xlabel("answer of the rater", fontsize=8)
    ax.set_ylabel("seconds", fontsize=8)
    ax.legend(fontsize=7, frameon=False, ncols=min(4, len(times)))
    return svg(made)
