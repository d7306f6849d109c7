"""A study in a notebook: the page's module in a cell's output. Needs anywidget (extra ``notebook``)."""

from prefopt.widget.widget import StudyWidget

__all__ = ["StudyWidget"]
