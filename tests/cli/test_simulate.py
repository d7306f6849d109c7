import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from prefopt.cli import app
from prefopt.cli.simulate import parse_setting
from prefopt.environments import make_environment
from prefopt.environments.settings import UTILITIES
from prefopt.errors import SettingError
from prefopt.links import LINKS
from prefopt.policies import POLICIES

BASE = "simulate --policy ind-self-sparring --environment arith-linear-6 --rounds 50 --repetitions 3 --seed 1".split()


def invoke(*words):
    return CliRunner().invoke(app, list(words))


def test_json_is_one_object_and_nothing_else():
    done = subprocess.run(
        [sys.executable, "-m", "prefopt.cli", *BASE, "--regret", "strong-sum", "--json", "--set", "eta=2.5"],
        capture_output=True,
        text=True,
        check=True,
    )
    summary = json.loads(done.stdout)
    assert summary["settings"]["eta"] == 2.5
    assert len(summary["checkpoints"]) == 50


def test_a_script_must_name_the_regret_and_a_reader_is_told_which():
    words = [sys.executable, "-m", "prefopt.cli", *BASE]
    refused = subprocess.run([*words, "--json"], capture_output=True, text=True)
    assert refused.returncode == 2 and not refused.stdout
    assert "--json needs --regret" in refused.stderr
    done = invoke(*BASE)
    assert done.exit_code == 0 and "strong-sum" in done.stdout + done.stderr


def test_table_and_files(tmp_path):
    picture, table = tmp_path / "a.png", tmp_path / "a.csv"
    done = invoke(*BASE, "--regret", "weak", "--plot", str(picture), "--output", str(table))
    assert done.exit_code == 0
    assert "quantiles" in done.stdout
    assert picture.exists() and table.exists()


def test_list():
    for what in ("policies", "environments", "regrets"):
        lines = invoke("list", what).stdout.splitlines()
        assert len(lines) >= 5 and all("\t" in line for line in lines)
    assert isinstance(invoke("list", "nonsense").exception, SettingError)


def test_a_line_a_policy_says_what_it_is_for():
    rows = [line.split("\t") for line in invoke("list", "policies").stdout.splitlines()]
    assert [row[0] for row in rows] == list(POLICIES) and {len(row) for row in rows} == {7}
    assert rows[list(POLICIES).index("rex3")] == [
        "rex3", "aims at strong-sum", "assumes utility", "slates 2", "needs the horizon", "presets anytime",
        "Gajane et al. 2015, Algorithm 1",
    ]  # fmt: skip


def test_every_name_of_a_link_in_the_list_works():
    names = [line.split("\t")[0] for line in invoke("list", "environments").stdout.splitlines()]
    for link in LINKS:
        listed = [name for name in names if f"-{link}-" in name]
        assert len(listed) == len(UTILITIES)
        for name in listed:
            assert make_environment(name.replace("K", "16")).P.shape == (16, 16)


def test_error_is_one_line_and_exit_code_two():
    words = [sys.executable, "-m", "prefopt.cli", *BASE, "--regret", "nonsense", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown regret 'nonsense'" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["noise", "=3"])
def test_bad_setting(wrong):
    with pytest.raises(SettingError, match="name=value"):
        parse_setting(wrong)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--plot {}", "is a folder"),
        ("--plot {}/a.foo", "ends in .png, .pdf"),
        ("--plot {}/a", "no ending"),
        ("--output {}/a.foo", "ends in .csv, got .foo"),
        ("--output {}/file/a.csv", "cannot be written"),
        ("--set domain=3", "has no setting 'domain'"),
    ],
)
def test_what_could_not_be_written_is_said_before_the_run(prefopt, tmp_path, words, message):
    (tmp_path / "file").write_text("no folder")
    long = [*BASE, "--rounds", "1000000000", "--regret", "weak"]
    done = prefopt(*long, *words.format(tmp_path).split())
    assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--policy rucbb", "did you mean 'rucb'?"),
        ("--environment sushi", "did you mean 'sushi16'?"),
        ("--environment 1good-logit-0", "at least one arm, got 0"),
        ("--regret strong-sun", "did you mean 'strong-sum'?"),
        ("--policy rucb --slate 3", "random, multi-sparring, mdb, multi-rucb, ind-self-sparring, kernel-self-sparring"),
        ("--policy rucb --environment forrester", "forrester is continuous"),
    ],
)
def test_a_short_line_says_what_was_meant(prefopt, words, message):
    done = prefopt(*BASE, "--regret", "weak", *words.split())
    assert done.code == 2 and message in done.err
    assert len(done.err.splitlines()) == 1 and len(done.err) < 300


def test_the_title_is_a_line_of_its_own(prefopt):
    assert (
        "ind-self-sparring on arith-linear-6: cumulative regret (weak)"
        in prefopt(*BASE, "--regret", "weak").out.splitlines()
    )


def test_output_that_knows_only_ascii():
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "prefopt.cli", *BASE, "--regret", "weak"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=plain)
    assert "+- " in done.stdout and "us a round" in done.stdout


def test_a_matrix_may_begin_with_a_byte_order_mark(prefopt, tmp_path):
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf0.5,0.8\n0.2,0.5\n")
    assert prefopt(*BASE, "--regret", "weak", "--environment", "m.csv").code == 0
