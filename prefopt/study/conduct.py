"""How a study is conducted with people: hidden repeats, and how long a question is reserved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from prefopt.errors import SettingError
from prefopt.kinds import is_real

#: Share of hidden repeats for raters who have a name, unless the study says otherwise.
REPEATS = 0.07
#: Largest share of hidden repeats, and of questions that another rater has answered.
MOST = 0.5
#: Seconds for which a question is reserved for its rater, unless the study says otherwise.
LEASE = 3600.0


@dataclass(frozen=True)
class Conduct:
    """Settings of a study that no policy sees; what an old file does not say is off.

    Attributes:
        repeats: share of questions that secretly repeat one of the same rater's; None is ``REPEATS`` for raters with a
            name and none for a person without.
        overlap: share of questions that another rater has answered before, so that raters can be compared.
        lease: seconds after which an open question may be asked to another rater; None for never.
    """

    repeats: float | None = 0.0
    overlap: float = 0.0
    lease: float | None = None

    def __post_init__(self) -> None:
        for name in ("repeats", "overlap"):
            value = getattr(self, name)
            if not (value is None and name == "repeats") and not (is_real(value) and 0 <= value <= MOST):
                raise SettingError(f"{name} must be a share of the questions from 0 to {MOST}, got {value!r}")
        if self.lease is not None and not (is_real(self.lease) and self.lease > 0):
            raise SettingError(f"lease must be a number of seconds above 0, or None for no limit, got {self.lease!r}")

    def repeats_for(self, rater: str | None) -> float:
        """The share of hidden repeats among the questions of ``rater``."""
        if self.repeats is None:
            return 0.0 if rater is None else REPEATS
        return self.repeats

    def to_json(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)
