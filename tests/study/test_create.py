"""What create_study refuses, and that it leaves nothing behind."""

import re
from pathlib import Path

import numpy as np
import pytest

from prefopt import Arms, Box, Grid, create_study, load_study
from prefopt.errors import SettingError, StudyError
from prefopt.policies import POLICIES, Entry, make_policy
from prefopt.policies.arms.ind_self_sparring import IndSelfSparring


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"question": None}, StudyError, "question must be a text that is not empty, got None"),
        ({"question": ""}, StudyError, "question must be"),
        ({"study_name": None}, StudyError, "study_name must be a text that is not empty, got None"),
        ({"study_name": " "}, StudyError, "study_name must be"),
        ({"study_name": 3}, StudyError, "study_name must be .*got 3"),
        ({"study_name": "x" * 300}, StudyError, "study_name must be a text of at most 255"),
        ({"storage": 3}, StudyError, "storage must be a file name, a postgresql:// URL, or None for memory, got 3"),
        ({"storage": ""}, StudyError, "storage must be"),
        ({"settings": 3}, SettingError, "settings must be a dict such as .*got 3"),
        ({"settings": 0}, SettingError, "settings must be a dict"),
        ({"settings": {"preset": []}}, SettingError, r"no preset \[\]"),
        ({"settings": {"eta": np.ones(2)}}, SettingError, "kept in its file"),
        ({"settings": {"etta": 2}}, SettingError, r"has no setting 'etta' \(did you mean 'eta'\?\); it has slate_size"),
        ({"strategy": IndSelfSparring}, SettingError, r"expected the name of a policy.*POLICIES\['mine'\] = Entry"),
    ],
)
def test_what_is_wrong_is_said_before_a_file_is_made(keywords, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        create_study(["a", "b"], **{"storage": "study.db", "strategy": "ind-self-sparring", **keywords})
    assert not list(tmp_path.iterdir())


def test_a_path_is_a_storage(tmp_path):
    path = Path(tmp_path) / "study.db"
    create_study(["a", "b"], storage=path, seed=1).close()
    study = load_study(str(path))
    assert study.seed == 1
    study.close()


def test_a_refused_row_is_not_taken_for_a_name_that_is_there():
    study = create_study(["a", "b"], seed=1)
    kept = study._storage
    row = {"name": "other", "seed": 1, "space": {}, "strategy": "random", "settings": {}, "query_size": 2}
    with pytest.raises(StudyError, match=r"refuses a study with the values .*'question': None"):
        kept.create({**row, "budget": None, "question": None, "version": "0"})
    assert kept.names() == ["study"]


def test_a_policy_of_ones_own_has_a_name(monkeypatch):
    monkeypatch.setitem(POLICIES, "mine", Entry("", IndSelfSparring, "strong-sum", "total order", "ours", slates="any"))
    study = create_study(["a", "b", "c"], strategy="mine", seed=1, settings={"eta": 2.0})
    assert len(study.ask().ids) == 2


@pytest.mark.parametrize(
    ("name", "key", "near"),
    [
        ("rucb", "alhpa", "alpha"),
        ("if2", "prun", "prune"),
        ("kernel-self-sparring", "lengthscal", "lengthscale"),
        ("ws-s", "bta", "beta"),
        ("random", "slatesize", "slate_size"),
    ],
)
def test_an_unknown_setting_names_the_nearest(name, key, near):
    with pytest.raises(
        SettingError, match=rf"{name} has no setting '{key}' \(did you mean '{near}'\?\); it has .*{near}"
    ):
        make_policy(name, Arms(4), horizon=10, **{key: 1})


@pytest.mark.parametrize(
    ("space", "aim", "strategy"),
    [
        (Box(2), "best", "knowledge-gradient"),
        (Grid.regular(4), "best", "knowledge-gradient"),
        (Box(2), "while-learning", "kernel-self-sparring"),
        (["a", "b"], "best", "ind-self-sparring"),
        (["a", "b"], "while-learning", "ind-self-sparring"),
    ],
)
def test_the_aim_chooses_the_strategy(space, aim, strategy):
    study = create_study(space, aim=aim, seed=1, query_size=2)
    assert study.record.strategy == strategy
    assert len(study.ask().ids) == 2


def test_how_many_options_are_shown_is_said_once():
    with pytest.raises(SettingError, match="slate_size=3, the study shows query_size=2 options per question: leave"):
        create_study(Box(2), settings={"slate_size": 3})
    assert len(create_study(Box(2), settings={"slate_size": 3}, query_size=3, seed=1).ask().ids) == 3


def test_an_aim_is_known_and_alone():
    with pytest.raises(
        SettingError, match="unknown aim 'bset'; expected one of 'best', 'while-learning'; did you mean"
    ):
        create_study(Box(2), aim="bset")
    for aim in (None, 3, ["best"]):
        with pytest.raises(SettingError, match=re.escape(f"unknown aim {aim!r}; expected one of 'best'")):
            create_study(Box(2), aim=aim)
    with pytest.raises(SettingError, match="leave one of them out"):
        create_study(Box(2), aim="while-learning", strategy="random")
