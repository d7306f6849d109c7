"""The README's table of policies is the one that the registry gives."""

import re
from pathlib import Path

from prefopt.policies import POLICIES
from prefopt.policies.table import policy_table
from prefopt.regret import REGRETS

README = Path(__file__).parents[1] / "README.md"


def test_the_table_of_policies_is_up_to_date():
    assert policy_table() in README.read_text(encoding="utf-8"), "paste what `python -m prefopt.policies.table` prints"


def test_the_table_names_every_policy_once_and_marks_it():
    rows = [row.strip("| ").split(" | ") for row in policy_table().splitlines()[2:]]
    cells = [(assumes, aim, cell) for assumes, aim, names in rows for cell in names.split(", ")]
    assert sorted(re.findall("`(.+)`", cell)[0] for *_, cell in cells) == sorted(POLICIES)
    for assumes, aim, cell in cells:
        _, name, marks = cell.split("`")
        entry = POLICIES[name]
        assert (assumes, aim) == (entry.assumes, entry.regret or "none") and aim in {*REGRETS, "none"}
        assert marks.split() == ["T"] * entry.needs_horizon + ["m"] * (entry.slates != "2")
