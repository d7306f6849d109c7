"""What ``simulate`` is given, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.kinds import is_whole
from prefopt.policies import POLICIES, get_entry
from prefopt.regret import get_regret


def check_numbers(rounds: Any, repetitions: Any, seed: Any, jobs: Any, slate_size: Any) -> None:
    """Raise SettingError unless these are whole numbers in range."""
    least = {"rounds": (rounds, 1), "repetitions": (repetitions, 1), "slate_size": (slate_size, 2), "seed": (seed, 0)}
    for name, (value, low) in least.items():
        if not is_whole(value) or value < low:
            raise SettingError(f"{name} must be a whole number of at least {low}, got {value!r}")
    if not is_whole(jobs) or jobs == 0:
        raise SettingError(f"jobs must be a whole number of at least 1, or -1 for every core, got {jobs!r}")


def check_environment(environment: Any) -> None:
    """Raise SettingError unless ``environment`` can be one."""
    if not isinstance(environment, str | Path | np.ndarray | list | tuple) and not hasattr(environment, "domain"):
        raise SettingError(
            "expected a name ('prefopt list environments'), a CSV path, a preference matrix or an environment, got "
            f"{environment!r}"
        )


def check_policy(policy: Any) -> None:
    """Raise SettingError unless ``policy`` is a name or can be called to make one."""
    if isinstance(policy, str):
        get_entry(policy)
    elif not callable(policy):
        raise SettingError(
            "expected the name of a policy, or its class, since every repetition makes a policy of its own; got the "
            f"object {policy!r}: pass {type(policy).__name__} and settings={{...}}"
        )


def check_fit(policy: Any, person: Any, slate_size: int) -> None:
    """Raise SettingError if the policy called ``policy`` cannot choose among the options, or so many at a time."""
    if not isinstance(policy, str):
        return
    entry = get_entry(policy)
    if isinstance(person.domain, Box) and "box" not in entry.domains:
        others = _some(name for name, other in POLICIES.items() if "box" in other.domains)
        raise SettingError(
            f"{policy} chooses among finitely many options, and {person.name} is continuous: take a finite environment "
            f"(as forrester-30 is one of forrester), or a policy for it: {others}"
        )
    if entry.slates == "2" and slate_size != 2:
        others = _some(name for name, other in POLICIES.items() if other.slates != "2")
        raise SettingError(f"{policy} compares two options at a time, got a slate of {slate_size}; {others} take more")


def _some(names: Iterable[str]) -> str:
    """The first few names, and where the others are.

    >>> _some("abcdefgh")
    'a, b, c, d, e, f and others (`prefopt list policies`)'
    """
    first = list(names)
    return ", ".join(first[:6]) + (" and others (`prefopt list policies`)" if len(first) > 6 else "")


def regret_names(regret: Any) -> tuple[str, ...]:
    """One or several names in ``REGRETS`` as a tuple; raises SettingError if there is none, or another thing."""
    names = (regret,) if isinstance(regret, str) else tuple(regret) if isinstance(regret, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise SettingError(f"regret must be a name or a list of names ('prefopt list regrets'), got {regret!r}")
    for name in names:
        get_regret(name)
    return names


def spread(rounds: int, checkpoints: Sequence[int] | None) -> NDArray[np.int64]:
    """The checkpoints, ascending, ending with ``rounds``."""
    if checkpoints is None:
        return np.unique(np.linspace(rounds / min(rounds, 100), rounds, min(rounds, 100)).round().astype(np.int64))
    if isinstance(checkpoints, str) or not isinstance(checkpoints, Iterable) or not all(map(is_whole, checkpoints)):
        raise SettingError(f"checkpoints must be a list of whole numbers, got {checkpoints!r}")
    chosen = np.unique(np.array([*checkpoints, rounds], dtype=np.int64))
    if chosen[0] < 1 or chosen[-1] > rounds:
        raise SettingError(f"checkpoints must lie in 1 .. {rounds}, got {list(checkpoints)}")
    return chosen
