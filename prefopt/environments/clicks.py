"""Simulated clicks on a list of documents: the user goes down the list, clicks, and stops at some point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.errors import EnvironmentSpecError
from prefopt.jit import jitable

FloatArray = NDArray[np.float64]


class ClickModel(NamedTuple):
    """How a user clicks, by relevance grade.

    Attributes:
        click: chance of a click on a document of each grade, (grades,).
        stop: chance of leaving the list after a document of each grade, (grades,).
        after_click: the user leaves only after a click (the dependent click model); otherwise after any document.
    """

    click: FloatArray
    stop: FloatArray
    after_click: bool = True


def _model(click: list[float], stop: list[float]) -> ClickModel:
    return ClickModel(np.array(click), np.array(stop))


#: Models for the five grades 0 to 4 and, for binary relevance, "perfect-binary".
#: Source: Guo et al. 2009 (dependent click model); the values are those used after Hofmann et al. 2013.
CLICK_MODELS: dict[str, ClickModel] = {
    "perfect": _model([0.0, 0.2, 0.4, 0.8, 1.0], [0.0] * 5),
    "navigational": _model([0.05, 0.3, 0.5, 0.7, 0.95], [0.2, 0.3, 0.5, 0.7, 0.9]),
    "informational": _model([0.4, 0.6, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.4, 0.5]),
    "perfect-binary": _model([0.0, 1.0], [0.0, 0.0]),
}


def get_click_model(model: str | ClickModel) -> ClickModel:
    """The click model called ``model``, or ``model`` itself if its probabilities are possible.

    Raises:
        EnvironmentSpecError: unknown name, different numbers of grades, or a chance outside [0, 1].
    """
    if isinstance(model, str):
        if model not in CLICK_MODELS:
            raise EnvironmentSpecError(f"unknown click model {model!r}; expected one of {', '.join(CLICK_MODELS)}")
        return CLICK_MODELS[model]
    click, stop = (np.asarray(x, dtype=np.float64) for x in (model.click, model.stop))
    if click.ndim != 1 or click.shape != stop.shape or not click.size:
        raise EnvironmentSpecError(f"a click model has one click and one stop chance per grade, got {model}")
    if not (np.all((click >= 0) & (click <= 1)) and np.all((stop >= 0) & (stop <= 1))):
        raise EnvironmentSpecError(f"the chances of a click model lie in [0, 1], got {model}")
    return ClickModel(click, stop, bool(model.after_click))


def check_labels(labels: NDArray[np.int64], model: ClickModel, where: str) -> None:
    """Raise ``EnvironmentSpecError`` if a relevance grade is none that ``model`` knows."""
    if labels.min() < 0 or labels.max() >= model.click.size:
        raise EnvironmentSpecError(
            f"{where}: grades {labels.min()} to {labels.max()}, but the click model knows 0 to "
            f"{model.click.size - 1}; choose another click model or regrade"
        )


@jitable
def click_list(
    model: ClickModel, grades: NDArray[np.int64], n: int, clicked: NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """Fill ``clicked[:n]`` with one user's clicks on a list.

    Args:
        model: how the user clicks.
        grades: relevance grade of the document at each position, the first n entries count.
        n: positions shown.
        clicked: buffer of at least n.
        rng: the user's own stream.
    """
    for position in range(n):
        clicked[position] = False
    for position in range(n):
        grade = grades[position]
        clicked[position] = rng.random() < model.click[grade]
        may_leave = clicked[position] or not model.after_click
        if may_leave and model.stop[grade] > 0.0 and rng.random() < model.stop[grade]:
            break
