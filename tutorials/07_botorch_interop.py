# %% [markdown]
# # With BoTorch
#
# BoTorch is the usual toolbox of Bayesian optimisation in Python. Both directions work: prefopt's utility model inside
# BoTorch's acquisition functions, and a study's answers inside BoTorch's own `PairwiseGP`.

# %%
import argparse
import math
from pathlib import Path

import numpy as np
import torch
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption, qExpectedUtilityOfBestOption
from botorch.models.pairwise_gp import PairwiseGP
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from gpytorch.priors import LogNormalPrior
from scipy.special import expit

from prefopt import Answer, Float, Space, create_study
from prefopt.models.utility.comparisons import Said
from prefopt.models.utility.gp import UtilityGP
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.pairwise import to_pairwise_gp
from prefopt.models.utility.sampling import posterior_draws
from prefopt.plotting import pyplot, save_figure

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer questions")
parser.add_argument("--out", type=Path, help="folder for the figure")
options = parser.parse_args()
torch.set_num_threads(1)  # PairwiseGP solves batches of systems, which several threads make slow and unsafe
torch.manual_seed(0)
rng = np.random.default_rng(0)
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)

# %% [markdown]
# ## Our model, BoTorch's acquisition functions
# `UtilityGP` takes options in the unit cube and rows [winner, loser], as `PairwiseGP` does. `posterior(X)` is a
# `GPyTorchPosterior` with gradients, so that whatever BoTorch maximises works on it. A loop by hand: two random pairs,
# then the pair of largest expected utility of the better one (EUBO), from a person who likes (0.3, 0.7).


# %%
def liking(x):
    return -40 * ((x - torch.tensor([0.3, 0.7])) ** 2).sum(dim=-1)


def answered(pair):
    """The better row first, as a person who is sometimes wrong sees it."""
    noisy = liking(pair) + torch.tensor(rng.gumbel(size=2))
    return [0, 1] if noisy[0] > noisy[1] else [1, 0]


X = torch.rand(4, 2, dtype=torch.float64)
model = UtilityGP(X, [answered(X[:2]), [2 + i for i in answered(X[2:])]])
for _ in range(6 if options.quick else 12):
    eubo = AnalyticExpectedUtilityOfBestOption(pref_model=model)
    pair, _ = optimize_acqf(eubo, bounds, q=2, num_restarts=4, raw_samples=64)
    model = model.condition_on_observations(pair, [answered(pair)])
model.fit()

with torch.no_grad():
    grid = torch.cartesian_prod(*[torch.linspace(0, 1, 41, dtype=torch.float64)] * 2)
    best = grid[model.posterior(grid).mean.argmax()]
print(f"after {len(model.said)} answers: {best.numpy().round(2)}, likes (0.3, 0.7)")
assert (best - torch.tensor([0.3, 0.7])).norm() < 0.3

# %% [markdown]
# `qExpectedUtilityOfBestOption` chooses three at once; the answer is then one choice, not three duels. That, rankings
# and ties are said with `Said`, whose likelihoods are exact.

# %%
three, _ = optimize_acqf(qExpectedUtilityOfBestOption(pref_model=model), bounds, q=3, num_restarts=2, raw_samples=32)
chosen = int(liking(three).argmax())
more = model.condition_on_observations(three, [Said((0, 1, 2), Answer.best(chosen, 3))])
others = [i for i in range(3) if i != chosen]
before, after = (m.win_probability(three[[chosen] * 2], three[others]) for m in (model, more))
print("the chosen one beats the others with", before.numpy().round(2), "before,", after.numpy().round(2), "after")
assert (after > before).all()

# %% [markdown]
# ## Your kernel
# Any GPyTorch kernel and mean will do, with priors that `fit` respects. A hue has a period: 0 and 1 are the same
# colour, and a periodic kernel knows that an answer about one is an answer about the other.

# %%
base = PeriodicKernel(lengthscale_prior=LogNormalPrior(0.0, 0.5))
base.period_length = 1.0
base.raw_period_length.requires_grad_(False)
periodic = ScaleKernel(base, outputscale_prior=LogNormalPrior(math.log(10.0), 0.5))
hues = torch.linspace(0.05, 0.95, 10, dtype=torch.float64)[:, None]
taste = 3 * torch.cos(2 * math.pi * (hues[:, 0] - 0.02))  # red is liked best
duels = []
for _ in range(15 if options.quick else 30):
    a, b = rng.choice(10, 2, replace=False).tolist()
    duels.append([a, b] if taste[a] + rng.gumbel() > taste[b] + rng.gumbel() else [b, a])
on_a_circle = UtilityGP(hues, duels, kernel=periodic).fit()
line = RBFKernel(lengthscale_prior=LogNormalPrior(-1.0, 0.5))
straight = ScaleKernel(line, outputscale_prior=LogNormalPrior(math.log(10.0), 0.5))
on_a_line = UtilityGP(hues, duels, kernel=straight).fit()
ends = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
with torch.no_grad():
    gap = [float(m.posterior(ends).mean.diff(dim=0).abs()) for m in (on_a_circle, on_a_line)]
    evidence = [m.evidence().item() for m in (on_a_circle, on_a_line)]
