"""The benchmarks of the web server see what is lost or doubled, and what the person likes."""

import numpy as np
import pytest

pytest.importorskip("fastapi")
import web_load
import web_next

from prefopt import create_study, load_study
from prefopt.study.events import Event


def test_what_is_lost_doubled_or_untold_is_counted(tmp_path):
    storage = str(tmp_path / "s.db")
    study = create_study(["a", "b", "c"], storage=storage, seed=1, strategy="random", study_name="s")
    tally = web_load.Tally()
    for number in range(1, 4):
        query = study.ask()
        study.tell(query, best=query.shown[0], token=f"rater 1:mark{number}")
        tally.acknowledged[f"mark{number}"] = number
    assert web_load.check(storage, "s", tally) == {"in_log": 3, "lost": 0, "doubled": 0, "untold": 0}
    tally.acknowledged |= {"mark3": 2, "mark9": 9}  # told of another question, and of one that is not there
    assert web_load.check(storage, "s", tally) == {"in_log": 3, "lost": 2, "doubled": 0, "untold": 0}
    del tally.acknowledged["mark1"]
    again = Event("answered", {"query": 1, "answer": {"kind": "tie", "size": 2}}, token="rater 2:mark1")
    study._storage.append(study.record, again)
    assert web_load.check(storage, "s", tally) == {"in_log": 4, "lost": 2, "doubled": 2, "untold": 1}


def test_quantiles_of_waits():
    found = web_load.milliseconds([0.001 * i for i in range(101)])
    assert found == pytest.approx({"p50": 50, "p95": 95, "p99": 99})


def test_the_person_reads_the_cards(tmp_path):
    token = web_next.make(str(tmp_path / "s.db"), 3, 1)
    study = load_study(str(tmp_path / "s.db"))
    assert study.answered == 3 and study.rater_by_token(token).name == "Ann"
    rows = [[(name, str(value + off)) for name, value in web_next.IDEAL.items()] for off in (0.2, -0.01, 0.4)]
    luck = np.random.default_rng(0)
    named = [web_next.preferred([{"rows": row} for row in rows], luck) for _ in range(2000)]
    assert np.mean(np.array(named) == 1) == pytest.approx(1 - web_next.LAPSES * 2 / 3, abs=0.05)
    assert web_next.measured([0.1, 0.2], think=1)["p50_ms"] == 150
