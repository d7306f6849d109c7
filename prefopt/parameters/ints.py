"""A whole-number parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from prefopt.parameters.ranges import Range

#: Integers beyond this are not exact in float64.
LARGEST_INT = 2**53


@dataclass(frozen=True)
class Int(Range):
    """A whole number from ``low`` to ``high``, both included and both reachable (``high`` if the step divides).

    Args:
        name: what the parameter is called.
        low: smallest value, at least 1 if ``log``.
        high: largest value; may equal ``low``.
        log: search in logarithms.
        step: only low, low + step, ... up to the last one that does not exceed high (else ``Space`` warns).
        likely: (low, high) where you expect the best value, if you do; see ``Float``.

    Raises:
        DomainError: a range that does not exist; the message names the parameter.

    >>> Int("cups", 0, 3).at(1.0)
    3
    """

    name: str
    low: int
    high: int
    log: bool = False
    step: int = 1
    likely: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for field in ("low", "high", "step"):
            object.__setattr__(self, field, self._whole(getattr(self, field), field))
        self._check_range()
        if self.step < 1:
            raise self._fail(f"step must be a positive whole number, got {self.step}")
        if self.log and self.step != 1:
            raise self._fail("log and step exclude each other; drop one")

    @property
    def count(self) -> int:
        """Number of values."""
        return (self.high - self.low) // self.step + 1

    def value(self, index: int) -> int:
        """The value ``index`` steps above low."""
        return self.low + int(index) * self.step

    def index(self, value: Any) -> int:
        """Which step a checked value is."""
        return int((value - self.low) // self.step)

    def check(self, value: Any) -> int:
        """A whole number in the range and on the step (3.0 counts as 3, True does not count as 1).

        Raises:
            DomainError: not a whole number, out of range, or between two steps.
        """
        number = self._whole(value, "the value")
        self._inside(number)
        if (number - self.low) % self.step or self.index(number) >= self.count:
            raise self._fail(f"{number} is not on the step {self.step} from {self.low}")
        return number

    def _whole(self, value: Any, what: str) -> int:
        number = self._number(value, what)
        if number != math.floor(number):
            raise self._fail(f"{what} must be a whole number, got {value!r}")
        exact = int(value) if isinstance(value, Integral) else int(number)
        if abs(exact) > LARGEST_INT:
            raise self._fail(f"{what} {exact} exceeds 2**53, beyond which integers are not exact; rescale")
        return exact
