"""The tournament's tables: ratios and intervals by hand, the command line, the page of figures."""

import argparse
import math
import sys

import numpy as np
import pytest
import tournament
from tournament_parts import summary
from tournament_parts.figures import page
from tournament_parts.play import BUDGETS, COLUMNS
from tournament_parts.report import ratios_of, report
from tournament_parts.store import append, read
from tournament_parts.suite import SUITE
from tournament_parts.summary import compare, regret_rows, score


def row(method, problem, seed, *regrets, m=2):
    """A finished run whose recommendations had these regrets."""
    cells = {
        f"{what}_{n}": r for n, r in zip(BUDGETS, regrets, strict=False) for what in ("regret", "cumulative", "cpu")
    }
    given = {"method": method, "problem": problem, "seed": seed, "noise": "random-pairs", "m": m, "answers": 80}
    return {**dict.fromkeys(COLUMNS, ""), **given, **cells}


def test_a_ratio_by_hand():
    rows = [
        row("ours", "p", 1, 0.5, 0.2, 0.001, 0.0),
        row("ours", "p", 2, 0.5, 0.4, 0.003, 0.0),
        row("ours", "q", 1, 0.1, 0.1, 0.1, 0.1),
        row("peer", "p", 1, 0.5, 0.6, 0.02, 0.04),
        row("peer", "q", 1, 0.2, 0.2, 0.4),  # this peer stops at 40
        row("ours", "alone", 1, 0.9, 0.9, 0.9, 0.9),
    ]
    ratio = compare(score(rows, "ours"), [score(rows, "peer")])
    assert ratio.problems == ("p", "q") and ratio.seeds == 1
    assert ratio.by_budget[10] == pytest.approx(math.sqrt(1.0 * 0.5))
    assert ratio.by_budget[20] == pytest.approx(math.sqrt(0.5 * 0.5))
    assert ratio.by_budget[40] == pytest.approx(math.sqrt((0.01 / 0.02) * 0.25))  # 0.002 counts as 0.01
    assert ratio.by_budget[80] == pytest.approx(0.01 / 0.04)
    assert ratio.overall == pytest.approx((0.5 * 0.5 * 0.25 * 0.5 * 0.25) ** (1 / 5))  # 10 answers are counted apart
    assert ratio.by_problem["q"] == pytest.approx((math.sqrt(0.5 * 0.25),) * 3)  # one seed: nothing to resample
    assert ratio.low < ratio.overall < ratio.high
    with pytest.raises(ValueError, match="ours and nobody have no problem in common"):
        compare(score(rows, "ours"), [score(rows, "nobody")])


def test_against_the_best_of_each_problem_and_budget():
    rows = [
        row("ours", "p", 1, 0.1, 0.1, 0.1, 0.1),
        row("a", "p", 1, 0.1, 0.2, 0.4, 0.1),
        row("b", "p", 1, 0.4, 0.4, 0.2),
    ]
    several = compare(score(rows, "ours"), [score(rows, "a"), score(rows, "b")])
    assert list(several.by_budget.values()) == pytest.approx([1, 0.5, 0.5, 1])
    assert several.b == "best of 2"
    found = ratios_of(rows, ["ours"], ["a", "b"], noise="random-pairs", m=2)
    assert [x.b for x in found] == ["a", "b", "best of 2"]
    assert ratios_of(rows, ["ours"], ["a"], noise="top", m=2) == []
    rows.append(row("ours", "p", 1, 0.1, 0.05, 0.05, 0.1, m=4))
    (more,) = ratios_of(rows, ["ours"], ["a"], noise="random-pairs", m=4)
    assert (more.b, more.by_budget[20], more.by_budget[80]) == ("ours, m = 2", 0.5, 1.0)


def test_the_same_seeds_are_resampled_together():
    rng = np.random.default_rng(0)
    luck = rng.uniform(0.1, 0.9, size=(12, 4))
    rows = [row(name, "p", s, *(f * luck[s])) for name, f in (("a", 1.0), ("b", 0.5)) for s in range(12)]
    paired = compare(score(rows, "b"), [score(rows, "a")])
    assert (paired.low, paired.overall, paired.high) == pytest.approx((0.5, 0.5, 0.5))
    other = [row("c", "p", 100 + s, *luck[s]) for s in range(12)]
    free = compare(score(rows, "b"), [score(other, "c")])
    assert free.overall == pytest.approx(0.5) and free.low < 0.45 and free.high > 0.55


