"""How options are shown, and what is wrong with what should show them."""

import pytest

from prefopt.cli.render import fill, load_function
from prefopt.errors import StudyError

LIST = 'storage = "s.db"\nseed = 1\noptions = ["a.png", "b.png"]\n'
DOSE = 'storage = "s.db"\nseed = 1\n[parameters.dose]\ntype = "int"\nlow = 1\nhigh = 2\n'


def shown(prefopt, tmp_path, render, text=LIST):
    (tmp_path / "study.toml").write_text(f"render = {render!r}\n{text}")
    return prefopt("run")


@pytest.mark.parametrize("name", ["file", "value", "option"])
def test_an_option_of_a_list_goes_by_three_names(prefopt, tmp_path, name):
    lines = shown(prefopt, tmp_path, f"echo opening {{{name}}}").out.splitlines()
    for option in ("a.png", "b.png"):
        at = lines.index(f"      opening {option}")
        assert lines[at - 1].startswith("  [") and lines[at - 1].endswith(option)


def test_parameters_go_by_their_names(prefopt, tmp_path):
    said = shown(prefopt, tmp_path, "echo {dose} g", DOSE).out
    assert "      1 g" in said and "      2 g" in said and "dose=1" in said
    (tmp_path / "s.db").unlink()
    refused = shown(prefopt, tmp_path, "echo {file}", DOSE)
    assert refused.code == 2 and "no parameter 'file'; there are {dose}" in refused.err


def test_a_command_that_fails_or_is_not_there_is_said(prefopt, tmp_path):
    said = shown(prefopt, tmp_path, "false {value}").out
    assert "(option 1: false failed with exit code 1)" in said and "] a.png" in said
    assert "could not run no-such-program" in shown(prefopt, tmp_path, "no-such-program {value}").out


@pytest.mark.parametrize("render", ["echo 'x", "python:broken:f", "python:m:none_taken", "python:m:nothing", "  "])
def test_what_can_never_show_is_refused_in_one_line(prefopt, tmp_path, render):
    (tmp_path / "broken.py").write_text("def f(:")
    (tmp_path / "m.py").write_text("def none_taken(): pass")
    (tmp_path / "study.toml").write_text(f'render = "{render}"\n{LIST}')
    done = prefopt("run")
    assert done.code == 2 and "render" in done.err and len(done.err.splitlines()) == 1
    assert "Question" not in done.out


def test_functions(prefopt, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def fails(p): raise KeyError('colour')\ndef quiet(p): pass\ndef text(p): return f'<{p}>'\n"
    )
    failed = shown(prefopt, tmp_path, "python:mine:fails").out
    assert "the render function failed: KeyError: 'colour'" in failed and "] a.png" in failed
    assert "] b.png" in shown(prefopt, tmp_path, "python:mine:quiet").out
    assert "<a.png>" in shown(prefopt, tmp_path, "python:mine:text").out


def test_a_template_that_cannot_be_filled():
    for template in ("x {nope}", "x {}", "x {a.b}", "x {", "x {a:d}"):
        with pytest.raises(StudyError, match=r"render command.*there are \{a\}"):
            fill(template, {"a": "text"})
    with pytest.raises(StudyError, match="is a float, expected a function"):
        load_function("math:pi")
