"""qEUBO, and what its utility model believes of where the best option is."""

from itertools import combinations

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Box, Grid
from prefopt.errors import SettingError
from prefopt.policies import make_policy
from prefopt.policies.kernel.qeubo import exchanged, joint_sample
from prefopt.seeding import stream


def told(policy, best_at, answers, m=2, seed=0):
    """After ``answers`` questions about a hill with its top at ``best_at``."""
    policy.init(stream(seed))
    luck = stream(seed, 9)
    for t in range(answers):
        slate = policy.ask(stream(seed, t))
        away = np.linalg.norm(policy.as_rows(slate, m) - best_at, axis=1)
        policy.tell(slate, Answer.best(int(np.argmax(luck.gumbel(size=m) - 12 * away)), m), stream(seed, t))
    return policy


def test_two_options_are_eubo():
    pair, slate = (told(make_policy(name, Box(2)), 0.3, 8) for name in ("eubo", "qeubo"))
    assert np.array_equal(pair.ask(stream(1)), slate.ask(stream(1)))


def test_the_slate_is_nearly_the_best_of_all():
    policy = told(make_policy("qeubo", Grid.regular(4, 3), slate_size=3, learn=False), 0.3, 5, m=3)
    utility = policy.utility()
    mean, covariance = utility.joint(policy.domain.points)
    draws = stream(2).multivariate_normal(mean, covariance + 1e-9 * np.eye(12), size=20_000)
    value = {s: draws[:, s].max(axis=1).mean() for s in combinations(range(12), 3)}
    asked = value[tuple(sorted(policy.ask(stream(3)).tolist()))]
    everywhere = sorted(value.values())
    assert asked > everywhere[-1] - 0.1 * (everywhere[-1] - everywhere[0])


def test_an_exchange_never_lowers_the_expectation():
    policy = told(make_policy("qeubo", Box(2), learn=False), 0.3, 6)
    F = joint_sample(policy.utility(), stream(1).random((30, 2)), stream(2))
    start = [0, 1, 2, 3]
    found = exchanged(F, start)
    assert F[found].max(axis=0).mean() > F[start].max(axis=0).mean()
    assert exchanged(F, start, fixed=1)[0] == 0


def test_draws_have_the_posterior_moments():
    policy = told(make_policy("qeubo", Box(2), learn=False), 0.3, 6)
    Z = stream(1).random((5, 2))
    mean, covariance = policy.utility().joint(Z)
    F = np.hstack([joint_sample(policy.utility(), Z, stream(2, k)) for k in range(100)])
    assert F.mean(axis=1) == pytest.approx(mean)
    assert np.cov(F) == pytest.approx(covariance, abs=0.1 * float(np.diag(covariance).max()))


def test_the_centre_is_given_up_when_the_answers_say_so():
    corner = told(make_policy("qeubo", Box(3)), 1.0, 25)
    middle = told(make_policy("qeubo", Box(3)), 0.5, 25)
    assert corner.utility().prior.trend is None
    assert middle.utility().prior.trend is not None
    sure = told(make_policy("qeubo", Box(3), flat=0.0), 1.0, 25)
    assert sure.utility().prior.trend is not None


def test_the_first_questions_are_mirrored_pairs():
    for domain, count in ((Box(1), 4), (Box(3), 2)):
        policy = make_policy("qeubo", domain)
        policy.init(stream(0))
        for first, second in policy.first:
            assert first + second == pytest.approx(1.0)
        assert len(policy.first) == count


def test_settings_out_of_range():
    with pytest.raises(SettingError, match="flat is a probability"):
        make_policy("qeubo", Box(2), flat=1.0)
