"""Uniformly random slates on any domain: the null baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefopt.answer import Answer
from prefopt.domain import Box, Domain, FloatArray
from prefopt.errors import SettingError
from prefopt.models.tried import Tried
from prefopt.policies.arms.random import Random as FiniteRandom
from prefopt.policies.checks import check_settings


def Random(domain: Domain, **settings: Any) -> Any:
    """Uniformly random slates on ``Arms``, a ``Grid`` or a ``Box``; assumes nothing and aims at nothing.

    >>> policy = Random(Box(2))
    >>> policy.init(np.random.default_rng(0))
    >>> policy.ask(np.random.default_rng(1)).shape
    (2, 2)
    """
    return BoxRandom(domain, **settings) if isinstance(domain, Box) else FiniteRandom(domain, **settings)


@dataclass(kw_only=True)
class BoxRandom:
    """Uniform allowed points of a box; recommends the one with the largest share (wins + 1/2) / (tries + 1)."""

    domain: Box = field(kw_only=False)
    slate_size: int = 2
    horizon: int | None = None
    tried: Tried | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able."""
        return {"slate_size": self.slate_size, "horizon": self.horizon}

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything."""
        self.tried = Tried.none(self.domain.dim)

    @property
    def data(self) -> Tried:
        """Distinct points (q, d), their tries and wins (q,). Raises SettingError before ``init``."""
        if self.tried is None:
            raise SettingError("used before init: call policy.init(rng) first")
        return self.tried

    def ask(self, rng: np.random.Generator, pending: Sequence[FloatArray] = ()) -> FloatArray:
        """Independent uniform points (m, d)."""
        return self.domain.sample(self.slate_size, rng)

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator) -> None:
        """Count tries and wins. Raises AnswerError if the answer does not fit the slate."""
        self.tried = self.data.add(slate, answer, self.domain, merge=0.0, count_self=False)

    def best(self) -> FloatArray:
        """The first point (d,) with the largest share of wins; before any answer, an allowed point."""
        data = self.data
        if not len(data.X):
            return np.array(self.domain.sample(1, np.random.default_rng(0))[0])
        return np.array(data.X[int(np.argmax((data.wins + 0.5) / (data.tries + 1)))])
