"""Microseconds per duel of every policy (arith utilities, linear link), next to a calibration loop.

The calibration loop draws two uniforms and looks a table up per duel, compiled the same way. Ratios to it, and
two jobs against one, come from one run; the last column, growth, is the cost at K = 64 over that at K = 16.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table
from numba import njit

from prefopt.plotting import pyplot, save_figure
from prefopt.policies import POLICIES
from prefopt.simulation import Results, simulate

#: Policies that solve a program per question run in the plain loop and are timed over few rounds.
SLOW = {"qsa": 200}


@njit(nogil=True)  # type: ignore[untyped-decorator]
def calibration(P: Any, rng: np.random.Generator, rounds: int) -> float:
    """Two uniform draws and a table look-up per round."""
    total = 0.0
    for _ in range(rounds):
        i = int(rng.random() * P.shape[0])
        if rng.random() < P[i, 0]:
            total += 1.0
    return total


def calibrate(size: int, rounds: int) -> float:
    """Microseconds per round of the calibration loop, the best of five."""
    P, rng = np.full((size, size), 0.5), np.random.default_rng(0)
    calibration(P, rng, 10)
    times = []
    for _ in range(5):
        began = time.thread_time()
        calibration(P, rng, rounds)
        times.append(time.thread_time() - began)
    return min(times) / rounds * 1e6


def play(name: str, size: int, rounds: int, runs: int, jobs: int, seed: int) -> Results:
    """``runs`` repetitions."""
    return simulate(name, f"arith-linear-{size}", rounds=rounds, repetitions=runs, seed=seed, jobs=jobs)


def per_duel(result: Results) -> float:
    """CPU microseconds per duel, median over the repetitions."""
    return float(np.median(result.cpu_seconds)) / int(result.checkpoints[-1]) * 1e6


def two_jobs(name: str, rounds: int, micros: float, lasting: float, seed: int) -> float:
    """Duels per second with two jobs over those with one; both play for about ``lasting`` seconds of work."""
    if name in SLOW:
        return float("nan")  # plain Python holds the lock of the interpreter
    runs = 2 * math.ceil(lasting / (2e-6 * rounds * micros))
    return play(name, 16, rounds, runs, 1, seed).seconds / play(name, 16, rounds, runs, 2, seed).seconds


def main() -> None:
    """Time every policy at K = 16 and 64."""
    parser = arguments(__doc__ or "")
    options = parser.parse_args()
    rounds, runs = (2000, 4) if options.quick else (20_000, 20)
    names = [n for n, e in POLICIES.items() if "arms" in e.domains]
    if options.quick:  # compiling one takes longer than playing it
        names = list(dict.fromkeys([*names[::6], *SLOW]))
    base = {size: calibrate(size, 2_000_000) for size in (16, 64)}
    rows = []
    for name in names:
        length, some = SLOW.get(name, rounds), 1 if name in SLOW else runs
        small = per_duel(play(name, 16, length, some, 1, options.seed))
        large = per_duel(play(name, 64, length, max(1, some // 4), 1, options.seed))
        rows.append(
            {
                "policy": name,
                "us_K16": small,
                "ratio_K16": small / base[16],
                "two_jobs": two_jobs(name, rounds, small, 0.2 if options.quick else 2.0, options.seed),
                "us_K64": large,
                "ratio_K64": large / base[64],
                "growth": large / small,
            }
        )
        print_rows(rows[-1:])
    rows.append({**dict.fromkeys(rows[0], 1.0), "policy": "calibration", "us_K16": base[16], "us_K64": base[64]})
    save_table(options.out / "duel_speed.csv", rows, {"rounds": rounds, "runs": runs, "seed": options.seed})
    print()
    print_rows(rows)
    plt = pyplot()
    _, ax = plt.subplots(figsize=(7, 8), layout="constrained")
    ordered = sorted(rows, key=lambda row: row["us_K16"])
    ax.barh([r["policy"] for r in ordered], [r["us_K16"] for r in ordered])
    ax.set_xscale("log")
    ax.set_xlabel("CPU microseconds per duel, K = 16")
    save_figure(ax, options.out / "duel_speed.png")


if __name__ == "__main__":
    main()
