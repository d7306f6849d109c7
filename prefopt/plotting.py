"""Regret curves with bands. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefopt.errors import MissingDependency
from prefopt.simulation.results import Results


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


def save_figure(ax: Any, path: str | Path) -> None:
    """Write the figure of ``ax`` to ``path`` (the ending chooses the format) and close it."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    pyplot().close(ax.figure)
