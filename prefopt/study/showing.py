"""A study in a notebook: asked in a cell's output, and drawn. What shows it is imported when it is called for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from prefopt.study.raters import Rater
from prefopt.study.validating import StudyValidating


class StudyShowing(StudyValidating):
    """A study that shows itself."""

    def widget(
        self,
        render: Callable[[Any], Any] | None = None,
        *,
        rater: str | Rater | None = None,
        folder: str | Path | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The questions in the output of a notebook's cell; see ``prefopt.widget.StudyWidget``.

        Raises:
            MissingDependency: anywidget is not installed.
        """
        make = import_module("prefopt.widget").StudyWidget
        return make(self, render, rater=rater, folder=folder, timeout=timeout)

    def plot(self) -> Any:
        """What the study has learned, as a matplotlib figure; see ``prefopt.plotting.plot_study``.

        Raises:
            StudyError: there is no answer yet.
            MissingDependency: matplotlib is not installed.
        """
        return import_module("prefopt.plotting").plot_study(self)
