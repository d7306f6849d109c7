# %% [markdown]
# # Beyond pairs: choices, rankings, ties
#
# "Which of these two is better?" is not the only question. A person can pick the best of four, put four in order, or
# say that two are about the same. What is such an answer worth? This page measures it on one landscape, with one
# simulated person and one model, so that only the question differs.

# %%
import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from prefopt import Answer, make_environment, make_policy
from prefopt.plotting import pyplot, save_figure
from prefopt.seeding import stream

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer repetitions and answers")
parser.add_argument("--out", type=Path, help="folder for the figures")
options = parser.parse_args()
repetitions, answers = (8, 16) if options.quick else (60, 40)

# %% [markdown]
# ## The person
# Six-Hump Camel on a 12 x 12 grid, utilities from 0 to 1. The noise is such that two random options are put in the
# wrong order one time in five. A choice among several takes the largest noisy utility (Gumbel noise, which for two
# options is the logistic link), a ranking orders by it.

# %%
person = make_environment("camel-core-144", scale="unit")
grid, u = person.domain, person.utility
pairs = np.abs(u[:, None] - u)[np.triu_indices(len(u), 1)]
noise = brentq(lambda s: expit(-pairs / s).mean() - 0.2, 1e-3, 10)
print(f"noise scale {noise:.3f}: {expit(-pairs / noise).mean():.0%} of random pairs are answered wrongly")


def noisy(slate, rng):
    return u[slate] / noise + rng.gumbel(size=len(slate))


def best(slate, rng):
    return Answer.best(int(np.argmax(noisy(slate, rng))), len(slate))


def ranking(slate, rng):
    return Answer.ranking([int(j) for j in np.argsort(-noisy(slate, rng))], len(slate))


# %% [markdown]
# A choice among four can be misread as three duels. It is not: one noisy moment of the winner decided all three.


# %%
def three_duels(slate, rng):
    m, winner = len(slate), best(slate, rng).order[0]
    wins = np.zeros((m, m))
    wins[winner] = 1.0
    wins[winner, winner] = 0.0
    return Answer.pairs(wins)


def play(m, answer, seed, **settings):
    """Regret of the recommended option (0 to 1) after every answer of one study."""
    policy = make_policy("qeubo", grid, slate_size=m, **settings)
    policy.init(stream(seed, 0))
    regret = []
    for t in range(answers):
        slate = policy.ask(stream(seed, t, 1))
        policy.tell(slate, answer(slate, stream(seed, t, 2)), stream(seed, t, 3))
        regret.append(u.max() - u[policy.best()])
    return regret


def measure(m, answer, **settings):
    return np.array([play(m, answer, seed, **settings) for seed in range(repetitions)])


def report(results):
    marks = [n for n in (4, 8, 16, 40) if n <= answers]
    print(f"{'regret after':28}" + "".join(f"{n:>16}" for n in marks))
    for name, regret in results.items():
        mean, error = regret.mean(axis=0), regret.std(axis=0) / np.sqrt(repetitions)
        print(f"{name:28}" + "".join(f"{mean[n - 1]:8.3f} +- {error[n - 1]:.3f}" for n in marks))


def draw(results, title, file):
    _, ax = pyplot().subplots(figsize=(6.5, 4), layout="constrained")
    n = np.arange(1, answers + 1)
    for name, regret in results.items():
        mean, error = regret.mean(axis=0), regret.std(axis=0) / np.sqrt(repetitions)
        (line,) = ax.plot(n, mean, label=name)
        ax.fill_between(n, mean - error, mean + error, color=line.get_color(), alpha=0.15, lw=0)
    ax.set(xlabel="answers", ylabel="regret of the recommended option", title=title, ylim=(0, None), xlim=(1, answers))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize=8)
    if options.out:
        save_figure(ax, options.out / file)


# %% [markdown]
# ## More options on the table
# `qeubo` shows the slate whose best option is expected to be best; with two options it is EUBO.

# %%
shapes = {
    "a pair": measure(2, best),
    "best of four": measure(4, best),
    "best of four as three duels": measure(4, three_duels),
    "four in order": measure(4, ranking),
}
report(shapes)
draw(shapes, "One question each", "06_choices_and_rankings.png")

