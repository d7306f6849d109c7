"""A scripted study in a process of its own: ``script.py FILE ROUNDS [RATER]``; prints what it was asked."""

import sys

from prefopt import create_study


def questions(study):
    """How many questions were asked."""
    return sum(row["asked"] is not None for row in study.history())


def main(path, rounds, rater=None):
    study = create_study(list("abcdefgh"), storage=path, seed=11, strategy="ind-self-sparring", load_if_exists=True)
    print("ready", flush=True)
    asked = []
    while questions(study) < rounds if rater is None else len(asked) < rounds:
        query = study.ask(rater)
        asked.append(query.number)
        study.tell(query, best=min(query.ids), rater=rater)
    print("done", *asked, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
