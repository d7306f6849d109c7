"""SQLite and PostgreSQL keep the same study, however many processes write it, and never show a password."""

import json
import shutil
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from prefopt import create_study, load_study
from prefopt.errors import MissingDependency, NoStudyError, StudyError
from prefopt.study.events import SCHEMA_VERSION
from prefopt.study.storage import Storage
from prefopt.study.tables import events, metadata, studies
from prefopt.study.urls import read_url, shown
from tests import postgres
from tests.study.writers import asks_and_tells, creates, together

DATA = Path(__file__).parents[1] / "data"


def scripted(storage):
    """A study with every kind of event that does not depend on time."""
    study = create_study(list("abcdef"), storage=storage, study_name="täa ☕", seed=7, strategy="ind-self-sparring")
    for n in range(9):
        query = study.ask("änn" if n % 2 else None)
        said = [{"best": min(query.ids)}, {"skip": "\0 and \ud800 and 'quotes'\\"}, {"tie": True}][n % 3]
        study.tell(query, seconds=0.1 + n / 3, token=f"t{n}", **said)
    study.undo(2)
    study.restore(study.history()[-1]["question"])
    study.add({"brew": ["tea", 1.5]})
    study.add_comparison("a", "b", rater="ben")
    return study


def timeless(study):
    """The history without what the clock says."""
    return [{k: v for k, v in row.items() if k not in ("asked", "answered")} for row in study.history()]


def test_every_database_keeps_the_same_study(storage):
    study = scripted(storage)
    again = load_study(storage)
    assert timeless(again) == timeless(scripted(None)) == timeless(study)
    assert again.ask() == study.ask() and again.ask().number > 9
    assert again.recommend() == study.recommend()
    load_study(storage, budget=30)
    assert load_study(storage).budget == 30
    with pytest.raises(StudyError, match="another question"):
        load_study(storage, question="Wéll?")
    with pytest.raises(StudyError, match="has a study 'täa ☕' already"):
        create_study(list("ab"), storage=storage, study_name="täa ☕")
    create_study(list("ab"), storage=storage, study_name="two").close()
    with pytest.raises(NoStudyError, match=r"'three' is not there; it holds 'täa ☕', 'two'"):
        load_study(storage, study_name="three")
    study.close()
    again.close()


def write_together(storage, rounds):
    create_study(list("abcdefgh"), storage=storage, seed=11, strategy="ind-self-sparring").close()
    found = together(asks_and_tells, storage, 8, rounds)
    assert [said for said in found.values() if isinstance(said, str)] == []
    assert sorted(n for asked in found.values() for n in asked) == list(range(1, 8 * rounds + 1))
    study = load_study(storage)
    rows = [row for row in study.history() if row["question"] and row["status"] == "answered"]
    assert study.answered == len(rows) == 8 * rounds
    assert all(row["named"] == [min(row["shown"])] and row["question"] in found[row["rater"]] for row in rows)
    numbers = [event.number for event in study._storage.read(study.record)]
    assert numbers == list(range(1, len(numbers) + 1))
    study.close()


def test_eight_processes_at_the_same_instant(storage):
    write_together(storage, 5)


@pytest.mark.slow
def test_eight_processes_for_long(storage):
    write_together(storage, 25)


def test_who_lost_two_races_gets_a_question_in_one_turn(storage):
    """However many steps without a person come first; a question that another process asked this rater is taken."""
    study = create_study(list("abcdefgh"), storage=storage, seed=11, strategy="ind-self-sparring")
    for _ in range(40):
        query = study.ask("ann")
        study.tell(query, best=min(query.ids), rater="ann")
    other, alone = load_study(storage), study._storage.append_alone
    study._storage.append = lambda *_: False  # every race is lost
    steps, turns = [], []
    study._storage.append_alone = lambda *words: turns.append(words) or alone(*words)
    for _ in range(5):
        turns.clear()
        query = study.ask("ann")
        assert len(turns) == 1
        events = study._storage.read(study.record)
        steps.append(sum(e.kind == "auto" and e.payload["query"] == query.number for e in events))
        other.tell(query, best=min(query.ids), rater="ann")
    assert max(steps) > 1 and study.replay().matches
    study._storage.append_alone = lambda *words: turns.append(other.ask("ann")) or alone(*words)
    assert study.ask("ann") == turns[-1]
    study._storage.append_alone = lambda *words: other.pause("lunch") or alone(*words)
    with pytest.raises(StudyError, match="lunch"):
        study.ask("ben")
    study.close()
    other.close()


def test_eight_processes_create_the_same_study(storage):
    found = together(creates, storage, 8)
    assert set(found.values()) == {None}
    study = load_study(storage)
    assert sorted(row["rater"] for row in study.history() if row["status"] == "skipped") == sorted(found)
    study.close()


def old_database(storage):
    """The frozen studies of format 1 in ``storage``, as an earlier prefopt left them."""
    frozen = DATA / "study_v1.sqlite"
    if "://" not in storage:
        return shutil.copy(frozen, storage)
    source, target = sa.create_engine(f"sqlite:///{frozen}"), sa.create_engine(read_url(storage))
    before = sa.MetaData()
    before.reflect(source)
    before.create_all(target)
    with source.connect() as reader, target.begin() as writer:
        for table in before.sorted_tables:
            writer.execute(table.insert(), [dict(row) for row in reader.execute(table.select()).mappings()])
    source.dispose()
    target.dispose()
    return storage