def test_intervals_hold_what_they_promise(monkeypatch):
    """90 % intervals of the ratio of two means of exponential regrets, 40 seeds: about 54 of 60 are to be expected."""
    monkeypatch.setattr(summary, "RESAMPLED", 300)
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(60):
        a, b = rng.exponential(0.2, (40, 4)), rng.exponential(0.4, (40, 4))
        rows = [row("a", "p", s, *a[s]) for s in range(40)] + [row("b", "p", 100 + s, *b[s]) for s in range(40)]
        ratio = compare(score(rows, "a"), [score(rows, "b")])
        inside += ratio.low <= 0.5 <= ratio.high
    assert 43 <= inside <= 60


def test_tables_and_page(tmp_path, capsys):
    rows = [row(x, p, s, 0.4, 0.3, 0.2, 0.1) for x in ("a", "b") for p in ("branin", "face-2") for s in (1, 2)]
    rows.append(row("b", "camel", 1, 0.5, 0.4))
    table = regret_rows(rows)
    camel = next(r for r in table if r["problem"] == "camel")
    assert (camel["mean_20"], camel["mean_40"], camel["cumulative_40"], camel["seeds"]) == (0.4, "", "", 1)
    report(tmp_path, rows, ["a"], ["b"], noise="random-pairs", m=2, problems=["branin"])
    said = capsys.readouterr().out
    assert "face-2" not in said and "branin" in said
    assert (tmp_path / "tournament.png").stat().st_size > 10_000
    assert "mean_80" in (tmp_path / "tournament.csv").read_text().splitlines()[0]
    figure = page(rows, ["a", "b"])
    titles = [axis.get_title() for axis in figure.axes]
    expected = ["camel", "branin", "face-2", "geometric mean of 2 in common", "CPU seconds a question, median"]
    assert titles == expected
    assert len(figure.axes[0].lines) == 1 and len(figure.axes[1].lines) == 2
    with pytest.raises(ValueError, match="no runs of a with noise top"):
        page(rows, ["a"], noise="top")


def test_rows_survive_the_file(tmp_path):
    first, second = row("a", "branin", 7, 0.5, 0.25), row("a", "branin", 8, 0.5)
    second["failed"] = "Error: with, commas"
    for x in (first, second):
        append(tmp_path, x)
    assert read(tmp_path) == [first, second]
    again = {**first, "regret_10": 0.75}
    append(tmp_path, again)
    assert read(tmp_path, "a") == [again, second]
    assert read(tmp_path, "none") == []


def test_variants_on_the_command_line(tmp_path, monkeypatch, capsys):
    made = tournament.variant_of("broad=kernel-self-sparring:lengthscale=0.4,kernel=matern52,distinct=true")
    assert made.settings == {"lengthscale": 0.4, "kernel": "matern52", "distinct": True}
    for wrong in ("broad", "=random", "x="):
        with pytest.raises(argparse.ArgumentTypeError, match="expected NAME=POLICY"):
            tournament.variant_of(wrong)
    words = ["--variant", "all=random", "--problems", "branin", "--seeds", "3", "--budget", "10", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["tournament.py", *words, "--out", str(tmp_path)])
    tournament.main()
    (found,) = read(tmp_path / "tournament")
    assert found["method"] == "all" and found["failed"] == "" and 0 <= found["regret_10"] <= 1
    jobs = tournament.jobs_of(tournament.parse(["--quick"]))
    assert {(j.problem, j.budget) for j in jobs} == {("branin", 10), ("sushi-like", 10)}
    assert {"random", "kernel-self-sparring"} <= {j.method for j in jobs}
    monkeypatch.setattr(tournament, "available", list)
    jobs = tournament.jobs_of(tournament.parse(["--methods", "rucb,random,glisp", "--m", "4"]))
    assert {j.method for j in jobs} == {"random"}  # RUCB knows arms and pairs only, peers pairs
    jobs = tournament.jobs_of(tournament.parse(["--methods", "rucb,glisp"]))
    assert {j.problem for j in jobs if j.method == "rucb"} == {"candy-list", "sushi-like"}
    assert (
        {"candy", "face-6"} <= {j.problem for j in jobs if j.method == "glisp"} <= {*SUITE} - {"coffee", "sushi-like"}
    )
    jobs = tournament.jobs_of(tournament.parse(["--peers"]))
    assert len(jobs) == 4 * 10 * 10 and {j.seed for j in jobs[:40]} == {100}
    assert {j.budget for j in jobs if j.method == "optuna-gp"} == {40}
