import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prefopt.cli import app
from prefopt.cli.render import fill, make_show
from prefopt.cli.terminal import plainly, session
from prefopt.errors import StudyError
from prefopt.space import Space
from prefopt.study import create_study, load_study

STUDY = """
name = "tea"
storage = "tea.db"
seed = 5
budget = 6
[parameters.sweet]
type = "float"
low = 0
high = 1
step = 0.1
"""


def prefopt(*words, keys="", folder=None):
    return subprocess.run(
        [sys.executable, "-m", "prefopt.cli", *words],
        input=keys,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )


def keys(*pressed):
    left = list(pressed)
    return lambda: left.pop(0) if left else "q"


@pytest.fixture
def study():
    return create_study(Space.arms(["a", "b", "c"]), seed=1, budget=4)


def test_keys(study, capsys):
    session(study, read=keys("1", "=", "x", "?", "u", "2", "s", "q"))
    said = capsys.readouterr().out
    assert "about the same" in said and "taken back" in said and "skipped" in said
    assert "'x' is not a key here" in said
    assert "Stopped; every answer is kept." in said


def test_the_budget_ends_the_session(study, capsys):
    session(study, read=keys(*"1111111"))
    said = capsys.readouterr().out
    assert "Enough" in said and "about 4 more" in said
    assert study.answered == 4


def test_a_failing_policy_is_one_plain_line(study, capsys, monkeypatch):
    def fail(*_):
        raise ValueError("boom")

    monkeypatch.setattr("prefopt.policies.arms.ind_self_sparring.IndSelfSparring.ask", fail)
    session(study, read=keys("1", "q"))
    said = capsys.readouterr()
    assert said.out.count("boom") == 2 and "  (ind-self-sparring failed: boom" in said.out  # once a question
    assert not said.err
    plainly(lambda: warnings.warn("slow\n  today", RuntimeWarning, stacklevel=1))
    assert capsys.readouterr().out == "  note: slow today\n"


def test_control_c_at_any_moment_stops_and_keeps(study, capsys):
    shown = []

    def show(query):
        shown.append(query.number)
        if len(shown) == 2:
            raise KeyboardInterrupt

    session(study, show, read=keys("1", "1", "1"))
    assert study.answered == 1 and "Stopped; every answer is kept." in capsys.readouterr().out


def test_undo_with_nothing_to_undo_goes_on(study, capsys):
    session(study, read=keys("u", "1", "q"))
    assert study.answered == 1


def test_a_study_file_from_new_to_export(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    assert "ready" in prefopt("new", "study.toml", folder=tmp_path).stdout
    ran = prefopt("run", keys="1\n2\n=\nq\n", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "every answer is kept" in ran.stdout and "Best so far: sweet=" in ran.stdout
    assert load_study(str(tmp_path / "tea.db")).answered == 3
    assert "Best so far" in prefopt("best", folder=tmp_path).stdout
    assert len(prefopt("history", folder=tmp_path).stdout.splitlines()) >= 3
    assert prefopt("undo", folder=tmp_path).returncode == 0
    assert load_study(str(tmp_path / "tea.db")).answered == 2
    assert prefopt("export", "out.csv", folder=tmp_path).returncode == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) > 2


def test_the_same_question_comes_back_after_quitting(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    first = prefopt("run", keys="q\n", folder=tmp_path).stdout.split("keys:")[0]
    again = prefopt("run", keys="q\n", folder=tmp_path).stdout.split("keys:")[0]
    assert "Question 1" in first and first == again


def test_new_writes_a_template_that_works(tmp_path):
    assert "wrote coffee.toml" in prefopt("new", "coffee.toml", folder=tmp_path).stdout
    assert "ready" in prefopt("new", "coffee.toml", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "unknown key 'colour'"),
        ("name = ", "not valid TOML"),
        ("name = 'x'", "give either"),
        ("[parameters.a]\ntype='float'\nlow=2\nhigh=1", "a"),
    ],
)
def test_a_bad_study_file_is_one_line(tmp_path, text, message):
    (tmp_path / "study.toml").write_text(text)
    done = prefopt("run", folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr and "study.toml" in done.stderr and "Traceback" not in done.stderr


def test_no_study_file(tmp_path):
    done = prefopt("run", folder=tmp_path)
    assert done.returncode == 2 and "prefopt new study.toml" in done.stderr


@pytest.mark.parametrize("name", ["colour", "curve", "recipe"])
def test_demos_find_something(name):
    done = CliRunner().invoke(app, ["demo", name, "--simulate", "--questions", "6"])
    assert done.exit_code == 0, done.exception
    assert done.stdout.count("Question") == 6 and "Best so far" in done.stdout


def test_demo_of_four_over_a_pipe():
    done = prefopt("demo", "colour", "--slate", "4", "--seed", "1", keys="4\n1\n")
    assert done.returncode == 0 and "[4]" in done.stdout and "Stopped" in done.stdout


def test_render_hooks(tmp_path, capsys):
    shown = tmp_path / "shown"
    make_show(lambda params: f"<{params}>")(FakeQuery(["a", "b"]))
    assert "<a>" in capsys.readouterr().out
    make_show(f"cp {{value}} {shown}")(FakeQuery([str(Path(__file__))]))
    for _ in range(100):
        if shown.exists():
            break
        time.sleep(0.05)
    assert shown.exists()
    make_show("no-such-program {value}")(FakeQuery(["a"]))
    assert "could not run no-such-program" in capsys.readouterr().out
    with pytest.raises(StudyError, match="no parameter"):
        fill("x {nope}", {"a": 1})
    with pytest.raises(StudyError, match="expected 'module:function'"):
        make_show("python:no_such_module:f")


class FakeQuery:
    def __init__(self, options):
        self.shown = [type("C", (), {"params": o})() for o in options]
