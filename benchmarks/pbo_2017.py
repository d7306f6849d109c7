"""The set-ups of Gonzalez et al. 2017: the value of the function at the recommended option, duel by duel.

    python benchmarks/pbo_2017.py                      every function
    python benchmarks/pbo_2017.py --function forrester

33 points per dimension, 5 random duels that the methods share and 200 chosen ones, 20 repetitions, raw values and the
logit link. Pure exploration (PE), Copeland expected improvement (CEI, in one dimension only, as in the paper), dueling
Thompson sampling (DTS) and random duels learn with the same process over pairs (skew kernel, length-scale 0.2);
Sparring is two independent UCB1. Recommended is the option of largest soft-Copeland score, the Condorcet winner once it
is known. Writes one table, its manifest, and a figure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table

from prefopt.environments import make_environment
from prefopt.plotting import pyplot, save_figure
from prefopt.simulation import simulate

#: Environments by the function's name; minima of the native functions are those of the grid.
FUNCTIONS = {
    "forrester": "forrester-33",
    "camel": "camel-1089",
    "goldstein": "goldstein-1089",
    "levy": "levy-1089",
}
INITIAL, DUELS, RUNS = 5, 200, 20
#: In two dimensions, scores are means over fewer landmarks: every repetition has 1089^2 pairs.
LANDMARKS = 64
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PE": ("bopper", {"acquisition": "pe"}),
    "CEI": ("bopper", {"acquisition": "cei"}),
    "DTS": ("bopper", {"acquisition": "dts"}),
    "random": ("bopper", {"acquisition": "random"}),
    "Sparring": ("sparring-ucb1", {}),
}


def run_function(name: str, *, runs: int, duels: int, seed: int, jobs: int) -> list[dict[str, Any]]:
    """Every method on one function: the minimised function at what is recommended, at each checkpoint."""
    person = make_environment(FUNCTIONS[name])
    rounds, rows = INITIAL + duels, []
    for label, (policy, settings) in METHODS.items():
        if label == "CEI" and name != "forrester":
            continue
        given = {**settings, "initial": INITIAL, "landmarks": LANDMARKS} if policy == "bopper" else settings
        result = simulate(
            policy,
            person,
            rounds=rounds,
            repetitions=runs,
            settings=given,
            seed=seed,
            jobs=jobs,
            relabel=False,
            checkpoints=[INITIAL, *range(INITIAL + 10, rounds, 10)],
        )
        values = -person.utility[result.recommended]
        for c, t in enumerate(result.checkpoints):
            rows.append(
                {
                    "function": name,
                    "method": label,
                    "duels": int(t),
                    "mean": float(values[:, c].mean()),
                    "sd": float(values[:, c].std(ddof=1)),
                    "median": float(np.median(values[:, c])),
                    "share_at_minimum": float((values[:, c] <= -person.utility.max() + 1e-9).mean()),
                    "minimum": float(-person.utility.max()),
                    "runs": runs,
                    "milliseconds_per_duel": result.summary()["microseconds_per_round"] / 1e3,
                }
            )
        print_rows(rows[-1:])
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel per function: the mean gap to the grid's minimum, logarithmic where it spans decades."""
    names = list(dict.fromkeys(row["function"] for row in rows))
    _, axes = pyplot().subplots(1, len(names), figsize=(4.5 * len(names), 4), layout="constrained", squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        for label in METHODS:
            mine = [row for row in rows if row["function"] == name and row["method"] == label]
            if mine:
                gap = [row["mean"] - row["minimum"] for row in mine]
                ax.plot([row["duels"] for row in mine], np.maximum(gap, 1e-3), label=label)
        ax.set(title=f"{name} ({mine[0]['runs']} runs)", xlabel="duels", yscale="log")
    axes[0, 0].set_ylabel("f(recommended) - minimum on the grid, mean")
    axes[0, 0].legend()
    save_figure(axes[0, 0], path)


def main() -> None:
    """Run the chosen functions."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--function", choices=list(FUNCTIONS), help="only this one")
    parser.add_argument("--runs", type=int, help=f"repetitions ({RUNS})")
    options = parser.parse_args()
    runs, duels = options.runs or (2 if options.quick else RUNS), 20 if options.quick else DUELS
    chosen = [options.function] if options.function else ["forrester"] if options.quick else list(FUNCTIONS)
    rows = [
        row
        for name in chosen
        for row in run_function(name, runs=runs, duels=duels, seed=options.seed, jobs=options.jobs)
    ]
    stem = options.out / (f"pbo-2017-{options.function}" if options.function else "pbo-2017")
    methods = {label: {"policy": policy, "settings": settings} for label, (policy, settings) in METHODS.items()}
    manifest = {"runs": runs, "initial": INITIAL, "duels": duels, "seed": options.seed, "landmarks": LANDMARKS}
    save_table(stem.with_suffix(".csv"), rows, {**manifest, "environments": FUNCTIONS, "methods": methods})
    draw(rows, stem.with_suffix(".png"))


if __name__ == "__main__":
    main()
