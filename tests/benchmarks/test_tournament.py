"""The tournament: its problems, its luck, its rows, and peers in their own processes."""

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tournament
from tournament_parts import peer as peer_module
from tournament_parts import store, suite
from tournament_parts.methods import METHODS, find_method, policy, unit_cube
from tournament_parts.peer import PEERS, PeerEntry, PeerError
from tournament_parts.play import BUDGETS, COLUMNS, run

from prefopt.domain import Box
from prefopt.errors import SettingError


@pytest.mark.parametrize("problem", suite.SUITE)
def test_utilities_fill_the_unit_interval(problem):
    who = suite.person(problem, 100)
    if isinstance(who.domain, Box):
        u = who.utility(who.domain.sample(3000, np.random.default_rng(0)))
        assert who.environment.best_utility == pytest.approx(1, abs=1e-9)
    else:
        u = who.utility(np.arange(who.domain.size))
        assert (u.min(), u.max()) == (0, 1)
    assert u.min() >= 0 and u.max() <= 1 and u.std() > 0.01


@pytest.mark.parametrize("noise", suite.NOISES)
@pytest.mark.parametrize("problem", ["forrester", "ackley4", "coffee", "face-3"])
def test_a_fifth_of_the_answers_to_random_pairs_is_wrong(problem, noise):
    """Committed scales and those found on the fly; 1,000 answers have a standard error of 0.013."""
    who = suite.person(problem, 101, noise)
    rng = np.random.default_rng(1)
    options = who.domain.sample(200_000 if noise == "top" else 2000, rng)
    u = who.utility(options)
    options = options[rng.permutation(np.argsort(u)[-round(suite.NOISES[noise] * len(u)) :])]
    pairs = options.reshape(-1, 2, who.domain.dim)
    best = who.utility(options).reshape(-1, 2).argmax(axis=1)
    chosen = [who.choose(pair, t) for t, pair in enumerate(pairs)]
    assert np.mean(chosen != best) == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("problem", suite.SCALES)
def test_committed_scales_are_those_of_the_calibration(problem):
    """100,000 points: the best hundredth are a thousand, whose range has a standard error of about 5 %."""
    for place, (noise, close) in enumerate((("random-pairs", 0.03), ("top", 0.2))):
        found = suite.calibrate(suite.build(problem, 0), noise, 100_000, seed=3)
        assert found == pytest.approx(suite.SCALES[problem][place], rel=close)


def test_luck_depends_on_seed_problem_and_question_only():
    slate = np.array([[0.2, 0.3], [0.21, 0.29]])
    who = suite.person("branin", 100)
    first = [who.choose(slate, t) for t in range(60)]
    assert first == [suite.person("branin", 100).choose(slate, t) for t in range(60)]
    assert 5 < sum(first) < 55  # a close pair is answered both ways
    assert first != [suite.person("branin", 101).choose(slate, t) for t in range(60)]
    four = np.concatenate([slate, [[0.0, 0.0], [0.0, 0.0]]])  # the worst corner of Branin: the luck of the two is kept
    assert first == [who.choose(four, t) for t in range(60)]


def test_problems_with_a_number_change_with_the_seed():
    tops = [suite.build("anywhere-2", seed).problem.utility(np.array([[0.5, 0.5]]))[0] for seed in range(4)]
    assert len(set(tops)) == 4
    with pytest.raises(SettingError, match=r"unknown problem 'brannin'.*did you mean 'branin'"):
        suite.build("brannin", 0)
    with pytest.raises(SettingError, match="unknown noise 'loud'"):
        suite.person("branin", 0, "loud")


def test_a_run_is_one_row_and_can_be_repeated():
    row = run("kernel-self-sparring", "coffee", 20, budget=12, m=4)
    assert list(row) == COLUMNS
    assert row["answers"] == 12 and row["failed"] == "" and row["m"] == 4
    assert 0 <= row["regret_10"] <= 1 and row["regret_20"] == row["cpu_80"] == ""
    assert 0 < row["cumulative_10"] < 10 and row["cpu_10"] > 0
    again = run("kernel-self-sparring", "coffee", 20, budget=12, m=4)
    untimed = [c for c in COLUMNS if "cpu" not in c]
    assert [row[c] for c in untimed] == [again[c] for c in untimed]


def test_lists_are_played_with_indices():
    row = run("kernel-self-sparring", "candy-list", 20, budget=20, noise="top")
    assert row["noise"] == "top" and 0 <= row["regret_20"] < 1


class Middle:
    """A method of one's own: the middle against the corner, for ever; it recommends the middle."""

    def __init__(self, dim, seed, m, budget):
        self.dim, self.heard = dim, 0

    def ask(self):
        if self.heard == 15:
            raise RuntimeError("no\nmore ideas")
        return np.array([np.full(self.dim, 0.5), np.zeros(self.dim)])

    def tell(self, winner):
        assert winner in (0, 1)
        self.heard += 1

    def recommend(self):
        return np.full(self.dim, 0.5)


def test_own_methods_and_a_failure_that_leaves_cells_blank():
    row = run(unit_cube(Middle), "rosenbrock3", 100, label="middle")
    assert row["method"] == "middle"
    assert row["regret_10"] == pytest.approx(np.log(3) / 8.88447, abs=1e-4)
    half = suite.person("rosenbrock3", 100).utility(np.array([[0.5] * 3, [0.0] * 3]))
    assert row["cumulative_10"] == pytest.approx(10 * (1 - half.mean()), abs=1e-3)
    assert (row["answers"], row["regret_20"], row["failed"]) == (15, "", "RuntimeError: no more ideas")
    assert "box" in run(unit_cube(Middle), "candy-list", 100)["failed"]


def test_methods_by_name():
    assert find_method("random") is METHODS["random"]
    made = policy("kernel-self-sparring", noise=0.5)(Box(2), m=4, budget=10, seed=0)
    assert (made.policy.noise, made.policy.slate_size, made.policy.feedback) == (0.5, 4, "winner")
    with pytest.raises(SettingError, match=r"unknown method 'randum'.*'random'"):
        find_method("randum")


FAKE = f"""
import sys
sys.path.insert(0, {str(Path(peer_module.__file__).parent / "peers")!r})
from _serve import serve

class Fake:
    def __init__(self, dim, budget, seed):
        print("noise on standard output")
        self.dim, self.won = dim, []
    def ask(self):
        if len(self.won) == 12:
            raise ValueError("cannot fit")
        return [[0.25] * self.dim, [0.75] * self.dim]
    def tell(self, winner):
        self.won.append(winner)
    def recommend(self):
        return [0.75 if sum(self.won) * 2 > len(self.won) else 0.25] * self.dim

serve(Fake)
"""


def test_a_peer_plays_from_its_own_process(tmp_path, monkeypatch):
    script = tmp_path / "fake.py"
    script.write_text(FAKE)
    monkeypatch.setitem(PEERS, "fake", PeerEntry(str(script), ("fake",)))
    monkeypatch.setattr(peer_module, "python", lambda: Path(sys.executable))
    from tournament_parts.methods import peer

    for _ in range(2):  # the second run meets the same process
        row = run(peer("fake"), "forrester", 100, label="fake")
        who = suite.person("forrester", 100)
        won = [who.choose(np.array([[0.25], [0.75]]), t) for t in range(10)]
        best = 0.75 if sum(won) > 5 else 0.25
        assert row["regret_10"] == pytest.approx(1 - who.utility([[best]])[0], abs=1e-6)
        assert (row["answers"], row["regret_20"], row["failed"]) == (12, "", "PeerError: ValueError: cannot fit")
    assert "pairs of points" in run(peer("fake"), "forrester", 100, m=4)["failed"]
    process = peer_module.RUNNING.pop("fake")
    dead = peer_module.Peer.__new__(peer_module.Peer)
    dead.name, dead.cpu, dead.process = "fake", 0.0, process
    process.kill()
    process.wait()
    with pytest.raises(PeerError, match="ended"):
        dead.say({"ask": True})
    process.stdout.close()
    with suppress(BrokenPipeError):
        process.stdin.close()


def test_absent_peers_are_named_and_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PREFOPT_PEERS", str(tmp_path / "none"))
    assert tournament.available(["random", "glisp"]) == ["random"]
    assert "glisp is left out: glis, pyDOE, pyswarm, numba not installed" in capsys.readouterr().out


def test_the_extra_lists_what_the_peers_need():
    assert {"pyDOE==0.3.8", "pyswarm==0.6"} <= set(peer_module.requirements())
    named = " ".join(peer_module.requirements())
    assert all(entry.needs[0] in named for entry in PEERS.values())


def test_rows_are_kept_and_not_made_twice(tmp_path, monkeypatch, capsys):
    arguments = ["tournament.py", "--methods", "random", "--problems", "branin,face-2", "--seeds", "100-101"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--budget", "20", "--jobs", "1", "--out", str(tmp_path)])
    tournament.main()
    assert "4 runs, of which 0 are there" in capsys.readouterr().out
    rows = store.read(tmp_path / "tournament")
    assert len(rows) == 4 and all(isinstance(row["regret_20"], float) for row in rows)
    file = tmp_path / "tournament" / "random.csv"
    file.write_text(file.read_text() + "random,branin,")  # a line that was cut off
    tournament.main()
    assert "4 runs, of which 4 are there" in capsys.readouterr().out
    assert store.read(tmp_path / "tournament") == rows
    assert "versions" in (tmp_path / "tournament" / "random.json").read_text()


def test_seeds():
    assert tournament.seeds_of("100-102,7") == [100, 101, 102, 7]
    assert BUDGETS == (10, 20, 40, 80)
