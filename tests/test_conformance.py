"""Every policy in the table behaves as a policy must; and the checks notice one that does not."""

import numpy as np
import pytest
import torch

from prefopt.domain import Arms, Box, Grid
from prefopt.environments import make_environment
from prefopt.policies import POLICIES, get_entry, make_policy
from prefopt.policies.arms.qsa import QSA
from prefopt.policies.arms.rucb import RUCB
from prefopt.policies.random import BoxRandom
from prefopt.simulation.driver import Loop, compiled_loop
from prefopt.testing import check_policy

DOMAINS = {
    "arms": [Arms(6)],
    "grid": [Grid.regular(7), Grid.regular(3, 3)],
    "box": [Box(1), Box(2)],
}
#: Fewer features and climbs than a person gets.
QUICK = {
    ("kernel-self-sparring", "box"): {"features": 64, "raw_samples": 32, "restarts": 4},
    ("gp-sparring", "box"): {"raw_samples": 32, "restarts": 4},
    ("borda-gp", "box"): {"features": 64, "raw_samples": 32, "restarts": 4},
    ("bopper", "box"): {"features": 64, "raw_samples": 32, "restarts": 4, "landmarks": 16},
}
#: Hyper-parameters of utility models are learned in the tests of these models.
UTILITY = [name for name, entry in POLICIES.items() if "utility" in entry.assumes and entry.domains == ("grid", "box")]
QUICK |= {(name, kind): {"learn": False} for name in UTILITY for kind in ("grid", "box")}
QUICK |= {("hallucination-believer", kind): {"learn": False, "sweeps": 1} for kind in ("grid", "box")}
QUICK["utility-thompson", "box"] |= {"features": 64, "raw_samples": 32, "restarts": 4}
#: They are tested in other domains by themselves.
DOMAINS_OF_UTILITY = {kind: domains[-1:] for kind, domains in DOMAINS.items()}
#: Beyond the default slates on arms, which are checked with their compiled loop.
MORE = [
    (name, kind, domain, size)
    for name, entry in POLICIES.items()
    for kind in entry.domains
    for domain in (DOMAINS_OF_UTILITY if name in UTILITY else DOMAINS)[kind]
    for size in ((2,) if entry.slates == "2" else (2, 4))
    if (kind, size) != ("arms", 2)
]


@pytest.mark.parametrize("name", [n for n in POLICIES if "arms" in get_entry(n).domains])
def test_policy_conforms(name):
    check_policy(name)
    policy = make_policy(name, Arms(6), horizon=10)
    if hasattr(policy, "rules") and name != "kernel-self-sparring":
        # compiled by the check, and without the reference counts that make a short rule slow
        loop = compiled_loop(policy.rules, make_environment("arith-linear-6").world)
        assert isinstance(loop, Loop) and not loop.allocates


@pytest.mark.parametrize(("name", "kind", "domain", "size"), MORE)
def test_policy_conforms_on_its_other_domains_and_on_larger_slates(name, kind, domain, size):
    check_policy(name, domain, slate_size=size, learns=False, compiled=False, **QUICK.get((name, kind), {}))


class UpdatesItsBound(RUCB):
    """Does while choosing what belongs to the end of tell; the second time nothing is left to change."""

    def ask(self, rng, pending=()):
        self.state.reach[0] = 7.0
        return super().ask(rng, pending)


class CountsVotes(QSA):
    """Changes a number in a list."""

    def ask(self, rng, pending=()):
        self.votes[0] += 0.25
        return super().ask(rng, pending)


class Node:
    """An object that knows itself."""

    def __init__(self):
        self.me, self.value = self, 1.0


class Remembers(BoxRandom):
    """Touches, while choosing, one of the things it keeps."""

    memo = ("model",)

    def init(self, rng):
        super().init(rng)
        self.model = [0]
        self.kept = {"array": np.zeros(2), "own": np.random.default_rng(0), "node": Node(), "scratch": 0,
                     "tensor": torch.zeros(1), "names": {"a"}}  # fmt: skip

    def ask(self, rng, pending=()):
        self.touch(self.kept, self.model)
        return super().ask(rng, pending)


CHANGES = {
    "kept.array": lambda kept, _: kept["array"].__iadd__(1.0),
    "kept.own": lambda kept, _: kept["own"].random(),
    "kept.node.value": lambda kept, _: setattr(kept["node"], "value", kept["node"].value + 1),
    "kept.tensor": lambda kept, _: kept["tensor"].add_(1.0),
    "kept.names": lambda kept, _: kept["names"].add(len(kept["names"])),
    "kept": lambda kept, _: kept.update({len(kept): 0}),
}


def conforms(policy, domain):
    check_policy(policy, domain, learns=False, compiled=False)


@pytest.mark.parametrize(("policy", "domain", "where"), [
    (UpdatesItsBound, Arms(6), "state.reach"),
    (CountsVotes, Grid.regular(6), "votes.0"),
    *((type("Changed", (Remembers,), {"touch": staticmethod(touch)}), Box(1), at) for at, touch in CHANGES.items()),
])  # fmt: skip
def test_an_ask_that_changes_something_is_noticed(policy, domain, where):
    with pytest.raises(AssertionError, match=rf"(?m)ask changed {where}$"):
        conforms(policy, domain)


def test_a_policy_that_does_not_learn_is_told_the_limit():
    limit = r"strong-sum regret of .* a round after round 300; it must be below .*, half of that of uniform choice"
    with pytest.raises(AssertionError, match=limit):
        check_policy("random", regret="strong-sum", horizon=400, compiled=False)


def test_working_space_and_what_follows_from_the_rest_may_change():
    def touch(kept, model):
        kept["scratch"] += 1
        model.append(0)

    conforms(type("Fine", (Remembers,), {"touch": staticmethod(touch)}), Box(1))
