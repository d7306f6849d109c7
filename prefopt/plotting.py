"""Regret curves with bands, and what a study has learned. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefopt.errors import MissingDependency, StudyError
from prefopt.simulation.results import Results
from prefopt.study import Study


def pyplot() -> Any:
    """matplotlib.pyplot; raises MissingDependency with the command that installs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependency("matplotlib", "plot", "plotting") from error
    return plt


def plot_regret(
    results: Sequence[Results],
    *,
    regret: str | None = None,
    labels: Sequence[str] | None = None,
    band: str = "sd",
    log: bool = False,
    ax: Any = None,
) -> Any:
    """Mean cumulative regret of each result with a band, on one pair of axes.

    Args:
        results: one per curve.
        regret: which kind, by default the first kept.
        labels: names of the curves, by default the policies'.
        band: "sd" (one standard deviation), "se" (two standard errors) or "" (none).
        log: logarithmic question axis.
        ax: matplotlib axes to draw on; made if None.

    Returns:
        The axes; the kind of regret is written on the vertical one.
    """
    ax = ax if ax is not None else pyplot().subplots(figsize=(7, 4.5), layout="constrained")[1]
    for result, label in zip(results, labels or [r.policy for r in results], strict=True):
        mean, sd = result.mean(regret), result.sd(regret)
        (line,) = ax.plot(result.checkpoints, mean, label=label)
        if band:
            half = sd if band == "sd" else 2 * sd / np.sqrt(len(result.regret))
            ax.fill_between(result.checkpoints, mean - half, mean + half, color=line.get_color(), alpha=0.15, lw=0)
    ax.set_xlabel("questions")
    name = regret or results[0].regrets[0]
    ax.set_ylabel(f"cumulative regret ({name})")
    ax.set_title(f"{results[0].environment}\n{results[0].describe(name)}", fontsize=9)
    ax.set_xscale("log" if log else "linear")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8)
    ax.grid(alpha=0.3)
    return ax


def plot_study(study: Study) -> Any:
    """What is believed along every parameter, maps of pairs of them, and how sure the recommendation became.

    Args:
        study: with at least one answer.

    Returns:
        The matplotlib figure. Bands are two standard deviations; crosses mark the recommendation.

    Raises:
        StudyError: there is no answer yet.
        MissingDependency: matplotlib is not installed.
    """
    if not study.answered:
        raise StudyError(f"study {study.name!r} has no answer yet, so there is nothing to plot: ask and tell first")
    found, moments = study.slices(), study.convergence()
    curves, maps = found.get("curves", []), found.get("maps", [])
    panels = len(curves) + len(maps) + ("bars" in found) + 1
    columns = min(3, panels)
    rows = -(-panels // columns)
    figure = pyplot().figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    axes = iter(figure.subplots(rows, columns, squeeze=False).flat)
    for curve in curves:
        _draw_curve(next(axes), curve, found["at"])
    for one in maps:
        _draw_map(figure, next(axes), one, found["at"])
    if "bars" in found:
        _draw_bars(next(axes), found["bars"])
    ax = next(axes)
    ax.plot([row["answers"] for row in moments], [row["probability_best"] for row in moments], marker="o")
    ax.set(xlabel="answers", ylabel="sure of the recommendation", ylim=(0, 1))
    for rest in axes:
        rest.set_visible(False)
    figure.suptitle(f"{study.name}: {found['scale']}", fontsize=9)
    return figure


def _numbers(values: Sequence[float | None]) -> Any:
    return np.array([np.nan if v is None else v for v in values])


def _draw_curve(ax: Any, curve: dict[str, Any], at: dict[str, Any]) -> None:
    mean, sd = _numbers(curve["mean"]), _numbers(curve["sd"])
    if curve["categorical"]:
        ax.errorbar([str(v) for v in curve["values"]], mean, 2 * sd, fmt="o", capsize=3)
    else:
        ax.plot(curve["values"], mean)
        ax.fill_between(curve["values"], mean - 2 * sd, mean + 2 * sd, alpha=0.2, lw=0)
        ax.axvline(at[curve["name"]], color="k", lw=0.8, ls=":")
        ax.set_xscale("log" if curve["log"] else "linear")
    ax.set_xlabel(curve["name"])


def _draw_map(figure: Any, ax: Any, one: dict[str, Any], at: dict[str, Any]) -> None:
    x, y = one["x"], one["y"]
    height = _numbers(one["mean"]).reshape(len(y["values"]), len(x["values"]))
    sides = [range(len(s["values"])) if s["categorical"] else s["values"] for s in (x, y)]
    image = ax.pcolormesh(*sides, height, shading="nearest", cmap="viridis")
    figure.colorbar(image, ax=ax)
    for side, ticks, scale in ((x, ax.set_xticks, ax.set_xscale), (y, ax.set_yticks, ax.set_yscale)):
        if side["categorical"]:
            ticks(range(len(side["values"])), [str(v) for v in side["values"]])
        elif side["log"]:
            scale("log")
    place = [s["values"].index(at[s["name"]]) if s["categorical"] else at[s["name"]] for s in (x, y)]
    ax.plot(*place, "rx", ms=9)
    ax.set(xlabel=x["name"], ylabel=y["name"])


def _draw_bars(ax: Any, bars: Sequence[dict[str, Any]]) -> None:
    names = [str(bar["params"]) for bar in bars][::-1]
    colors = ["C1" if bar["recommended"] else "C0" for bar in bars][::-1]
    ax.barh(names, [bar["mean"] for bar in bars][::-1], xerr=[bar["sd"] for bar in bars][::-1], color=colors)


def save_figure(ax: Any, path: str | Path) -> None:
    """Write the figure of ``ax`` to ``path`` (the ending chooses the format) and close it."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    pyplot().close(ax.figure)
