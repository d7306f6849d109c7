"""The errors prefopt raises. Each message says what was expected, what came, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PrefoptError(Exception):
    """Base of every error that prefopt raises on purpose."""


class DomainError(PrefoptError, ValueError):
    """A domain or space that cannot exist, or an option outside of it."""


class AnswerError(PrefoptError, ValueError):
    """An answer that does not fit the question it answers."""


class SettingError(PrefoptError, ValueError):
    """An unknown policy, environment or regret, or a hyper-parameter out of range."""


class HorizonError(SettingError):
    """A policy that must know how many rounds it will play was not told."""


class EnvironmentSpecError(PrefoptError, ValueError):
    """A simulated person that contradicts itself (a broken preference matrix, say)."""


class StudyError(PrefoptError, RuntimeError):
    """A study used out of order: no such question, nothing to undo, another seed's log."""


class NoStudyError(StudyError):
    """There is no study of that name, or no such storage, yet."""


class MissingDependency(PrefoptError, ImportError):
    """An optional library is not installed; the message is the command that installs it."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}: pip install 'prefopt-bo[{extra}]'")


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown ``word``: the most similar of ``names``, if one is similar.

    >>> did_you_mean("rucbb", ["rucb", "random"])
    "; did you mean 'rucb'?"
    """
    close = get_close_matches(word, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
