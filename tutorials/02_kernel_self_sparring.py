# %% [markdown]
# # KernelSelfSparring
#
# Sui, Zhuang, Burdick, Yue 2017 model one number per option: f(b) = P(b beats the best option), which is one half
# at the best option and less elsewhere. A Gaussian process makes near-by options alike. Every round draws as many
# functions from the posterior as there are places on the slate, and shows where each has its maximum.
# This redraws their Figure 2: the posterior after 5, 20 and 100 rounds on the Forrester function.

# %%
import argparse
from pathlib import Path

import numpy as np

from prefopt import make_environment, make_policy, simulate
from prefopt.plotting import pyplot, save_figure
from prefopt.seeding import stream

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true")
parser.add_argument("--out", type=Path)
options = parser.parse_args()

# %% [markdown]
# One run, question by question: `ask` proposes, the simulated person answers, `tell` learns.

# %%
person = make_environment("forrester-30")
policy = make_policy("kernel-self-sparring", person.domain, preset="paper")
policy.init(stream(0, 0))
snapshots = {}
for t in range(1, 101):
    slate = policy.ask(stream(0, t, 0))
    policy.tell(slate, person.answer(slate, t, stream(0, t, 1)), stream(0, t, 2))
    if t in (5, 20, 100):
        snapshots[t] = policy.posterior()

# %% [markdown]
# The figure: posterior mean and one standard deviation; the curve to find is P(b beats the best arm).

# %%
plt = pyplot()
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
x = person.domain.points[:, 0]
truth = 0.5 - person.advantage(np.arange(30))
for ax, (t, (mean, covariance)) in zip(axes, snapshots.items(), strict=True):
    sd = np.sqrt(np.clip(np.diag(covariance), 0, None))
    ax.plot(x, truth, "k--", lw=1, label="P(b beats b1)")
    ax.plot(x, mean, label="posterior mean")
    ax.fill_between(x, mean - sd, mean + sd, alpha=0.2, lw=0)
    ax.axvline(x[person.best], color="grey", lw=0.5)
    ax.set_title(f"after {t} rounds")
    ax.set_xlabel("option")
axes[0].legend(fontsize=8)
if options.out:
    save_figure(axes[0], options.out / "kernel_self_sparring_posterior.png")

# %% [markdown]
# The band closes where the policy plays, and stays open where it does not need to know.

# %%
mean, covariance = snapshots[100]
sd = np.sqrt(np.clip(np.diag(covariance), 0, None))
print("recommended", policy.best(), "best", person.best)
assert sd[policy.best()] < sd.max() / 3
assert person.advantage(np.array([policy.best()]))[0] < 0.2

# %% [markdown]
# One run is an anecdote. Over many, sharing what is learned between neighbours pays:

# %%
runs = 20 if options.quick else 200
regrets = {
    name: simulate(name, person, rounds=100, repetitions=runs, seed=1, settings=settings).summary()["mean"]
    for name, settings in [("kernel-self-sparring", {"preset": "paper"}), ("ind-self-sparring", {}), ("random", {})]
}
print(regrets)
assert regrets["kernel-self-sparring"] < regrets["ind-self-sparring"] < regrets["random"]
