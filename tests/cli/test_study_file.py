"""A study in a file: begun, continued, edited, read; and what is wrong with the file."""

import os

import pytest

from prefopt.study import create_study, load_study

TEA = """
name = "tea"
storage = "tea.db"
seed = 5
budget = 3
[parameters.sweet]
type = "float"
low = 0
high = 1
step = 0.1
"""
CAKES = 'seed = 1\nbudget = 2\nstorage = "cakes.db"\noptions = ["plum", "nut", "lemon"]\n'


@pytest.fixture
def tea(tmp_path):
    path = tmp_path / "tea.toml"
    path.write_text(TEA)
    return path


def answers(name, study=None):
    return load_study(name, study_name=study).answered


def test_a_finished_study_goes_on(prefopt, tea):
    assert "to go on: prefopt run tea.toml --more 10" in prefopt("run", "tea.toml", keys="1212").out
    assert "all 3 planned answers are there" in prefopt("run", "tea.toml", keys="1").out
    assert answers("tea.db") == 3
    more = prefopt("run", "tea.toml", "--more", "2", keys="12121")
    assert "about 2 more" in more.out and "the study has 5 answers" in more.out
    assert (answers("tea.db"), load_study("tea.db").budget) == (5, 5)
    tea.write_text(TEA.replace("budget = 3", "budget = 6"))
    done = prefopt("run", "tea.toml", keys="111")
    assert "6 answers are planned now (5 before)" in done.out and answers("tea.db") == 6


def test_a_smaller_budget_is_not_ignored_in_silence(prefopt, tea):
    prefopt("run", "tea.toml", keys="1")
    tea.write_text(TEA.replace("budget = 3", "budget = 2"))
    assert "3 answers stay planned; the budget of 2 in tea.toml is smaller" in prefopt("run", "tea.toml").out


def test_more_goes_on_although_one_is_sure(prefopt, tmp_path):
    (tmp_path / "two.toml").write_text('seed = 1\nstorage = "two.db"\noptions = ["a", "b"]\n')
    assert "Enough" in prefopt("run", "two.toml", keys="1" * 20).out
    before = answers("two.db")
    prefopt("run", "two.toml", "--more", "3", keys="1" * 20)
    assert answers("two.db") == before + 3


def test_the_question_and_new_options_are_adopted(prefopt, tmp_path):
    (tmp_path / "cakes.toml").write_text(CAKES)
    prefopt("run", "cakes.toml", keys="q")
    (tmp_path / "cakes.toml").write_text('question = "Which cake?"\n' + CAKES.replace('"nut"', '"apple", "nut"'))
    said = prefopt("run", "cakes.toml", keys="1").out
    assert "new option: apple" in said and "Which cake?" in said
    assert load_study("cakes.db").space.items == ("plum", "nut", "lemon", "apple")
    assert "new option" not in prefopt("run", "cakes.toml").out
    assert load_study("cakes.db").question == "Which cake?"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("seed = 5", "seed = 6", "seed = 6, the study has 5"),
        ("budget = 3", 'strategy = "random"', "strategy = 'random', the study has 'knowledge-gradient'"),
        ("budget = 3", "query_size = 3", "query_size = 3, the study has 2"),
        ("budget = 3", 'question = "Sweeter?"', "question = 'Sweeter?', the answers are to 'Which is better?'"),
        ("step = 0.1", "step = 0.1\n[settings]\nnoise = 0.5", "settings {'noise': 0.5}, the study has {}"),
        ("high = 1", "high = 2", "parameter Float"),
        ("parameters.sweet", "parameters.milk", "parameter sweet is gone"),
        ("budget = 3", 'constraints = ["sweet <= 0.5"]', "constraints"),
    ],
)
def test_other_edits_are_refused_with_what_differs(prefopt, tea, old, new, line):
    prefopt("run", "tea.toml", keys="1")
    tea.write_text(TEA.replace(old, new))
    refused = prefopt("run", "tea.toml", keys="1")
    assert refused.code == 2 and line in refused.err and "another name or storage" in refused.err
    assert answers("tea.db") == 1


def test_an_option_that_is_gone_is_refused(prefopt, tmp_path):
    (tmp_path / "cakes.toml").write_text(CAKES)
    prefopt("run", "cakes.toml", keys="1")
    (tmp_path / "cakes.toml").write_text(CAKES.replace('"nut", ', ""))
    assert "option 'nut' is not in the list any more" in prefopt("run", "cakes.toml").err


def test_what_cannot_be_creates_no_study(prefopt, tmp_path):
    (tmp_path / "a.toml").write_text(
        'storage = "a.db"\nconstraints = ["x + y <= -3"]\n'
        + "".join(f'[parameters.{n}]\ntype = "float"\nlow = 0\nhigh = 1\n' for n in "xy")
    )
    done = prefopt("run", "a.toml", keys="1")
    assert done.code == 2 and done.err.startswith("prefopt: a.toml: ")
    assert os.listdir(tmp_path) == ["a.toml"]


