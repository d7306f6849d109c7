"""Simulated people by name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from prefopt.domain import Arms, Grid
from prefopt.environments.base import Environment, FiniteEnvironment
from prefopt.environments.box import BoxEnvironment, calibrated_scale
from prefopt.environments.candy import candy_environment, load_candy
from prefopt.environments.files import SHIPPED, matrix_environment, shipped_matrix
from prefopt.environments.person import Person, utility_environment
from prefopt.environments.problems import PROBLEMS, rescale
from prefopt.environments.settings import (
    UTILITIES,
    arithmetic,
    borda_versus_condorcet,
    cyclic,
    hard_condorcet,
    random_matrix,
    swirl,
    total_order,
)
from prefopt.environments.yelp_like import yelp_like
from prefopt.errors import SettingError
from prefopt.seeding import stream

__all__ = [
    "BoxEnvironment",
    "Environment",
    "FiniteEnvironment",
    "Person",
    "calibrated_scale",
    "grid_environment",
    "list_environments",
    "load_candy",
    "make_environment",
    "matrix_environment",
    "utility_environment",
]

#: Names and patterns that ``make_environment`` takes; K, p, x and S stand for numbers.
ENVIRONMENTS: dict[str, str] = {
    "forrester-30": "Forrester function on 30 points of [0, 1], raw utilities, logit (forrester-K for any K)",
    "camel-64": "Six-Hump Camel on an 8 x 8 grid of [-3, 3] x [-2, 2], raw utilities, logit (camel-N*N for any N)",
    "goldstein-64": "Goldstein-Price on an 8 x 8 grid (log-goldstein-64: its logarithm)",
    "levy-64": "Levy on an 8 x 8 grid",
    **{
        f"{u}-{link}-K": f"K arms, {u} utilities, {link} link"
        for u in UTILITIES
        for link in ("linear", "natural", "logit")
    },
    "sushi16": "16 kinds of sushi (Kamishima 2003; Komiyama et al. 2015)",
    "mslr5": "five rankers of MSLR-WEB30K (Zoghi et al. 2015)",
    "arxiv6": "six rankers of a literature search (Yue and Joachims 2011)",
    "yelp-like-K-S": "K items, 7 features, drawn with seed S: stands in for the restaurants of Chen and Frazier 2017",
    "candy85": "85 sweets, 269,000 votes (FiveThirtyEight 2017), Bradley-Terry strengths from win percentages",
    "total-order-p-K": "a better arm beats a worse one with probability p, as in total-order-0.8-10",
    "arithmetic-K": "P_ij = 1/2 + 0.05 (j - i)",
    "cyclic-K": "a Condorcet winner above a cycle",
    "bvsc-K": "the Borda winner differs from the Condorcet winner",
    "swirl-x-K": "arm 0 beats all with 1/2 + x/10, the others form a cycle",
    "hard-condorcet-K": "P_ij = 1/2 + j/(2K) (Urvoy et al. 2013)",
    "random-condorcet-K-S": "uniform preferences below a Condorcet winner, drawn with seed S",
    "random-cyclic-K-S": "uniform preferences without a Condorcet winner, drawn with seed S",
    **{name: f"the unit cube: {name}, raw utilities, logit" for name in PROBLEMS},
    "PATH.csv": "a CSV preference matrix: row i, column j is the chance that i beats j",
}

NUMBER = r"(\d+(?:\.\d+)?)"
MATRICES: list[tuple[str, Any]] = [
    (rf"total-order-{NUMBER}-(\d+)", lambda p, k: total_order(float(p), int(k))),
    (r"arithmetic-(\d+)", lambda k: arithmetic(int(k))),
    (r"cyclic-(\d+)", lambda k: cyclic(int(k))),
    (r"bvsc-(\d+)", lambda k: borda_versus_condorcet(int(k))),
    (rf"swirl-{NUMBER}-(\d+)", lambda x, k: swirl(float(x), int(k))),
    (r"hard-condorcet-(\d+)", lambda k: hard_condorcet(int(k))),
    (r"random-condorcet-(\d+)-(\d+)", lambda k, s: random_matrix(int(k), stream(int(s), 0), condorcet=True)),
    (r"random-cyclic-(\d+)-(\d+)", lambda k, s: random_matrix(int(k), stream(int(s), 0), condorcet=False)),
]


def list_environments() -> dict[str, str]:
    """Every name or pattern with a description."""
    return dict(ENVIRONMENTS)


def grid_environment(name: str, size: int, person: Person, scale: str = "raw") -> FiniteEnvironment:
    """A test function on a regular grid of ``size`` points in all, end points included.

    Raises:
        SettingError: ``size`` is not a d-th power.
    """
    problem = PROBLEMS[name]
    side = round(size ** (1 / problem.dim))
    if side < 1 or side**problem.dim != size:
        raise SettingError(f"{name}-{size}: a grid of {problem.dim} dimensions has n^{problem.dim} points, not {size}")
    grid = Grid.regular(*[side] * problem.dim)
    u = problem.utility(grid.points)
    return utility_environment(f"{name}-{size}", grid, rescale(u, scale, u), person)


def make_environment(environment: Any, *, feedback: str | None = None, scale: str = "raw", **person: Any) -> Any:
    """The simulated person called ``environment``.

    Args:
        environment: a name (see ``list_environments``), a path to a CSV preference matrix, or an environment.
        feedback: "pairs", "winner" or "ranking"; None keeps an environment's own.
        scale: of test functions: "raw", "unit", "pm3" or "std".
        person: further fields of ``Person`` (``link``, ``scale`` of noise as ``noise``, ``lapse``, ...).

    Raises:
        SettingError: an unknown name.
        EnvironmentSpecError: a matrix or a person that contradicts itself.
    """
    if not isinstance(environment, str | Path):
        return observed(environment, feedback)
    name, how = str(environment), feedback or "pairs"
    if "noise" in person:
        person["scale"] = person.pop("noise")
    who = Person(feedback=how, **person)
    made = _utilities(name, who) or _function(name, who, scale) or _features(name, who) or _matrix(name)
    if made is not None:
        return observed(made, how)
    if name in SHIPPED:
        return shipped_matrix(name, feedback=how)
    if name == "candy85":
        return candy_environment(who)
    if name.endswith(".csv") or Path(name).is_file():
        return matrix_environment(name, feedback=how)
    raise SettingError(f"unknown environment {name!r}; expected {', '.join(ENVIRONMENTS)}")


def observed(environment: Any, feedback: str | None) -> Any:
    """The same environment with other feedback."""
    if feedback is None or getattr(environment, "feedback", feedback) == feedback:
        return environment
    if isinstance(environment, FiniteEnvironment):
        return replace(environment, feedback=feedback)
    if isinstance(environment, BoxEnvironment):
        return environment.with_feedback(feedback)
    raise SettingError(f"{environment.name} cannot be observed as {feedback!r}; build it with that feedback")


def _utilities(name: str, person: Person) -> FiniteEnvironment | None:
    match = re.fullmatch(rf"({'|'.join(UTILITIES)})-(linear|natural|logit|probit|noiseless)-(\d+)", name)
    if match is None:
        return None
    size = int(match[3])
    return utility_environment(name, Arms(size), UTILITIES[match[1]](size), replace(person, link=match[2]))


def _function(name: str, person: Person, scale: str) -> Any:
    if name in PROBLEMS:
        return BoxEnvironment(name, PROBLEMS[name], person, scale)
    match = re.fullmatch(r"(.+)-(\d+)", name)
    if match is None or match[1] not in PROBLEMS:
        return None
    return grid_environment(match[1], int(match[2]), person, scale)


def _features(name: str, person: Person) -> FiniteEnvironment | None:
    match = re.fullmatch(r"yelp-like-(\d+)-(\d+)", name)
    if match is None:
        return None
    return replace(yelp_like(stream(int(match[2]), 0), size=int(match[1]), person=person), name=name)


def _matrix(name: str) -> FiniteEnvironment | None:
    for pattern, build in MATRICES:
        match = re.fullmatch(pattern, name)
        if match is not None:
            P: np.ndarray[Any, Any] = build(*match.groups())
            return FiniteEnvironment(name, Arms(len(P)), P)
    return None
