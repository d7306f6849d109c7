"""What is believed of the options along each parameter: numbers behind curves with bands, maps and bars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import DomainError
from prefopt.parameters import Categorical
from prefopt.seeding import stream
from prefopt.space import Space
from prefopt.study.asking import Asker
from prefopt.study.fold import State
from prefopt.study.learner import RECOMMEND
from prefopt.study.recommend import Recommendation, beliefs_about, recommend

FloatArray = NDArray[np.float64]

#: Values along a curve, along each side of a map, and along a main effect of a continuous space.
CURVE, MAP, EFFECT = 25, 17, 9
#: Settings of the other parameters over which a main effect is averaged, if there are infinitely many.
OTHERS = 12
#: So many parameters have a map for every pair.
MAPPED = 3
#: So many options of a list are drawn as bars.
BARS = 40


def slices(state: State, asker: Asker) -> dict[str, Any]:
    """Curves, maps and bars of the posterior mean, JSON-able; nothing that constraints forbid (null).

    Returns:
        ``scale`` (what means are of), ``curves`` (the other parameters as recommended), ``effects`` (averaged over the
        others, for three parameters and more; the sd is the average one, an upper limit), ``maps`` (of pairs of
        parameters) or, for a plain list of options, ``bars`` with the best first.
    """
    best = recommend(state, asker)
    if not isinstance(state.space, Space):
        return {"scale": best.scale, "bars": _bars(state, asker, best)}
    parameters, at = state.space.parameters, dict(best.params)
    curves = [_curve(state, asker, p, [{**at, p.name: v} for v in ticks(p, CURVE)]) for p in parameters]
    found: dict[str, Any] = {"scale": best.scale, "at": at, "curves": curves, "effects": [], "maps": []}
    if len(parameters) > 2:
        found["effects"] = [_effect(state, asker, p) for p in parameters]
    pairs = list(combinations(parameters, 2))
    if len(parameters) > MAPPED:
        reach = {p.name: _reach(effect) for p, effect in zip(parameters, found["effects"], strict=True)}
        pairs = sorted(pairs, key=lambda pair: -reach[pair[0].name] - reach[pair[1].name])[:1]
    found["maps"] = [_map(state, asker, at, *pair) for pair in pairs]
    return found


def ticks(parameter: Any, most: int) -> list[Any]:
    """All values of a parameter, or ``most`` of them from end to end.

    >>> from prefopt import Float, Int
    >>> ticks(Int("cups", 1, 3), 9), ticks(Float("dose", 0, 1), 3)
    ([1, 2, 3], [0.0, 0.5, 1.0])
    """
    if parameter.count is not None and (parameter.count <= most or isinstance(parameter, Categorical)):
        return [parameter.value(i) for i in range(parameter.count)]
    return list(dict.fromkeys(parameter.at(float(u)) for u in np.linspace(0, 1, most)))


def _curve(state: State, asker: Asker, parameter: Any, places: list[dict[str, Any]]) -> dict[str, Any]:
    mean, sd = _believed(state, asker, places)
    values = [place[parameter.name] for place in places]
    return _axis(parameter) | {"values": values, "mean": _plain(mean), "sd": _plain(sd)}


def _effect(state: State, asker: Asker, parameter: Any) -> dict[str, Any]:
    """The mean over all other settings, or over some of them in a continuous space."""
    values = ticks(parameter, CURVE if state.options.finite else EFFECT)
    if state.options.finite:
        places = [state.options.decode(i) for i in range(len(state.options))]
        values = [v for v in values if any(place[parameter.name] == v for place in places)]
        labels = [place[parameter.name] for place in places]
    else:
        rng = stream(state.record.seed, state.last, RECOMMEND, 1)
        others = [state.options.decode(row) for row in state.space.domain.sample(OTHERS, rng)]
        places = [{**other, parameter.name: value} for value in values for other in others]
        labels = [value for value in values for _ in others]
    mean, sd = _believed(state, asker, places)
    kept = [[i for i, label in enumerate(labels) if label == value and np.isfinite(mean[i])] for value in values]
    middle = [float(np.mean(mean[i])) if i else np.nan for i in kept]
    around = [float(np.mean(sd[i])) if i else np.nan for i in kept]
    return _axis(parameter) | {"values": values, "mean": _plain(middle), "sd": _plain(around)}


def _reach(effect: dict[str, Any]) -> float:
    means = [m for m in effect["mean"] if m is not None]
    return max(means) - min(means) if means else 0.0


def _map(state: State, asker: Asker, at: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    xs, ys = ticks(x, MAP), ticks(y, MAP)
    mean, sd = _believed(state, asker, [{**at, x.name: u, y.name: v} for v, u in product(ys, xs)])
    rows = {"mean": _plain(mean), "sd": _plain(sd)}
    return {"x": _axis(x) | {"values": xs}, "y": _axis(y) | {"values": ys}} | rows


def _axis(parameter: Any) -> dict[str, Any]:
    return {"name": parameter.name, "categorical": isinstance(parameter, Categorical), "log": _is_log(parameter)}


def _is_log(parameter: Any) -> bool:
    return bool(getattr(parameter, "log", False))


def _believed(state: State, asker: Asker, places: Sequence[dict[str, Any]]) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and sd at ``places``, nan where constraints forbid them."""
    mean, sd = np.full(len(places), np.nan), np.full(len(places), np.nan)
    allowed, options = [], []
    for i, place in enumerate(places):
        try:
            options.append(state.options.encode(place))
            allowed.append(i)
        except DomainError:
            continue
    if options:
        mean[allowed], sd[allowed] = beliefs_about(state, asker, options)
    return mean, sd


def _bars(state: State, asker: Asker, best: Recommendation) -> list[dict[str, Any]]:
    known = list(range(len(state.options)))
    options = [state.options.option(i) for i in known]
    mean, sd = beliefs_about(state, asker, options)
    order = np.argsort(-mean, kind="stable")[:BARS]
    rows = [{"params": state.options.params(int(i)), "mean": float(mean[i]), "sd": float(sd[i])} for i in order]
    return [row | {"recommended": row["params"] == best.params} for row in rows]


def _plain(values: Any) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
