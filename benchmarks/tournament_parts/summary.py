"""What the rows say: mean regrets, and ratios of them with bootstrap intervals.

The ratio of two methods is the geometric mean, over problems and budgets, of the ratios of their mean regrets, where a
mean below 0.01 counts as 0.01 (differences below that nobody sees). Intervals are 90 % bootstrap intervals over
seeds, problem by problem; methods that played the same seeds met the same luck and are resampled together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tournament_parts.play import BUDGETS, Row

FloatArray = NDArray[np.float64]
FLOOR = 0.01
#: Budgets over which "all" is taken; what happens in the first ten answers is shown, and counted apart.
COUNTED = (20, 40, 80)
RESAMPLED = 2000


@dataclass(frozen=True)
class Score:
    """Regrets of one method, noise and slate size.

    Attributes:
        name: of the method.
        regret: per problem the regrets (seeds, budgets), nan where a run did not come so far.
        seeds: per problem the seeds, ascending.
    """

    name: str
    regret: Mapping[str, FloatArray]
    seeds: Mapping[str, tuple[int, ...]]


def score(
    rows: Iterable[Row], method: str, *, noise: str = "random-pairs", m: int = 2, measure: str = "regret"
) -> Score:
    """The runs of ``method`` as arrays; ``measure`` is the beginning of a column's name, such as "cumulative"."""
    mine = [r for r in rows if (r["method"], r["noise"], r["m"]) == (method, noise, m)]
    regret, seeds = {}, {}
    for problem in sorted({r["problem"] for r in mine}):
        runs = sorted((r for r in mine if r["problem"] == problem), key=lambda r: int(r["seed"]))
        cells = [[r[f"{measure}_{n}"] for n in BUDGETS] for r in runs]
        regret[problem] = np.array([[math.nan if c == "" else c for c in line] for line in cells], dtype=np.float64)
        seeds[problem] = tuple(r["seed"] for r in runs)
    return Score(method, regret, seeds)


def mean_regret(regret: FloatArray) -> FloatArray:
    """Mean over seeds (budgets,), at least ``FLOOR``; nan where no run came so far."""
    there = ~np.isnan(regret)
    count = there.sum(axis=-2)
    total = np.where(there, regret, 0.0).sum(axis=-2)
    mean = np.where(count > 0, total / np.maximum(count, 1), math.nan)
    return np.asarray(np.where(np.isnan(mean), mean, np.maximum(mean, FLOOR)))


def resampled(own: Score, problem: str, draws: Mapping[tuple[int, ...], NDArray[np.int64]]) -> FloatArray:
    """Mean regrets (resamples, budgets) of one method on one problem."""
    return mean_regret(own.regret[problem][draws[own.seeds[problem]]])


@dataclass(frozen=True)
class Ratio:
    """A method against another, or against the best of several on each problem and budget.

    Attributes:
        a, b: names.
        problems: on which both played.
        by_budget: geometric mean over problems at each of ``BUDGETS``; nan where there is none.
        overall, low, high: over problems and ``COUNTED`` budgets, with the 90 % interval.
        by_problem: per problem the same three, over ``COUNTED``.
        seeds: smallest number of seeds of a method on a problem.
    """

    a: str
    b: str
    problems: tuple[str, ...]
    by_budget: dict[int, float]
    overall: float
    low: float
    high: float
    by_problem: dict[str, tuple[float, float, float]]
    seeds: int


def geometric(ratio: FloatArray, axis: Any) -> FloatArray:
    """Geometric mean over the entries that are there."""
    there = ~np.isnan(ratio)
    logs = np.log(np.where(there, ratio, 1.0)).sum(axis=axis)
    count = there.sum(axis=axis)
    return np.asarray(np.where(count > 0, np.exp(logs / np.maximum(count, 1)), math.nan))


def best_of(means: Sequence[FloatArray]) -> FloatArray:
    """The smallest of the means that are there, elementwise."""
    stacked = np.stack(means)
    small = np.where(np.isnan(stacked), np.inf, stacked).min(axis=0)
    return np.asarray(np.where(np.isinf(small), math.nan, small))


