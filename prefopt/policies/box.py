"""The base of policies on a box, whose state is the points tried with their tries and wins."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from prefopt.domain import Box
from prefopt.errors import SettingError
from prefopt.models.tried import Tried
from prefopt.policies.checks import check_settings


@dataclass(kw_only=True)
class BoxPolicy:
    """Holds what was tried. A subclass is a dataclass whose fields are its hyper-parameters.

    It defines ``ask``, ``tell`` (which sets ``tried``) and ``best`` as ``Policy`` has them.
    """

    domain: Box = field(kw_only=False)
    slate_size: int = 2
    horizon: int | None = None
    tried: Tried | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Box):
            raise SettingError(f"{type(self).__name__} needs a Box, got {self.domain!r}")
        check_settings(self)
        self.check()

    def check(self) -> None:
        """Raise ``SettingError`` if a hyper-parameter is out of range."""

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.name != "domain"}

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.tried = Tried.none(self.domain.dim)

    @property
    def data(self) -> Tried:
        """Distinct points (q, d), their tries and wins (q,). Raises SettingError before ``init``."""
        if self.tried is None:
            raise SettingError("used before init: call policy.init(rng) first")
        return self.tried