# %% [markdown]
# Whether a choice is read as one choice or as three duels hardly shows in the regret of few studies: see the errors.
#
# A duel says at most one bit, a choice among four at most two, a ranking at most log2(24) = 4.6. Averaged over the
# whole study, here is what they were worth:

# %%
whole = {name: float(regret.mean()) for name, regret in shapes.items()}
for name, value in whole.items():
    print(f"{name:28} mean regret over all questions {value:.3f}, {value / whole['a pair']:.2f} of that of pairs")
assert whole["best of four"] < whole["a pair"]
assert whole["four in order"] < whole["a pair"]

# %% [markdown]
# ### But a question about four takes longer
# If a choice among four takes a person k times as long as a pair, compare at equal time instead of at equal numbers:
# the number of pairs after which the regret stays below what the choices reached.


# %%
def answers_needed(regret, level):
    """The first number of answers from which the mean regret stays at ``level`` or below; None if it does not."""
    above = np.flatnonzero(regret.mean(axis=0) > level)
    first = int(above[-1]) + 2 if len(above) else 1
    return first if first <= answers else None


for name in ("best of four", "four in order"):
    half = shapes[name].mean(axis=0)[answers // 2 - 1]
    needed = answers_needed(shapes["a pair"], half)
    more = f"{needed}" if needed else f"more than {answers}"
    print(f"{answers // 2} times {name}: regret {half:.3f}; pairs need {more} answers for that")

# %% [markdown]
# ## "About the same"
# A person who says so whenever neither option is clearly better (Rao and Kupper 1967) tells two things. A tie says that
# the difference is small, and an answer that is not a tie says that it was large enough to be noticed. A utility
# strategy reads both if it is told the just-noticeable difference (`jnd`, in units of the answers' noise). Without one
# (`jnd=0`, right for a person who seldom says so) a tie is half a win for each side. A question that is skipped says
# nothing. Here is what is believed of the difference between two options after n answers of one kind about them:

# %%
two = np.array([30, 100])
kinds = {
    "a tie, jnd=1": (Answer.tie(), 1.0),
    "a tie, jnd=0": (Answer.tie(), 0.0),
    "a skip": (Answer.skip("about the same"), 0.0),
    "the first, jnd=1": (Answer.duel(0), 1.0),
    "the first, jnd=0": (Answer.duel(0), 0.0),
}
counts = [0, 1, 3, 10]
believed = {}
for name, (answer, jnd) in kinds.items():
    for n in counts:
        policy = make_policy("eubo", grid, jnd=jnd, learn=False)
        policy.init(stream(0))
        for _ in range(n):
            policy.tell(two, answer, stream(0))
        mean, sd = policy.utility().difference(grid.points[two[:1]], grid.points[two[1:]])
        believed[name, n] = float(mean[0]), float(sd[0])

print(f"{'difference (noise units)':26}" + "".join(f"{f'after {n}':>16}" for n in counts))
for name in kinds:
    print(f"{name:26}" + "".join("{:8.2f} +- {:4.2f}".format(*believed[name, n]) for n in counts))

# %% [markdown]
# Ties shrink the difference towards nothing, and a skip leaves it where it was. With a noticeable difference, a
# preference counts for more.

# %%
prior = believed["a skip", 10]
assert prior == believed["a skip", 0]
for name in ("a tie, jnd=1", "a tie, jnd=0"):
    assert abs(believed[name, 10][0]) < 0.1
    assert believed[name, 10][1] < believed[name, 1][1] < prior[1]
assert believed["the first, jnd=1", 3][0] > believed["the first, jnd=0", 3][0]

# %%
plt = pyplot()
_, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for k, name in enumerate(kinds):
    mean, sd = np.array([believed[name, n] for n in counts]).T
    ax.errorbar(np.arange(len(counts)) + 0.1 * (k - 2), mean, sd, fmt="o", ms=4, capsize=2, label=name)
ax.axhline(0, color="grey", lw=0.5)
ax.set(xticks=range(len(counts)), xticklabels=counts, xlabel="answers of that kind", ylabel="difference +- sd")
ax.set_title("What is believed of the difference between two options")
ax.legend(fontsize=8, loc="upper left")
if options.out:
    save_figure(ax, options.out / "06_ties.png")
