"""Wrote ``study_v1.sqlite`` and ``study_v1.json``; run it once, in this folder, for the first release of a new schema.

Files of released versions are never written again: they show that studies of that time still open.
"""

import json
import shutil
from pathlib import Path

from prefopt import Categorical, Float, Space, create_study, load_study
from prefopt.study.events import SCHEMA_VERSION


def arms(path):
    """Every kind of event, and no open question: the next one has to be drawn anew."""
    study = create_study(list("abcdef"), storage=path, study_name="arms", seed=7, strategy="ws-w", budget=40)
    for n in range(12):
        query = study.ask("ann" if n % 3 else None)
        told = [{"best": min(query.ids)}, {"worst": max(query.ids)}, {"tie": True}, {"skip": "do not know"}][n % 4]
        study.tell(query, rater=query.rater, seconds=1.5 + n, token=f"t{n}", **told)
    study.undo(2)
    study.restore(11)
    study.add("tea", rater="ben")
    study.add_comparison("a", "tea")
    while (query := study.ask()).number < 20:
        study.tell(query, ranking=sorted(query.ids))
    study.tell(query, pairs=[[0, 0.7], [0.3, 0]])
    study.close()


def grid(path):
    """A question is open, and stays the one that was asked."""
    space = Space([Float("sweet", 0, 1, step=0.1), Categorical("milk", ["none", "oat", "cow"])])
    study = create_study(space, storage=path, study_name="grid", seed=9, query_size=3, strategy="kernel-self-sparring")
    for _ in range(6):
        query = study.ask()
        study.tell(query, best=min(query.ids))
    study.ask()
    study.close()


def facts(study):
    """What must be read from the file, JSON-able."""
    rows = study.history()
    query = study.ask()
    return {
        "answered": study.answered,
        "history": [row for row in rows if row["status"] != "automatic"],
        "automatic": sum(row["status"] == "automatic" for row in rows),
        "ids": study.ids,
        "comparisons": study.comparisons.tolist(),
        "next": {"number": query.number, "ids": query.ids, "shown": [c.params for c in query.shown]},
    }


def main():
    """Write both files into this folder."""
    path = Path(__file__).with_name(f"study_v{SCHEMA_VERSION}.sqlite")
    arms(str(path))
    grid(str(path))
    copy = shutil.copy(path, path.with_suffix(".copy"))  # asking a question changes the file
    studies = [load_study(str(copy), study_name=name) for name in ("arms", "grid")]
    path.with_suffix(".json").write_text(json.dumps({study.name: facts(study) for study in studies}) + "\n")
    for study in studies:
        study.close()
    Path(copy).unlink()


if __name__ == "__main__":
    main()
