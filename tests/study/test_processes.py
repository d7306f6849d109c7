"""Other processes: killed ones lose nothing, concurrent ones get in nobody's way."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prefopt import create_study, load_study
from tests.study.script import questions
from tests.study.writers import CONTEXT, goes_on

SCRIPT = Path(__file__).with_name("script.py")


def start(path, rounds, *rater):
    command = [sys.executable, str(SCRIPT), str(path), str(rounds), *rater]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(study):
    return [(q["question"], q["slate"], q["shown"], q["status"], q["named"]) for q in study.history() if q["question"]]


def uninterrupted(count):
    study = create_study(list("abcdefgh"), seed=11, strategy="ind-self-sparring")
    for _ in range(count):
        query = study.ask()
        study.tell(query, best=min(query.ids))
    return study


def kill_repeatedly(path, kills):
    waits = random.Random(5)
    create_study(list("abcdefgh"), storage=str(path), seed=11, strategy="ind-self-sparring").close()
    for _ in range(kills):
        answered = CONTEXT.Event()
        process = CONTEXT.Process(target=goes_on, args=(str(path), answered))
        process.start()
        assert answered.wait(60)
        time.sleep(waits.uniform(0, 0.1))
        process.kill()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
    study = load_study(str(path))
    count = questions(study)
    assert count >= kills
    whole = uninterrupted(count)
    for query in (study.ask(), whole.ask()):  # one may have been killed between ask and tell
        assert query.number >= count
    assert study.answered in (count, count - 1)
    if study.answered < count:
        whole.undo()
    assert told(study)[: count - 1] == told(whole)[: count - 1]
    assert study.ask() == whole.ask()
    study.close()


def test_killed_processes_lose_nothing_and_ask_the_same_next_question(tmp_path):
    kill_repeatedly(tmp_path / "s.db", 8)


@pytest.mark.slow
def test_fifty_kills(tmp_path):
    kill_repeatedly(tmp_path / "s.db", 50)


def write_together(path, rounds):
    create_study(list("abcdefgh"), storage=str(path), seed=11, strategy="ind-self-sparring").close()
    processes = [start(path, rounds, f"rater{i}") for i in range(3)]
    reports = [p.communicate(timeout=300) for p in processes]
    for out, err in reports:
        assert "done" in out, err
    study = load_study(str(path))
    numbers = sorted(int(n) for out, _ in reports for n in out.split("done")[1].split())
    assert numbers == list(range(1, 3 * rounds + 1))
    assert study.answered == 3 * rounds
    rows = [row for row in study.history() if row["question"] and row["status"] == "answered"]
    assert all(row["named"] == [min(row["shown"])] for row in rows)
    assert {row["rater"] for row in rows} == {"rater0", "rater1", "rater2"}
    study.close()


def test_three_processes_write_one_file(tmp_path):
    write_together(tmp_path / "s.db", 40)


@pytest.mark.slow
def test_three_processes_write_one_file_for_long(tmp_path):
    write_together(tmp_path / "s.db", 150)


def test_same_seed_and_log_same_question_in_another_process(tmp_path):
    process = start(tmp_path / "s.db", 15)
    out, err = process.communicate(timeout=120)
    assert "done" in out, err
    study = load_study(str(tmp_path / "s.db"))
    assert study.ask() == uninterrupted(15).ask()
    study.close()
