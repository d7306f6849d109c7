"""Is the order of Sui et al. 2017, Figures 8 and 9 that of the methods, or of kernels, scales and links (m = 2)?

    python benchmarks/kernel_fairness.py
    python benchmarks/kernel_fairness.py --function forrester

The paper gives BOPPER a squared exponential kernel of pairs with parameter 1 and does not mirror duels. Here it also
gets kernels that fit: length-scale 0.2 as the others have, mirrored, skew, or of utility differences, and a variance
for the scale of the logits. Settings: raw utilities with the logit link (the presets of ``kernel_regret.py``),
utilities scaled to [0, 1] with it, and those with the linear link. Writes one table, its manifest, and a figure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table

from prefopt.environments import make_environment
from prefopt.plotting import pyplot, save_figure
from prefopt.simulation import simulate

#: Environment, rounds, runs of the compiled methods and of BOPPER.
FUNCTIONS = {"forrester": ("forrester-30", 100, 400, 40), "camel": ("camel-64", 500, 100, 10)}
#: Options of the person, and the variance of logits that fits them.
SETTINGS: dict[str, tuple[dict[str, Any], float]] = {
    "raw, logit": ({}, 16.0),
    "unit, logit": ({"scale": "unit"}, 1.0),
    "unit, linear": ({"scale": "unit", "link": "linear"}, 1.0),
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KernelSelfSparring": ("kernel-self-sparring", {"preset": "paper"}),
    "GP-Sparring": ("gp-sparring", {"preset": "sui2017"}),
    "BOPPER (paper)": ("bopper", {"preset": "sui2017"}),
    "BOPPER (se, 0.2, mirrored)": ("bopper", {"kernel": "se"}),
    "BOPPER (skew)": ("bopper", {"kernel": "skew"}),
    "BOPPER (difference)": ("bopper", {"kernel": "difference"}),
    "Random": ("random", {}),
}


def run_function(name: str, *, share: float, seed: int, jobs: int) -> list[dict[str, Any]]:
    """Every method in every setting of one function, at the last round."""
    environment, rounds, many, few = FUNCTIONS[name]
    rows = []
    for setting, (options, variance) in SETTINGS.items():
        person = make_environment(environment, **options)
        for label, (policy, settings) in METHODS.items():
            fair = policy == "bopper" and "preset" not in settings
            result = simulate(
                policy,
                person,
                rounds=rounds,
                repetitions=max(2, round(share * (few if policy == "bopper" else many))),
                settings={**settings, "outputscale": variance} if fair else settings,
                seed=seed,
                jobs=jobs,
                checkpoints=[rounds],
            )
            summary = result.summary()
            kept = {key: summary[key] for key in ("mean", "sd", "se", "inference_regret", "microseconds_per_round")}
            rows.append({"function": name, "setting": setting, "method": label, "runs": summary["repetitions"], **kept})
        print_rows(rows[-len(METHODS) :])
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Regret as a share of that of random questions, by setting."""
    names = list(dict.fromkeys(row["function"] for row in rows))
    _, axes = pyplot().subplots(1, len(names), figsize=(7 * len(names), 4.5), layout="constrained", squeeze=False)
    methods, width = [label for label in METHODS if label != "Random"], 0.13
    for ax, name in zip(axes[0], names, strict=True):
        of = {(row["setting"], row["method"]): row for row in rows if row["function"] == name}
        chance = np.array([of[setting, "Random"]["mean"] for setting in SETTINGS])
        for k, label in enumerate(methods):
            mean = np.array([of[setting, label]["mean"] for setting in SETTINGS]) / chance
            error = np.array([of[setting, label]["se"] for setting in SETTINGS]) / chance
            ax.bar(np.arange(len(SETTINGS)) + width * (k - 2.5), mean, width, yerr=error, label=label)
        ax.axhline(1.0, color="black", lw=1)
        ax.set_xticks(np.arange(len(SETTINGS)), list(SETTINGS))
        ax.set(title=f"{FUNCTIONS[name][0]}, m = 2, T = {FUNCTIONS[name][1]}")
        ax.set_ylabel("strong-sum regret / regret of random questions (± s.e.)")
    axes[0, 0].figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside lower center")
    save_figure(axes[0, 0], path)


def main() -> None:
    """Run the chosen functions."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--function", choices=list(FUNCTIONS), help="only this one")
    parser.add_argument("--share", type=float, help="share of the repetitions (1)")
    options = parser.parse_args()
    share = options.share or (0.02 if options.quick else 1.0)
    chosen = [options.function] if options.function else ["forrester"] if options.quick else list(FUNCTIONS)
    rows = [row for name in chosen for row in run_function(name, share=share, seed=options.seed, jobs=options.jobs)]
    methods = {label: {"policy": policy, "settings": settings} for label, (policy, settings) in METHODS.items()}
    variances = {setting: variance for setting, (_, variance) in SETTINGS.items()}
    stem = options.out / (f"kernel_fairness-{options.function}" if options.function else "kernel_fairness")
    manifest = {"share": share, "seed": options.seed, "functions": FUNCTIONS, "variance": variances, "methods": methods}
    save_table(stem.with_suffix(".csv"), rows, manifest)
    draw(rows, stem.with_suffix(".png"))


if __name__ == "__main__":
    main()
