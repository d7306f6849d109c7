"""The experiments on independent arms of Sui et al. 2017 and Chen and Frazier 2017.

    python benchmarks/dueling_regret.py                     every figure
    python benchmarks/dueling_regret.py --figure sui-3
    python benchmarks/dueling_regret.py --figure sui-6 --matrix rankers.csv

Figures: ``sui-3`` (m = 2, nine algorithms), ``sui-4`` and ``sui-5`` (m = 4, 1good and arith), ``sui-6`` (random
16-arm subsets with a Condorcet winner of a matrix given by path), ``sui-grid`` (links x utilities), ``weak``
(Chen and Frazier, Figure 2), ``strong`` (Figure 3), ``beta`` (sensitivity of WS-S),
``bound`` (RMED and D-TS against the asymptotic lower bound). Each writes CSV, manifest, PNG.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from typing import Any

import numpy as np
from _common import arguments, curve_rows, print_rows, save_curves, save_table

from prefopt.domain import Arms
from prefopt.environments import FiniteEnvironment, make_environment, matrix_environment
from prefopt.environments.subsets import condorcet_subset
from prefopt.environments.yelp_like import yelp_like
from prefopt.plotting import plot_regret, pyplot, save_figure
from prefopt.regret import lower_bound
from prefopt.seeding import stream
from prefopt.simulation import Results, simulate

Method = tuple[str, str, dict[str, Any]]  # label, policy, settings

FIGURE_3: list[Method] = [
    ("IF", "if2", {}),
    ("BTM", "beat-the-mean", {}),
    ("RUCB", "rucb", {}),
    ("MergeRUCB", "merge-rucb", {}),
    ("Sparring-UCB1", "sparring-ucb1", {}),
    ("Sparring-EXP3", "sparring-exp3", {}),
    ("RMED1", "rmed1", {}),
    ("D-TS (2.5)", "d-ts", {"preset": "sui2017"}),
    ("IndSelfSparring (3.5)", "ind-self-sparring", {"preset": "sui2017"}),
]
MULTI: list[Method] = [
    ("IndSelfSparring", "ind-self-sparring", {}),
    ("MDB", "mdb", {}),
    ("MultiSparring", "multi-sparring", {}),
]
WEAK: list[Method] = [
    ("WS-W", "ws-w", {}),
    ("RUCB", "rucb", {}),
    ("BTW", "btw", {}),
    ("MBTW", "mbtw", {}),
    ("QSA", "qsa", {}),
    ("QSA, majority of 9", "qsa", {"repeats": 9}),
]
#: Share of the repetitions that a policy without a compiled loop plays.
SHARE = {"qsa": 0.1}
STRONG: list[Method] = [("WS-S", "ws-s", {}), *FIGURE_3[2:7], ("D-TS", "d-ts", {}), FIGURE_3[8]]


def run(methods: list[Method], environment: Any, options: argparse.Namespace, **keywords: Any) -> list[Results]:
    """Every method on one environment, same people for all."""
    return [
        simulate(
            policy,
            environment,
            rounds=options.rounds,
            repetitions=max(2, round(options.runs * SHARE.get(policy, 1.0))),
            seed=options.seed,
            jobs=options.jobs,
            settings=settings,
            **keywords,
        )
        for _, policy, settings in methods
    ]


def report(name: str, methods: list[Method], results: list[Results], options: argparse.Namespace) -> None:
    """Write the figure and print its last column."""
    labels = [label for label, _, _ in methods]
    save_curves(options.out / name, results, labels)
    print(f"\n{name}: cumulative regret at T = {options.rounds}")
    print_rows(
        [
            {
                "method": label,
                **{kind: float(r.mean(kind)[-1]) for kind in r.regrets},
                "sd": float(r.sd()[-1]),
                "runs": len(r.regret),
                "seconds": r.seconds,
            }
            for label, r in zip(labels, results, strict=True)
        ]
    )


def about(options: argparse.Namespace, methods: list[Method]) -> dict[str, Any]:
    """The manifest of a table over several environments."""
    return {
        "runs": options.runs,
        "rounds": options.rounds,
        "seed": options.seed,
        "methods": [{"label": label, "policy": policy, "settings": settings} for label, policy, settings in methods],
    }


def sui_3(options: argparse.Namespace) -> None:
    """Sui et al. 2017, Figure 3: arith utilities, logit link, m = 2."""
    report("sui-3", FIGURE_3, run(FIGURE_3, "arith-logit-16", options), options)


def sui_4(options: argparse.Namespace) -> None:
    """Figure 4: 1good, linear link, m = 4; mean over the slate, since MDB's slates vary in size."""
    report("sui-4", MULTI, run(MULTI, "1good-linear-16", options, slate_size=4, regret="strong-mean"), options)


def sui_5(options: argparse.Namespace) -> None:
    """Figure 5: arith, linear link, m = 4."""
    report("sui-5", MULTI, run(MULTI, "arith-linear-16", options, slate_size=4, regret="strong-mean"), options)


def sui_6(options: argparse.Namespace) -> None:
    """Figure 6: 50 random 16-arm subsets, each with a Condorcet winner, of the matrix at ``--matrix``; m = 2 and 4."""
    if options.matrix is None:
        print("\nsui-6 needs a matrix: --matrix FILE.csv (row i, column j: chance that ranker i beats j); left out")
        return
    whole = matrix_environment(options.matrix)
    rng = stream(options.seed, 6)
    subsets = [condorcet_subset(whole.P, 16, rng) for _ in range(10 if options.quick else 50)]
    for m in (2, 4):
        report(
            f"sui-6-m{m}",
            MULTI,
            [over_subsets(whole, subsets, method, m, options) for method in MULTI],
            options,
        )


def over_subsets(whole: Any, subsets: list[np.ndarray], method: Method, m: int, options: argparse.Namespace) -> Results:
    """One repetition of ``method`` on each subset, as the repetitions of one result."""
    _, policy, settings = method
    each = [
        simulate(
            policy,
            FiniteEnvironment(f"{len(subsets)} subsets of 16 rankers, m = {m}", Arms(len(s)), whole.P[np.ix_(s, s)]),
            rounds=options.rounds,
            seed=options.seed + i,
            slate_size=m,
            regret="strong-mean",
            settings=settings,
        )
        for i, s in enumerate(subsets)
    ]
    joined = {name: np.concatenate([getattr(r, name) for r in each]) for name in ("regret", "recommended", "inference")}
    manifest = {
        **each[0].manifest,
        "repetitions": len(each),
        "matrix": whole.name,
        "subsets": [s.tolist() for s in subsets],
    }
    return dataclasses.replace(each[0], **joined, manifest=manifest, seconds=sum(r.seconds for r in each))


