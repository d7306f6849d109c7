"""``prefopt serve``: the links come right away, and what is wrong is said in a line."""

import re
import subprocess
import sys
import time

import pytest

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")


@pytest.fixture
def started(tmp_path):
    """Starts ``prefopt serve words...`` in ``tmp_path``; gives what it says and the process."""
    running = []

    def start(*words):
        command = [sys.executable, "-m", "prefopt.cli", "serve", *words, "--port", "0"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        running.append(process)
        lines = []
        while "control-C" not in "".join(lines[-1:]):
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        return "".join(lines), process

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def get(link, path, tries=100):
    origin, token = re.match(r"(http://[^/]+)/\w*#(\S+)", link).groups()
    for _ in range(tries):
        try:
            return httpx.get(origin + path, headers={"authorization": f"Bearer {token}"}, timeout=20)
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("no server")


def test_one_command_serves_a_demo_and_the_next_goes_on(started, tmp_path):
    said, process = started("--demo", "curve")
    rater, admin = re.search(r"to answer: (\S+)", said)[1], re.search(r"for you: (\S+)", said)[1]
    screen = get(rater, "/api/screen").json()
    assert screen["question"]["cards"][0]["kind"] == "image"
    assert get(admin, "/api/admin/overview").json()["raters"][0]["id"] == "rater 1"
    process.terminate()
    assert process.wait(30) in (0, -15)
    assert rater.split("#")[1] not in process.stdout.read() and (tmp_path / "demo-curve.db").is_file()
    said, _ = started("demo-curve.db", "--rater", "Bob")
    assert "to answer, Bob:" in said and get(re.search(r"Bob: (\S+)", said)[1], "/api/screen").status_code == 200
    again = re.search(r"for you: (\S+)", said)[1]
    origin = again.partition("/admin")[0]
    known = get(f"{origin}/#{rater.split('#')[1]}", "/api/screen").json()
    assert known["question"]["number"] == screen["question"]["number"]  # links outlive the server
    assert (
        get(f"{origin}/admin#{admin.split('#')[1]}", "/api/admin/overview").status_code == 401
    )  # the admin's does not


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to serve"),
        (("--demo", "colours"), "did you mean 'colour'"),
        (("gone.db",), "is not there"),
        (("--demo", "recipe", "--host", "203.0.113.9"), "cannot listen at 203.0.113.9"),
    ],
)
def test_what_is_wrong_is_one_line(prefopt, words, said):
    done = prefopt("serve", *words)
    assert done.code == 2 and said in done.err and len(done.err.splitlines()) <= 2


def test_without_the_extra_the_command_that_installs_it_is_said(prefopt, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = prefopt("serve", "--demo", "recipe")
    assert done.code == 2 and "pip install 'prefopt-bo[web]'" in done.err


def test_a_study_file_with_a_python_function_and_one_with_a_command(prefopt, tmp_path, monkeypatch):
    from prefopt.cli.serve import opened_file

    monkeypatch.chdir(tmp_path)
    (tmp_path / "drawn.py").write_text("def draw(params):\n    return str(params)[::-1]\n")
    (tmp_path / "a.toml").write_text('options = ["ab", "cd"]\nrender = "python:drawn:draw"\n')
    opened, render, folder = opened_file("a.toml", None)
    assert render("ab") == "ba" and folder == tmp_path and opened.notes == ()
    (tmp_path / "b.toml").write_text('options = ["ab", "cd"]\nrender = "xdg-open {file}"\n')
    opened, render, _ = opened_file("b.toml", None)
    assert render is None and "for the terminal" in opened.notes[0]
