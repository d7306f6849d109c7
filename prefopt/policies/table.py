"""The README's table of policies; ``python -m prefopt.policies.table`` prints it."""

from __future__ import annotations

from prefopt.policies import POLICIES, Entry


def policy_table() -> str:
    """A Markdown table of all policies by assumption and regret.

    >>> policy_table().splitlines()[0]
    '| assumes | aims at | policies |'
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, entry in POLICIES.items():
        groups.setdefault((entry.assumes, entry.regret or "none"), []).append(f"`{name}`{_marks(entry)}")
    rows = [f"| {assumes} | {regret} | {', '.join(names)} |" for (assumes, regret), names in groups.items()]
    return "\n".join(["| assumes | aims at | policies |", "|---|---|---|", *rows])


def _marks(entry: Entry) -> str:
    """T: the number of questions must be told. m: more than two options a question."""
    return (" T" if entry.needs_horizon else "") + (" m" if entry.slates != "2" else "")


if __name__ == "__main__":
    print(policy_table())
