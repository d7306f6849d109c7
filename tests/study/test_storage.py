"""What a storage refuses, and what of a study can be changed after it was created."""

import os
import sqlite3

import pytest

from prefopt import create_study, load_study
from prefopt.errors import DomainError, SettingError, StudyError
from prefopt.parameters import Float
from prefopt.space import Space


def test_a_finished_study_goes_on_with_a_larger_budget_and_the_log_stays(tmp_path):
    path = str(tmp_path / "s.db")
    study = create_study(list("abcd"), storage=path, seed=1, budget=1)
    study.tell(query := study.ask(), best=query.shown[0])
    before = study.history()
    assert study.enough and study.remaining == 0
    again = load_study(path, budget=3)
    assert not again.enough and again.remaining == 2
    assert again.history() == before
    assert load_study(path).budget == 3
    with pytest.raises(SettingError, match="budget must be a whole number"):
        load_study(path, budget=0)


def test_the_question_changes_only_while_nobody_has_answered(tmp_path):
    path = str(tmp_path / "s.db")
    study = create_study(list("abcd"), storage=path, seed=1)
    assert load_study(path, question="Which tastes better?").question == "Which tastes better?"
    study.tell(query := study.ask(), best=query.shown[0])
    with pytest.raises(StudyError, match=r"1 answer to 'Which tastes better\?'.*new_version"):
        load_study(path, question="Which looks better?")
    assert load_study(path, question="Which tastes better?").answered == 1


def test_reading_creates_no_file(tmp_path):
    with pytest.raises(StudyError, match="there is no such file"):
        load_study(str(tmp_path / "nothing.db"))
    with pytest.raises(StudyError, match="is a folder"):
        load_study(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_another_file_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("this is no database, and is long enough to look like a header of one " * 10)
    for open_it in (load_study, lambda path: create_study(list("ab"), storage=path)):
        with pytest.raises(StudyError, match=r"text\.db.*not a database"):
            open_it(str(text))
    other = str(tmp_path / "other.db")
    with sqlite3.connect(other) as connection:
        connection.execute("create table mine (x)")
    connection.close()
    with pytest.raises(StudyError, match="holds no study"):
        load_study(other)
    with sqlite3.connect(other) as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("mine",)]
    connection.close()


def test_impossible_constraints_create_nothing(tmp_path):
    space = Space([Float("a", 0, 1), Float("b", 0, 1)], ["a + b <= -3"])
    with pytest.raises(DomainError):
        create_study(space, storage=str(tmp_path / "s.db"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["missing/a.csv", "missing/a.json", "folder.csv"])
def test_export_to_where_nothing_can_be_written(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    study = create_study(list("ab"), seed=1)
    with pytest.raises(StudyError, match="cannot write"):
        study.export(tmp_path / name)
