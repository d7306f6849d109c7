"""The report: complete, escaped, self-contained, without names; and right about what it infers."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from prefopt import Answer, Categorical, Float, Space, create_study, load_study
from prefopt.domain import Arms, Grid
from prefopt.errors import StudyError
from prefopt.models.utility.comparisons import Said
from prefopt.report import write_report
from prefopt.report.belief import Belief, Options, smallest_set
from prefopt.report.collect import collect
from prefopt.report.figures import plot_seconds
from prefopt.report.heldout import held_out, pairs_of, scores
from prefopt.report.page import page

pytest.importorskip("matplotlib")

NASTY = "<script>alert('x')</script> & \"tea\" 茶 $x_"
SPACES = {
    "list": ["tea", NASTY, "cocoa", "milk"],
    "grid": Space([Float("minutes", 1, 6, step=1), Categorical(NASTY, ["oat", "<b>", True])]),
    "box": Space([Float("x", 0, 1), Float("hz", 20, 2000, log=True), Categorical("c", ["a", "b"])]),
}


def used(kind, storage=None, answers=14):
    study = create_study(
        SPACES[kind], seed=4, storage=storage, study_name=NASTY, question=NASTY, query_size=3, budget=30, repeats=0.2,
        strategy="random" if kind == "box" else None,
    )  # fmt: skip
    ann = study.add_rater("Ann Secretname")
    ben = study.add_rater("Benjamin Hidden", pseudonym="B-7")
    for n in range(answers):
        who = (ann, ben)[n % 2]
        query = study.ask(who)
        said = {"tie": True} if n == 4 else {"skip": NASTY} if n == 5 else {"best": min(query.ids)}
        study.tell(query, rater=who, seconds=2.0 + n, **said)
    study.remove_answer(2, f"spilled {NASTY}")
    study.undo()
    study.ask(ben)  # stays open
    return study


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href", "xlink:href") and not str(v).startswith("#")]

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module", params=list(SPACES))
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    study = used(request.param, str(folder / "s.db"))
    files = write_report(study, folder / "out.html")
    assert [f.name for f in files] == ["out.html", "out.csv", "out.json"]
    return study, *(f.read_text(encoding="utf-8") for f in files)


def test_the_page_is_whole_and_needs_nothing_else(written):
    study, html, *_ = written
    seen = Page()
    seen.feed(html)
    assert "script" not in seen.tags and "img" not in seen.tags and seen.outside == []
    assert seen.tags.count("svg") >= 3 and html.count('<svg role="img" aria-label="') == seen.tags.count("svg")
    text = " ".join(seen.text)
    for heading in ("Recommendation", "95% credible region", "What was learned", "Prediction of held-out answers",
                    "Blind validation", "Raters and reliability", "Answers that do not count", "Every appearance",
                    "Space and design", "Versions"):  # fmt: skip
        assert heading in text
    assert text.count(NASTY) >= 3 and "not answered" in text and "about the same" in text
    assert f"spilled {NASTY}" in text and str(study.seed) in text
    for drawn in re.findall(r"<svg.*?</svg>", html, re.S):
        ET.fromstring(drawn)


def test_no_name_and_no_token_is_in_any_file(written):
    study, *texts = written
    tokens = [event.payload.get("token") for event in study._storage.read(study.record) if event.kind == "rater"]
    assert len(tokens) == 2
    for text in texts:
        assert "Secretname" not in text and "Benjamin" not in text
        assert all(token not in text for token in tokens)
        assert "B-7" in text


def test_every_appearance_is_in_the_table_also_unanswered(written):
    study, _, table, data = written
    rows = list(csv.DictReader(table.splitlines()))
    history = [row for row in study.history() if row["status"] != "automatic"]
    assert len(rows) == sum(len(row["shown"]) for row in history)
    for row in history:
        mine = [r for r in rows if r["event"] == str(row["event"])]
        assert [int(r["candidate"]) for r in mine] == row["shown"]
        assert [int(r["place"]) for r in mine] == list(range(1, len(row["shown"]) + 1))
        assert {r["rater"] for r in mine} == {row["rater"]}
        chosen = [int(r["candidate"]) for r in mine if r["named"] == "1"]
        assert chosen == (row["named"] or [])[:1]
        assert {r["seconds"] for r in mine} == {"" if row["seconds"] is None else str(row["seconds"])}
    assert any(r["status"] == "open" for r in rows) and any(r["excluded"] for r in rows)
    found = json.loads(data)
    assert len(found["appearances"]) == len(rows) and len(found["history"]) == len(study.history())
    assert found["exclusions"][0]["reason"].startswith("spilled")
    assert found["versions"]["numpy"] == np.__version__


def test_the_same_log_makes_the_same_report(tmp_path):
    study = used("list", str(tmp_path / "s.db"), 10)
    one, again = collect(study), load_study(str(tmp_path / "s.db"))
    two = collect(again)
    assert one | {"made": ""} == two | {"made": ""}
    assert page(one | {"made": ""}) == page(two | {"made": ""})
    for closed in (study, again):
        closed.close()


def test_a_study_without_answers_and_a_validated_one():
    study = create_study(["tea", "coffee"], seed=1)
    study.ask()
    text = page(collect(study))
    assert "no answer yet" in text and "Too few answers" in text
    study = used("list")
    study.validate(2)
    while not study.validation().over:
        for who in ("rater 1", "B-7"):
            query = study.ask(who)
            study.tell(query, best=min(query.ids), rater=who)
    text = page(collect(study))
    assert "blind validation: the recommendation won" in text and "recommended against" in text


def test_values_of_the_user_keep_their_writing_direction():
    study = create_study(["קפה (1)", "tea"], seed=1, study_name="מחקר", question="מה עדיף?")
    study.tell(study.ask(), best=0)
    text = page(collect(study))
    assert "<h1><bdi>מחקר</bdi></h1>" in text and "“<bdi>מה עדיף?</bdi>”" in text
    assert "<strong><bdi>קפה (1)</bdi></strong>" in text and ": \u2068קפה (1)\u2069" in text


def test_seconds_of_answers_that_took_none():
    history = [{"rater": None, "seconds": 1e-6}, {"rater": None, "seconds": 2e-6}]
    assert "1e" not in "".join(re.findall(r"<text[^>]*>([^<]*)</text>", plot_seconds(history)))


def test_the_noise_of_raters_and_what_is_their_own():
    study = create_study(Grid.regular(9), seed=3)
    for k in range(18):
        query = study.ask("ab"[k % 2])
        right = min(query.ids, key=lambda i: abs(study.params(i)["x0"] - 0.7))
        study.tell(query, best=right if k % 2 == 0 else query.shown[k % 4 // 2])
    found = collect(study)
    a, b = found["reliability"]["raters"]
    assert 0 < a["noise"] < b["noise"]
    text = unescape(page(found))
    assert "noise (1 is usual)" in text and f'<td class="n">{b["noise"]:.1f}</td>' in text
    assert found["reliability"]["shared"][1:] in text
    assert "rater's own varies" in text or "the raters want the same, as far as the answers tell" in text.lower()
    assert "noise (1 is usual)" not in page(collect(used("list")))


def test_infeasible_options_are_not_in_the_region():
    study = create_study(list("abcd"), seed=1)
    study.add_comparison("c", "a")
    while 2 not in (query := study.ask()).ids:
        study.tell(query, skip="x")
    study.tell(query, infeasible=[2])
    found = collect(study)
    assert "c" not in [one["params"] for one in found["region"]["set"]]
    assert sum(one["probability"] for one in found["region"]["set"]) > 0.94


def test_own_ids_are_in_the_table():
    study = create_study(["plum", "nut"], seed=1)
    study.add_designs({"P-1": "plum", "N-9": "nut"})
    study.add_comparison("plum", "nut")
    found = collect(study)
    assert [shown["own_id"] for shown in found["appearances"]] == ["P-1", "N-9"]
    assert "(P-1) plum" in page(found)


def test_only_pages_are_written(tmp_path):
    study = create_study(["tea", "coffee"], seed=1)
    with pytest.raises(StudyError, match=r"ends in \.html, got 'out\.pdf'"):
        write_report(study, "out.pdf")
    with pytest.raises(StudyError, match="cannot write"):
        write_report(study, tmp_path / "missing" / "out.html")


def linear(rng, size, options, rows, slope):
    """Duels of a person whose utility is ``slope`` times the first coordinate."""
    said = []
    for _ in range(size):
        a, b = rng.choice(len(options), 2, replace=False)
        gap = slope * (rows[a, 0] - rows[b, 0])
        said.append(Said((int(a), int(b)), Answer.duel(0 if rng.random() < 1 / (1 + np.exp(-gap)) else 1)))
    return said


def test_the_belief_knows_the_best_and_how_answers_come_about():
    domain, rng = Grid(np.linspace(0, 1, 9).reshape(-1, 1)), np.random.default_rng(1)
    options = Options(domain)
    said = linear(rng, 300, range(9), domain.points, 6.0)
    belief = Belief.of(options, range(9), said)
    where, chance = belief.best(seed=1)
    assert where == list(range(9)) and chance.sum() == pytest.approx(1)
    assert 8 in smallest_set(chance) and 0 not in smallest_set(chance)
    assert belief.chance(8, 0) > 0.97 and belief.chance(4, 4) == pytest.approx(0.5)
    assert belief.chance(5, 4) == pytest.approx(1 / (1 + np.exp(-6 / 8)), abs=0.15)


def test_held_out_predictions_are_calibrated_and_a_coin_is_not_predicted():
    domain, rng = Grid(np.linspace(0, 1, 9).reshape(-1, 1)), np.random.default_rng(2)
    found = held_out(Options(domain), range(9), linear(rng, 200, range(9), domain.points, 4.0), seed=1)
    assert found.pairs == found.answers == 200 and found.folds == 10
    assert found.accuracy > 0.65 and found.log_loss < 0.6
    for one in found.bins:
        assert one.low - 0.1 <= one.predicted <= one.high + 0.1
    coin = held_out(Options(domain), range(9), linear(rng, 200, range(9), domain.points, 0.0), seed=1)
    assert 0.4 < coin.accuracy < 0.6 and coin.log_loss > 0.66
    assert held_out(Options(Arms(3)), range(3), [Said((0, 1), Answer.duel(0))] * 30, seed=1) is None


def test_a_model_never_knows_answers_about_the_options_it_predicts(monkeypatch):
    domain, rng = Grid(np.linspace(0, 1, 5).reshape(-1, 1)), np.random.default_rng(3)
    said, known = linear(rng, 40, range(5), domain.points, 3.0), []

    def remember(options, compared, told):
        known.append({frozenset(one.slate) for one in told})
        return original(options, compared, told)

    original = Belief.of
    monkeypatch.setattr(Belief, "of", staticmethod(remember))
    held_out(Options(domain), range(5), said, seed=1)
    everything = {frozenset(one.slate) for one in said}
    hidden = [everything - fold for fold in known]
    assert all(hidden) and set().union(*hidden) == everything and sum(map(len, hidden)) == len(everything)


def test_a_careless_rater_counts_less_and_is_predicted_less_surely():
    rng, domain = np.random.default_rng(2), Grid.regular(12)
    utility, said = 12 * domain.points[:, 0], []
    for k in range(60):
        i, j = map(int, rng.choice(domain.size, 2, replace=False))
        careless = k % 2 == 1 and rng.random() < 0.8
        right = rng.random() < 0.5 if careless else rng.random() < 1 / (1 + np.exp(-abs(utility[i] - utility[j])))
        said.append(Said((i, j), Answer.duel(int((utility[i] > utility[j]) != right)), rater=k % 2))
    options, compared = Options(domain), list(range(domain.size))
    belief = Belief.of(options, compared, said)
    alike = Belief.of(options, compared, [one._replace(rater=0) for one in said])
    assert belief.chance(11, 0, 0) > belief.chance(11, 0) > belief.chance(11, 0, 1) > 0.5
    assert belief.chance(11, 0, 7) == belief.chance(11, 0)
    careful, pooled = (one.against([11], 0) for one in (belief, alike))
    assert careful[0] / careful[1] > pooled[0] / pooled[1]  # surer of what the careful one says
    assert held_out(options, compared, said, 0).brier < held_out(options, compared, [
        one._replace(rater=0) for one in said], 0).brier  # fmt: skip


def test_scores_by_hand():
    found = scores([0.9, 0.9, 0.1, 0.5], answers=4, folds=2)
    assert found.accuracy == 0.5 and found.brier == pytest.approx((0.01 + 0.01 + 0.81 + 0.25) / 4)
    assert found.log_loss == pytest.approx(-np.mean(np.log([0.9, 0.9, 0.1, 0.5])))
    assert [(one.pairs, one.came_true) for one in found.bins] == [(1, 0.0), (3, pytest.approx(2 / 3))]
    assert (found.bins[1].low, found.bins[1].high) == (pytest.approx(0.0943, abs=1e-3), pytest.approx(0.9916, abs=1e-3))


def test_pairs_of_answers():
    assert pairs_of(Said((7, 8, 9), Answer.best(1, 3))) == [(8, 7), (8, 9)]
    assert pairs_of(Said((7, 8, 9), Answer.worst(1, 3))) == [(7, 8), (9, 8)]
    assert pairs_of(Said((7, 8, 9), Answer.ranking([2, 0, 1], 3))) == [(9, 7), (7, 8)]
    assert pairs_of(Said((7, 8), Answer.tie(2))) == [] == pairs_of(Said((7, 8), Answer.skip("", 2)))
