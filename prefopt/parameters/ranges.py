"""What a range of floats and a range of integers share: the map to [0, 1] of the declared range and back."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from prefopt.domain import Column
from prefopt.parameters.base import MOST_VALUES, Parameter

#: Widest ratio high / low of a logarithmic range.
WIDEST_RATIO = 1e300
#: Digits tried, fewest first, so that 0.1 comes back as 0.1 and not as 0.10000000000000002.
DIGITS = (3, 6, 9, 12, 15)


class Range(Parameter):
    """What a range of floats and a range of integers share."""

    low: Any
    high: Any
    log: bool
    step: Any
    likely: Any

    def _check_range(self) -> None:
        self._check_name()
        if not isinstance(self.log, bool):
            raise self._fail(f"log is true or false, got {self.log!r}")
        if self.low > self.high:
            raise self._fail(f"low {self.low} exceeds high {self.high}; swap them")
        if not math.isfinite(self.high - self.low):
            raise self._fail(f"the range {self.low} to {self.high} is too wide for float64")
        if self.log and self.low <= 0:
            raise self._fail(f"a logarithmic range needs low > 0, got low={self.low}; raise it or drop log")
        if self.log and self.high / WIDEST_RATIO > self.low:
            raise self._fail(f"the ratio of high {self.high} to low {self.low} is too wide for a logarithmic range")
        if self.likely is not None:
            self._check_likely()

    def _check_likely(self) -> None:
        """Make ``likely`` a pair of numbers; raises DomainError unless they ascend within the range."""
        given = self.likely.tolist() if isinstance(self.likely, np.ndarray) else self.likely
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise self._fail(f"likely is two numbers such as ({self.low}, {self.high}), got {given!r}")
        low, high = (self._number(value, "an end of likely") for value in given)
        if not self.low <= low < high <= self.high:
            raise self._fail(
                f"likely ({low:g}, {high:g}) must be a range within {self.low} to {self.high}, its smaller end first"
            )
        object.__setattr__(self, "likely", (low, high))

    @property
    def likely_unit(self) -> tuple[float, float]:
        """Where the best value is expected, in [0, 1] of the declared range."""
        return (0.0, 1.0) if self.likely is None else (self.unit(self.likely[0]), self.unit(self.likely[1]))

    def _number(self, value: Any, what: str) -> float:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            raise self._fail(f"{what} must be a number, got {value!r} of type {type(value).__name__}")
        if not math.isfinite(value):
            raise self._fail(f"{what} must be finite, got {value!r}")
        return float(value)

    @property
    def cut_short(self) -> str:
        """What is lost where the step does not divide the range; "" if ``high`` is a value."""
        last = self.high if self.count is None else self.value(self.count - 1)
        if last == self.high:
            return ""
        return f"parameter {self.name!r}: step {self.step} from {self.low} ends at {last}, not at high={self.high}"

    def _inside(self, value: Any) -> None:
        if not self.low <= value <= self.high:
            raise self._fail(f"{value!r} is outside of {self.low} to {self.high}")

    def unit(self, value: Any) -> float:
        """Where a checked value lies in [0, 1] of the declared range, in logarithms if ``log``."""
        if self.low == self.high:
            return 0.0
        if self.log:
            unit = math.log1p((value - self.low) / self.low) / math.log1p((self.high - self.low) / self.low)
        else:
            unit = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, unit))

    def _raw(self, unit: float) -> float:
        if unit <= 0 or self.low == self.high:
            return float(self.low)
        if unit >= 1:
            return float(self.high)
        if self.log:
            raw = self.low + self.low * math.expm1(unit * math.log1p((self.high - self.low) / self.low))
        else:
            raw = self.low + unit * (self.high - self.low)
        return float(min(self.high, max(self.low, raw)))

    def at(self, unit: float) -> Any:
        """The value at ``unit``: the nearest on a step, otherwise the shortest decimal that encodes to it."""
        raw, unit = self._raw(unit), float(unit)
        if self.count is not None:
            return self.value(self._nearest(raw))
        for digits in DIGITS:
            short = float(f"{raw:.{digits}g}")
            if self.low <= short <= self.high and self.unit(short) == unit:
                return short
        return raw

    def _nearest(self, value: float) -> int:
        count = self.count or 1
        return 0 if count == 1 else min(count - 1, max(0, round((value - self.low) / self.step)))

    def column(self) -> Column:
        """Continuous, or levels if there are at most ``MOST_VALUES``."""
        likely = None if self.likely is None else self.likely_unit
        if self.count is None or self.count > MOST_VALUES:
            return Column(likely=likely)
        return Column("levels", tuple(self.unit(self.value(i)) for i in range(self.count)), likely)
