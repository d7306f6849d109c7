"""A study in the browser (extra ``web``): a page for raters, one for whoever runs the study, and their server."""

from prefopt.web.server import serve

__all__ = ["serve"]