print(f"u(0) and u(1) differ by {gap[0]:.3f} on a circle, {gap[1]:.3f} on a line")
print(f"log evidence {evidence[0]:.1f} on a circle, {evidence[1]:.1f} on a line")
assert gap[0] < 1e-6 < gap[1]

# %% [markdown]
# ## Our answers, BoTorch's model
# A study's candidates and answers are tensors in BoTorch's layout, whatever policy asked the questions.

# %%
space = Space([Float("strength", 0, 10), Float("minutes", 1, 6)])
study = create_study(space, seed=1, strategy="eubo")
for _ in range(8 if options.quick else 16):
    query = study.ask()
    worth = [
        -(((c.params["strength"] - 6) / 3) ** 2) - (c.params["minutes"] - 3) ** 2 + rng.gumbel() / 2
        for c in query.shown
    ]
    study.tell(query, best=query.shown[int(np.argmax(worth))].id)
theirs = PairwiseGP(study.X, study.comparisons)
print(f"PairwiseGP on {len(study.X)} candidates and {len(study.comparisons)} comparisons")

# %% [markdown]
# With the same kernel, logistic duels and Laplace's approximation, ours is the same model: to the eighth digit.

# %%
kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=2)).double()
kernel.outputscale, kernel.base_kernel.lengthscale = 10.0, 0.4
theirs = to_pairwise_gp(study.X, study.comparisons, link="logit", kernel=kernel).eval()
ours = UtilityGP(study.X, study.comparisons, kernel=kernel, inference="laplace")
with torch.no_grad():
    apart = (ours.posterior(grid).mean - theirs.posterior(grid).mean).abs().max().item()
print(f"largest difference of the posterior means: {apart:.1e}")
assert apart < 1e-6

# %% [markdown]
# ## What expectation propagation changes
# Laplace's approximation sits on the mode. A few logistic answers have a skewed posterior, whose mean is further out
# and whose spread is wider: its order of options is good, its probabilities are not. Expectation propagation, the
# default of `UtilityGP`, gets them right. Chances of pairs that were never shown, against exact draws:

# %%
sure = UtilityGP(study.X, study.comparisons)
rough = UtilityGP(study.X, study.comparisons, inference="laplace")
A, B = torch.rand(200, 2, dtype=torch.float64), torch.rand(200, 2, dtype=torch.float64)
utility = sure.utility()
draws = posterior_draws(
    utility.prior, utility.points, utility.data, Likelihood(), torch.cat([A, B]).numpy(), rng, around=utility.found
)
exact = expit(draws[:, :200] - draws[:, 200:]).mean(axis=0)
stated = {"Laplace": rough.win_probability(A, B).numpy(), "EP": sure.win_probability(A, B).numpy()}
error = {way: np.abs(p - exact) for way, p in stated.items()}
for way, away in error.items():
    print(f"{way:8} is off by {away.mean():.3f} on average, {away.max():.3f} at most")
assert error["EP"].max() < error["Laplace"].max() / 2

# %% [markdown]
# ## Few answers: sampled hyper-parameters
# `fit()` takes the most probable hyper-parameters for certain, and every answer for a considered one. `sample()` draws
# them from their posterior instead, and with `lapse=(a, b)` (a beta prior) the share of guesses too: a mixture, over
# which BoTorch's acquisition functions average as they do over its own fully Bayesian models. It is less sure.

# %%
few = study.comparisons[:8]
fitted = UtilityGP(study.X, few, inference="laplace").fit()
mixture = UtilityGP(study.X, few, inference="laplace").sample(8 if options.quick else 32, rng, lapse=(1, 4))
eubo = AnalyticExpectedUtilityOfBestOption(pref_model=mixture)
print(f"EUBO of a pair: {eubo(study.X[None, :2]).item():.2f}; share of guesses: {mixture.averaged().lapse:.2f}")
sureness = [(m.win_probability(A, B) - 0.5).abs().mean().item() for m in (fitted, mixture)]
print("mean distance from even chances: fitted {:.3f}, sampled {:.3f}".format(*sureness))
assert sureness[1] < sureness[0]

# %% [markdown]
# The figure: both against exact draws, and what EP believes of the utility.

# %%
plt = pyplot()
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for way, p in stated.items():
    axes[0].plot(exact, p, ".", ms=4, label=way)
axes[0].plot([0, 1], [0, 1], "k--", lw=1)
axes[0].set(xlabel="exact P(a beats b)", ylabel="stated", title="win probabilities of new pairs")
axes[0].legend()
with torch.no_grad():
    mean = sure.posterior(grid).mean.reshape(41, 41)
strength, minutes = np.linspace(0, 10, 41), np.linspace(1, 6, 41)
image = axes[1].contourf(strength, minutes, mean.T.numpy(), levels=12)
shown = study.X.numpy()
axes[1].plot(10 * shown[:, 0], 1 + 5 * shown[:, 1], "w.", ms=4)
axes[1].plot(6, 3, "r*", ms=12, label="liked best")
axes[1].set(xlabel="strength", ylabel="minutes", title="posterior mean of the utility")
axes[1].legend()
figure.colorbar(image, ax=axes[1])
if options.out:
    save_figure(axes[0], options.out / "botorch_interop.png")
