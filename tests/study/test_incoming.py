"""Designs and answers of elsewhere: read once, by own ids, and written again."""

import csv

import numpy as np
import pytest
import torch

from prefopt import Answer, Box, Categorical, Float, Grid, Int, Space, create_study
from prefopt.errors import DomainError, StudyError
from prefopt.study.csv_files import OwnAnswer, write_rows

SPACE = [Float("dose", 14, 20), Int("grind", 1, 10), Categorical("water", ["soft", "hard", 3, True])]
DESIGNS = """id,dose,grind,water,remark
A1,14.5,3,soft,first
A2,16,4,hard,
"B 3",18.25,10,3,
B4,20,1,true,
"""
ANSWERS = """winner,loser,tie,rater,seconds
A1,A2,,ann,2.5
B 3,A1,no,ben,
B4,A1,yes,,
A1,A2,,ann,2.5
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "designs.csv").write_text("\ufeff" + DESIGNS, encoding="utf-8")
    (tmp_path / "answers.csv").write_text(ANSWERS)
    return tmp_path / "designs.csv", tmp_path / "answers.csv"


def test_designs_and_answers_are_there_and_the_study_goes_on(files):
    study = create_study(Space(SPACE), seed=1)
    assert study.import_csv(*files) == 4
    assert study.names == {0: "A1", 1: "A2", 2: "B 3", 3: "B4"}
    assert study.comparisons.tolist() == [[0, 1], [2, 0], [0, 1]]  # the tie is none
    rows = study.history()
    assert [row["rater"] for row in rows] == ["ann", "ben", None, "ann"] and rows[0]["seconds"] == 2.5
    assert rows[2]["answer"] == "tie" and rows[2]["params"][0] == {"dose": 20.0, "grind": 1, "water": True}
    assert study.recommend().candidate_set.startswith("the 4 options")
    asked = [study.ask(rater) for rater in ("ann", "ben", "cem")]  # the next three pairs, all different
    assert len({query.ids for query in asked}) == 3 and all(len(query.ids) == 2 for query in asked)


def test_a_second_time_only_what_is_new_is_added(files):
    designs, answers = files
    study = create_study(Space(SPACE), seed=1)
    study.import_csv(designs, answers)
    events = len(study._storage.read(study.record))
    assert study.import_csv(designs, answers) == 0
    assert len(study._storage.read(study.record)) == events
    answers.write_text(ANSWERS + "A2,B4,,,\n")
    assert study.import_csv(answers=answers) == 1


def test_what_is_exported_is_read_back(files, tmp_path):
    study = create_study(Space(SPACE), seed=1, query_size=3)
    study.import_csv(*files)
    for said in ({"best": 0}, {"worst": 1}, {"ranking": [2, 0]}, {"tie": True}, {"skip": "dünno; really"}):
        query = study.ask()
        kind, value = next(iter(said.items()))
        named = {"best": lambda v, q: q.ids[v], "worst": lambda v, q: q.ids[v]}.get(kind, lambda v, q: v)(value, query)
        study.tell(query, **{kind: [query.ids[p] for p in value] if kind == "ranking" else named})
    query = study.ask()
    study.tell(query, pairs=[[0, 0.7, 1], [0.3, 0, 0.5], [0, 0.5, 0]], seconds=1 / 3)
    study.export_csv(tmp_path / "d.csv", tmp_path / "a.csv")
    again = create_study(Space(SPACE), seed=1, query_size=3)
    again.import_csv(tmp_path / "d.csv", tmp_path / "a.csv")
    assert torch.allclose(study.X, again.X) and torch.equal(study.comparisons, again.comparisons)
    one, two = ([(r["answer"], r["wins"], r["reason"], r["seconds"]) for r in s.history()] for s in (study, again))
    assert one == two and len(one) == 10
    assert set(again.names.values()) >= {"A1", "A2", "B 3", "B4"}


def say_everything(study):
    """Every kind of answer, by two raters, and some that do not count."""
    for i, kind in enumerate(("best", "worst", "ranking", "below", "tie", "skip", "pairs", "infeasible", "both")):
        a, b, c = (query := study.ask("ann" if i % 2 else "ben")).shown
        said = {"best": {"best": b}, "worst": {"worst": a}, "ranking": {"ranking": [c, a]}, "tie": {"tie": True}}
        said |= {"below": {"ranking": [b, c], "below": True}, "skip": {"skip": "dünno; really"}}
        said |= {"pairs": {"pairs": [[0, 0.7, 1], [0.3, 0, 0.5], [0, 0.5, 0]], "seconds": 1 / 3}}
        said |= {"infeasible": {"infeasible": [b], "best": c}, "both": {"skip": True, "infeasible": [a]}}
        study.tell(query, **said[kind])
    study.add_comparison(query.shown[1].params, query.shown[2].params, rater="cem")
    study.tell(taken_back := study.ask(), best=taken_back.shown[0])
    study.undo()
    study.tell(excluded := study.ask(), best=excluded.shown[0])
    study.remove_answer(excluded.number, "sneezed")
    study.validate(each=1)
    study.tell(study.ask(), tie=True)
    study.end_validation()


@pytest.mark.parametrize(
    "space",
    [Space(SPACE), [*"abcde", 7, 2.5, {"recipe": [1, 2]}], Grid.regular(4, 4), Box(2)],
    ids=["parameters", "list", "grid", "box"],
)
def test_an_exported_history_is_read_with_what_counts(space, tmp_path):
    def made():
        return create_study(space, seed=1, query_size=3, strategy="random")

    study, again = made(), made()
    say_everything(study)
    study.export(tmp_path / "s.csv")
    count = len(study.said())
    assert count == 10 and again.import_csv(answers=tmp_path / "s.csv") == count
    about = [[([s.params(i) for i in ids], answer) for ids, answer in s.said()] for s in (study, again)]
    assert about[0] == about[1] and study.said_by() == again.said_by()
    assert [row["seconds"] for row in again.history()].count(1 / 3) == 1 and again.names == {}
    assert again.import_csv(answers=tmp_path / "s.csv") == 0 == study.import_csv(answers=tmp_path / "s.csv")
    study.export_csv(tmp_path / "d.csv", tmp_path / "a.csv")
    assert study.import_csv(tmp_path / "d.csv", tmp_path / "a.csv") == 0
    assert len(study.said()) == count


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("params", "[]", r"s.csv, line 2: column params does not fit the options \[0, 1\]: '\[\]'"),
        ("params", '["plum", "fig"]', r"s.csv, line 2: .*'fig'"),
        ("named", "[7]", r"line 2: column named does not fit"),
        ("slate", "0 1", r"line 2: column slate: expected a list such as \[0, 1\], got '0 1'"),
        *[
            (c, "[[1], {}]", f"line 2: column {c}: expected a list of candidate ids")
            for c in ("named", "shown", "slate")
        ],
        ("infeasible", "[[1]]", "line 2: column infeasible: expected a list of candidate ids"),
        ("wins", "3", r"line 2: column wins: expected a list"),
        ("seconds", "long", r"line 2: column seconds: expected a number, got 'long'"),
        ("answer", "nicest", r"line 2: unknown answer kind 'nicest'"),
    ],
)
def test_what_is_wrong_with_a_history_is_named(tmp_path, column, cell, message):
    study = create_study(["plum", "nut"], seed=1)
    study.add_comparison("plum", "nut")
    study.export(tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    write_rows(tmp_path / "s.csv", list(row), [row | {column: cell}])
    again = create_study(["plum", "nut"], seed=1)
    with pytest.raises(StudyError, match=message):
        again.import_csv(answers=tmp_path / "s.csv")
    assert again.history() == []


def test_lists_of_options(tmp_path):
    items = ["plum", "nut", {"recipe": [1, 2]}]
    study = create_study(items, seed=1)
    study.tell(study.ask(), tie=True)
    study.add_comparison("plum", "nut")
    study.export_csv(tmp_path / "d.csv", tmp_path / "a.csv")
    again = create_study(items, seed=1)
    again.import_csv(tmp_path / "d.csv", tmp_path / "a.csv")
    assert again.comparisons.tolist() == study.comparisons.tolist() == [[0, 1]]
    (tmp_path / "own.csv").write_text("id\nplum\nnut\n")
    third = create_study(items, seed=1)
    third.import_csv(tmp_path / "own.csv")
    assert third.names == {0: "plum", 1: "nut"}


@pytest.mark.parametrize(
    ("designs", "answers", "message"),
    [
        ("id,dose,grind\nA,15,3\n", "", r"designs.csv, line 2, design 'A': there is no column 'water'"),
        ("name,dose\nA,15\n", "", r"expected a first line with the columns id, got \['name', 'dose'\]"),
        ("id,dose,grind,water\nA,x,3,soft\n", "", r"line 2.*column dose: expected a number, got 'x'"),
        ("id,dose,grind,water\nA,15,3.5,soft\n", "", r"line 2, design 'A': parameter 'grind'"),
        ("id,dose,grind,water\nA,99,3,soft\n", "", r"line 2, design 'A': parameter 'dose'"),
        ("id,dose,grind,water\nA,nan,3,soft\n", "", r"line 2, design 'A': parameter 'dose'"),
        ("id,dose,grind,water\nA,15,3,salty\n", "", r"expected one of \['soft', 'hard', 3, True\], got 'salty'"),
        ("id,dose,grind,water\nA,15,3,soft\nA,16,3,soft\n", "", r"line 3, column id: expected a new id"),
        ("id,dose,grind,water\nA,15,3,soft\nB,15,3,soft\n", "", r"designs 'A' and 'B' are the same"),
        ("id,dose,grind,water\nA,15,3,soft,7\n", "", r"line 2: 4 columns, but more cells: \['7'\]"),
        (
            DESIGNS,
            "winner,loser\nA1,X9\n",
            r"answers.csv, line 2: answer about \['A1', 'X9'\]: design 'X9' is not known",
        ),
        (DESIGNS, "winner,loser\nA1,A1\n", r"a design cannot be compared with itself"),
        (DESIGNS, "winner,loser,tie\nA1,A2,maybe\n", r"line 2: column tie: expected yes or no, got 'maybe'"),
        (DESIGNS, "winner,loser\nA1,\n", r"line 2: columns winner and loser: expected an id in each"),
        (DESIGNS, "winner,loser,seconds\nA1,A2,long\n", r"line 2: column seconds: expected a number, got 'long'"),
        (DESIGNS, "options,answer,wins\nA1;A2,pairs,[[0\n", r"line 2: column wins: expected a square matrix such as"),
        (DESIGNS, "winner,loser,seconds\nA1,A2,-3\n", "seconds must be at least 0, got -3.0"),
        (DESIGNS, "better,worse\nA1,A2\n", r"expected a first line with the columns winner, loser or options, answer"),
        (DESIGNS, "options,answer,named\nA1;A2,best,B4\n", r"column named: 'B4' is none of the options"),
        (DESIGNS, "options,answer,named\nA1;A2,nicest,A1\n", r"unknown answer kind 'nicest'"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(tmp_path, designs, answers, message):
    (tmp_path / "designs.csv").write_text(designs)
    (tmp_path / "answers.csv").write_text(answers)
    study = create_study(Space(SPACE), seed=1)
    before = len(study._storage.read(study.record))
    with pytest.raises(StudyError, match=message):
        study.import_csv(tmp_path / "designs.csv", tmp_path / "answers.csv" if answers else None)
    assert len(study._storage.read(study.record)) == before


def test_an_id_means_one_design():
    study = create_study(Space([Float("x", 0, 1)]), seed=1)
    study.add_designs({"a": {"x": 0.5}})
    with pytest.raises(StudyError, match=r"design 'a' is \{'x': 0.5\} already"):
        study.add_designs({"a": {"x": 0.6}})
    with pytest.raises(StudyError, match="designs 'a' and 'b' are the same"):
        study.add_designs({"b": {"x": 0.5}})
    with pytest.raises(DomainError, match="'x'"):
        study.add_designs({"c": {"x": 7}})
    assert study.names == {0: "a"}


def test_a_pair_of_tensors_comes_back_and_feeds_botorch():
    from botorch.models import PairwiseGP

    X = torch.tensor([[14.0, 1], [17, 5], [20, 10], [15.5, 2]], dtype=torch.float64)
    pairs = torch.tensor([[2, 0], [1, 3]])
    study = create_study(Space(SPACE[:2]), seed=1)
    assert study.import_tensors(X, pairs) == 2 and study.import_tensors(X, pairs) == 0
    assert study.comparisons.tolist() == pairs.tolist()
    assert np.allclose(study.X, [[0, 0], [0.5, 4 / 9], [1, 1], [0.25, 1 / 9]])
    again = create_study(Space(SPACE[:2]), seed=1)
    again.import_tensors(study.X, study.comparisons, unit=True, ids=list("abcd"))
    assert torch.allclose(again.X, study.X) and set(again.names.values()) == set("abcd")
    assert PairwiseGP(study.X, study.comparisons).posterior(study.X).mean.shape == (4, 1)
    grid = create_study(Space([Float("x", 0, 1, step=0.25)]), seed=1)
    grid.import_tensors([[0.25], [1.0]], [[1, 0]])
    arms = create_study(list("abc"), seed=1)
    arms.import_tensors(np.eye(3), [[2, 0]], unit=True)
    assert (grid.comparisons.tolist(), arms.comparisons.tolist()) == ([[1, 0]], [[2, 0]])


@pytest.mark.parametrize(
    ("X", "pairs", "message"),
    [
        ([[15.0, 2], [16, 3]], [[0, 0]], r"comparisons, row 0: expected two different rows of X, 0 to 1, got \[0, 0\]"),
        ([[15.0, 2], [16, 3]], [[0, 2]], r"row 0: expected two different rows"),
        ([[15.0, 2], [16, 3]], [[0, -1]], r"row 0: expected two different rows"),
        ([[15.0, 2], [16, 3]], [[0.0, 1.0]], "comparisons are whole numbers"),
        ([[15.0, 2], [16, 3]], [[0, 1, 1]], r"shape \(m, 2\)"),
        ([[15.0, np.nan], [16, 3]], [[0, 1]], "X, row 0, column 1: expected a finite number, got nan"),
        ([[15.0, 2], [16]], [[0, 1]], "X is a table of numbers"),
        ("X", [[0, 1]], "X is a table of numbers"),
        ([[15.0, 2], [16, 3]], [[0, 1], [0]], "comparisons is a table of numbers"),
        ([15.0, 16], [[0, 1]], r"X has one design a row, shape \(n, d\)"),
        ([[15.0, 2, 1], [16, 3, 1]], [[0, 1]], r"X, row 0: expected a value for each of \['dose', 'grind'\]"),
        ([[99.0, 2], [16, 3]], [[0, 1]], "X, row 0: parameter 'dose'"),
    ],
)
def test_tensors_that_are_none(X, pairs, message):
    study = create_study(Space(SPACE[:2]), seed=1)
    with pytest.raises(StudyError, match=message):
        study.import_tensors(X, pairs)


@pytest.mark.parametrize("name", ["a\0", "\ud800"])
def test_an_id_that_some_databases_do_not_keep_is_refused(name):
    study = create_study(list("ab"), seed=1)
    with pytest.raises(StudyError, match="a text that every database keeps"):
        study.add_designs({name: "a"})
    assert study.names == {}


def test_the_same_said_twice_counts_twice():
    study = create_study(list("ab"), seed=1)
    said = OwnAnswer(("a", "b"), Answer.duel(0), "ann")
    assert study.add_designs({"a": "a", "b": "b"}, [said, said]) == 2
    assert study.add_designs({}, [said, said, said]) == 1
