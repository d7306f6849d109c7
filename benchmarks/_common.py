"""What the benchmark scripts share: their arguments and where results go."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from prefopt.plotting import plot_regret, pyplot, save_figure
from prefopt.simulation.results import Results, versions, write_csv

HERE = Path(__file__).parent


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the options every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for CSV, manifest and PNG")
    parser.add_argument("--quick", action="store_true", help="few repetitions, for continuous integration")
    parser.add_argument("--jobs", type=int, default=2, help="parallel workers")
    parser.add_argument("--seed", type=int, default=0, help="seed of every random stream")
    return parser


def save_table(path: Path, rows: list[dict[str, Any]], manifest: dict[str, Any]) -> None:
    """Write ``rows`` as CSV and, beside it, a manifest with the versions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(path, rows)
    path.with_suffix(".json").write_text(json.dumps({**manifest, "versions": versions()}, indent=1) + "\n")


def curve_rows(results: Sequence[Results], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Mean and sd of each curve at each checkpoint, for every kind of regret kept."""
    return [
        {
            "label": label,
            "environment": result.environment,
            "regret": kind,
            "t": int(t),
            "mean": float(mean),
            "sd": float(sd),
            "runs": len(result.regret),
        }
        for result, label in zip(results, labels, strict=True)
        for kind in result.regrets
        for t, mean, sd in zip(result.checkpoints, result.mean(kind), result.sd(kind), strict=True)
    ]


def save_curves(path: Path, results: Sequence[Results], labels: Sequence[str], *, log: bool = False) -> None:
    """Write CSV, manifest and PNG (one panel per kind of regret) of regret curves; ``path`` has no ending."""
    save_table(
        path.with_suffix(".csv"),
        curve_rows(results, labels),
        {
            "runs": {
                label: {**result.manifest, "seconds": round(result.seconds, 2)}
                for label, result in zip(labels, results, strict=True)
            }
        },
    )
    kinds = results[0].regrets
    _, axes = pyplot().subplots(1, len(kinds), figsize=(7 * len(kinds), 4.5), layout="constrained", squeeze=False)
    for kind, ax in zip(kinds, axes[0], strict=True):
        plot_regret(results, regret=kind, labels=labels, log=log, ax=ax)
    save_figure(axes[0, 0], path.with_suffix(".png"))


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Rows as an aligned table on standard output."""
    names = list(rows[0])
    cells = [[f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names] for row in rows]
    widths = [max(len(n), *(len(c[i]) for c in cells)) for i, n in enumerate(names)]
    for line in [names, *cells]:
        print("  ".join(word.rjust(w) for word, w in zip(line, widths, strict=True)), flush=True)
