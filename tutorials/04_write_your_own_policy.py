# %% [markdown]
# # Write your own policy
#
# An algorithm is three functions on a NamedTuple of arrays and a class that binds its hyper-parameters. That is all:
# the compiled simulation, every regret, the plots, and the conformance suite come with it. The rule of this page, some
# fifty lines, fills both places with the option that won the largest share of its duels (which costs nothing if it is
# the best one), and each place, with chance epsilon, with a random option instead.

# %%
import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from prefopt import simulate
from prefopt.errors import SettingError
from prefopt.plotting import plot_regret, save_figure
from prefopt.policies.base import FinitePolicy, Rules, rule
from prefopt.policies.rules import argmax_random, uniform_index
from prefopt.testing import check_policy

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer rounds and repetitions")
parser.add_argument("--out", type=Path, help="folder for the figure")
options = parser.parse_args()

# %% [markdown]
# ## The state
# Arrays and constants, one commented line each. `ask` must not change it; `tell` is the only change.


# %%
class State(NamedTuple):
    """What EpsilonGreedy remembers."""

    epsilon: float  # chance of two random arms
    wins: np.ndarray  # (K,), a tie counts one half
    duels: np.ndarray  # (K,)


# %% [markdown]
# ## The rule
# `@rule` functions run as plain Python for a person (nobody waits for a compiler) and inside the compiled loop of a
# simulation. Randomness is always the `rng` argument: `random`, `integers`, `standard_normal`, ... but not `choice`.


# %%
@rule
def shares(state):
    """Wins per duel of each arm, starting from one half."""
    return (state.wins + 1.0) / (state.duels + 2.0)


@rule
def ask(state, rng, slate):
    """Write the slate into the buffer and say how long it is."""
    K = len(state.wins)
    if rng.random() < state.epsilon:
        slate[0] = uniform_index(K, rng)
    else:
        slate[0] = argmax_random(shares(state), rng)
    slate[1] = uniform_index(K, rng) if rng.random() < state.epsilon else slate[0]
    return 2


@rule
def tell(state, slate, m, wins, rng):
    """wins[j, k] is 1 if slot j beat slot k, 1/2 each for a tie, 0 both ways if they were not compared."""
    for j in range(m):
        for k in range(m):
            if slate[j] != slate[k]:
                state.wins[slate[j]] += wins[j, k]
                state.duels[slate[j]] += wins[j, k] + wins[k, j]


@rule
def best(state):
    """The arm to recommend."""
    return int(np.argmax(shares(state)))


# %% [markdown]
# ## The class
# Fields are hyper-parameters with their defaults; `check` validates them, `start` makes the first state.


# %%
@dataclass(kw_only=True)
class EpsilonGreedy(FinitePolicy):
    """The arm with the largest share of wins in both places; each place explores with chance epsilon."""

    epsilon: float = 0.1
    rules: ClassVar[Rules] = Rules(ask, tell, best)
    pairs_only: ClassVar[bool] = True

    def check(self):
        if not 0 < self.epsilon <= 1:
            raise SettingError(f"epsilon must lie in (0, 1], got {self.epsilon}")

    def start(self, rng):
        return State(float(self.epsilon), np.zeros(self.domain.size), np.zeros(self.domain.size))


# %% [markdown]
# ## Does it behave?
# `check_policy` asks twice with the same generator, replays a log, tells ties, skips and partial answers, plays one
# and two arms, sends the settings through JSON, compares compiled and uncompiled runs slate by slate, and sees that
# it learns.

# %%
check_policy(EpsilonGreedy)
print("EpsilonGreedy passes the conformance suite")

# %% [markdown]
# It would have told you of a mistake. Here `ask` counts its own questions, so a reloaded page would
# change the course:


# %%
@rule
def counting_ask(state, rng, slate):
    state.duels[0] += 1.0
    return ask(state, rng, slate)


@dataclass(kw_only=True)
class Broken(EpsilonGreedy):
    rules: ClassVar[Rules] = Rules(counting_ask, tell, best)


try:
    check_policy(Broken)
except AssertionError as mistake:
    complaint = str(mistake)
print("Broken:", complaint)
assert "ask changed state.duels" in complaint

# %% [markdown]
# ## Simulate it
# The class stands where a name could stand. Compiled, a question takes a fraction of a microsecond. A constant epsilon
# never stops exploring, so its regret grows in proportion to the questions; RMED1 grows with their logarithm.

# %%
rounds, repetitions = (2000, 8) if options.quick else (20_000, 50)
ours = simulate(EpsilonGreedy, "arith-linear-16", rounds=rounds, repetitions=repetitions, jobs=2)
chance = simulate("random", "arith-linear-16", rounds=rounds, repetitions=repetitions, jobs=2)
rival = simulate("rmed1", "arith-linear-16", rounds=rounds, repetitions=repetitions, jobs=2)
for result in (ours, chance, rival):
    print(f"{result.policy:15} {result.mean()[-1]:9.1f} +- {result.sd()[-1] / repetitions**0.5:.1f}")
assert ours.mean()[-1] < 0.6 * chance.mean()[-1]

# %% [markdown]
# The same functions without the compiler give the same run, question by question, only slower:

# %%
began = time.perf_counter()
plain = simulate(EpsilonGreedy, "arith-linear-16", rounds=rounds, repetitions=1, compiled=False)
print(f"plain Python: {(time.perf_counter() - began) / rounds * 1e6:.0f} microseconds a question")
print(f"compiled:     {ours.cpu_seconds.sum() / rounds / repetitions * 1e6:.2f} microseconds a question")
np.testing.assert_array_equal(plain.regret[0], ours.regret[0])

# %% [markdown]
# Hyper-parameters go in `settings`, and a wrong one is refused with a reason.

# %%
for epsilon in (0.02, 0.5):
    tuned = simulate(
        EpsilonGreedy, "arith-linear-16", rounds=rounds, repetitions=repetitions, settings={"epsilon": epsilon}
    )
    print(f"epsilon {epsilon}: {tuned.mean()[-1]:.1f}")
try:
    simulate(EpsilonGreedy, "arith-linear-16", rounds=10, settings={"epsilon": 0.0})
    raise SystemExit("epsilon 0 was accepted")
except SettingError as refused:
    print(refused)

# %% [markdown]
# ## Give it a name
# To have it in the terminal, in studies and in the table of tutorial 03, put the three functions and the class into
# `prefopt/policies/arms/epsilon_greedy.py` and add one entry to `POLICIES`; the tests then pick it up by themselves.

# %%
if options.out:
    save_figure(plot_regret([ours, rival, chance]), options.out / "04_write_your_own_policy.png")
