"""The base install alone: nothing of an extra is imported, and a study works without any of them."""

import json
import resource
import subprocess
import sys

import pytest

#: Top-level modules that only extras install.
EXTRAS = (
    "matplotlib", "pandas", "optuna", "optuna_dashboard", "psycopg", "dask", "distributed", "fastapi", "starlette",
    "uvicorn", "pydantic", "anywidget", "ipywidgets", "traitlets", "IPython",
)  # fmt: skip

#: A process in which importing anything of an extra fails, as if it were not installed.
WITHOUT = f"""
import sys
for name in {EXTRAS!r}:
    sys.modules[name] = None
"""

STUDY = """
from prefopt import Float, Space, create_study, load_study
study = create_study(Space([Float("x", 0, 1, step=0.1)]), storage="s.db", seed=1)
for _ in range(3):
    query = study.ask("ann")
    study.tell(query, best=query.shown[0], rater="ann")
study.recommend(), study.diagnostics(), study.replay(), study.export("s.json"), study.export_csv("d.csv", "a.csv")
print(load_study("s.db").answered)
"""

#: What asks for its extra, and the message that says which.
ASKING = {
    "study.to_frame()": "pip install 'prefopt-bo[frame]'",
    "import prefopt.integrations.optuna": "pip install 'prefopt-bo[optuna]'",
    "create_study(['a', 'b'], storage='postgresql://u@h/d')": "pip install 'prefopt-bo[postgres]'",
    "from prefopt.report import write_report; write_report(study, 'r.html')": "pip install 'prefopt-bo[plot]'",
}


def python(code, folder):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_study_needs_no_extra(tmp_path):
    assert python(WITHOUT + STUDY, tmp_path).strip() == "3"
    assert (tmp_path / "s.json").is_file()


def test_nothing_of_an_extra_is_imported_although_installed(tmp_path):
    code = STUDY + f"import json, sys\nprint(json.dumps(sorted(set({EXTRAS!r}) & set(sys.modules))))"
    assert json.loads(python(code, tmp_path).splitlines()[-1]) == []


def test_what_needs_an_extra_says_which(tmp_path):
    code = WITHOUT + STUDY + "from prefopt.errors import MissingDependency\n"
    for action in ASKING:
        code += (
            f"try:\n    {action}\nexcept MissingDependency as error:\n    print(error)\nelse:\n    print('no error')\n"
        )
    said = python(code, tmp_path).splitlines()[1:]
    assert len(said) == len(ASKING)
    for line, expected in zip(said, ASKING.values(), strict=True):
        assert expected in line


@pytest.mark.parametrize("code", ["import prefopt", "from prefopt import create_study, simulate"])
def test_importing_takes_less_than_two_and_a_half_seconds(code, tmp_path):
    """Processor time, the best of three runs."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        python(code, tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 2.5
