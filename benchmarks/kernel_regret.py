"""Regret of KernelSelfSparring, GP-Sparring and BOPPER on Forrester and Six-Hump Camel (Sui et al. 2017, Figures 8-11).

    python benchmarks/kernel_regret.py                     every preset and the lock-in table
    python benchmarks/kernel_regret.py --preset sui-forrester-2

BOPPER compares two options, as in the paper, so it is in the figures with m = 2 only; once with the kernel of the paper
and once with a skew one. ``kernel_fairness.py`` shows what other kernels, scales and links do to the order.

Writes, per preset, the curves (CSV, manifest, PNG); and ``lock_in``: how often the option recommended at the
end is not the best one, for several noise variances, with the share of runs off by phi > 0.1 and phi > 0.3 apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from _common import arguments, print_rows, save_curves, save_table

from prefopt.simulation import Results, simulate


class Preset(NamedTuple):
    """One figure of the paper: protocol and number of runs."""

    environment: str
    slate: int
    rounds: int
    runs: int


PRESETS = {
    "sui-forrester-2": Preset("forrester-30", 2, 100, 400),
    "sui-camel-2": Preset("camel-64", 2, 500, 100),
    "sui-forrester-4": Preset("forrester-30", 4, 100, 200),
    "sui-camel-4": Preset("camel-64", 4, 100, 50),
}

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KernelSelfSparring (paper)": ("kernel-self-sparring", {"preset": "paper"}),
    "KernelSelfSparring (default)": ("kernel-self-sparring", {}),
    "GP-Sparring (paper)": ("gp-sparring", {"preset": "sui2017"}),
    "BOPPER (paper)": ("bopper", {"preset": "sui2017"}),
    "BOPPER (skew kernel)": ("bopper", {}),
    "IndSelfSparring": ("ind-self-sparring", {}),
    "Random": ("random", {}),
}

#: Most runs of BOPPER, whose rounds take a thousand times as long, and points of its curves.
SLOW_RUNS, SLOW_POINTS = {"forrester-30": 200, "camel-64": 50}, 20

#: Feedback, slate size, and settings of each row of the lock-in table.
LOCK_IN: list[tuple[str, int, dict[str, Any]]] = [
    *(("pairs", 2, {"noise": v, "distinct": d}) for d in (False, True) for v in (0.025, 0.05, 0.1, 0.25)),
    *(("pairs", 4, {"noise": v}) for v in (0.025, 0.05, 0.1, 0.25)),
    *(("winner", 4, {"noise": v}) for v in (0.025, 0.1, 0.25)),
]


def run_preset(name: str, *, runs: int | None, seed: int, jobs: int, out: Path) -> None:
    """One figure: every method on one preset."""
    preset = PRESETS[name]
    methods = {label: what for label, what in METHODS.items() if what[0] != "bopper" or preset.slate == 2}
    results = [run_method(*what, preset, runs=runs or preset.runs, seed=seed, jobs=jobs) for what in methods.values()]
    save_curves(out / name, results, list(methods))
    print(f"\n{name}: cumulative regret at T = {preset.rounds}")
    print_rows([final_row(label, result) for label, result in zip(methods, results, strict=True)])


def run_method(policy: str, settings: dict[str, Any], preset: Preset, *, runs: int, seed: int, jobs: int) -> Results:
    """One method on one preset."""
    slow = policy == "bopper"
    return simulate(
        policy,
        preset.environment,
        rounds=preset.rounds,
        repetitions=min(runs, SLOW_RUNS[preset.environment]) if slow else runs,
        slate_size=preset.slate,
        settings=settings,
        seed=seed,
        jobs=jobs,
        checkpoints=[preset.rounds * (k + 1) // SLOW_POINTS for k in range(SLOW_POINTS)] if slow else None,
    )


def final_row(label: str, result: Results) -> dict[str, Any]:
    """One method at the last question."""
    summary = result.summary()
    names = ("mean", "sd", "se", "inference_regret", "microseconds_per_round", "seconds")
    return {"method": label, "runs": summary["repetitions"], **{n: summary[n] for n in names}}


def lock_in(*, runs: int, seed: int, jobs: int, out: Path) -> None:
    """Share of runs whose recommendation after 100 questions on Forrester is off, by noise variance."""
    rows = []
    for feedback, slate, settings in LOCK_IN:
        result = simulate(
            "kernel-self-sparring",
            "forrester-30",
            rounds=100,
            repetitions=runs,
            slate_size=slate,
            feedback=feedback,
            settings={"distinct": False, **settings},
            seed=seed,
            jobs=jobs,
        )
        off = result.inference[:, -1, 0]
        rows.append(
            {
                "feedback": feedback,
                "m": slate,
                "noise": settings["noise"],
                "distinct": settings.get("distinct", False),
                "runs": runs,
                "regret": result.summary()["mean"],
                "se": result.summary()["se"],
                "off_0.1": float((off > 0.1).mean()),
                "off_0.3": float((off > 0.3).mean()),
            }
        )
    save_table(out / "lock_in.csv", rows, {"environment": "forrester-30", "rounds": 100, "seed": seed})
    print("\nlock-in on forrester-30 after 100 questions")
    print_rows(rows)


def main() -> None:
    """Run the chosen presets."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--preset", choices=[*PRESETS, "lock-in"], help="only this one")
    parser.add_argument("--runs", type=int, help="repetitions instead of the preset's")
    chosen = parser.parse_args()
    runs = chosen.runs or (3 if chosen.quick else None)
    for name in PRESETS if chosen.preset is None else [chosen.preset]:
        if name in PRESETS:
            run_preset(name, runs=runs, seed=chosen.seed, jobs=chosen.jobs, out=chosen.out)
    if chosen.preset in (None, "lock-in"):
        lock_in(runs=runs or 400, seed=chosen.seed, jobs=chosen.jobs, out=chosen.out)


if __name__ == "__main__":
    main()
