"""Time of one ask of KernelSelfSparring against the number of answers, next to GPyTorch and BoTorch on one thread.

Grids (two slots): the compiled round of a simulation (ask, reply, tell) and one uncompiled ask, next to (a) a plain
GPyTorch ``ExactGP`` on every 0/1 outcome, rebuilt each round, with a dense joint draw of all points. Boxes (four
slots): one ask right after an answer, next to (b) BoTorch's ``draw_matheron_paths`` and ``optimize_posterior_samples``
at their defaults on the same kernel and the same tries and wins. Maxima are compared on the same draws: BoTorch's
optimiser also gets our paths. From 400 answers on a box, people compare points that were shown before (at most 1,600
distinct ones).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import gpytorch
import numpy as np
import torch
from _common import arguments, print_rows, save_table
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_matheron_paths
from botorch.utils.sampling import optimize_posterior_samples
from gpytorch.means import ZeroMean
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from prefopt.answer import Answer
from prefopt.domain import Box, Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.kernels import make_kernel
from prefopt.models.paths import Paths
from prefopt.policies.kernel.self_sparring import KernelSelfSparring
from prefopt.regret import score
from prefopt.seeding import fixed_global_seed, stream
from prefopt.simulation.driver import compiled_loop, warm_up

SLOTS = {"grid": 2, "box": 4}
NAMES = {"round": "one compiled round", "ask": "one ask", "gpytorch": "(a) GPyTorch", "botorch": "(b) BoTorch"}
Row = dict[str, Any]


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Median CPU time of this thread over ``repeats`` calls, after one that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        began = time.thread_time()
        call()
        taken.append(time.thread_time() - began)
    return statistics.median(taken[1:])


def utility(points: np.ndarray) -> np.ndarray:
    """A smooth hill away from the centre."""
    return -4 * ((points - 0.3) ** 2).mean(axis=-1)


class Plain(gpytorch.models.ExactGP):
    """(a): every outcome a training row."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor, noise: float) -> None:
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        likelihood.noise = noise
        super().__init__(x, y, likelihood)
        self.mean_module, self.covar_module = ZeroMean(), make_kernel("rbf")

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at ``x``."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def gpytorch_round(grid: Grid, options: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Build (a) and let two joint draws choose."""
    points = torch.tensor(grid.points)
    model = Plain(points[options], torch.tensor(outcomes), 0.05).eval()
    with torch.no_grad(), gpytorch.settings.max_cholesky_size(10_000):
        return model(points).rsample(torch.Size([2])).argmax(dim=-1).numpy()


def compiled_round(policy: Any, environment: FiniteEnvironment, rounds: int, repeats: int) -> float:
    """Seconds a round of the compiled loop, going on from the policy's state."""
    losses = score(environment, ("strong-sum",), np.arange(environment.domain.size))
    loop, end = compiled_loop(policy.rules, environment.world), np.array([rounds])
    regret, best, slates = np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    slate, wins, rng, person = np.zeros(2, dtype=np.int64), np.zeros((2, 2)), stream(0, 1), stream(0, 2)

    def run() -> None:
        loop(policy.state, environment.world, losses, rng, person, slate, wins, end, regret, best, slates)

    return seconds(run, repeats) / rounds