def sui_grid(options: argparse.Namespace) -> None:
    """The supplement: every utility setting with every link, m = 2, the methods of Figure 3."""
    utilities, links = ("1good", "2good", "3good", "6good", "arith", "geom"), ("linear", "natural", "logit")
    labels = [label for label, _, _ in FIGURE_3]
    _, axes = pyplot().subplots(len(utilities), len(links), figsize=(13, 20), sharex=True, layout="constrained")
    rows, last, marks = [], [], [options.rounds * k // 20 for k in range(1, 21)]
    for (utility, link), ax in zip(itertools.product(utilities, links), axes.flat, strict=True):
        results = run(FIGURE_3, f"{utility}-{link}-16", options, checkpoints=marks)
        rows += curve_rows(results, labels)
        last.append({"setting": f"{utility}-{link}"} | {n: r.mean()[-1] for n, r in zip(labels, results, strict=True)})
        plot_regret(results, labels=labels, ax=ax)
        ax.set_title(results[0].environment, fontsize=10)
        if ax is not axes[0, 0]:
            ax.get_legend().remove()
            ax.set_ylabel("")
    axes[0, 0].figure.suptitle(results[0].describe())
    save_table(options.out / "sui-grid.csv", rows, about(options, FIGURE_3))
    save_figure(axes[0, 0], options.out / "sui-grid.png")
    print(f"\nsui-grid: cumulative regret at T = {options.rounds}")
    print_rows(last)


def weak(options: argparse.Namespace) -> None:
    """Chen and Frazier 2017, Figure 2: a total order with p = 0.8, and a stand-in for the restaurants (features)."""
    results = run(WEAK, "total-order-0.8-50", options, regret=["binary-weak", "weak"])
    report("weak-order", WEAK, results, options)
    people = yelp_like(stream(options.seed, 2))
    report("weak-yelp-like", WEAK, run(WEAK, people, options, regret=["utility-weak", "binary-weak"]), options)


def strong(options: argparse.Namespace) -> None:
    """Chen and Frazier 2017, Figure 3: binary and utility strong regret on two real matrices."""
    for name in ("sushi16", "mslr5"):
        results = run(STRONG, name, options, regret=["binary-strong", "utility-strong"])
        report(f"strong-{name}", STRONG, results, options)


def beta(options: argparse.Namespace) -> None:
    """Sensitivity of WS-S to beta."""
    methods: list[Method] = [(f"beta {b}", "ws-s", {"beta": b}) for b in (1.01, 1.05, 1.1, 1.3, 1.5, 2.0)]
    for name in ("sushi16", "mslr5"):
        report(f"beta-{name}", methods, run(methods, name, options), options)


def bound(options: argparse.Namespace) -> None:
    """Growth of the strong regret per unit of ln T over the last doubling, next to the least that is possible."""
    methods: list[Method] = [(n, n, {}) for n in ("rmed1", "rmed2", "rmed2f", "d-ts", "d-ts-plus")]
    labels, rows = [label for label, _, _ in methods], []
    for name in ("sushi16", "mslr5", "arxiv6", "arithmetic-8", "cyclic-4"):
        marks = [options.rounds // 2, options.rounds]
        results = run(methods, name, options, regret="strong-mean", checkpoints=marks)
        slopes = [float(np.diff(r.mean())[0] / np.log(2)) for r in results]
        least = lower_bound(make_environment(name).P)
        rows.append({"environment": name, "bound": least, **dict(zip(labels, slopes, strict=True))})
    save_table(options.out / "bound.csv", rows, about(options, methods))
    print("\nbound: growth of the mean strong regret per unit of ln T over the last doubling")
    print_rows(rows)
    _, ax = pyplot().subplots(figsize=(7, 4.5), layout="constrained")
    for k, label in enumerate(labels):
        ax.bar(np.arange(len(rows)) + 0.16 * k, [row[label] / row["bound"] for row in rows], 0.16, label=label)
    ax.axhline(1.0, color="black", lw=1, label="lower bound (Komiyama et al. 2015)")
    ax.set_xticks(np.arange(len(rows)) + 0.32, [row["environment"] for row in rows])
    ax.set_ylabel(f"growth per ln T at T = {options.rounds}, over the bound")
    ax.legend(fontsize=8)
    save_figure(ax, options.out / "bound.png")


FIGURES = {
    "sui-3": sui_3,
    "sui-4": sui_4,
    "sui-5": sui_5,
    "sui-6": sui_6,
    "sui-grid": sui_grid,
    "weak": weak,
    "strong": strong,
    "beta": beta,
    "bound": bound,
}


def main() -> None:
    """Run the chosen figures."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--figure", choices=list(FIGURES), help="only this one")
    parser.add_argument("--runs", type=int, help="repetitions (100)")
    parser.add_argument("--rounds", type=int, help="questions per repetition (20000)")
    parser.add_argument("--matrix", help="CSV preference matrix of rankers, for sui-6")
    options = parser.parse_args()
    options.runs = options.runs or (4 if options.quick else 100)
    options.rounds = options.rounds or (1000 if options.quick else 20_000)
    for name, figure in FIGURES.items():
        if options.figure in (None, name):
            figure(options)


if __name__ == "__main__":
    main()
