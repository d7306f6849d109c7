"""Questions computed again from the log, whatever happened in between; an edited log is found out."""

import warnings

import pytest
import sqlalchemy as sa

from prefopt import Categorical, Float, Space, create_study, load_study
from prefopt.study.replay import AS_ASKED
from tests.study.writers import asks_and_tells, together

GRID = [Float("sweet", 0, 1, step=0.1), Categorical("milk", ["none", "oat", "cow"])]
SPACES = {
    "arms": (list("abcdefgh"), "d-ts", 2),
    "list": (list("abcdefgh"), "ind-self-sparring", 3),
    "grid": (Space(GRID), "kernel-self-sparring", 2),
    "box": (Space([Float("x", 0, 1), Float("y", 0, 1)]), "kernel-self-sparring", 2),
}


def used(name, storage=None, rounds=8):
    """A study with skips, undone and excluded answers, ideas, several raters and hidden repeats."""
    space, strategy, size = SPACES[name]
    study = create_study(space, seed=3, strategy=strategy, query_size=size, storage=storage, repeats=0.3, overlap=0.2)
    for n in range(rounds):
        rater = ("ann", "ben")[n % 2]
        query = study.ask(rater)
        said = {"skip": "?"} if n % 5 == 3 else {"best": min(query.ids)}
        study.tell(query, rater=rater, **said)
        if n == 4:
            study.undo()
            study.ask("cem")  # stays open
        if n == 5:
            study.add(space[0] if isinstance(space, list) else study.recommend().params)
            study.remove_answer(1, "a slip")
        if n == 6:
            study.validate(1)
    return study


@pytest.mark.parametrize("name", SPACES)
def test_every_question_is_computed_to_the_same(name):
    study = used(name)
    result = study.replay()
    assert result.matches and {step.verdict for step in result.steps} == {"same"}
    assert len([s for s in result.steps if s.question == 8]) >= 1
    n = len(result.steps)
    assert result.lines() == [f"{n} questions and automatic steps: {n} computed again to the same, 0 different"]


def test_an_edited_log_is_found_out(tmp_path):
    path = str(tmp_path / "s.db")
    used("list", path).close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        query = sa.text("SELECT number, payload FROM events WHERE kind = 'answered' ORDER BY number")
        number, payload = connection.execute(query).first()
        other = payload.replace('"order": [0]', '"order": [9]').replace('"order": [1]', '"order": [0]')
        other = other.replace('"order": [2]', '"order": [0]').replace('"order": [9]', '"order": [1]')
        assert other != payload
        connection.execute(sa.text("UPDATE events SET payload = :p WHERE number = :n"), {"p": other, "n": number})
    engine.dispose()
    study = load_study(path)
    result = study.replay()
    different = [step for step in result.steps if step.verdict == "different"]
    assert different and not result.matches and "asked were" in different[0].why
    assert f"question {different[0].question} (event {different[0].event}): different, asked were" in result.lines()[1]
    assert "edited" in result.lines()[-1]
    study.close()


def test_a_question_cut_short_is_taken_as_asked():
    study = create_study(SPACES["box"][0], seed=3)
    for n in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            query = study.ask(timeout=0.0 if n == 2 else None)
        study.tell(query, best=min(query.ids))
    result = study.replay()
    assert [step.verdict for step in result.steps] == ["same", "same", AS_ASKED, "same"]
    assert result.matches and "question 3 (event" in result.lines()[1] and "ran out of time" in result.lines()[1]


def test_questions_asked_by_processes_side_by_side(tmp_path):
    path = str(tmp_path / "s.db")
    create_study(list("abcdefgh"), storage=path, seed=11, strategy="ind-self-sparring").close()
    together(asks_and_tells, path, 3, 5)
    study = load_study(path)
    assert study.replay().matches and study.answered == 15
    study.close()


def test_a_step_written_after_the_question_it_led_to(tmp_path):
    """One process drafts an automatic step; before it is written, another one hears more and asks the question."""
    path = str(tmp_path / "s.db")
    study = create_study(list("abcd"), storage=path, seed=11, strategy="ind-self-sparring")
    other, written = load_study(path), 0
    for _ in range(30):
        draft = other._asker.draft(other._sync(), None, None)
        study.add_comparison("d", "a")
        query = study.ask()
        if draft.kind == "auto":  # refused if the other one took this step too
            written += other._storage.append(other.record, draft)
        study.tell(query, best=min(query.ids))
    assert written and study.replay().matches
    study.close(), other.close()


def test_logs_that_do_not_say_what_was_known(tmp_path):
    """As written before ``after`` was kept: an answer came in between."""
    from prefopt.study.replay import replay

    study = create_study(list("abcdefgh"), seed=2, strategy="ind-self-sparring")
    for _ in range(3):
        study.tell(study.ask("ann"), best=min(study.ask("ann").ids), rater="ann")
    study.ask("ann"), study.ask("ben")
    events = study._storage.read(study.record)
    for event in events:
        event.payload.pop("after", None)
    asked = events.pop()
    answer = study.ask("ann")
    study.tell(answer, best=max(answer.ids), rater="ann")
    late = study._storage.read(study.record)[-1]
    for place, event in enumerate([*events, late, asked], start=1):
        object.__setattr__(event, "number", place)
    result = replay(study.record, [*events, late, asked])
    assert result.matches and len([step for step in result.steps if step.verdict == "same"]) == len(result.steps)


def test_the_command(tmp_path, monkeypatch, capsys):
    from prefopt.cli import main

    used("arms", str(tmp_path / "s.db")).close()
    monkeypatch.setattr("sys.argv", ["prefopt", "replay", str(tmp_path / "s.db")])
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code and "0 different" in capsys.readouterr().out
