"""How fast a person sees the first question, and what is imported for it."""

import json
import resource
import subprocess
import sys

import pytest

from prefopt.policies import POLICIES

#: Runs command lines in one process; prints each one's first words and the heavy libraries imported until then.
PROBE = """
import contextlib, io, json, sys
from prefopt.cli import main
for words in json.loads(sys.argv.pop()):
    sys.argv[1:], sys.stdin = words, io.StringIO("1\\n1\\nq\\n")
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:
        main()
    said = out.getvalue().split(maxsplit=1)[0]
    print(*words, said, sorted({"torch", "gpytorch", "botorch"} & set(sys.modules)), sep="|")
"""

LIBRARIES = "import numba.core.compiler, scipy.stats, sqlalchemy, typer, rich.console"

STUDY = """
storage = "study.db"
seed = 5
[parameters.sweet]
type = "float"
low = 0
high = 1
step = 0.1
"""

#: A study with every policy on arms: processor time of the first ``ask``, and of all it takes to make and answer one;
#: compiling is an error.
FIRST_ASKS = """
import json, sys, time
from prefopt import create_study
import numba.core.compiler as compiler

def compile_extra(*args, **kwargs):
    raise AssertionError("numba compiled something")

compiler.compile_extra = compile_extra
seconds, start = {}, time.process_time()
for name in json.loads(sys.argv[1]):
    study = create_study(list("abcdefgh"), seed=1, strategy=name, budget=50)
    began = time.process_time()
    study.ask()
    seconds[name] = time.process_time() - began
    for _ in range(3):
        query = study.ask()
        study.tell(query, best=query.shown[0])
    study.recommend()
whole, heavy = time.process_time() - start, sorted({"torch", "gpytorch", "botorch"} & set(sys.modules))
print(json.dumps({"seconds": seconds, "whole": whole, "heavy": heavy}))
"""


def python(code, argument, folder=None):
    command = [sys.executable, "-W", "error", "-c", code, json.dumps(argument)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_terminal_never_imports_torch_for_a_study_with_the_default_policy(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    commands = (["--help"], ["list", "policies"], ["list", "environments"], ["list", "regrets"], ["new", "other.toml"],
                ["new", "study.toml"], ["run"], ["history"], ["best"], ["undo"], ["export", "out.csv"],
                ["demo", "colour", "--simulate"], ["demo", "recipe"], ["demo", "curve"])  # fmt: skip
    lines = python(PROBE, commands, tmp_path).splitlines()
    assert len(lines) == len(commands)
    for line in lines:
        *_, said, heavy = line.split("|")
        assert said and heavy == "[]", line


def test_no_arm_policy_compiles_or_imports_torch_before_a_question():
    names = [name for name, entry in POLICIES.items() if "arms" in entry.domains]
    found = json.loads(python(FIRST_ASKS, names))
    assert found["heavy"] == []
    assert set(found["seconds"]) == set(names)
    slowest = max(found["seconds"], key=found["seconds"].get)
    assert found["seconds"][slowest] < found["whole"] / 4, f"{slowest} alone takes most of the time of all policies"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Processor time of importing what a question needs, the best of three runs."""
    return min(processor_seconds(["-c", LIBRARIES], tmp_path_factory.mktemp("libraries"))[0] for _ in range(3))


@pytest.mark.parametrize("words", [["demo", "colour"], ["demo", "curve"], ["demo", "recipe"], ["run"]])
def test_the_first_question_costs_little_more_than_the_libraries_it_needs(tmp_path, words, libraries):
    """Processor time of the whole command, the best of three runs."""
    (tmp_path / "study.toml").write_text(STUDY)
    commands = [processor_seconds(["-m", "prefopt.cli", *words], tmp_path) for _ in range(3)]
    assert all("[2]" in said for _, said in commands)
    assert min(seconds for seconds, _ in commands) < 2 * libraries


def processor_seconds(words, folder):
    """Seconds of a Python process that reads "q", and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], input="q\n", capture_output=True, text=True, check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout
