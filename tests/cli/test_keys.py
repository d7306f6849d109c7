"""Keys in a real terminal, and characters over a pipe."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from prefopt.study import load_study

STUDY = 'storage = "s.db"\nseed = 1\noptions = ["a", "b", "c", "d"]\nbudget = 30\n'


class Terminal:
    """``prefopt run`` in a pseudo-terminal."""

    def __init__(self, folder):
        self.master, slave = pty.openpty()
        words = [sys.executable, "-m", "prefopt.cli", "run"]
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, cwd=folder)
        os.close(slave)
        self.said = ""

    def type(self, keys):
        os.write(self.master, keys)

    def wait_for(self, text, again=b""):
        """Read until ``text`` appears after what has been waited for; type ``again`` every half second."""
        end, quiet = time.monotonic() + 60, 0.5
        while text not in self.said:
            assert time.monotonic() < end, f"no {text!r} in {self.said!r}"
            if select.select([self.master], [], [], quiet)[0]:
                try:
                    self.said += os.read(self.master, 4096).decode()
                except OSError:  # the program has ended
                    assert text in self.said, self.said
            elif again:
                self.type(again)
        before, _, self.said = self.said.partition(text)
        return before


@pytest.fixture
def terminal(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    made = Terminal(tmp_path)
    made.wait_for("q quit (everything is kept)")
    made.wait_for("q quit (everything is kept)", again=b"?")  # keys are taken now
    yield made
    made.process.kill()
    made.process.wait()
    os.close(made.master)


def test_keys_that_send_a_sequence_answer_nothing(terminal, tmp_path):
    terminal.type(b"\x1b[2~")  # Insert
    time.sleep(0.3)
    terminal.type(b"\x1b[A")  # up
    time.sleep(0.3)
    terminal.type(b"\xc3\xa4")
    assert "not a key" not in terminal.wait_for("'ä' is not a key")
    terminal.type(b"1")
    terminal.wait_for("-> 1")
    terminal.wait_for("Question 2")
    terminal.wait_for("every answer is kept", again=b"\x04")
    assert terminal.process.wait(60) == 0
    assert load_study(str(tmp_path / "s.db")).answered == 1


def test_a_key_right_after_a_wrong_one_counts(terminal):
    terminal.type("ä1".encode())
    terminal.wait_for("'ä' is not a key")
    terminal.wait_for("-> 1")


def test_a_double_press_answers_one_question(terminal, tmp_path):
    terminal.type(b"22")
    terminal.wait_for("Question 2")
    terminal.wait_for("every answer is kept", again=b"q")
    assert terminal.process.wait(60) == 0
    assert load_study(str(tmp_path / "s.db")).answered == 1


def test_over_a_pipe_every_character_counts(prefopt, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    prefopt("run", keys="11\n 2\n\n=s")
    assert load_study("s.db").answered == 4
    prefopt("run", keys="1q1")
    prefopt("run", keys="\x041")
    assert load_study("s.db").answered == 5
