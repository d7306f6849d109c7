"""A real parameter, with or without a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from prefopt.parameters.ranges import Range


@dataclass(frozen=True)
class Float(Range):
    """A real number from ``low`` to ``high``, both included.

    Args:
        name: what the parameter is called.
        low: smallest value, > 0 if ``log``.
        high: largest value; may equal ``low``.
        log: search in logarithms.
        step: only low, low + step, ... up to the last one that does not exceed high (``Space`` warns if that is not
            high). Values are computed in
            decimals, so a step of 0.1 never shows 0.30000000000000004.
        likely: (low, high) where you expect the best value, if you do: answers are needed to overrule it, and few are
            needed if it is right. Strategies on a utility model, the default, use it.

    Raises:
        DomainError: a range that does not exist; the message names the parameter.

    >>> Float("dose", 0, 1, step=0.1).value(3)
    0.3
    >>> Float("rate", 1e-4, 1, log=True).unit(0.01)
    0.5
    """

    name: str
    low: float
    high: float
    log: bool = False
    step: float | None = None
    likely: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for field in ("low", "high") if self.step is None else ("low", "high", "step"):
            object.__setattr__(self, field, self._number(getattr(self, field), field))
        self._check_range()
        if self.step is not None and self.step <= 0:
            raise self._fail(f"step must be positive, got {self.step}")
        if self.step is not None and self.log:
            raise self._fail("log and step exclude each other; drop one")

    @cached_property
    def _steps(self) -> tuple[int, bool]:
        """How many steps fit, and whether the last one is ``high`` (up to the last digits of a step like 1/3)."""
        quotient = (Decimal(repr(self.high)) - Decimal(repr(self.low))) / Decimal(repr(self.step))
        nearest = round(quotient)
        if abs(quotient - nearest) < Decimal("1e-9"):
            return nearest, True
        return int(quotient), False

    @cached_property
    def count(self) -> int | None:
        """Number of values: 1 if low equals high, None without a step."""
        if self.low == self.high:
            return 1
        return None if self.step is None else self._steps[0] + 1

    def value(self, index: int) -> float:
        """The value ``index`` steps above low, computed in decimals."""
        if index == 0 or self.step is None:
            return self.low
        steps, ends_at_high = self._steps
        if ends_at_high and index == steps:
            return self.high
        return float(Decimal(repr(self.low)) + index * Decimal(repr(self.step)))

    def index(self, value: Any) -> int:
        """Which step a checked value is."""
        return self._nearest(value)

    def check(self, value: Any) -> float:
        """A float in the range and, up to rounding, on the step.

        Raises:
            DomainError: not a number, out of range, or between two steps.
        """
        number = self._number(value, "the value")
        self._inside(number)
        if self.count is None:
            return number
        nearest = self.value(self._nearest(number))
        if abs(nearest - number) > 1e-9 * (self.step or 1.0) + 4 * math.ulp(number):
            raise self._fail(f"{number} is not on the step {self.step} from {self.low}; the nearest value is {nearest}")
        return nearest
