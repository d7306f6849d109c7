"""KernelSelfSparring on a box: the conformance of a policy, degenerate boxes, and learning."""

import json

import numpy as np
import pytest

from prefopt.answer import Answer
from prefopt.domain import Box, Column
from prefopt.errors import AnswerError, SettingError
from prefopt.policies.kernel.self_sparring_box import APART, BoxKernelSelfSparring
from prefopt.seeding import stream

QUICK = {"features": 128, "raw_samples": 64, "restarts": 8}
BOXES = {
    "line": Box(1),
    "square": Box(2),
    "levels": Box([Column("levels", (0.0, 0.5, 1.0)), Column("levels", (0.0, 1.0))]),
    "one level": Box([Column("levels", (0.5,)), Column()]),
    "one category": Box([Column("category", (0.0, 0.5, 1.0))]),
    "single point": Box([Column("levels", (0.5,))]),
    "mixed": Box([Column(), Column("category", (0.0, 1.0)), Column("levels", (0.0, 0.3, 1.0))]),
    "constraint": Box(2, [lambda x: x.sum(axis=1) < 0.5]),
}


def play(policy: BoxKernelSelfSparring, rounds: int, target: float = 0.3, *, ask: bool = True) -> list:
    """A person with utility -|x - target|^2 (sharp logit); the log of slates and answers."""
    policy.init(stream(0))
    log = []
    for t in range(rounds):
        slate = policy.ask(stream(1, t, 0))
        u = -200 * ((slate - target) ** 2).sum(axis=1)
        winner = int(np.argmax(u + stream(2, t).gumbel(size=len(u))))
        answer = Answer.best(winner, len(u))
        policy.tell(slate, answer, stream(1, t, 1))
        log.append((slate, answer))
    return log


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("slate_size", [2, 4])
def test_slates_are_allowed_on_every_box(name: str, slate_size: int) -> None:
    box = BOXES[name]
    policy = BoxKernelSelfSparring(box, slate_size=slate_size, **QUICK)
    policy.init(stream(0))
    assert box.contains(policy.best())
    for slate, _ in play(policy, 8):
        assert slate.shape == (slate_size, box.dim)
        assert all(box.contains(row) for row in slate)
    assert box.contains(policy.best())
    assert box.contains(policy.best(over="box"))


def test_ask_is_pure_and_replay_equals_the_live_policy() -> None:
    live = BoxKernelSelfSparring(Box(3), slate_size=4, **QUICK)
    log = play(live, 20)
    first, second = live.ask(stream(5)), live.ask(stream(5))
    np.testing.assert_array_equal(first, second)
    replay = BoxKernelSelfSparring(Box(3), slate_size=4, **QUICK)
    replay.init(stream(0))
    for slate, answer in log:
        replay.tell(slate, answer, stream(9))
    np.testing.assert_array_equal(replay.ask(stream(5)), first)
    np.testing.assert_array_equal(replay.best(), live.best())


def test_distinct_pairs() -> None:
    for distinct, name in ((None, "square"), (True, "levels"), (None, "one category")):
        policy = BoxKernelSelfSparring(BOXES[name], distinct=distinct, **QUICK)
        for slate, _ in play(policy, 25):
            assert np.abs(slate[0] - slate[1]).max() > APART


@pytest.mark.parametrize(("self_duel", "tries"), [("coin", 2.0), ("skip", 0.0)])
def test_near_equal_points_are_one_option(self_duel: str, tries: float) -> None:
    policy = BoxKernelSelfSparring(Box(2), self_duel=self_duel)
    policy.init(stream(0))
    policy.tell([[0.5, 0.5], [0.5005, 0.5]], Answer.duel(0), stream(0))
    assert policy.data.tries.sum() == tries
    policy.tell([[0.2, 0.5], [0.7, 0.5]], Answer.duel(0), stream(0))
    assert len(policy.data.X) == 2 + (tries > 0)


def test_ties_skips_and_partial_answers() -> None:
    policy = BoxKernelSelfSparring(Box(1))
    policy.init(stream(0))
    points = [[0.1], [0.5], [0.9]]
    policy.tell(points, Answer.skip("no idea", 3), stream(0))
    assert not len(policy.data.X)
    policy.tell(points, Answer.tie(3), stream(0))
    np.testing.assert_array_equal(policy.data.wins / policy.data.tries, [0.5] * 3)
    policy.tell(points, Answer.ranking([2, 0], 3), stream(0))
    np.testing.assert_array_equal(policy.data.tries, [3, 2, 3])
    np.testing.assert_array_equal(policy.data.wins, [1, 1, 2])


def test_published_posterior_values() -> None:
    """x = 0, 1/2, 1 with SE 0.2, noise 0.025: a win of the first over the second."""
    policy = BoxKernelSelfSparring(Box(1), noise=0.025)
    policy.init(stream(0))
    policy.tell([[0.0], [0.5]], Answer.duel(0), stream(0))
    mean, covariance = policy.posterior([[0.0], [0.5], [1.0]])
    np.testing.assert_allclose(mean, [0.97556486, 0.00104742, -0.00183717], atol=1e-8)
    np.testing.assert_allclose(np.diag(covariance), [0.02438912, 0.02438912, 0.99811318], atol=1e-8)
    draws = policy.draws([[0.0], [0.5], [1.0]], 4000, stream(3))
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(np.diag(covariance)), rtol=0.1)


def test_settings_survive_json() -> None:
    kernel = BoxKernelSelfSparring(BOXES["mixed"], kernel="matern52", lengthscale=[0.2, 0.3, 0.4]).model.kernel
    for settings in ({"kernel": kernel.to_module()}, {"kernel": "matern32", "lengthscale": np.array([0.1, 0.2, 0.3])}):
        policy = BoxKernelSelfSparring(BOXES["mixed"], **settings)
        again = BoxKernelSelfSparring(BOXES["mixed"], **json.loads(json.dumps(policy.settings)))
        assert again.settings == policy.settings
        assert again.model.kernel == policy.model.kernel


def test_errors_say_what_was_expected() -> None:
    with pytest.raises(SettingError, match="noise > 0"):
        BoxKernelSelfSparring(Box(1), noise=0.0)
    with pytest.raises(SettingError, match="before init"):
        BoxKernelSelfSparring(Box(1)).ask(stream(0))
    policy = BoxKernelSelfSparring(Box(1))
    policy.init(stream(0))
    with pytest.raises(AnswerError, match="shape"):
        policy.tell([[0.1], [0.2]], Answer.tie(3), stream(0))
    with pytest.raises(AnswerError, match=r"\[0, 1\]"):
        policy.tell([[0.1], [np.nan]], Answer.tie(2), stream(0))


def test_learns() -> None:
    policy = BoxKernelSelfSparring(Box(2), raw_samples=256, restarts=16, features=256)
    log = play(policy, 60)
    loss = [((slate - 0.3) ** 2).sum(axis=1).mean() for slate, _ in log]
    uniform = 2 * (1 / 12 + 0.04)
    assert np.mean(loss[-15:]) < uniform / 4
    assert ((policy.best() - 0.3) ** 2).sum() < uniform / 10
