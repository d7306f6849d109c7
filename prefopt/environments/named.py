"""Simulated people by name, and which options of a person each kind of name can take."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from prefopt.domain import Arms, Grid
from prefopt.environments.base import FiniteEnvironment
from prefopt.environments.box import BoxEnvironment
from prefopt.environments.candy import candy_environment
from prefopt.environments.files import SHIPPED, matrix_environment, shipped_matrix
from prefopt.environments.person import Person, preference_environment, utility_environment
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
from prefopt.errors import SettingError, did_you_mean
from prefopt.links import LINKS
from prefopt.seeding import stream

#: Names and patterns that ``make_environment`` takes; K, p, x and S stand for numbers.
ENVIRONMENTS: dict[str, str] = {
    "forrester-30": "Forrester function on 30 points of [0, 1], raw utilities, logit (forrester-K for any K)",
    "camel-64": "Six-Hump Camel on an 8 x 8 grid of [-3, 3] x [-2, 2], raw utilities, logit (camel-N*N for any N)",
    "goldstein-64": "Goldstein-Price on an 8 x 8 grid (log-goldstein-64: its logarithm)",
    "levy-64": "Levy on an 8 x 8 grid",
    **{f"{u}-{link}-K": f"K arms, {u} utilities, {link} link" for u in UTILITIES for link in LINKS},
    "sushi16": "16 kinds of sushi (Kamishima 2003; Komiyama et al. 2015)",
    "mslr5": "five rankers of MSLR-WEB30K (Zoghi et al. 2015)",
    "arxiv6": "six rankers of a literature search (Yue and Joachims 2011)",
    "yelp-like-K-S": "K items, 7 features, drawn with seed S: stands in for the restaurants of Chen and Frazier 2017",
    "candy85": "85 sweets with sugar and price, 269,000 votes (FiveThirtyEight 2017), Bradley-Terry strengths",
    "total-order-p-K": "a better arm beats a worse one with probability p, as in total-order-0.8-10",
    "arithmetic-K": "P_ij = 1/2 + 0.05 (j - i)",
    "cyclic-K": "a Condorcet winner above a cycle",
    "bvsc-K": "the Borda winner differs from the Condorcet winner",
    "swirl-x-K": "arm 0 beats all with 1/2 + x/10, the others form a cycle",
    "hard-condorcet-K": "P_ij = 1/2 + j/(2K) (Urvoy et al. 2013)",
    "random-condorcet-K-S": "uniform preferences below a Condorcet winner, drawn with seed S",
    "random-cyclic-K-S": "uniform preferences, one Copeland winner, no Condorcet winner (K >= 5), drawn with seed S",
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


#: Options of ``make_environment`` that describe a person: the fields of ``Person``, with the noise scale as ``noise``.
OPTIONS = tuple("noise" if f.name == "scale" else f.name for f in fields(Person) if f.name != "feedback")
Builder = Callable[[Person], Any]


def make_environment(environment: Any, *, feedback: str | None = None, scale: str = "raw", **person: Any) -> Any:
    """The simulated person called ``environment``.

    Args:
        environment: a name (see ``list_environments``), a path to a CSV preference matrix, a preference
            matrix (K, K), or an environment.
        feedback: "pairs", "winner" or "ranking"; None keeps an environment's own.
        scale: of test functions: "raw", "unit", "pm3" or "std".
        person: ``link``, ``noise`` (its scale), ``lapse``, ``tie_threshold``, ``observe``, ``bias``, ``fatigue``;
            see ``Person``.

    Raises:
        SettingError: an unknown name, an unknown option, or one that does not apply to this environment.
        EnvironmentSpecError: a matrix or a person that contradicts itself.

    >>> make_environment("sushi16", lapse=0.1).P[0, 0]
    np.float64(0.5)
    """
    given = {*person, *(["scale"] if scale != "raw" else [])}
    for option in sorted(set(person) - set(OPTIONS)):
        raise SettingError(
            f"a simulated person has no option {option!r}; expected {', '.join(OPTIONS)}, feedback, scale"
        )
    is_name, is_matrix = isinstance(environment, str | Path), isinstance(environment, np.ndarray | list | tuple)
    if not (is_name or is_matrix):
        refuse(given, {*OPTIONS, "scale"}, environment.name, "it is built already; give the options where it is built")
        return observed(environment, feedback)
    renamed = {("scale" if name == "noise" else name): value for name, value in person.items()}
    who = Person(feedback=feedback or "pairs", **renamed)
    if is_matrix:
        _refuse_for_matrix(given, "the matrix")
        return matrix_environment(environment, person=who)
    return _by_name(str(environment), who, scale, given)


def refuse(given: Collection[str], useless: Collection[str], name: str, because: str) -> None:
    """Raise ``SettingError`` if one of the options ``given`` would do nothing."""
    for option in sorted(set(given) & set(useless)):
        raise SettingError(f"option {option!r} does not apply to {name}: {because}")


def _refuse_for_matrix(given: Collection[str], name: str) -> None:
    refuse(given, ("link", "noise", "scale"), name, "its preference matrix gives the chances as they are")


def _by_name(name: str, person: Person, scale: str, given: Collection[str]) -> Any:
    functions = "scale is for test functions"
    if match := re.fullmatch(rf"({'|'.join(UTILITIES)})-({'|'.join(LINKS)})-(\d+)", name):
        refuse(given, ["link"], name, f"the name says the link, {match[2]}")
        refuse(given, ["scale"], name, functions)
        if int(match[3]) < 1:
            raise SettingError(f"{name}: expected at least one arm, got {match[3]}")
        utility = UTILITIES[match[1]](int(match[3]))
        return utility_environment(name, Arms(len(utility)), utility, replace(person, link=match[2]))
    if name in PROBLEMS:
        return BoxEnvironment(name, PROBLEMS[name], person, scale)
    if (match := re.fullmatch(r"(.+)-(\d+)", name)) and match[1] in PROBLEMS:
        return grid_environment(match[1], int(match[2]), person, scale)
    if match := re.fullmatch(r"yelp-like-(\d+)-(\d+)", name):
        refuse(given, ["scale"], name, functions)
        return replace(yelp_like(stream(int(match[2]), 0), size=int(match[1]), person=person), name=name)
    if name == "candy85":
        refuse(given, ["scale"], name, functions)
        return candy_environment(person)
    build = _matrix(name)
    if build is None:
        hint = did_you_mean(name, [*ENVIRONMENTS, *PROBLEMS])
        raise SettingError(
            f"unknown environment {name!r}; expected one of `prefopt list environments` or a CSV file{hint}"
        )
    _refuse_for_matrix(given, name)
    return build(person)


def _matrix(name: str) -> Builder | None:
    """How to make the environment whose preference matrix has this name, or is in this file."""
    for pattern, formula in MATRICES:
        if match := re.fullmatch(pattern, name):
            P: np.ndarray[Any, Any] = formula(*match.groups())
            return lambda person: preference_environment(name, P, person)
    if name in SHIPPED:
        return lambda person: shipped_matrix(name, person)
    if name.endswith(".csv") or Path(name).is_file():
        return lambda person: matrix_environment(name, person=person)
    return None


def observed(environment: Any, feedback: str | None) -> Any:
    """The same environment with other feedback."""
    if feedback is None or getattr(environment, "feedback", feedback) == feedback:
        return environment
    if isinstance(environment, FiniteEnvironment):
        return replace(environment, feedback=feedback)
    if isinstance(environment, BoxEnvironment):
        return environment.with_feedback(feedback)
    raise SettingError(f"{environment.name} cannot be observed as {feedback!r}; build it with that feedback")