def grid_row(grid: Grid, answers: int, seed: int, repeats: int, peer: bool) -> Row:
    """All times on one grid after ``answers`` duels of random points."""
    rng = stream(seed, grid.size, answers)
    u = 5 * utility(grid.points)
    environment = FiniteEnvironment("hill", grid, 1 / (1 + np.exp(u[None] - u[:, None])), u)
    duels = rng.integers(0, grid.size, (answers, 2))
    duels[:, 1] = (duels[:, 0] + 1 + duels[:, 1] % (grid.size - 1)) % grid.size
    won = (rng.random(answers) < environment.P[duels[:, 0], duels[:, 1]]).astype(float)
    options, outcomes = duels.T.reshape(-1), np.concatenate([won, 1 - won])
    policy = KernelSelfSparring(grid)
    warm_up(policy, environment.world, score(environment, ("strong-sum",), np.arange(grid.size)))
    policy.restore(np.bincount(options, minlength=grid.size), np.bincount(options, outcomes, grid.size))
    row: Row = {"domain": "grid", "size": grid.size, "answers": answers, "distinct": len(np.unique(options))}
    row["ask"] = seconds(lambda: policy.ask(stream(0, 3)), repeats)
    row["round"] = compiled_round(policy, environment, max(2, 20_000 // grid.size), repeats)
    if peer:
        with fixed_global_seed(rng):
            row["gpytorch"] = seconds(lambda: gpytorch_round(grid, options, outcomes), repeats)
    return row


def history(box: Box, answers: int, rng: np.random.Generator) -> Any:
    """A policy that was told ``answers`` answers to slates of four."""
    policy = KernelSelfSparring(box, slate_size=SLOTS["box"])
    policy.init(rng)
    for t in range(answers):
        seen = policy.data.X
        slate = box.sample(4, rng) if t < 400 else seen[rng.choice(len(seen), 4, replace=False)]
        tell(policy, slate, rng)
    return policy


def tell(policy: Any, slate: np.ndarray, rng: np.random.Generator) -> None:
    """All pairs answered by a logit person."""
    u = 10 * utility(slate)
    wins = np.triu(rng.random((4, 4)) < 1 / (1 + np.exp(u[None] - u[:, None])), 1).astype(float)
    policy.tell(slate, Answer.pairs(wins + np.tril(1 - wins.T, -1)), rng)


def botorch_ask(policy: Any) -> Callable[[], torch.Tensor]:
    """(b) on the policy's data; the model is built beforehand and not counted."""
    data, dim = policy.data, policy.domain.dim
    model = SingleTaskGP(
        torch.tensor(data.X),
        torch.tensor(data.wins / data.tries)[:, None],
        torch.tensor(policy.model.noise / data.tries)[:, None],
        covar_module=policy.model.kernel.to_module(),
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()
    bounds = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()

    def ask() -> torch.Tensor:
        with torch.no_grad():
            paths = draw_matheron_paths(model, torch.Size([SLOTS["box"]]))
        return optimize_posterior_samples(paths, bounds)[1]

    return ask


def as_torch(paths: Paths) -> Callable[[torch.Tensor], torch.Tensor]:
    """Our squared-exponential paths as BoTorch's optimiser wants them: (n, d) or (m, n, d) to (m, n)."""
    omega, cosine, sine, A, v = map(
        torch.tensor, (paths.features.omega, paths.cosine, paths.sine, paths.A_scaled, paths.v)
    )

    def values(X: torch.Tensor) -> torch.Tensor:
        x = X / torch.tensor(paths.kernel.lengthscale)
        phase = x @ omega.T
        square = (x**2).sum(-1)[..., None] + (A**2).sum(-1) - 2 * x @ A.T
        k = paths.kernel.outputscale * torch.exp(-0.5 * square)
        rule = "nf,mf->mn" if X.ndim == 2 else "mnf,mf->mn"
        weighted = zip((phase.cos(), phase.sin(), k), (cosine, sine, v), strict=True)
        return paths.mean + sum(torch.einsum(rule, basis, weight) for basis, weight in weighted)

    return values


def same_draws(policy: Any, draws: int) -> tuple[float, float]:
    """Mean maximum that we and BoTorch's optimiser find on the same 4 x ``draws`` paths."""
    ours, theirs, box = [], [], policy.domain
    bounds = torch.stack([torch.zeros(box.dim), torch.ones(box.dim)]).double()
    for r in range(draws):
        rng = stream(1, r)
        paths = policy.model.paths(policy.data, SLOTS["box"], rng, features=policy.features)
        raw = raw_points(box, policy.raw_samples, policy.incumbents(32), rng)
        ours.append(peaks(paths, box, raw, restarts=policy.restarts, finish=8)[1].max(axis=1).mean())
        with fixed_global_seed(rng):
            theirs.append(optimize_posterior_samples(as_torch(paths), bounds)[1].mean().item())
    return float(np.mean(ours)), float(np.mean(theirs))


def box_row(dim: int, answers: int, seed: int, repeats: int, draws: int) -> Row:
    """All times on one box."""
    rng = stream(seed, dim, answers)
    policy = history(Box(dim), answers - repeats - 1, rng)
    taken = []
    for t in range(repeats + 1):
        slate = Box(dim).sample(4, rng) if answers <= 400 else policy.data.X[:4]
        tell(policy, slate, rng)
        began = time.thread_time()
        policy.ask(stream(0, t))
        taken.append(time.thread_time() - began)
    row: Row = {"domain": "box", "size": dim, "answers": answers, "distinct": len(policy.data.X)}
    row["ask"] = statistics.median(taken[1:])
    with fixed_global_seed(rng):
        row["botorch"] = seconds(botorch_ask(policy), repeats)
    row["maxima"], row["botorch_maxima"] = same_draws(policy, draws)
    return row


def with_ratios(row: Row) -> Row:
    """How many times faster than its peer; empty where the peer was not run."""
    peer = row.get("gpytorch", row.get("botorch"))
    row["ask_faster"] = peer / row["ask"] if peer else ""
    row["round_faster"] = peer / row["round"] if peer and "round" in row else ""
    names = ("domain", "size", "answers", "distinct", "round", "ask", "gpytorch", "botorch")
    return {n: row.get(n, "") for n in (*names, "round_faster", "ask_faster", "maxima", "botorch_maxima")}


def figure(rows: list[Row]) -> Figure:
    """One panel a domain: milliseconds against answers."""
    panels = list(dict.fromkeys((r["domain"], r["size"]) for r in rows))
    columns = min(4, len(panels))
    height = -(-len(panels) // columns)
    fig = Figure(figsize=(3.4 * columns, 3.0 * height), layout="constrained")
    axes = fig.subplots(height, columns, sharey=True, squeeze=False).reshape(-1)
    for axis, (domain, size) in zip(axes, panels, strict=False):
        mine = [r for r in rows if (r["domain"], r["size"]) == (domain, size)]
        for (name, label), colour in zip(NAMES.items(), ("C0", "C2", "C3", "C1"), strict=True):
            points = [(r["answers"], 1e3 * r[name]) for r in mine if r[name] != ""]
            if points:
                axis.loglog(*zip(*points, strict=True), "o-", markersize=3, color=colour, label=label)
        axis.set_title(f"grid of {size:,} points" if domain == "grid" else f"box, d = {size}", fontsize=10)
        axis.set_xlabel("answers")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    for axis in axes[::columns]:
        axis.set_ylabel("CPU time, ms")
    for axis in axes[len(panels) :]:
        axis.remove()
    return fig


def main() -> None:
    """Run, print and save."""
    options = arguments(__doc__.split("\n")[0]).parse_args()
    torch.set_num_threads(1)
    quick, rows = options.quick, []
    repeats = 3 if quick else 7
    grids = [Grid.regular(30), Grid.regular(8, 8), Grid.regular(10, 10, 10), Grid.regular(50, 50)]
    counts = (10, 100) if quick else (10, 30, 100, 300, 1000, 3000)
    with threadpool_limits(1):
        for grid in grids[:2] if quick else grids:
            for answers in counts:
                # (a) has two rows an answer: beyond 1,000 answers one of its rounds takes many seconds
                few = repeats if answers < 300 else 3
                rows.append(with_ratios(grid_row(grid, answers, options.seed, few, answers <= 1000)))
        for dim in (2, 6) if quick else (1, 2, 6):
            boxes = (10, 100) if quick else (10, 30, 100, 300, 400, 1000, 3000)
            draws = 1 if quick else 5
            rows.extend(with_ratios(box_row(dim, answers, options.seed, repeats, draws)) for answers in boxes)
    print_rows(rows)
    path = options.out / "ask_latency"
    save_table(path.with_suffix(".csv"), rows, {"seed": options.seed, "quick": quick, "threads": 1, "slots": SLOTS})
    figure(rows).savefig(path.with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
