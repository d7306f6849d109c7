"""Kernel policies whose papers know no open questions: what is open changes what is asked, on every domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefopt.answer import Answer
from prefopt.domain import Box, Column, Grid
from prefopt.environments import make_environment
from prefopt.errors import SettingError
from prefopt.policies import POLICIES, make_policy
from prefopt.seeding import stream
from prefopt.simulation import simulate

LEVELS, FIXED, CATEGORY = (
    Column("levels", (0.0, 0.5, 1.0)),
    Column("levels", (0.0,)),
    Column("category", (0.0, 0.5, 1.0)),
)
DOMAINS = {
    "grid": Grid.regular(4, 3),
    "mixed": Box([Column(), LEVELS, CATEGORY, FIXED, Column()], ["x0 + x4 <= 1.2", "x0 - x1 <= 0.6"]),
}
BOX: dict[str, dict[str, Any]] = {
    "kernel-self-sparring": {"features": 64, "raw_samples": 32, "restarts": 4},
    "gp-sparring": {"raw_samples": 32, "restarts": 4},
    "borda-gp": {"features": 64, "raw_samples": 32, "restarts": 4},
    "bopper": {"features": 64, "raw_samples": 32, "restarts": 4, "landmarks": 16},
}
#: Every way of choosing that these policies have, by name and settings.
WAYS: list[tuple[str, int, dict[str, Any]]] = [
    ("kernel-self-sparring", 2, {}),
    ("kernel-self-sparring", 3, {}),
    ("kernel-self-sparring", 2, {"likelihood": "bernoulli", "outputscale": 4.0}),
    ("kernel-self-sparring", 2, {"distinct": False}),
    ("gp-sparring", 2, {}),
    ("gp-sparring", 4, {}),
    ("borda-gp", 2, {}),
    ("borda-gp", 3, {"acquisition": "ucb"}),
    *(("bopper", 2, {"acquisition": a, "kernel": k}) for a in ("dts", "pe", "cei") for k in ("se", "skew")),
]


def made(name: str, m: int, more: dict[str, Any], kind: str, answers: int = 6, **extra: Any) -> Any:
    """A policy after answers of a person who likes what is near a point."""
    domain = DOMAINS[kind]
    policy = make_policy(name, domain, slate_size=m, **more, **(BOX[name] if kind == "mixed" else {}), **extra)
    policy.init(stream(0))
    for t in range(answers):
        slate = policy.ask(stream(0, t))
        policy.tell(slate, Answer.best(int(np.argmin(away(domain, slate))), len(slate)), stream(0, t))
    return policy


def rows(domain: Any, slate: Any) -> np.ndarray:
    return domain.points[slate] if isinstance(domain, Grid) else np.asarray(slate)


def away(domain: Any, slate: Any) -> np.ndarray:
    return ((rows(domain, slate) - 0.4) ** 2).sum(axis=1)


def options(domain: Any, slate: Any) -> frozenset[tuple[float, ...]]:
    return frozenset(tuple(row) for row in rows(domain, slate).round(9).tolist())


def test_every_kernel_policy_is_tested_here_or_as_a_utility_policy() -> None:
    kernel = {name for name, entry in POLICIES.items() if "box" in entry.domains and entry.module.startswith("kernel.")}
    utility = {name for name in kernel if "utility" in POLICIES[name].assumes}  # see test_utility_policies.py
    assert kernel - utility == {name for name, _, _ in WAYS}


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(("name", "m", "more"), WAYS)
def test_open_questions_are_possible_and_no_two_alike(name: str, m: int, more: dict[str, Any], kind: str) -> None:
    policy, domain = made(name, m, more, kind), DOMAINS[kind]
    waiting: list[Any] = []
    for _ in range(4):
        slate = policy.ask(stream(1), waiting)  # the same stream: without the open ones the same slate again
        assert len(slate) == m
        assert kind == "grid" or all(domain.contains(row) for row in slate)  # type: ignore[union-attr]
        assert options(domain, slate) not in [options(domain, other) for other in waiting]
        waiting.append(slate)


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(("name", "m", "more"), WAYS)
def test_with_reuse_every_question_has_an_option_that_was_shown(
    name: str, m: int, more: dict[str, Any], kind: str
) -> None:
    policy = made(name, m, more, kind, answers=0, reuse=True)
    waiting: list[Any] = []
    for t in range(6):
        shown = options(DOMAINS[kind], policy.shown())
        slate = policy.ask(stream(2, t), waiting)
        assert not shown or options(DOMAINS[kind], slate) & shown
        if t == 3:
            waiting = [slate]
            continue
        policy.tell(slate, Answer.best(t % m, m), stream(2, t))


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(("name", "m", "more"), WAYS)
def test_an_open_question_is_less_uncertain_and_nothing_is_changed(
    name: str, m: int, more: dict[str, Any], kind: str
) -> None:
    policy = made(name, m, more, kind, answers=3)
    slate = policy.ask(stream(5))
    before = policy.ask(stream(6))
    chance = policy.expected(slate)
    off = ~np.eye(m, dtype=bool)
    assert_allclose((chance + chance.T)[off], 1.0)
    expecting = policy.expecting([slate], stream(7))
    assert len(expecting.shown()) >= len(policy.shown())
    policy.ask(stream(7), [slate])
    np.testing.assert_array_equal(policy.ask(stream(6)), before)
    if name == "gp-sparring" and kind == "grid":
        own = [np.diag(p.posterior(0)[1])[slate[0]] for p in (policy, expecting)]
        assert own[1] < own[0]
    if name == "kernel-self-sparring" and m == 2 and not more:
        own = [np.diag(p.posterior()[1] if kind == "grid" else p.posterior(slate)[1]) for p in (policy, expecting)]
        at = slate if kind == "grid" else np.arange(2)
        assert (own[1][at] < own[0][at]).all()


def test_the_last_two_options_are_asked_about_again() -> None:
    policy = make_policy("kernel-self-sparring", Grid.regular(2))
    policy.init(stream(0))
    first = policy.ask(stream(1))
    assert sorted(policy.ask(stream(1), [first])) == sorted(first)


def test_expected_chances_are_those_of_the_belief() -> None:
    policy = made("bopper", 2, {"kernel": "skew"}, "grid")
    slate = np.array([5, 0])
    assert policy.expected(slate)[0, 1] == pytest.approx(policy.preference()[5, 0])
    sparring = made("kernel-self-sparring", 2, {}, "grid")
    mean = sparring.posterior()[0]
    assert sparring.expected(slate)[0, 1] == pytest.approx(0.5 + (mean[5] - mean[0]) / 2)


def test_reuse_counts_in_simulations_too() -> None:
    person = make_environment("forrester")
    runs = [
        simulate("gp-sparring", person, rounds=40, seed=1, settings={"reuse": reuse}).mean() for reuse in (False, True)
    ]
    assert not np.array_equal(runs[0], runs[1])


def test_before_init_it_says_so() -> None:
    policy = make_policy("gp-sparring", Grid.regular(4))
    for pending in ((), [np.array([0, 1])]):
        with pytest.raises(SettingError, match="before init"):
            policy.ask(stream(0), pending)