def test_what_is_exported_can_be_imported(prefopt, tea, tmp_path):
    prefopt("run", "tea.toml", "--rater", "ann", "--more", "5", keys="1=s2u11")
    study = load_study("tea.db")
    for name, words, about in (("a", [], ""), ("b", ["--designs", "d.csv"], " about ")):
        assert prefopt("export", f"{name}.csv", *words).code == 2  # which study?
        assert prefopt("export", f"{name}.csv", *words, "--study", "tea.toml").code == 0
        (tmp_path / f"{name}.toml").write_text(TEA.replace('"tea', f'"{name}'))
        said = prefopt("import", f"{name}.csv", *words, "--study", f"{name}.toml").out
        assert said.startswith(f"{len(study.said())} new answers{about}") and f"study {name} goes on" in said
        again = load_study(f"{name}.db")
        both = [[([s.params(i) for i in ids], said) for ids, said in s.said()] for s in (study, again)]
        assert both[0] == both[1] and again.said_by() == ["ann"] * 5
        assert again.recommend().params == study.recommend().params
        assert prefopt("import", f"{name}.csv", *words, "--study", f"{name}.toml").out.startswith("0 new answers")


@pytest.mark.parametrize("command", ["best", "history", "undo", "export"])
def test_reading_before_the_first_question_says_how_to_begin(prefopt, tea, tmp_path, command):
    words = ["export", "a.csv", "--study", "tea.toml"] if command == "export" else [command, "tea.toml"]
    done = prefopt(*words)
    assert done.code == 2 and "begin with: prefopt run tea.toml" in done.err
    words[-1] = "nothing.db"
    done = prefopt(*words)
    assert done.code == 2 and "nothing.db is not there" in done.err
    assert os.listdir(tmp_path) == ["tea.toml"]


def test_two_studies_in_one_file_go_by_name(prefopt, tmp_path):
    for name in ("one", "two"):
        create_study(list("abc"), storage=str(tmp_path / "s.db"), study_name=name, seed=1)
    refused = prefopt("best", "s.db")
    assert refused.code == 2 and "--name" in refused.err and "'one', 'two'" in refused.err
    said = prefopt("run", "s.db", "--name", "two", keys="1").out
    assert "prefopt run s.db --name two" in said
    assert (answers("s.db", "one"), answers("s.db", "two")) == (0, 1)
    for words in (["best", "s.db"], ["history", "s.db"], ["undo", "s.db"], ["export", "a.csv", "--study", "s.db"]):
        assert prefopt(*words, "--name", "two").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"settings = 3", "settings must be a table"),
        (b"storage = 3", "storage must be a file name"),
        (b"render = 3", "render must be a command"),
        (b"budget = 3.5", "budget must be a whole number"),
        (b"nam = 'x'", "unknown key 'nam'; did you mean 'name'?"),
        (b"name = '\xe4'", "expected a text file in UTF-8, got byte 0xe4"),
        (b"options = ['a', 'b']\nstorage = '.'", "is a folder"),
        (b"options = ['a', 'b']\nstorage = 'x.toml'", "not a database"),
        (b"options = ['a', 'b']\nstrategy = 'rucbb'", "unknown policy 'rucbb'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(prefopt, tmp_path, text, message):
    (tmp_path / "x.toml").write_bytes(text + b"\n# long enough to be looked at by a database".ljust(2000, b"."))
    done = prefopt("run", "x.toml", keys="1")
    assert done.code == 2 and message in done.err and "x.toml" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_byte_order_mark_is_fine_and_a_folder_is_not(prefopt, tmp_path):
    (tmp_path / "b.toml").write_bytes(b"\xef\xbb\xbf" + CAKES.encode())
    assert "Question 1" in prefopt("run", "b.toml").out
    (tmp_path / "folder.toml").mkdir()
    for where in (".", "folder.toml"):
        done = prefopt("run", where)
        assert done.code == 2 and len(done.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["coffee", 'my tea "x"', "tee's", "a\\b"])
def test_new_writes_a_template_that_works(prefopt, name):
    said = prefopt("new", f"{name}.toml").out
    assert "wrote" in said
    assert "ready" in prefopt("new", f"{name}.toml").out
    assert "Question 1" in prefopt("run", f"{name}.toml").out


def test_new_quotes_the_command_and_insists_on_toml(prefopt, tmp_path):
    assert "prefopt run 'my tea.toml'" in prefopt("new", "my tea.toml").out
    refused = prefopt("new", "study.yaml")
    assert refused.code == 2 and "prefopt new study.toml" in refused.err
    assert os.listdir(tmp_path) == ["my tea.toml"]


def test_the_demo_goes_on_with_the_command_it_prints(prefopt):
    words = ["demo", "recipe", "--storage", "d.db", "--simulate", "--questions", "3"]
    said = prefopt(*words).out
    assert "prefopt demo recipe --storage d.db --simulate --more 6" in said
    prefopt("demo", "recipe", "--storage", "d.db", "--simulate", "--more", "6")
    assert answers("d.db") == 9
    prefopt(*words[:-1], "11")
    assert answers("d.db") == 11
    refused = prefopt(*words, "--slate", "3")
    assert refused.code == 2 and "query_size = 3, the study has 2" in refused.err


def test_nothing_is_sure_before_the_first_answer(prefopt, tea):
    said = prefopt("run", "tea.toml", keys="s").out
    assert "No answers yet" in said and "sure" not in said
    assert "No answers yet" in prefopt("best", "tea.toml").out


def test_history_is_a_table_of_short_lines(prefopt, tea):
    prefopt("run", "tea.toml", keys="1s=u2")
    lines = prefopt("history", "tea.toml").out.splitlines()
    assert lines[0].split() == ["question", "when", "shown", "(sweet)", "answer", "seconds"]
    assert max(map(len, lines)) < 80
    text = "\n".join(lines)
    assert "skipped" in text and "withdrawn by an undo" in text and "(open)" in text
    assert '"status": "withdrawn"' in prefopt("history", "tea.toml", "--json").out
