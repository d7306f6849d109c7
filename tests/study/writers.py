"""Processes that write a study, forked from one that has imported everything."""

import multiprocessing

from prefopt import create_study, load_study

#: One process imports everything; the writers are forked from it, so that they begin together.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.study.writers", "prefopt.study", "psycopg"])


def asks_and_tells(storage, rater, rounds, barrier, results):
    """Ask and tell ``rounds`` times; puts the numbers of the questions, or what went wrong."""
    try:
        barrier.wait(60)
        study = load_study(storage)
        asked = []
        for _ in range(rounds):
            query = study.ask(rater)
            asked.append(query.number)
            study.tell(query, best=min(query.ids), rater=rater, token=f"{rater}-{query.number}")
            study.tell(query, best=min(query.ids), rater=rater, token=f"{rater}-{query.number}")  # a double click
        results.put((rater, asked))
        study.close()
    except BaseException as error:
        results.put((rater, repr(error)))


def goes_on(storage, answered):
    """Ask and tell until somebody kills the process; ``answered`` is set after the first answer."""
    study = load_study(storage)
    while True:
        query = study.ask()
        study.tell(query, best=min(query.ids))
        answered.set()


def creates(storage, rater, barrier, results):
    """Create the same study as everybody else, and answer one question."""
    try:
        barrier.wait(60)
        study = create_study(
            list("abcdefgh"), storage=storage, seed=11, strategy="ind-self-sparring", load_if_exists=True
        )
        study.tell(study.ask(rater), skip="no idea", rater=rater)
        results.put((rater, None))
        study.close()
    except BaseException as error:
        results.put((rater, repr(error)))


def together(target, storage, count, *args):
    """Run ``target`` in ``count`` processes at the same instant; rater -> what each put."""
    barrier, results = CONTEXT.Barrier(count), CONTEXT.Queue()
    processes = [
        CONTEXT.Process(target=target, args=(storage, f"rater{i}", *args, barrier, results)) for i in range(count)
    ]
    for process in processes:
        process.start()
    found = dict(results.get(timeout=540) for _ in processes)
    for process in processes:
        process.join(60)
    assert all(process.exitcode == 0 for process in processes)
    return found
