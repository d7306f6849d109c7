"""Tables and the page of figures from the rows that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from _common import print_rows, save_table

from tournament_parts.figures import page
from tournament_parts.play import Row
from tournament_parts.summary import COUNTED, FLOOR, Ratio, compare, problem_rows, ratio_row, regret_rows, score


def ratios_of(
    rows: Sequence[Row],
    methods: Sequence[str],
    others: Sequence[str],
    *,
    noise: str,
    m: int,
    problems: Sequence[str] | None = None,
) -> list[Ratio]:
    """Every method against each of the others, and against the best of them where there are several.

    With more than two options a question, also against the same method with two.
    """
    rivals = [score(rows, x, noise=noise, m=m) for x in others]
    groups = [[b] for b in rivals] + ([rivals] if len(rivals) > 1 else [])
    found = []
    for name in methods:
        own = score(rows, name, noise=noise, m=m)
        chosen = [p for p in own.regret if problems is None or p in problems]
        pairs = replace(score(rows, name, noise=noise), name=f"{name}, m = 2")
        met = [*groups, *([[pairs]] if m > 2 else [])]
        found += [
            compare(own, group, problems=chosen) for group in met if any(p in b.regret for p in chosen for b in group)
        ]
    return found


def report(
    out: Path,
    rows: Sequence[Row],
    methods: Sequence[str],
    others: Sequence[str],
    *,
    noise: str,
    m: int,
    problems: Sequence[str] | None = None,
) -> None:
    """Print ratios; write ``tournament.csv`` (regrets), ``-ratios.csv``, ``-problems.csv`` and ``.png`` into ``out``.

    Args:
        out: folder.
        rows: all finished runs.
        methods: whose ratios are wanted.
        others: with whom they are compared.
        noise: which runs count for ratios and figures.
        m: likewise.
        problems: for the ratios only these.
    """
    manifest = {"noise": noise, "m": m, "budgets": COUNTED, "floor": FLOOR, "interval": 0.9}
    save_table(out / "tournament.csv", regret_rows(rows), {"runs": len(rows)})
    ratios = ratios_of(rows, methods, others, noise=noise, m=m, problems=problems)
    detail = [line for x in ratios for line in problem_rows(x)]
    if ratios:
        print(f"\nratios of mean regret, noise {noise}, m = {m}; over {COUNTED} answers with a 90 % interval")
        print_rows([ratio_row(x) for x in ratios])
        save_table(out / "tournament-ratios.csv", [ratio_row(x) for x in ratios], manifest)
        save_table(out / "tournament-problems.csv", detail, manifest)
        best = [line for line in detail if str(line["against"]).startswith("best")]
        print("\nproblem by problem, against the best of the others" if best else "\nproblem by problem")
        print_rows(best or detail)
    figure = page(rows, [*others, *methods], noise=noise, m=m)
    figure.savefig(out / "tournament.png", dpi=110)
