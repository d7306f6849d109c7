"""Is a stated chance true? Predicted win probabilities and chances of being best, against simulated people's truth.

Half of the studies are about utilities drawn from the model's own prior, half about test functions (20 % wrong answers
over random pairs). Questions are chosen by EUBO under default hyper-parameters; those of the predictions are learned.
Each model sees the same answers and regards both priors of the default: Laplace's approximation, expectation
propagation, what the default of a study states ("stated": averaged over how often the person may guess), and, of a
person who guesses, what it states when told how often ("told"). Win probabilities are judged on held out pairs, half
of them anywhere, half near the best option found; "best" on sets of six, shown options and new ones.
One table per kind of person; the figure shows all tables in the folder.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common import arguments, print_rows, pyplot, save_figure, save_table
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit

from prefopt.answer import Answer
from prefopt.domain import Box
from prefopt.environments.box import BoxEnvironment, calibrated_scale
from prefopt.environments.problems import PROBLEMS
from prefopt.models.utility.average import Averaged
from prefopt.models.utility.comparisons import Comparisons
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.policies import make_policy
from prefopt.seeding import stream

FUNCTIONS = (
    "forrester", "camel", "branin", "hartmann3", "ackley4", "levy", "log-goldstein", "log-rosenbrock3", "hartmann6",
    "styblinski-tang",
)  # fmt: skip
BUDGETS = (15, 40)
#: Sets of six per study and budget.
SETS = 12
FloatArray = NDArray[np.float64]


class Rater(NamedTuple):
    """How a simulated person errs beside the logistic noise."""

    lapse: float = 0.0  # share of answers at random
    bias: float = 0.0  # logits for what is shown first
    drift: float = 0.0  # how much of the taste is another one at the last question


RATERS = {"plain": Rater(), "random": Rater(lapse=0.3), "position": Rater(bias=1.0), "drifting": Rater(drift=0.3)}


def prior_function(seed: int) -> tuple[Box, Callable[[FloatArray], FloatArray]]:
    """A utility drawn from the default prior, hyper-parameters too."""
    rng = stream(seed, 1)
    box = Box(int(rng.integers(1, 5)))
    hyper = make_policy("eubo", box).hyper
    theta = hyper.median + hyper.sd * rng.standard_normal(len(hyper.sd))
    nothing = Utility.after(hyper.prior(theta), np.zeros((0, box.dim)), Comparisons.of([]), Likelihood())
    path = nothing.paths(box, 1, rng, features=4096)
    return box, lambda x: path.values(x)[0]


def test_function(name: str) -> tuple[Box, Callable[[FloatArray], FloatArray]]:
    """A test function in units of a noise with which 20 % of random pairs are answered wrongly."""
    problem = PROBLEMS[name]
    scale = calibrated_scale(problem, error=0.2, top=1.0, samples=20_000)
    environment = BoxEnvironment(name, problem)
    return environment.domain, lambda x: environment.utility(x) / scale


def predictions(policy: Any, lapse: float) -> dict[str, Averaged]:
    """What the default policy believes after the answers of ``policy``, by model."""
    blind, told = (make_policy("knowledge-gradient", policy.domain, lapse=told) for told in (0.0, lapse))
    for default in (blind, told):
        default.init(stream(0))
        default.points, default.said = policy.points, policy.said
    made = {
        "Laplace": blind.beliefs(),
        "EP": blind.beliefs().over_lapses({0.0: 1.0}),
        "stated": blind.chances(),
    }
    return {**made, "told": told.chances()} if lapse else made


TITLES = {"win": "wins the pair", "best": "best of six"}
MODELS = ("Laplace", "EP", "stated", "told")


def study(kind: str, index: int, seed: int) -> list[dict[str, Any]]:
    """One study: predictions and truths of every model at every budget."""
    rater, rng = RATERS[kind], stream(seed, index)
    own = index % 2 == 0
    box, taste = prior_function(1000 * seed + index) if own else test_function(FUNCTIONS[index // 2 % len(FUNCTIONS)])
    other = prior_function_on(box, 1000 * seed + index) if rater.drift else None
    policy = make_policy("eubo", box, learn=False)
    policy.init(stream(seed, index, 2))

    def utility(x: FloatArray, t: int) -> FloatArray:
        share = rater.drift * t / BUDGETS[-1]
        return taste(x) if other is None else (1 - share) * taste(x) + share * other(x)

    rows = []
    for t in range(1, BUDGETS[-1] + 1):
        slate = policy.ask(stream(seed, index, 3, t))
        order = rng.permutation(2)
        u = utility(slate, t)[order]
        first = rng.random() < expit(u[0] - u[1] + rater.bias)
        if rng.random() < rater.lapse:
            first = rng.random() < 0.5
        policy.tell(slate, Answer.duel(int(order[0 if first else 1])), rng)
        if t in BUDGETS:
            rows += judged(policy, kind, t, rng, lambda x, t=t: utility(x, t), own)
    return rows


def prior_function_on(box: Box, seed: int) -> Callable[[FloatArray], FloatArray]:
    """A utility on ``box`` drawn from the prior's medians."""
    hyper = make_policy("eubo", box).hyper
    prior = hyper.prior(hyper.median)
    nothing = Utility.after(prior, np.zeros((0, box.dim)), Comparisons.of([]), Likelihood())
    path = nothing.paths(box, 1, stream(seed, 4), features=4096)
    return lambda x: path.values(x)[0]