def compare(a: Score, others: Sequence[Score], *, problems: Iterable[str] | None = None, seed: int = 0) -> Ratio:
    """``a`` against the best of ``others`` on each problem and budget (one of them: against that one).

    Raises:
        ValueError: no problem on which both sides played.
    """
    chosen = [p for p in (problems or a.regret) if p in a.regret and any(p in b.regret for b in others)]
    if not chosen:
        raise ValueError(f"{a.name} and {', '.join(b.name for b in others)} have no problem in common")
    rng = np.random.default_rng(seed)
    point, spread = [], []  # per problem: (budgets,), (resamples, budgets)
    for p in chosen:
        there = [b for b in others if p in b.regret]
        draws = {s: rng.integers(len(s), size=(RESAMPLED, len(s))) for s in sorted({x.seeds[p] for x in (a, *there)})}
        point.append(mean_regret(a.regret[p]) / best_of([mean_regret(b.regret[p]) for b in there]))
        spread.append(resampled(a, p, draws) / best_of([resampled(b, p, draws) for b in there]))
    counted = [BUDGETS.index(n) for n in COUNTED]
    ratio, resample = np.array(point), np.array(spread)
    per_problem = geometric(ratio[:, counted], 1)
    low, high = np.nanpercentile(geometric(resample[:, :, counted], 2), (5, 95), axis=1)
    overall = np.nanpercentile(geometric(resample[:, :, counted], (0, 2)), (5, 95))
    return Ratio(
        a.name,
        others[0].name if len(others) == 1 else f"best of {len(others)}",
        tuple(chosen),
        dict(zip(BUDGETS, map(float, geometric(ratio, 0)), strict=True)),
        float(geometric(ratio[:, counted], (0, 1))),
        float(overall[0]),
        float(overall[1]),
        {p: (float(x), float(y), float(z)) for p, x, y, z in zip(chosen, per_problem, low, high, strict=True)},
        min(len(x.seeds[p]) for p in chosen for x in (a, *others) if p in x.seeds),
    )


def regret_rows(rows: Sequence[Row]) -> list[Row]:
    """Mean and median regret and mean cumulative regret by method, problem, noise and m, at every budget."""
    table = []
    for method, noise, m in sorted({(r["method"], r["noise"], r["m"]) for r in rows}):
        own = score(rows, method, noise=noise, m=m)
        summed = score(rows, method, noise=noise, m=m, measure="cumulative")
        for problem, regret in own.regret.items():
            row: Row = {"method": method, "noise": noise, "m": m, "problem": problem, "seeds": len(regret)}
            for j, n in enumerate(BUDGETS):
                there = regret[:, j][~np.isnan(regret[:, j])]
                total = summed.regret[problem][:, j]
                row[f"mean_{n}"] = round(float(there.mean()), 4) if there.size else ""
                row[f"median_{n}"] = round(float(np.median(there)), 4) if there.size else ""
                row[f"cumulative_{n}"] = round(float(total[~np.isnan(total)].mean()), 3) if there.size else ""
            table.append(row)
    return table


def ratio_row(ratio: Ratio) -> Row:
    """A ratio as one line of a table."""
    return {
        "method": ratio.a,
        "against": ratio.b,
        "problems": len(ratio.problems),
        "seeds": ratio.seeds,
        **{f"ratio_{n}": "" if math.isnan(x) else round(x, 3) for n, x in ratio.by_budget.items()},
        "ratio": round(ratio.overall, 3),
        "low": round(ratio.low, 3),
        "high": round(ratio.high, 3),
    }


def problem_rows(ratio: Ratio) -> list[Row]:
    """A ratio problem by problem."""
    return [
        {
            "method": ratio.a,
            "against": ratio.b,
            "problem": p,
            "ratio": round(x, 3),
            "low": round(low, 3),
            "high": round(high, 3),
        }
        for p, (x, low, high) in ratio.by_problem.items()
    ]