def formats(storage):
    database = Storage(storage, create=False)
    found = database._read(lambda connection: set(connection.execute(sa.select(studies.c.schema_version)).scalars()))
    database.close()
    return found


def test_format_1_is_migrated_and_says_the_same(storage):
    old_database(storage)
    study = load_study(storage, study_name="grid")
    assert formats(storage) == {SCHEMA_VERSION}
    expected = json.loads((DATA / "study_v1.json").read_text())["grid"]
    assert (study.answered, study.ids) == (expected["answered"], expected["ids"])
    assert study.ask().number == expected["next"]["number"]
    study.close()


def test_a_migration_that_fails_leaves_everything_as_it_was(storage, monkeypatch):
    old_database(storage)

    def fails(connection):
        connection.execute(sa.text("CREATE TABLE half_done (x INTEGER)"))
        connection.execute(events.delete())
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr("prefopt.study.migrations.STEPS", dict.fromkeys(range(1, SCHEMA_VERSION), fails))
        with pytest.raises(RuntimeError, match="the power is gone"):
            load_study(storage, study_name="grid")
    engine = sa.create_engine(read_url(storage))
    with engine.connect() as connection:
        assert not sa.inspect(connection).has_table("half_done")
        assert connection.execute(sa.select(sa.func.count()).select_from(events)).scalar() > 40
        assert connection.execute(sa.text("SELECT DISTINCT schema_version FROM studies")).scalars().all() == [1]
    engine.dispose()
    load_study(storage, study_name="grid").close()
    assert formats(storage) == {SCHEMA_VERSION}


def test_a_file_that_cannot_be_migrated_says_so():
    with pytest.raises(StudyError, match=r"readonly"):
        load_study(f"sqlite:///file:{DATA / 'study_v1.sqlite'}?mode=ro&immutable=1&uri=true", study_name="grid")


def test_passwords_are_never_shown(postgres_url, tmp_path, capsys, monkeypatch):
    from prefopt.cli import main

    assert postgres.PASSWORD in postgres_url
    study = create_study(list("ab"), storage=postgres_url, seed=1)
    study.tell(study.ask(), best=0)
    study.export(tmp_path / "s.json")
    study.export(tmp_path / "s.csv")
    study.close()
    said = [(tmp_path / name).read_text() for name in ("s.json", "s.csv")] + [repr(study)]
    attempts = [
        lambda: create_study(list("ab"), storage=postgres_url),
        lambda: load_study(postgres_url, study_name="other"),
        lambda: load_study(postgres_url.replace(postgres.USER, "nobody_there")),
        lambda: load_study(postgres_url + "_not_there"),
        lambda: load_study(postgres_url.replace("postgresql", "mysql")),
        lambda: load_study(postgres_url.replace("127.0.0.1:", "127.0.0.1:x")),
        lambda: load_study(postgres_url.split("@")[0] + "@"),
    ]
    for attempt in attempts:
        with pytest.raises(StudyError) as caught:
            attempt()
        said.append(str(caught.value))
    for words in (
        ["run", postgres_url],
        ["best", postgres_url],
        ["history", postgres_url, "--name", "x"],
        ["raters", postgres_url, "--add", "Ann"],
    ):
        monkeypatch.setattr("sys.argv", ["prefopt", *words])
        monkeypatch.setattr("sys.stdin.read", lambda *_: "q", raising=False)
        with pytest.raises(SystemExit):
            main()
        out = capsys.readouterr()
        assert out.out or out.err
        said += [out.out, out.err]
    assert [text for text in said if postgres.PASSWORD in text] == []
    assert any("***" in text for text in said)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:p@ss@h:5432/d", "postgresql://u:***@h:5432/d"),
        ("postgresql://u@h/d?password=x&sslpassword=y&z=1", "postgresql://u@h/d?password=***&sslpassword=***&z=1"),
        ("postgresql://:p@h/d", "postgresql://:***@h/d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("tea:a@b.db", "tea:a@b.db"),
    ],
)
def test_what_of_a_url_is_shown(url, expected):
    assert shown(url) == expected


@pytest.mark.parametrize("url", ["mysql://u@h/d", "oracle://h", "postgresql+asyncpg://h/d", "nonsense://", "://x"])
def test_other_databases_are_refused(url):
    with pytest.raises(StudyError, match="expected a file name or a URL postgresql://user@host/database"):
        Storage(url)


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingDependency, match=r"pip install 'prefopt-bo\[postgres\]'"):
        Storage("postgresql://u@h/d")


def test_a_server_that_is_not_there_is_one_line():
    started = time.monotonic()
    with pytest.raises(StudyError, match=r"127\.0\.0\.1.*nothing was written") as caught:
        load_study("postgresql://u:secret@127.0.0.1:9/d")
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value)
    assert time.monotonic() - started < 30


def test_the_table_of_formats_is_complete():
    from prefopt.study.migrations import STEPS

    assert list(STEPS) == list(range(1, SCHEMA_VERSION))
    assert {"studies", "events"} <= set(metadata.tables)


def test_a_password_with_an_at_sign_is_not_taken_for_a_host():
    with pytest.raises(StudyError, match="write @ in a user name or password as %40") as caught:
        read_url("postgresql://ann:s3c/r@tail@127.0.0.1:1/tea")
    assert "s3c" not in str(caught.value) and "tail" not in str(caught.value)
