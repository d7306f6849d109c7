# %% [markdown]
# # Models of preference: one-sided, utility, pair
#
# What do answers such as "b is better than a" say about options nobody has been asked about? prefopt has three kinds of
# models, all Gaussian processes, that differ in what they take a preference to be.
#
# | model | what is unknown | it assumes |
# |---|---|---|
# | one-sided | f(b) = P(b beats whatever it meets) | opponents stay about the same |
# | utility | u(b); P(b beats a) rises with u(b) - u(a) | options can be put in one order |
# | pair | g(a, b) = - g(b, a); P(a beats b) rises with g(a, b) | nothing: circles are possible |
#
# `kernel-self-sparring` and `gp-sparring` use the first, `eubo`, `qeubo`, `utility-thompson` and others the second;
# preferential Bayesian optimisation (`bopper`; Gonzalez et al. 2017) is built on the third.
#
# This page fits the three to the same answers, and shows when each is right.

# %%
import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit

from prefopt import Answer, make_environment
from prefopt.models.one_sided import OneSidedGP
from prefopt.models.stationary import Stationary
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.ep import expectation_propagation
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Prior
from prefopt.models.utility.win import win_probability
from prefopt.plotting import pyplot, save_figure

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer answers")
parser.add_argument("--out", type=Path, help="folder for the figures")
options = parser.parse_args()
rng = np.random.default_rng(3)

# %% [markdown]
# ## Answers about random pairs
# A simulated person whose utility is the Forrester function on 30 points, in logits.

# %%
person = make_environment("forrester-30")
X, truth = person.domain.points, person.utility
pairs = [rng.choice(30, 2, replace=False) for _ in range(60 if options.quick else 120)]
said = [
    Said(tuple(pair.tolist()), Answer.duel(int(rng.random() < expit(truth[pair[1]] - truth[pair[0]]))))
    for pair in pairs
]
duels = Comparisons.of(said, 30)
print(len(said), "answers;", f"{np.mean(truth[duels.ahead] > truth[duels.behind]):.0%} name the better option")

# %% [markdown]
# **One-sided.** How often did each option win? Every answer is a win of one and a loss of the other.

# %%
wins, losses = np.bincount(duels.ahead, duels.weight, 30), np.bincount(duels.behind, duels.weight, 30)
one_sided = OneSidedGP(X, wins + losses, wins, noise=0.1).posterior(X)
chance = one_sided.mean.detach().numpy()[:, 0]
chance_sd = one_sided.variance.detach().numpy()[:, 0] ** 0.5

# %% [markdown]
# **Utility.** The answers read differences of one function. Expectation propagation makes a Gaussian of what is known
# about it that has the right means, spreads and probabilities. Only differences mean anything: here, from the mean.

# %%
kernel = Stationary("matern52", 25.0, (0,), (0.2,))
utility = Utility.after(Prior(kernel), X, duels, Likelihood(), infer=expectation_propagation)
u, C = utility.joint(X)
from_mean = np.eye(30) - 1 / 30
u, u_sd = from_mean @ u, np.sqrt(np.diag(from_mean @ C @ from_mean))

# %% [markdown]
# **Pair.** g(a, b) is a function of both options. Of its kernel, k(a, c) k(b, d) - k(a, d) k(b, c), one thing is asked:
# that g(b, a) = - g(a, b). The inference is the same; only the covariance of what the answers read is another one.


# %%
def skew(k, a, b, c, d):
    """Covariance of g(a_i, b_i) with g(c_j, d_j) for rows of a kernel matrix k."""
    return k[np.ix_(a, c)] * k[np.ix_(b, d)] - k[np.ix_(a, d)] * k[np.ix_(b, c)]


def pair_model(k, data, likelihood):
    """Mean and sd of g for every pair of options, and the evidence of the answers."""
    K = skew(k, data.ahead, data.behind, data.ahead, data.behind)
    found = expectation_propagation(K, np.zeros(len(data)), data, likelihood)
    a, b = (m.ravel() for m in np.indices(k.shape))
    cross = skew(k, a, b, data.ahead, data.behind)
    V = cross @ found.half.T
    variance = skew_variance(k, a, b) - (V**2).sum(axis=1)
    return (cross @ found.alpha).reshape(k.shape), np.sqrt(np.maximum(variance, 0)).reshape(k.shape), found.evidence


def skew_variance(k, a, b):
    """Prior variance of g(a_i, b_i)."""
    return k[a, a] * k[b, b] - k[a, b] ** 2


k = Stationary("matern52", 5.0, (0,), (0.2,)).matrix(X)
g, g_sd, _ = pair_model(k, duels, Likelihood())
P = win_probability(g, g_sd, Likelihood())
copeland = P.mean(axis=1)  # the soft Copeland score: how often an option beats a random other one

# %% [markdown]
# The three from the same answers. The dashed lines are what each tries to find.

# %%
plt = pyplot()
figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
x = X[:, 0]
exact = expit(truth[:, None] - truth)
for ax, mean, sd, goal, title in (
    (axes[0], chance, chance_sd, exact.mean(axis=1), "one-sided: P(b wins)"),
    (axes[1], u, u_sd, truth - truth.mean(), "utility less its mean, in logits"),
):
    ax.fill_between(x, mean - 2 * sd, mean + 2 * sd, alpha=0.2, lw=0)
    ax.plot(x, mean)
    ax.plot(x, goal, "k--", lw=1)
    ax.axvline(x[person.best], color="grey", lw=0.5)
    ax.set(title=title, xlabel="option b")
