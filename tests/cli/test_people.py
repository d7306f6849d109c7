"""Raters, their reliability, a validation round and excluded answers on the command line."""

import pytest

from prefopt import load_study

CAKES = 'name = "cakes"\nstorage = "cakes.db"\nseed = 5\nrepeats = 0.25\noptions = ["plum", "nut", "lemon", "apple"]\n'


@pytest.fixture
def cakes(tmp_path):
    (tmp_path / "cakes.toml").write_text(CAKES)
    return "cakes.toml"


def test_raters_from_adding_to_erasing(prefopt, cakes, tmp_path):
    said = prefopt("raters", cakes, "--add", "Ann").out
    assert said == "Ann is rater 1; they answer with: prefopt run cakes.toml --rater Ann\n"
    prefopt("raters", cakes, "--add", "Ben")
    ran = prefopt("run", cakes, "--rater", "Ann", keys="1" * 8 + "u12")
    assert "continue with: prefopt run cakes.toml --rater Ann" in ran.out
    prefopt("run", cakes, "--rater", "rater 2", keys="2")
    study = load_study("cakes.db")
    assert [row["rater"] for row in study.history() if row["status"] == "answered"] == ["rater 1"] * 9 + ["rater 2"]
    assert any(row["again"] for row in study.history())
    listed = prefopt("raters", cakes).out.splitlines()
    assert listed[0].startswith("rater 1 (Ann): 9 answers, 0 ties") and listed[1].startswith("rater 2 (Ben): 1 answer,")
    assert "no rater 'Cyd'" in prefopt("run", cakes, "--rater", "Cyd", keys="1").err
    assert "say why" in prefopt("raters", cakes, "--remove", "Ann").err
    assert prefopt("raters", cakes, "--remove", "Ann", "--reason", "asleep").code == 0
    assert load_study("cakes.db").answered == 1
    assert (
        "[removed: asleep]" in prefopt("raters", cakes).out
        and "(does not count: asleep)" in prefopt("history", cakes).out
    )
    assert "was removed (asleep)" in prefopt("run", cakes, "--rater", "Ann", keys="1").err
    prefopt("raters", cakes, "--restore", "Ann")
    assert load_study("cakes.db").answered == 10
    assert "one of --add" in prefopt("raters", cakes, "--add", "x", "--remove", "y").err
    assert "now those of 'erased 1'" in prefopt("raters", cakes, "--erase", "Ann").out
    assert b"Ann" not in (tmp_path / "cakes.db").read_bytes()
    assert "the answers are erased too" in prefopt("raters", cakes, "--erase", "Ben", "--answers").out
    assert load_study("cakes.db").answered == 9


def test_diagnostics(prefopt, cakes):
    prefopt("new", cakes)
    assert prefopt("diagnostics", cakes).out == "no answers yet\n"
    assert prefopt("raters", cakes).out == "no raters; --add NAME adds one\n"
    prefopt("run", cakes, "--rater", "ann", "--more", "2", keys="12")
    assert "nothing stands out" in prefopt("diagnostics", cakes).out
    prefopt("run", cakes, "--rater", "ann", "--more", "30", keys="1" * 30)
    said = prefopt("diagnostics", cakes).out
    assert said.startswith("ann: 32 answers, 0 ties, 0 skipped")
    assert "note: ann chose the first (left) option in 19 of 20 answers: position bias, p = 0.0001 or less" in said
    assert "repeated questions the same way: hardly more than a coin would" in said
    assert "(repeats a question)" in prefopt("history", cakes).out


def test_a_validation_round(prefopt, cakes):
    prefopt("run", cakes, keys="1111")
    stopped = prefopt("validate", cakes, "--each", "2", keys="11").out
    assert "are still to come" in stopped
    said = prefopt("validate", cakes, keys="1" * 20).out
    assert "Enough: the validation round is complete" in said and "exact sign test" in said.splitlines()[-1]
    assert "(validation)" in prefopt("history", cakes).out
    best = prefopt("best", cakes).out
    assert "blind validation: the recommendation won" in best and "ten more answers are expected to raise" in best


