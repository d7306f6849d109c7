"""Every policy with a kernel takes whatever people say: no study ends with an exception or a warning."""

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Box, Grid
from prefopt.policies import POLICIES, make_policy
from prefopt.policies.kernel.utility_policy import UtilityPolicy
from prefopt.seeding import stream
from tests.policies.test_utility_policies import MIXED, NAMES, QUICK, SIZES

KERNEL = [name for name, entry in POLICIES.items() if entry.module.startswith("kernel.")]


def rows_of(policy, slate):
    """The options of a slate as rows (m, d)."""
    return policy.domain.points[slate] if isinstance(policy.domain, Grid) else slate


def messy(policy, rounds, seed, begin=0):
    """A study with ties, skips, repeats, cycles, duplicates, whole rankings, pairs, and 30 % random answers.

    Eight rounds have every kind of answer, from whichever of them one begins.
    """
    rng = np.random.default_rng(seed)
    policy.init(stream(seed))
    asked = []
    for t in range(begin, begin + rounds):
        waiting = asked[-2:] if t % 5 == 4 else []
        slate = policy.ask(stream(seed, t), waiting)
        if asked and t % 7 == 3:
            slate = asked[int(rng.integers(len(asked)))]  # a repeat
        if t % 11 == 5:
            slate = np.concatenate([slate[:1], slate[:-1]])  # an option beside itself
        m = len(slate)
        score = -((rows_of(policy, slate) - 0.4) ** 2).sum(axis=1) + 0.1 * rng.gumbel(size=m)
        if rng.random() < 0.3 or t % 9 == 4:
            score = rng.random(m)
        order = [int(j) for j in np.argsort(-score)]
        distinct = len(np.unique(rows_of(policy, slate), axis=0)) == m
        won = (score[:, None] > score[None, :]) * float(distinct)
        kinds = {1: Answer.tie(m), 2: Answer.skip("", m), 3: Answer.ranking(order, m), 4: Answer.worst(order[-1], m),
                 5: Answer.pairs(won)}  # fmt: skip
        policy.tell(slate, kinds.get(t % 8, Answer.best(order[0], m)), stream(seed, t))
        asked.append(slate)
        if t % 6 == 5 and len(asked) > 3:  # a cycle
            three = [asked[-1 - i][:1] for i in range(3)]
            for a, b in ((0, 1), (1, 2), (2, 0)):
                policy.tell(np.concatenate([three[a], three[b]]), Answer.duel(0), stream(seed, t))
    best, domain = policy.best(), policy.domain
    assert 0 <= best < domain.size if isinstance(domain, Grid) else domain.contains(best)
    if isinstance(policy, UtilityPolicy):
        assert np.isfinite(policy.utility().mean(policy.points)).all()


@pytest.mark.parametrize(("name", "m"), SIZES)
def test_messy_studies_end_without_a_warning(name, m):
    messy(make_policy(name, MIXED, slate_size=m, **QUICK.get(name, {})), 12, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNEL)
def test_a_hundred_messy_studies_end_without_a_warning(name):
    domains = [MIXED, Grid.regular(6, 5), Box(1), Box(3)]
    for seed in range(100):
        settings = {"slate_size": 3 if POLICIES[name].slates != "2" and seed // 4 % 2 else 2, **QUICK.get(name, {})}
        if name in NAMES:
            settings |= {"jnd": 0.3 * (seed % 2), "lapse": 0.1 * (seed % 3 == 1), "reuse": seed % 7 == 6}
            settings["learn"] = seed % 5 == 0
        messy(make_policy(name, domains[seed % 4], **settings), 8, seed, begin=seed)