image = axes[2].imshow(P.T, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1, cmap="RdBu")
axes[2].set(title="pair: P(a beats b)", xlabel="option a", ylabel="option b")
figure.colorbar(image, ax=axes[2])
if options.out:
    save_figure(axes[0], options.out / "models_of_preference.png")
for name, score in (("one-sided", chance), ("utility", u), ("pair", copeland)):
    best = int(np.argmax(score))
    print(
        f"{name:10} recommends {x[best]:.2f} (best {x[person.best]:.2f}), utility lost {truth.max() - truth[best]:.2f}"
    )
    assert truth.max() - truth[best] < 2.0

# %% [markdown]
# With random opponents all three find the hill. They differ in how well they know the chances: one function of one
# option is learned from fewer answers than a function of two.

# %%
errors = {"utility": 0.0, "pair": 0.0}
for i in range(30):
    row = win_probability(*utility.difference(np.tile(X[i], (30, 1)), X), Likelihood())
    errors["utility"] += np.abs(row - exact[i]).mean() / 30
    errors["pair"] += np.abs(P[i] - exact[i]).mean() / 30
print("mean error of P(a beats b):", {name: round(float(error), 3) for name, error in errors.items()})
assert errors["utility"] < errors["pair"]

# %% [markdown]
# ## When opponents differ
# A one-sided model reads wins, whoever the opponent was. That suits self-sparring, where both options come from the
# same beliefs and in the end all opponents are good. It misreads a good option that met better ones. Here the best
# option beats a good one three times, which beats a fair one twice, which beats the worst three times: the fair one won
# three of five, the good one two of five. A utility model takes the opponent into account.

# %%
best, good, fair, worst = person.best, 20, 6, 29
chain = [(best, good)] * 3 + [(good, fair)] * 2 + [(fair, worst)] * 3
data = Comparisons.of([Said(pair, Answer.duel(0)) for pair in chain], 30)
tries, won = (
    np.bincount([i for pair in chain for i in pair], minlength=30),
    np.bincount(np.array(chain)[:, 0], None, 30),
)
f = OneSidedGP(X, tries, won, noise=0.1).posterior(X).mean.detach().numpy()[:, 0]
v = Utility.after(Prior(kernel), X, data, Likelihood(), infer=expectation_propagation).mean(X)
print(f"good minus fair: truth {truth[good] - truth[fair]:+.1f}, utility {v[good] - v[fair]:+.1f} logits")
print(f"good minus fair: one-sided {f[good] - f[fair]:+.2f}")
assert truth[good] > truth[fair] and v[good] > v[fair] + 1
assert f[good] < f[fair]  # though the good one beat it every time

# %% [markdown]
# ## When preferences go in circles
# Rock beats scissors beats paper beats rock. No order of options can say so, and a utility model does the best it can:
# all are equal. The pair model learns who beats whom. Here options are hues on a circle, and one is preferred to those
# up to half a turn behind it.

# %%
hues = np.arange(12) / 12
turn = (hues[:, None] - hues) % 1.0
circle = np.where((turn == 0) | (turn == 0.5), 0.5, np.where(turn < 0.5, 0.95, 0.05))
n = 80 if options.quick else 160


def ask_about(chances):
    """Random duels of 12 options."""
    made = []
    for _ in range(n):
        a, b = rng.choice(12, 2, replace=False).tolist()
        made.append(Said((a, b), Answer.duel(0 if rng.random() < chances[a, b] else 1)))
    return Comparisons.of(made, 12)


round_points = np.column_stack([np.cos(2 * np.pi * hues), np.sin(2 * np.pi * hues)]) / 2 + 0.5
smooth = Stationary("matern52", 4.0, (0, 1), (0.5, 0.5))
taste = 3 * np.cos(2 * np.pi * (hues - 0.25))


def evidences(data):
    """Log evidence of a utility, a pair model, and their sum."""
    K = smooth.matrix(round_points)
    between = data.differences(data.differences(K).T)
    both = skew(K, data.ahead, data.behind, data.ahead, data.behind) / 4.0
    zero = np.zeros(len(data))
    return {
        name: expectation_propagation(cov, zero, data, Likelihood()).evidence
        for name, cov in (("utility", between), ("pair", both), ("sum", (between + both) / 2))
    }


for name, chances in (("an order", expit(taste[:, None] - taste)), ("a circle", circle)):
    found = evidences(ask_about(chances))
    print(f"{name:9}", {model: round(value, 1) for model, value in found.items()})
    if name == "an order":
        assert found["utility"] > found["pair"]
    else:
        assert found["pair"] > found["utility"] + 10

# %% [markdown]
# The log evidence says which model the answers speak for: a difference of 3 is strong. The sum of both kernels is
# close to the better one in either case: a model to use when one does not know.
#
# ## Which one?
# * Tuning a thing for a person with few answers: **utility**. It learns most per answer, and choices among many,
#   rankings and ties have exact likelihoods in it.
# * Everything shown should be good while you learn (cumulative regret), few dimensions: **one-sided**, as in
#   KernelSelfSparring.
# * You doubt that preferences can be put in order: compare evidences as above, and use a **pair** model if there are
#   circles.