def judged(
    policy: Any,
    kind: str,
    t: int,
    rng: np.random.Generator,
    truth: Callable[[FloatArray], FloatArray],
    own: bool,
) -> list[dict[str, Any]]:
    """Predicted and true chances of held-out pairs and sets."""
    box, rater = policy.domain, RATERS[kind]
    best = policy.best()
    near = box.project(np.clip(best + 0.15 * rng.standard_normal((100, box.dim)), 0, 1))
    A, B = np.concatenate([box.sample(50, rng), near[:50]]), np.concatenate([box.sample(50, rng), near[50:]])
    gap = truth(A) - truth(B)
    p = (1 - rater.lapse) * (expit(gap + rater.bias) + expit(gap - rater.bias)) / 2 + rater.lapse / 2
    sets = []
    for _ in range(SETS):
        shown = policy.points[rng.choice(len(policy.points), 3, replace=False)]
        sets.append(np.concatenate([best[None], shown, near[rng.integers(100, size=1)], box.sample(1, rng)]))
    rows = []
    for which, model in predictions(policy, rater.lapse).items():
        said = model.win_probability(A, B)
        about = {"rater": kind, "answers": t, "model": which, "problem": "prior" if own else "function"}
        about["lapse"] = model.lapse
        for said_one, true_one in zip(said, p, strict=True):  # from both sides: the two chances add to one
            rows.append({**about, "what": "win", "said": said_one, "true": true_one})
            rows.append({**about, "what": "win", "said": 1 - said_one, "true": 1 - true_one})
        for Z in sets:
            chance = model.probability_best(Z, np.random.default_rng(t))
            u = truth(Z)
            rows += [
                {**about, "what": "best", "said": c, "true": float(v == u.max())}
                for c, v in zip(chance, u, strict=True)
            ]
    return rows


ABOUT = ("what", "rater", "problem", "answers", "model")


def grouped(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], FloatArray]:
    """Per kind of prediction, the rows (said, true, lapse); problems and budgets also all together."""
    groups: dict[tuple[Any, ...], list[tuple[float, float, float]]] = {}
    for row in rows:
        for problem, answers in itertools.product(("all", row["problem"]), ("all", row["answers"])):
            key = (row["what"], row["rater"], problem, answers, row["model"])
            groups.setdefault(key, []).append((row["said"], row["true"], row["lapse"]))
    return {key: np.array(groups[key]) for key in sorted(groups, key=str)}


