"""One page: regret against answers, a panel a problem; then the mean over problems, and the time of a question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from tournament_parts.play import BUDGETS, Row
from tournament_parts.suite import SUITE
from tournament_parts.summary import geometric, mean_regret, score

COLUMNS = 5


def curve(axis: Axes, values: Sequence[float], **style: object) -> None:
    """One line over the budgets; what is not there is left out."""
    points = [(n, v) for n, v in zip(BUDGETS, values, strict=True) if not math.isnan(v)]
    if points:
        axis.plot(*zip(*points, strict=True), "o-", markersize=3, linewidth=1.3, **style)


def dress(axis: Axes, title: str) -> None:
    """Scales, ticks and title of a panel."""
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks(BUDGETS, [str(n) for n in BUDGETS])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_title(title, fontsize=9)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)


def page(rows: Sequence[Row], methods: Sequence[str], *, noise: str = "random-pairs", m: int = 2) -> Figure:
    """The page for ``methods`` under one noise and slate size.

    Raises:
        ValueError: none of them has a run there.
    """
    shown = [x for x in methods if any((r["method"], r["noise"], r["m"]) == (x, noise, m) for r in rows)]
    if not shown:
        raise ValueError(f"no runs of {', '.join(methods)} with noise {noise} and m = {m}")
    scores = {name: score(rows, name, noise=noise, m=m) for name in shown}
    times = {name: score(rows, name, noise=noise, m=m, measure="cpu") for name in shown}
    colours = {name: f"C{i % 10}" for i, name in enumerate(shown)}
    problems = [p for p in SUITE if any(p in s.regret for s in scores.values())]
    height = -(-(len(problems) + 2) // COLUMNS)
    figure = Figure(figsize=(2.7 * COLUMNS, 2.3 * height + 0.7), layout="constrained")
    panels = list(figure.subplots(height, COLUMNS, squeeze=False).reshape(-1))
    for problem, axis in zip(problems, panels, strict=False):
        for name, own in scores.items():
            if problem in own.regret:
                curve(axis, mean_regret(own.regret[problem]).tolist(), color=colours[name])
        dress(axis, problem)
    common = [p for p in problems if all(p in s.regret for s in scores.values())]
    mean, time = panels[len(problems)], panels[len(problems) + 1]
    for name in shown:
        if common:
            means = np.array([mean_regret(scores[name].regret[p]) for p in common])
            curve(mean, geometric(means, 0).tolist(), color=colours[name])
        seconds = np.concatenate(list(times[name].regret.values()))
        there = [np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else math.nan for c in seconds.T]
        curve(time, [float(x) for x in there], color=colours[name], label=name)
    dress(mean, f"geometric mean of {len(common)} in common")
    dress(time, "CPU seconds a question, median")
    for axis in panels[len(problems) + 2 :]:
        axis.remove()
    figure.supxlabel("answers", fontsize=9)
    figure.supylabel("mean regret of the recommendation (floor 0.01)", fontsize=9)
    figure.legend(*time.get_legend_handles_labels(), loc="outside upper center", ncols=min(6, len(shown)), fontsize=9)
    return figure
