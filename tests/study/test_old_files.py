"""Study files of every released format still open; a newer one says what to do."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from prefopt import load_study
from prefopt.errors import StudyError
from prefopt.study.events import SCHEMA_VERSION
from tests.data.make_study import facts

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(DATA.glob("study_v*.sqlite"))


def test_there_is_a_file_of_every_format():
    assert [path.stem for path in FILES] == [f"study_v{n}" for n in range(1, SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("name", ["arms", "grid"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_says_what_it_said_and_asks_the_same(path, name, tmp_path):
    copy = shutil.copy(path, tmp_path / path.name)
    study = load_study(str(copy), study_name=name)
    expected = json.loads(path.with_suffix(".json").read_text())[name]
    found = json.loads(json.dumps(facts(study)))
    columns = expected["history"][0].keys()  # rows have gained some since
    found["history"] = [{key: row[key] for key in columns} for row in found["history"]]
    assert found == expected
    study.tell(study.ask(), tie=True)  # and goes on
    assert study.answered == expected["answered"] + 1
    study.close()


def test_a_newer_file_is_refused_with_the_remedy(tmp_path):
    copy = shutil.copy(FILES[-1], tmp_path / "newer.sqlite")
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE studies SET schema_version = ?, version = '9.1'", (SCHEMA_VERSION + 1,))
    connection.close()
    with pytest.raises(StudyError, match=rf"format {SCHEMA_VERSION + 1} \(prefopt 9.1\).*pip install -U"):
        load_study(str(copy), study_name="grid")
