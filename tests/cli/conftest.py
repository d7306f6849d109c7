"""Command lines in this process, in a folder of their own."""

import io
import sys
from types import SimpleNamespace

import pytest

from prefopt.cli import main


@pytest.fixture
def prefopt(tmp_path, monkeypatch, capsys):
    """Runs ``prefopt words...`` in ``tmp_path`` with ``keys`` typed into a pipe; gives code, out and err."""
    monkeypatch.chdir(tmp_path)

    def run(*words, keys=""):
        monkeypatch.setattr(sys, "argv", ["prefopt", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return run
