"""The peers: public tools from PyPI, unmodified, each in its own process and in their own virtual environment.

The process only asks and is told; who answers, and with what luck, stays here. Lines of JSON go both ways.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


#: Read by numerical libraries when they are loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class PeerEntry(NamedTuple):
    """One peer: its script in ``peers/``, what it needs, and after how many answers it stops (it is slow)."""

    script: str
    needs: tuple[str, ...]
    answers: int = 80


PEERS = {
    "botorch-eubo": PeerEntry("botorch_eubo.py", ("botorch", "gpytorch", "torch")),
    "optuna-gp": PeerEntry("optuna_gp.py", ("optuna-dashboard", "optuna", "botorch", "torch"), 40),
    "glisp": PeerEntry("glisp.py", ("glis", "pyDOE", "pyswarm", "numba")),
    "random-pairwise-gp": PeerEntry("random_pairwise_gp.py", ("botorch", "gpytorch", "torch")),
}


class PeerError(RuntimeError):
    """The peer raised, or ended; the message is the peer's."""


def environment() -> Path:
    """Folder of the peers' virtual environment: ``PREFOPT_PEERS``, or one in the user's cache."""
    return Path(os.environ.get("PREFOPT_PEERS", Path.home() / ".cache" / "prefopt-peers"))


def python() -> Path:
    """The peers' interpreter."""
    return environment() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def requirements() -> list[str]:
    """What the project's extra "peers" lists."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["project"]["optional-dependencies"]["peers"])


def setup() -> None:
    """Make the virtual environment and install the peers from PyPI; the versions of ``constraints.txt`` hold."""
    if not python().exists():
        venv.create(environment(), with_pip=True)
    command = [str(python()), "-m", "pip", "install", "-c", str(ROOT / "constraints.txt"), *requirements()]
    subprocess.run(command, check=True)


def installed(names: tuple[str, ...]) -> dict[str, str]:
    """Versions in the peers' environment of those of ``names`` that are there; none without the environment."""
    if not python().exists():
        return {}
    code = (
        "import json, sys; from importlib.metadata import distributions as d; "
        "print(json.dumps({x.name: x.version for x in d()}))"
    )
    said = subprocess.run([str(python()), "-c", code], capture_output=True, text=True, check=True).stdout
    found = {name.lower(): number for name, number in json.loads(said).items()}
    return {name: found[name.lower()] for name in names if name.lower() in found}


def missing(name: str) -> list[str]:
    """What the peer called ``name`` needs and is not installed."""
    needs = PEERS[name].needs
    there = installed(needs)
    return [n for n in needs if n not in there]


#: One process a peer, kept for the next run of this worker; it ends when its input closes, with the worker.
RUNNING: dict[str, subprocess.Popen[str]] = {}


def process_of(name: str) -> subprocess.Popen[str]:
    """The peer's process, started if it does not run; one thread."""
    found = RUNNING.get(name)
    if found is None or found.poll() is not None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        found = RUNNING[name] = subprocess.Popen(
            [str(python()), str(HERE / "peers" / PEERS[name].script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**clean, **ONE_THREAD},
        )
    return found


class Peer:
    """A player whose moves come from a peer's process.

    Attributes:
        cpu: seconds of CPU that its moves took so far, in its process.
    """

    def __init__(self, name: str, dim: int, budget: int, seed: int) -> None:
        self.name, self.cpu = name, 0.0
        self.process = process_of(name)
        self.say({"start": {"dim": dim, "budget": budget, "seed": seed}})

    def say(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one message and read the reply.

        Raises:
            PeerError: it raised, or its process ended.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"the process of {self.name} ended with code {self.process.wait()}")
        reply: dict[str, Any] = json.loads(line)
        self.cpu += reply.get("cpu", 0.0)
        if "error" in reply:
            raise PeerError(reply["error"])
        return reply

    def ask(self) -> NDArray[np.float64]:
        """The peer's next pair (2, d)."""
        return np.array(self.say({"ask": True})["slate"])

    def tell(self, slate: Any, answer: Answer) -> None:
        """Tell the peer which of the pair won."""
        self.say({"tell": int(answer.order[0])})

    def feed(self, pairs: NDArray[np.float64], winners: Sequence[int]) -> None:
        """Answers (n,) to pairs (n, 2, d) that the peer did not ask about; for those with PairwiseGP."""
        self.say({"feed": [pairs.tolist(), list(winners)]})

    def recommend(self) -> NDArray[np.float64]:
        """The peer's own recommendation (d,)."""
        return np.array(self.say({"recommend": True})["point"])
