# %% [markdown]
# # Dueling bandits: choose an algorithm
#
# A dozen options, nothing known about which are alike, and a person (or a crowd, or users' clicks) who compares two at
# a time. Which algorithm should choose the pairs? Two questions decide.
#
# 1. **What does a question cost?** With *strong* regret both options shown should be good: people live with both
#    (two search engines, two treatments). With *weak* regret it is enough that one of them is good: people take the
#    better one (two restaurants). The kinds are in `prefopt.REGRETS`; phi(b, x) is P(best beats x) - 1/2.
# 2. **What may you assume?** A *total order* (everything can be ranked), a *Condorcet* winner (one option beats every
#    other; the rest may go in circles), *Copeland* (no such winner is needed), or a *utility* behind the answers.

# %%
import argparse
from pathlib import Path

import numpy as np

from prefopt import POLICIES, REGRETS, simulate
from prefopt.plotting import plot_regret, pyplot, save_figure

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer rounds, repetitions and algorithms")
parser.add_argument("--out", type=Path, help="folder for the figure")
options = parser.parse_args()
rounds, repetitions = (4000, 10) if options.quick else (20_000, 40)

# %% [markdown]
# ## The table
# It is made from `POLICIES`, so it is never out of date. "Horizon" means that the number of questions must be told.

# %%
print(f"{'assumes':34} {'aims at':13} {'slate':7} {'horizon':8} policy")
rows = sorted((e.assumes, e.regret, e.slates, e.needs_horizon, name) for name, e in POLICIES.items() if e.regret)
for assumes, aim, slates, horizon, name in rows:
    print(f"{assumes:34} {aim:13} {slates:7} {'yes' if horizon else '':8} {name}")
assert all(aim in REGRETS for _, aim, _, _, _ in rows)

# %% [markdown]
# ## Strong regret
# Sixteen kinds of sushi, compared by 5,000 people. `simulate` plays every algorithm against simulated people who
# answer with those frequencies; a repetition has its own random stream and its own order of the arms.

# %%
strong = ["random", "rucb", "rmed1", "d-ts", "ind-self-sparring"]
if not options.quick:
    strong += ["if2", "merge-rucb", "sparring-ucb1", "ws-s", "versatile-db"]


def play(names, environment, regret):
    return {n: simulate(n, environment, rounds=rounds, repetitions=repetitions, regret=regret, jobs=2) for n in names}


def report(results):
    for name, result in sorted(results.items(), key=lambda item: item[1].mean()[-1]):
        spread = result.sd()[-1] / np.sqrt(repetitions)
        print(f"{name:20} {result.mean()[-1]:9.1f} +- {spread:6.1f}   in the last half {late(result):8.2f}")


def late(result):
    """Mean regret of the second half of the questions."""
    return result.mean()[-1] - result.mean()[len(result.checkpoints) // 2 - 1]


sushi = play(strong, "sushi16", "strong-sum")
report(sushi)

# %% [markdown]
# Choosing at random costs the same for ever. RMED1 and D-TS, which try only as much as the odds demand, are ahead of
# RUCB, whose confidence bounds are wide.

# %%
assert late(sushi["random"]) > 0.45 * sushi["random"].mean()[-1]
for name in ("rmed1", "d-ts"):
    assert sushi[name].mean()[-1] < sushi["rucb"].mean()[-1] < sushi["random"].mean()[-1]
    assert late(sushi[name]) < 0.25 * late(sushi["random"])

# %% [markdown]
# ## Weak regret
# Winner Stays (`ws-w`) keeps the better option of each pair on the slate and lets it meet challengers. It never stops
# exploring, which strong regret punishes; but the best option is nearly always one of the two, so its weak regret stops
# growing after finitely many questions. Here a better arm beats a worse one with probability 0.7.

# %%
order = "total-order-0.7-16"
weak = play(["random", "ws-w", "rucb", "d-ts"] + ([] if options.quick else ["btw", "mbtw", "rmed1"]), order, "weak")
report(weak)
assert weak["ws-w"].mean()[-1] < 0.5 * weak["rucb"].mean()[-1]
assert late(weak["ws-w"]) < 0.02 * late(weak["random"])
assert late(weak["ws-w"]) < 0.05 * weak["ws-w"].mean()[-1]

# %% [markdown]
# Judged by strong regret the same algorithm pays for its challengers for ever: the second half costs as much as the
# first. Mind the aim in the table.

# %%
wrong = play(["ws-w", "d-ts"], order, "strong-sum")
report(wrong)
assert late(wrong["ws-w"]) > 0.45 * wrong["ws-w"].mean()[-1]
assert late(wrong["d-ts"]) < 0.2 * wrong["d-ts"].mean()[-1]

# %% [markdown]
# ## When the others go in circles
# Below one best arm, which beats each other one with probability 0.6, the others go in circles. RUCB needs a Condorcet
# winner and D-TS not even that; IF2's guarantee needs a total order, which is not there. That need not make it fail:
# with 20,000 questions it finds the best arm too, but it pays more than the others, and 4,000 questions are often too
# few for it. A missing assumption means that nothing is promised, not that nothing works.

# %%
circles = play(["random", "rucb", "d-ts", "if2"], "swirl-1-12", "strong-sum")
report(circles)
found = {name: float(np.mean(result.inference[:, -1, 0] == 0)) for name, result in circles.items()}
for name in ("rucb", "d-ts", "if2"):
    print(f"{name} recommends the Condorcet winner in {found[name]:.0%} of the repetitions")
assert min(found["rucb"], found["d-ts"]) >= 0.95
cost = [circles[name].mean()[-1] for name in ("d-ts", "rucb", "if2", "random")]
assert cost == sorted(cost)

# %% [markdown]
# ## In short
# - Both options are used: `rmed1` or `d-ts`; more than two on a slate: `ind-self-sparring`.
# - The better of the two is used: `ws-w`.
# - No Condorcet winner to rely on: `d-ts` or `ccb`, judged by `copeland` regret.
# - Options that are alike (points of a space, arms with features): `kernel-self-sparring`, tutorial 02.
#
# The same names work for a real person: `create_study(["a", "b", ...], strategy="ws-w")`.

# %%
if options.out:
    _, axes = pyplot().subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    plot_regret(list(sushi.values()), ax=axes[0], log=True, band="se")
    plot_regret(list(weak.values()), ax=axes[1], log=True, band="se")
    for ax in axes:  # both logarithmic: the good ones are far below the others
        ax.set(yscale="log", ylim=(5, None))
    save_figure(axes[0], options.out / "03_dueling_bandits.png")
