import json
import math

import numpy as np
import pytest

from prefopt import Box, Categorical, Column, Float, Int, Linear, Space, create_study, load_study
from prefopt.errors import DomainError, StudyError
from prefopt.policies.base import FinitePolicy
from prefopt.policies.kernel.self_sparring_box import BoxKernelSelfSparring
from prefopt.policies.kernel.utility_policy import UtilityPolicy
from prefopt.space import as_space


@pytest.mark.parametrize(
    ("text", "weights", "low", "high"),
    [
        ("a + 2*b <= 3", {"a": 1, "b": 2}, -math.inf, 3),
        ("a >= b", {"a": 1, "b": -1}, 0, math.inf),
        ("-(a - b/4)*2 + 1 <= 5 - a", {"a": -1, "b": 0.5}, -math.inf, 4),
        ("1 <= a", {"a": -1}, -math.inf, -1),
    ],
)
def test_text_is_read(text, weights, low, high):
    rule = Linear.parse(text)
    assert (dict(rule.weights), rule.low, rule.high) == (weights, low, high)
    assert Linear.from_json(json.loads(json.dumps(rule.to_json()))) == rule


@pytest.mark.parametrize(
    "text",
    ["a < 3", "a*b <= 1", "a", "a <= b <= 3", "a +", "a**2 <= 3", "f(a) <= 1", "a/0 <= 1", "a <= '3'", "3 <= 4",
     "a == 1", "1/a <= 2", "a - a <= 1", "a <= True"],
)  # fmt: skip
def test_what_is_not_linear_is_said(text):
    with pytest.raises(DomainError, match="linear"):
        Linear.parse(text)


def test_bounds_hold_up_to_rounding():
    assert Linear.parse("a + b <= 0.3")({"a": 0.1, "b": 0.2})
    assert not Linear.parse("a + b <= 0.3")({"a": 0.1, "b": 0.2001})
    with pytest.raises(DomainError, match="nothing lies between 2 and 1"):
        Linear((("a", 1.0),), low=2, high=1)


def test_names_must_be_numbers_of_the_space():
    with pytest.raises(DomainError, match="'c' is no number of the space; it has a, b"):
        Space([Float("a", 0, 1), Int("b", 0, 3)], ["a + c <= 1"])
    with pytest.raises(DomainError, match="'milk' is no number"):
        Space([Float("a", 0, 1), Categorical("milk", ["oat", "cow"])], ["milk <= 1"])
    with pytest.raises(DomainError, match="'x1' is no number of the box; it has x0"):
        Box([Column(), Column("category", (0.0, 1.0))], ["x1 <= 1"])


def spaces():
    recipe = [Float("water", 100, 300), Float("milk", 0, 100), Categorical("bean", ["a", "b"])]
    return {
        "space": (Space(recipe, ["water + 2*milk <= 250", "milk >= 0.1*water"]),
                  lambda p: p["water"] + 2 * p["milk"] <= 250.0001 and p["milk"] >= 0.0999 * p["water"]),
        "box": (as_space(Box(3, ["x0 + x1 + x2 <= 1"])), lambda p: sum(p.values()) <= 1.0001),
        "grid": (Space([Float("x", 0, 1, step=0.1), Float("y", 0, 1, step=0.1)], ["x + y <= 0.3"]),
                 lambda p: p["x"] + p["y"] <= 0.3001),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["space", "box", "grid"])
def test_every_question_of_a_stored_study_keeps_them(name, tmp_path, monkeypatch):
    space, allowed = spaces()[name]
    largest = 300.0 if name == "space" else 1.0
    path = str(tmp_path / "s.db")
    create_study(space, storage=path, seed=3, query_size=3).close()
    study = load_study(path)
    assert study.space.to_json() == space.to_json()
    for _ in range(8):
        query = study.ask()
        assert all(allowed(c.params) for c in query.candidates), query
        numbers = [sum(v for v in c.params.values() if isinstance(v, float)) for c in query.candidates]
        study.tell(query, best=query.ids[int(np.argmax(numbers))])  # pulls towards the border
    assert allowed(study.recommend().params)
    for policy in (FinitePolicy, BoxKernelSelfSparring, UtilityPolicy):
        monkeypatch.setattr(policy, "ask", lambda *_: 1 / 0)
    with pytest.warns(RuntimeWarning, match="drawn at random"):
        drawn = [candidate.params for candidate in study.ask("another").candidates]
    assert all(map(allowed, drawn))
    outside = drawn[0] | dict.fromkeys([k for k, v in drawn[0].items() if isinstance(v, float)], largest)
    with pytest.raises(DomainError):
        study.add(outside)
    study.close()


def test_a_function_says_what_to_write_instead():
    space = Space([Float("a", 0, 1), Float("b", 0, 1)], [lambda p: p["a"] * p["b"] <= 0.5])
    with pytest.raises(DomainError, match=r"a function, and cannot be stored.*'a \+ 2\*b <= 3'.*step"):
        create_study(space)
    stepped = Space([Float("a", 0, 1, step=0.1), Float("b", 0, 1, step=0.1)], [lambda p: p["a"] * p["b"] <= 0.5])
    assert all(c.params["a"] * c.params["b"] <= 0.5 for c in create_study(stepped, seed=1).ask().candidates)


def test_a_study_file_has_them(tmp_path):
    from prefopt.cli.opening import open_study

    text = """
constraints = ["a + b <= 1"]
[parameters.a]
type = "float"
low = 0
high = 1
[parameters.b]
type = "float"
low = 0
high = 1
"""
    (tmp_path / "study.toml").write_text(text)
    study = open_study(str(tmp_path / "study.toml"), create=True).study
    assert all(sum(c.params.values()) <= 1.0001 for c in study.ask().candidates)
    study.close()
    (tmp_path / "bad.toml").write_text(text.replace("a + b", "a + c"))
    with pytest.raises(StudyError, match=r"bad.toml: constraint .*'c' is no number"):
        open_study(str(tmp_path / "bad.toml"), create=True)
