"""Study files: ``study.toml`` read and checked, and the template that ``prefopt new`` writes."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefopt.errors import DomainError, StudyError, did_you_mean

TEMPLATE = """# A study: what is compared, and how it is asked. Edit, then: prefopt run {file}
name = {name}
question = "Which is better?"
storage = {storage}         # a file, or a database URL
query_size = 2                # options per question
budget = 20                   # questions you are willing to answer; raise it later to go on
# repeats = 0.07              # share of questions that secretly repeat one, from which reliability is told
# seed = 7                    # drawn once and kept if left out
# aim = "while-learning"        # what is shown on the way should be good too; "best" is the default
# strategy = "knowledge-gradient"   # instead of an aim; see: prefopt list policies

# How an option is shown: a command per option, or "python:module:function". Parameters go by their names ({{dose}});
# of a list of options, {{file}} (the same as {{value}} and {{option}}) is the option's text.
# render = "xdg-open {{file}}"

# Either a list of options:
# options = ["a.png", "b.png", "c.png"]
# or parameters:
# constraints = ["dose + 2*grind <= 36"]
[parameters.dose]
type = "float"
low = 14.0
high = 20.0
step = 0.5

[parameters.grind]
type = "int"
low = 1
high = 10

[parameters.water]
type = "categorical"
choices = ["soft", "hard"]
"""

#: key -> the types that its value may have, and what they are called. The rest is checked where it is used.
KEYS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, "a text"),
    "question": (str, "a text"),
    "storage": (str, "a file name or database URL in quotes"),
    "query_size": (int, "a whole number"),
    "budget": (int, "a whole number"),
    "seed": (int, "a whole number"),
    "repeats": ((int, float), "a share of the questions"),
    "overlap": ((int, float), "a share of the questions"),
    "lease": ((int, float), "a number of seconds"),
    "strategy": (str, "a policy's name in quotes"),
    "aim": (str, "'best' or 'while-learning' in quotes"),
    "settings": (dict, "a table, [settings]"),
    "render": (str, "a command or 'python:module:function' in quotes"),
    "parameters": (dict, "tables [parameters.NAME]"),
    "options": (list, "a list"),
    "constraints": (list, "a list of texts"),
}


@dataclass(frozen=True)
class StudyFile:
    """What a study file says.

    Attributes:
        path: where it is.
        name: of the study.
        storage: its file, in the folder of the study file, or a database URL.
        spec: its keys as they are.
    """

    path: Path
    name: str
    storage: str
    spec: dict[str, Any]

    def space(self) -> Any:
        """What can be chosen; raises StudyError that names the file."""
        from prefopt.space import Space

        try:
            if "options" in self.spec:
                return Space.arms(self.spec["options"])
            return Space.from_dict(self.spec["parameters"], self.spec.get("constraints", ()))
        except DomainError as error:
            raise StudyError(f"{self.path}: {error}") from error


def template(path: Path) -> str:
    """The text of a new study file at ``path``; its name is safe in TOML, in a shell and as a file name."""
    storage = re.sub(r"[^\w .-]", "_", path.stem) + ".db"
    quoted = {"name": json.dumps(path.stem, ensure_ascii=False), "storage": json.dumps(storage, ensure_ascii=False)}
    return TEMPLATE.format(file=shlex.quote(str(path)), **quoted)


def read_file(path: Path) -> StudyFile:
    """The study file at ``path``; raises StudyError naming the file and what is wrong with it."""
    spec = _read_toml(path)
    for key, value in spec.items():
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"; expected {', '.join(sorted(KEYS))}"
            raise StudyError(f"{path}: unknown key {key!r}{hint}")
        types, called = KEYS[key]
        if not isinstance(value, types) or isinstance(value, bool):
            raise StudyError(f"{path}: {key} must be {called}, got {value!r}")
    if ("parameters" in spec) == ("options" in spec):
        raise StudyError(f"{path}: give either [parameters.NAME] tables or a list of options")
    if "constraints" in spec and "options" in spec:
        raise StudyError(f"{path}: constraints are about parameters; leave the forbidden options out of the list")
    name = spec.get("name", path.stem)
    storage = spec.get("storage", f"{name}.db")
    if "://" not in storage:
        storage = str(path.parent / storage)
    return StudyFile(path, name, storage, spec)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        new = f"prefopt new {shlex.quote(str(path))}"
        raise StudyError(f"no file {path}; `{new}` writes one to edit") from error
    except OSError as error:
        raise StudyError(f"cannot read the study file {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StudyError(
            f"{path}: expected a text file in UTF-8, got byte {error.object[error.start]:#x} at {error.start}; "
            "save it as UTF-8"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error
