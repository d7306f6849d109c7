"""Two aims: the best option after few answers, and good options while learning. The default of each on three problems.

    python benchmarks/aims.py

Regret of what is recommended, and mean regret of what was shown so far, against the number of answers:
``knowledge-gradient`` (``create_study(..., aim="best")``) and ``kernel-self-sparring`` (``aim="while-learning"``), the
same people with the same luck. People and noise are those of ``tournament.py``.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits
from tournament_parts.play import BUDGETS, run

METHODS = {"knowledge-gradient": 'aim="best"', "kernel-self-sparring": 'aim="while-learning"'}
PROBLEMS = ("forrester", "camel", "hartmann6")
Row = dict[str, Any]


def play(job: tuple[str, str, int, int]) -> Row:
    """One run on one thread."""
    method, problem, seed, budget = job
    with threadpool_limits(1):
        return run(method, problem, seed, budget)


def summaries(runs: list[Row]) -> list[Row]:
    """Mean and standard error over seeds of both regrets, a row per method, problem and number of answers."""
    rows = []
    for method, problem in sorted({(r["method"], r["problem"]) for r in runs}):
        mine = [r for r in runs if (r["method"], r["problem"]) == (method, problem)]
        for n in BUDGETS:
            regret = np.array([r[f"regret_{n}"] for r in mine if r[f"regret_{n}"] != ""], dtype=float)
            shown = np.array([r[f"cumulative_{n}"] for r in mine if r[f"cumulative_{n}"] != ""], dtype=float) / n
            if not len(regret):
                continue
            row: Row = {"method": method, "problem": problem, "answers": n, "seeds": len(regret)}
            for name, values in (("recommended", regret), ("shown", shown)):
                row[name] = float(values.mean())
                row[f"{name}_se"] = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
            rows.append(row)
    return rows


def figure(rows: list[Row]) -> Figure:
    """One column a problem; above what is recommended, below what is shown."""
    fig = Figure(figsize=(3.4 * len(PROBLEMS), 5.2), layout="constrained")
    axes = fig.subplots(2, len(PROBLEMS), squeeze=False, sharex=True)
    titles = {"recommended": "regret of the recommended option", "shown": "mean regret of what was shown so far"}
    for line, (name, title) in zip(axes, titles.items(), strict=True):
        for axis, problem in zip(line, PROBLEMS, strict=True):
            for colour, (method, label) in zip(("C0", "C1"), METHODS.items(), strict=True):
                mine = [r for r in rows if (r["method"], r["problem"]) == (method, problem)]
                x, y, error = ([r[key] for r in mine] for key in ("answers", name, f"{name}_se"))
                axis.errorbar(x, y, yerr=error, fmt="o-", markersize=3, capsize=2, color=colour, label=label)
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
            axis.set_title(problem if name == "recommended" else "", fontsize=10)
        line[0].set_ylabel(title, fontsize=8)
    for axis in axes[1]:
        axis.set_xlabel("answers")
    axes[0, 0].legend(fontsize=7)
    return fig


def main() -> None:
    """Run, print and save."""
    options = arguments(__doc__.split("\n")[0]).parse_args()
    seeds, budget = (2, 20) if options.quick else (10, 80)
    jobs = [(m, p, 100 + options.seed + s, budget) for s in range(seeds) for p in PROBLEMS for m in METHODS]
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = summaries(list(pool.map(play, jobs)))
    print_rows(rows)
    path = options.out / "aims"
    save_table(path.with_suffix(".csv"), rows, {"seeds": seeds, "first": 100 + options.seed, "budget": budget})
    figure(rows).savefig(path.with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
