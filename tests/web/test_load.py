"""Many raters at once, and a server that is killed under them: every acknowledged answer is kept, once."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_fifty_raters_and_a_server_killed_under_them(tmp_path, storage):
    command = [sys.executable, str(ROOT / "benchmarks" / "web_load.py"), "--seconds", "2", "--kills", "4"]
    command += ["--url", storage] if "://" in storage else []
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "web_load.csv").open() as table:
        calm, killed = csv.DictReader(table)
    for row in (calm, killed):
        assert row["lost"] == row["doubled"] == row["untold"] == row["errors"] == "0"
        assert int(row["acknowledged"]) == int(row["in_log"]) > 50
    assert calm["sent_again"] == "0" and killed["kills"] == "4" and int(killed["sent_again"]) > 0
