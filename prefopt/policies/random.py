"""Uniformly random slates on any domain: the null baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefopt.answer import Answer
from prefopt.domain import Box, Domain, FloatArray
from prefopt.policies.arms.random import Random as FiniteRandom
from prefopt.policies.box import BoxPolicy


def Random(domain: Domain, **settings: Any) -> Any:
    """Uniformly random slates on ``Arms``, a ``Grid`` or a ``Box``; assumes nothing and aims at nothing.

    >>> policy = Random(Box(2))
    >>> policy.init(np.random.default_rng(0))
    >>> policy.ask(np.random.default_rng(1)).shape
    (2, 2)
    """
    return BoxRandom(domain, **settings) if isinstance(domain, Box) else FiniteRandom(domain, **settings)


@dataclass(kw_only=True)
class BoxRandom(BoxPolicy):
    """Uniform allowed points of a box; recommends the one with the largest share (wins + 1/2) / (tries + 1)."""

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