def deciles(groups: dict[tuple[Any, ...], FloatArray]) -> list[dict[str, Any]]:
    """Mean prediction and mean truth by tenths of the predicted chance."""
    made = []
    for key, values in groups.items():
        tenth = np.minimum(9, (10 * values[:, 0]).astype(int))
        for k in np.unique(tenth):
            said, true, _ = values[tenth == k].mean(axis=0)
            cell = {"tenth": int(k), "said": said, "true": true, "count": int((tenth == k).sum())}
            made.append({**dict(zip(ABOUT, key, strict=True)), **cell})
    return made


def summary(groups: dict[tuple[Any, ...], FloatArray], table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Largest and mean distance of truth from prediction over the tenths with at least 30 cases; log loss and error."""
    made = []
    for key, values in groups.items():
        cells = [r for r in table if r["count"] >= 30 and tuple(r[k] for k in ABOUT) == key]
        away = np.array([abs(r["true"] - r["said"]) for r in cells])
        n = np.array([r["count"] for r in cells])
        said, true, lapse = values.T
        sure = np.clip(said, 1e-4, 1 - 1e-4)
        made.append(
            {
                **dict(zip(ABOUT, key, strict=True)),
                "largest": float(away.max(initial=0.0)),
                "mean": float(away @ n / max(1, n.sum())),
                "log_loss": float(-(true * np.log(sure) + (1 - true) * np.log1p(-sure)).mean()),
                "error": float(np.abs(said - true).mean()),
                "lapse": float(lapse.mean()),
            }
        )
    return made


def figure(table: list[dict[str, Any]], path: Any) -> None:
    """Reliability diagrams, one panel per rater and kind of prediction."""
    plt = pyplot()
    kinds = [k for k in RATERS if any(r["rater"] == k for r in table)]
    _, axes = plt.subplots(2, len(kinds), figsize=(3.6 * len(kinds), 7), layout="constrained", squeeze=False)
    for i, (what, slack) in enumerate((("win", 0.05), ("best", 0.1))):
        for j, kind in enumerate(kinds):
            ax = axes[i, j]
            ax.fill_between([0, 1], [-slack, 1 - slack], [slack, 1 + slack], color="0.9", lw=0)
            for model in MODELS:
                cells = [
                    r for r in table
                    if (r["what"], r["rater"], r["model"], r["problem"]) == (what, kind, model, "all")
                    and str(r["answers"]) == "all" and r["count"] >= 30
                ]  # fmt: skip
                ax.plot([r["said"] for r in cells], [r["true"] for r in cells], marker=".", label=model)
            ax.set(
                xlim=(0, 1),
                ylim=(0, 1),
                title=f"{kind}: {TITLES[what]}",
                xlabel="predicted",
                ylabel="true",
                aspect="equal",
            )
    axes[0, 0].legend(fontsize=8)
    save_figure(axes[0, 0], path)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--studies", type=int, default=50, help="simulated studies per kind of person")
    parser.add_argument("--raters", nargs="+", choices=list(RATERS), default=list(RATERS))
    options = parser.parse_args()
    n = 2 if options.quick else options.studies
    done = Parallel(n_jobs=options.jobs)
    for kind in options.raters:
        studies = done(delayed(study)(kind, index, options.seed) for index in range(n))
        rows = [row for one in studies for row in one]
        groups = grouped(rows)
        table = deciles(groups)
        said = summary(groups, table)
        print_rows([r for r in said if r["problem"] == "all"])
        manifest = {"studies": n, "budgets": BUDGETS, "seed": options.seed, "functions": FUNCTIONS}
        save_table(options.out / f"calibration_{kind}.csv", table, manifest)
        save_table(options.out / f"calibration_{kind}_summary.csv", said, manifest)
    tables = [options.out / f"calibration_{kind}.csv" for kind in RATERS]
    figure([row for path in tables if path.exists() for row in read(path)], options.out / "calibration.png")


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a table written before, numbers as numbers."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {k: float(v) if k in ("said", "true", "count") else v for k, v in row.items()}
            for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    main()
