"""A new version of a study keeps the answers that still mean something, and the raters."""

import pytest

from prefopt import Categorical, Float, Int, Space, create_study, load_study
from prefopt.errors import SettingError, StudyError

SEEDED = {"seed": 3, "strategy": "kernel-self-sparring"}
TEA = [Float("sweet", 0, 1, step=0.1), Int("minutes", 1, 9)]


def tea(tmp_path, **keywords):
    study = create_study(Space(TEA), storage=str(tmp_path / "tea.db"), study_name="tea", **SEEDED, **keywords)
    ann = study.add_rater("Ann")
    for _ in range(12):
        query = study.ask(ann)
        study.tell(query, best=min(query.candidates, key=lambda c: c.params["sweet"]), rater=ann, seconds=2.0)
    return study, ann


def pairs(study):
    rows = [row for row in study.history() if row["answer"] == "best"]
    return [(tuple(p["sweet"] for p in row["params"]), row["rater"], row["seconds"]) for row in rows]


def winners(study):
    named = {i: c["params"] for i, c in zip(study.ids, study_candidates(study), strict=True)}
    return [(named[study.ids[a]]["sweet"], named[study.ids[b]]["sweet"]) for a, b in study.comparisons.tolist()]


def study_candidates(study):
    return [{"params": study._sync().options.params(i)} for i in study.ids]


def test_another_question_keeps_all_answers(tmp_path):
    study, ann = tea(tmp_path)
    new = study.new_version(question="Which would you drink again?")
    assert (new.name, study.name) == ("tea", "tea (version 1)")
    assert new.version == {"number": 2, "of": "tea (version 1)", "kept": 12, "left_out": 0, "changed": ["question"]}
    assert winners(new) == winners(study)
    assert new.question == "Which would you drink again?" and study.question == "Which is better?"
    assert new.rater_by_token(ann.token).name == "Ann"
    assert {row["rater"] for row in new.history()} == {"rater 1"} and new.history()[0]["seconds"] == 2.0
    with pytest.raises(StudyError, match=r"paused \(a new version of 'tea' has begun\)"):
        study.ask("Ann")
    query = new.ask("Ann")
    new.tell(query, best=query.ids[0], rater="Ann")
    assert (len(new.comparisons), study.answered) == (13, 12)
    path = str(tmp_path / "tea.db")
    assert load_study(path, study_name="tea").version["number"] == 2
    assert load_study(path, study_name="tea (version 1)").answered == 12
    third = load_study(path, study_name="tea").new_version(strategy="random")
    assert third.version["of"] == "tea (version 2)" and third.version["kept"] == 13
    assert third.strategy == "random" and third.question == new.question
    for one in (study, new, third):
        one.close()


def test_a_smaller_space_keeps_what_lies_inside(tmp_path):
    study, _ = tea(tmp_path)
    new = study.new_version(space=Space([Float("sweet", 0, 0.5, step=0.1), TEA[1]]))
    inside = [pair for pair in winners(study) if max(pair) <= 0.5]
    assert 0 < len(inside) < 12
    assert winners(new) == inside
    assert (new.version["kept"], new.version["left_out"]) == (len(inside), 12 - len(inside))
    assert new.ask("Ann").number == 1


def test_parameters_that_come_and_go(tmp_path):
    study, _ = tea(tmp_path)
    with_milk = Space([*TEA, Categorical("milk", ["none", "oat"])])
    new = study.new_version(space=with_milk, fill={"milk": "none"})
    assert new.version["kept"] == 12 and winners(new) == winners(study)
    assert all(c["params"]["milk"] == "none" for c in study_candidates(new))
    lost = new.new_version(space=with_milk.parameters[:1] and Space(TEA[:1]))
    different = [pair for pair in winners(study) if pair[0] != pair[1]]
    assert winners(lost) == different  # options that became the same are not compared
    assert lost.version["left_out"] == 12 - len(different)


def test_new_parameters_without_a_value_leave_the_answers_behind(tmp_path):
    study, _ = tea(tmp_path)
    new = study.new_version(space=Space([*TEA, Categorical("milk", ["none", "oat"])]))
    assert (new.version["kept"], new.version["left_out"]) == (0, 12)


def test_what_does_not_count_or_cannot_be_made():
    study = create_study(list("abcdef"), seed=1)
    first = study.ask("ann")
    study.tell(first, best=first.ids[0], rater="ann")
    second = study.ask("ben")
    study.tell(second, infeasible=[second.ids[0]], rater="ben")
    out = second.candidates[0].params
    study.add_comparison("a", "b", rater="cyd")
    study.add("tea")
    study.remove_rater("cyd", "asleep")
    new = study.new_version(space=[*"fedcba", "tea"])
    assert new.version["kept"] == 2 and len(new.comparisons) == 1
    infeasible = {new._sync().options.params(i) for i in new._sync().infeasible()}
    assert infeasible == {out}
    assert [r.status for r in new.raters if r.id == "cyd"] == ["removed"]


def test_what_is_refused(tmp_path):
    study, _ = tea(tmp_path)
    with pytest.raises(StudyError, match="a new version needs a change"):
        study.new_version()
    with pytest.raises(StudyError, match=r"got \['colour'\]"):
        study.new_version(colour="red")
    with pytest.raises(SettingError, match="2 to 6"):
        study.new_version(query_size=9)
    other = load_study(str(tmp_path / "tea.db"))
    study.new_version(question="Better?")
    with pytest.raises(StudyError, match="begun by another process"):
        other.new_version(question="Nicer?")
    assert len(load_study(str(tmp_path / "tea.db"), study_name="tea").comparisons) == 12


def test_erasing_reaches_older_versions(tmp_path):
    study, _ = tea(tmp_path)
    new = study.new_version(question="Better?")
    new.erase_rater("Ann")
    new.close()
    study.close()
    old = load_study(str(tmp_path / "tea.db"), study_name="tea (version 1)")
    assert [r.id for r in old.raters] == ["erased 1"] and old.answered == 12
    old.close()
    assert all(b"Ann" not in file.read_bytes() for file in tmp_path.iterdir())