def test_a_validation_round_comes_before_the_open_question_which_waits(prefopt, cakes):
    assert "Question 5:" in prefopt("run", cakes, keys="1111").out
    said = prefopt("validate", cakes, "--each", "1", keys="1" * 20).out
    assert "Enough: the validation round is complete" in said and "Question 5" not in said
    study = load_study("cakes.db")
    assert study.validation().answered == study.validation().planned == 2
    assert [row["question"] for row in study.history() if row["status"] == "open"] == [5]
    assert "Question 5:" in prefopt("run", cakes, keys="").out


def test_what_others_have_of_a_validation_round_is_not_asked(prefopt, cakes):
    prefopt("run", cakes, keys="1111")
    prefopt("validate", cakes, "--each", "1", "--rater", "ann", keys="1")
    said = prefopt("validate", cakes, "--rater", "ben", keys="1" * 9).out
    assert "Enough: others have the questions that are left of the validation round" in said
    assert load_study("cakes.db").answered == 4 and "Question" not in said


def test_a_validation_round_begun_elsewhere_is_asked_though_all_planned_answers_are_there(prefopt, cakes, tmp_path):
    (tmp_path / cakes).write_text(CAKES + "budget = 2\n")
    assert "all 2 planned answers are there" in prefopt("run", cakes, keys="11").out
    study = load_study("cakes.db")
    study.validate(1)
    assert "all 2 planned answers are there" in prefopt("run", cakes, keys="1" * 10).out
    assert study.validation().over and study.validation().answered == study.validation().planned > 0


def test_an_answer_is_excluded_and_included(prefopt, cakes):
    prefopt("run", cakes, keys="11")
    assert "say why (reason)" in prefopt("exclude", "1", "--study", cakes).err
    assert prefopt("exclude", "1", "--study", cakes, "--reason", "a slip").code == 0
    assert load_study("cakes.db").answered == 1 and "(does not count: a slip)" in prefopt("history", cakes).out
    assert "did not count before either" in prefopt("exclude", "1", "--study", cakes, "--reason", "again").out
    assert prefopt("include", "1", "--study", cakes).out == "the answer to question 1 counts again\n"
    assert prefopt("include", "1", "--study", cakes).out == "the answer to question 1 counts already\n"
    assert load_study("cakes.db").answered == 2


def test_conduct_in_a_study_file(prefopt, cakes, tmp_path):
    prefopt("run", cakes, keys="1")
    assert load_study("cakes.db").conduct.repeats == 0.25
    (tmp_path / cakes).write_text(CAKES.replace("0.25", "0.1"))
    assert "repeats = 0.1, the study has 0.25" in prefopt("run", cakes, keys="1").err
    (tmp_path / cakes).write_text(CAKES.replace("0.25", "'often'"))
    assert "repeats must be a share of the questions" in prefopt("run", cakes, keys="1").err


def test_an_edited_study_file_begins_a_new_version(prefopt, cakes, tmp_path):
    prefopt("run", cakes, keys="1111")
    (tmp_path / cakes).write_text(CAKES.replace("plum", "pear") + 'question = "Sweeter?"\n')
    assert "prefopt new cakes.toml --version" in prefopt("run", cakes, keys="1").err
    said = prefopt("new", cakes, "--version").out
    study = load_study("cakes.db", study_name="cakes")
    assert study.question == "Sweeter?" and "pear" in study.space.items
    kept = study.version["kept"]
    assert said.startswith(
        f"version 2 is ready ({kept} answer{'s' * (kept != 1)} kept, {4 - kept} that no longer fit left in "
    )
    assert "Sweeter?" in prefopt("run", cakes, keys="1").out
    unchanged = prefopt("new", cakes, "--version")
    assert unchanged.code and "=..." not in unchanged.err
    assert "cakes.toml says what study 'cakes' has already: edit what is asked" in unchanged.err
