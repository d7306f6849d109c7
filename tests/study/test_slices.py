"""Curves, maps and bars of what is believed."""

import json

import numpy as np
import pytest

from prefopt import Categorical, Float, Int, Space, create_study


def answered(space, n=14, prefers=lambda params: params["x"], **keywords):
    study = create_study(space, seed=2, **keywords)
    for _ in range(n):
        query = study.ask()
        study.tell(query, best=max(query.shown, key=lambda c: prefers(c.params)))
    return study


def test_a_curve_rises_where_more_is_better_and_holds_the_recommendation():
    study = answered(Space([Float("x", 0, 1, step=0.05)]))
    found = study.slices()
    (curve,) = found["curves"]
    assert curve["values"] == [study.space.decode(i)["x"] for i in range(21)]
    assert curve["mean"][-1] > curve["mean"][0] + 0.1
    best = study.recommend()
    at = curve["values"].index(best.params["x"])
    assert curve["mean"][at] == pytest.approx(best.mean) and curve["sd"][at] == pytest.approx(best.sd)
    assert found["effects"] == found["maps"] == []


def test_a_continuous_space_agrees_with_the_recommendation_too():
    study = answered(Space([Float("x", 0, 1), Float("y", 0, 1)]))
    found = study.slices()
    assert [len(c["mean"]) for c in found["curves"]] == [25, 25]
    (map_,) = found["maps"]
    assert len(map_["mean"]) == len(map_["x"]["values"]) * len(map_["y"]["values"])
    left, right = (np.array(map_["mean"]).reshape(17, 17)[:, half].mean() for half in (slice(0, 8), slice(9, 17)))
    assert right > left
    best = study.recommend()
    near = np.argmin(np.abs(np.array(found["curves"][0]["values"]) - best.params["x"]))
    assert found["curves"][0]["mean"][near] == pytest.approx(best.mean, abs=0.05)


def test_main_effects_of_a_grid_are_plain_averages():
    space = Space([Float("x", 0, 4, step=1), Int("k", 1, 3), Categorical("c", ["u", "v"])])
    study = answered(space)
    found = study.slices()
    assert [e["name"] for e in found["effects"]] == ["x", "k", "c"] and len(found["maps"]) == 3
    middle = [np.mean(found["effects"][j]["mean"]) for j in range(3)]
    assert middle == pytest.approx([middle[0]] * 3)  # each averages the same 30 points
    assert found["effects"][2]["categorical"] and found["effects"][2]["values"] == ["u", "v"]


def test_forbidden_places_are_holes():
    space = Space([Float("x", 0, 1), Float("y", 0, 1), Float("z", 0, 1), Float("w", 0, 1)], ["x + y <= 0.4"])
    found = answered(space, n=8).slices()
    assert len(found["maps"]) == 1 and json.dumps(found)
    holes = [m is None for m in found["curves"][0]["mean"]]
    assert any(holes) and not all(holes)


def test_a_list_has_bars_with_the_best_first():
    study = answered(["a", "b", "c"], prefers=lambda item: -ord(item))
    bars = study.slices()["bars"]
    assert bars[0]["params"] == "a" and [b["recommended"] for b in bars] == [True, False, False]
    assert bars[0]["mean"] == pytest.approx(study.recommend().mean)


def test_convergence_tells_what_was_recommended_then():
    study = create_study(["a", "b", "c", "d"], seed=1)
    recommended = []
    for _ in range(6):
        query = study.ask()
        study.tell(query, best=min(query.shown_order))
        recommended.append((study.answered, study.recommend().params))
    found = study.convergence()
    assert [(row["answers"], row["params"]) for row in found] == recommended
    assert found[-1]["probability_best"] == study.recommend().probability_best
    assert create_study(["a", "b"], seed=1).convergence() == []
