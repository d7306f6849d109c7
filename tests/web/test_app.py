"""What the server answers: tokens, errors, sizes, headers, and that an answer counts once."""

import itertools
import json
import secrets

import pytest

from prefopt.study import load_study

pytest.importorskip("fastapi")


IDS = itertools.count()  # the same in every worker, since they are part of tests' names


def entry(question, kind="best", options=(0,), **more):
    return {"id": f"{next(IDS):016x}", "question": question, "kind": kind, "options": list(options), **more}


@pytest.fixture
def server(serve, make_study):
    study = make_study(budget=20)
    study.create_raters = [study.add_rater("Ann"), study.add_rater("Bob")]
    with serve(study) as server:
        server.ann, server.bob = study.create_raters
        yield server


def asked(server, question):
    return next(r for r in server.study.history() if r["question"] == question and r["status"] != "automatic")


def number(client):
    return client.get("/api/screen").json()["question"]["number"]


def test_a_question_stays_until_it_is_answered_and_betrays_nothing(server, client):
    ann = client(server, server.ann.token)
    first = ann.get("/api/screen").json()
    assert first == ann.get("/api/screen").json()
    assert set(first) == {"state", "progress", "last", "message", "question"}
    assert set(first["question"]) == {"number", "text", "cards"}
    assert all(set(card) == {"kind", "text"} for card in first["question"]["cards"])
    assert ann.post("/api/answers", json=entry(first["question"]["number"])).json() == {"done": True}
    second = ann.get("/api/screen").json()
    assert second["question"]["number"] != first["question"]["number"]
    assert second["progress"] == {"answered": 1, "more": 19} and second["last"] == first["question"]["number"]


def test_the_option_chosen_on_the_screen_is_the_one_that_wins(server, client):
    ann = client(server, server.ann.token)
    for position in (0, 1, 1):
        question = ann.get("/api/screen").json()["question"]
        ann.post("/api/answers", json=entry(question["number"], options=[position], seconds=2.5))
        row = asked(server, question["number"])
        chosen = row["params"][row["shown"].index(row["named"][0])]
        assert chosen == question["cards"][position]["text"]
        assert (row["rater"], row["seconds"]) == (server.ann.id, 2.5)


def test_an_answer_sent_twice_counts_once_and_another_one_is_refused(server, client):
    ann = client(server, server.ann.token)
    sent = entry(number(ann))
    replies = [ann.post("/api/answers", json=sent) for _ in range(3)]
    assert [r.status_code for r in replies] == [200, 200, 200] and server.study.answered == 1
    other = ann.post("/api/answers", json=entry(sent["question"], options=[1]))
    assert other.status_code == 409 and "has an answer already" in other.json()["error"]["message"]
    assert server.study.answered == 1


def test_two_raters_never_have_the_same_question(server, client):
    ann, bob = client(server, server.ann.token), client(server, server.bob.token)
    for _ in range(5):
        a, b = number(ann), number(bob)
        assert a != b
        foreign = bob.post("/api/answers", json=entry(a))
        assert foreign.status_code == 401 and server.study.find(a).rater == server.ann.id
        ann.post("/api/answers", json=entry(a))
    assert {r["rater"] for r in server.study.history() if r["status"] == "answered"} == {server.ann.id}


def test_undo_takes_back_ones_own_last_answer_once(server, client):
    ann, bob = client(server, server.ann.token), client(server, server.bob.token)
    first = number(ann)
    ann.post("/api/answers", json=entry(first))
    second = number(ann)
    ann.post("/api/answers", json=entry(second))
    bob.post("/api/answers", json=entry(number(bob)))
    for _ in range(2):  # sent again after a lost reply
        assert ann.post("/api/undo", json={"id": secrets.token_hex(8), "question": second}).status_code == 200
    assert server.study.answered == 2 and number(ann) == second
    ann.post("/api/answers", json=entry(second))
    late = ann.post("/api/undo", json={"id": secrets.token_hex(8), "question": first})
    assert late.status_code == 409 and server.study.answered == 3
    assert bob.post("/api/undo", json={"id": secrets.token_hex(8), "question": second}).status_code == 401


def test_a_skip_keeps_its_reason_and_what_could_not_be_shown(server, client):
    ann = client(server, server.ann.token)
    question = number(ann)
    ann.post("/api/answers", json=entry(question, "skip", (), reason="too loud", infeasible=[1]))
    row = asked(server, question)
    assert (row["answer"], row["reason"], row["infeasible"]) == ("skip", "too loud", [row["shown"][1]])


TOKENS = [None, "x", "wrong" * 8, "ä" * 20, "a" * 5000]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/screen", None),
        ("POST", "/api/answers", entry(1)),
        ("POST", "/api/undo", {"id": "a" * 8, "question": 1}),
        ("GET", "/api/admin/overview", None),
        ("POST", "/api/admin/raters", {"name": "Eve"}),
        ("GET", "/api/admin/export.json", None),
    ],
)
def test_without_the_right_token_nothing_is_told_or_done(server, client, token, method, path, body):
    server.study.ask(server.ann)
    headers = {} if token is None else {"authorization": b"Bearer " + token.encode()}
    reply = client(server).request(method, path, json=body, headers=headers)
    assert reply.status_code == 401 and set(reply.json()) == {"error"}
    assert server.study.answered == 0 and len(server.study.raters) == 2


def test_a_rater_is_no_admin_and_the_admin_is_no_rater(server, client):
    assert client(server, server.ann.token).get("/api/admin/overview").status_code == 401
    assert client(server, server.admin).get("/api/screen").status_code == 401


def test_a_removed_rater_and_an_ended_link_answer_no_more(server, client):
    admin, ann = client(server, server.admin), client(server, server.ann.token)
    sent = entry(number(ann))
    old = server.ann.token
    link = admin.post("/api/admin/raters/link", params={"rater": server.ann.id}).json()
    assert link["link"].startswith(server.origin + "/#") and old not in link["link"]
    assert ann.post("/api/answers", json=sent).status_code == 401
    new = client(server, link["link"].split("#")[1])
    assert new.get("/api/screen").json()["question"]["number"] == sent["question"]
    admin.post("/api/admin/raters/remove", params={"rater": server.ann.id}, json={"reason": "test"})
    assert new.post("/api/answers", json=sent).status_code == 401 and server.study.answered == 0
    admin.post("/api/admin/raters/restore", params={"rater": server.ann.id})
    assert new.post("/api/answers", json=sent).status_code == 200 and server.study.answered == 1


def test_no_token_is_kept_in_the_file_or_in_the_log(server, client, tmp_path, caplog):
    ann, admin = client(server, server.ann.token), client(server, server.admin)
    ann.post("/api/answers", json=entry(number(ann)))
    ann.post("/api/answers", json={"kind": server.ann.token})
    admin.get("/api/admin/overview")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for token in (server.ann.token, server.admin):
        assert token.encode() not in kept and token not in caplog.text
        assert token not in admin.get("/api/admin/export.json").text


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"{", 422, "JSON"),
        (b"[]", 422, "dictionary"),
        (b"\xff\xfe", 422, "JSON"),
        (json.dumps(entry(1) | {"question": "1"}).encode(), 422, "question"),
        (json.dumps(entry(1) | {"question": 2**70}).encode(), 422, "question"),
        (json.dumps(entry(1) | {"id": "short"}).encode(), 422, "id"),
        (json.dumps(entry(1) | {"more": 1}).encode(), 422, "more"),
        (json.dumps(entry(1) | {"seconds": float("nan")}).encode(), 422, "seconds"),
        (json.dumps(entry(1) | {"reason": "\x00"}).encode(), 422, "reason"),
        (json.dumps(entry(1) | {"reason": "\ud800"}).encode(), 422, "reason"),
        (json.dumps(entry(1, options=[0, 1])).encode(), 422, "best names one option"),
        (json.dumps(entry(1, options=[5])).encode(), 422, "positions on the screen"),
        (json.dumps(entry(77)).encode(), 409, "has not asked a question 77"),
        (b"[" * 60_000, 400, ""),
    ],
)
def test_what_is_no_answer_is_refused_in_words(server, client, content, status, said):
    ann = client(server, server.ann.token)
    server.study.ask(server.ann)
    reply = ann.post("/api/answers", content=content, headers={"content-type": "application/json"})
    assert reply.status_code == status, reply.text
    assert said in reply.json()["error"]["message"]
    assert server.study.answered == 0


def test_requests_have_a_largest_size(server, client):
    ann = client(server, server.ann.token)
    assert ann.post("/api/answers", content=b"x" * 70_000).status_code == 413

    def endless():
        for _ in range(100):
            yield b"x" * 10_000

    assert ann.post("/api/answers", content=endless()).status_code == 413
    assert ann.get("/api/screen").status_code == 200


def test_every_answer_has_the_headers_that_keep_pages_apart(server, client):
    for path in ("/", "/admin", "/ask.js", "/ask.css", "/api/screen", "/nothing", "/media/" + "0" * 40):
        headers = client(server).get(path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert "access-control-allow-origin" not in headers and "set-cookie" not in headers


def test_addresses_that_are_no_files(server, client):
    for path in ("/media/../app.py", "/media/%2e%2e%2fapp.py", "/../app.py", "/media/x", "/media/", "/.git/config"):
        reply = client(server).get(path)
        assert reply.status_code == 404 and "error" in reply.json()
    assert client(server).post("/api/screen").status_code == 405


def test_the_admin_sees_everything_and_can_change_it(server, client):
    admin, ann = client(server, server.admin), client(server, server.ann.token)
    empty = admin.get("/api/admin/overview").json()
    assert empty["best"] is None and empty["budget"] == 20
    for _ in range(3):
        ann.post("/api/answers", json=entry(number(ann), seconds=1.0))
    seen = admin.get("/api/admin/overview").json()
    assert seen["answered"] == 3 and 0 <= seen["best"]["probability_best"] <= 1
    assert [(r["name"], r["answered"]) for r in seen["raters"]] == [("Ann", 3), ("Bob", 0)]
    rows = admin.get("/api/admin/history", params={"last": 2}).json()
    assert [row["question"] for row in rows] == [3, 2]
    assert admin.get("/api/admin/slices").json()["bars"] and len(admin.get("/api/admin/convergence").json()) == 3
    assert admin.post("/api/admin/undo").status_code == 200 and server.study.answered == 2
    assert admin.post("/api/admin/answers/restore", params={"question": 3}).status_code == 200
    assert admin.post("/api/admin/answers/remove", params={"question": 1}, json={"reason": "slip"}).status_code == 200
    assert server.study.answered == 2
    assert admin.post("/api/admin/answers/restore", params={"question": 1}).status_code == 200
    assert server.study.answered == 3
    assert admin.post("/api/admin/answers/remove", params={"question": 1}, json={"reason": ""}).status_code == 409
    long = admin.post("/api/admin/answers/remove", params={"question": 1}, json={"reason": "r" * 256})
    assert long.status_code == 422 and "255" in long.text
    table = admin.get("/api/admin/export.csv")
    assert table.text.startswith("event,question") and "Ann" not in table.text
    assert json.loads(admin.get("/api/admin/export.json").text)["study"]["name"] == "study"
    assert admin.get("/api/admin/export.exe").status_code == 422


def test_raters_wait_while_the_study_pauses(server, client):
    admin, ann = client(server, server.admin), client(server, server.ann.token)
    sent = entry(number(ann))
    admin.post("/api/admin/pause", json={"reason": "lunch"})
    screen = ann.get("/api/screen").json()
    assert screen["state"] == "paused" and "lunch" in screen["message"]
    assert ann.post("/api/answers", json=sent).status_code == 200  # what was open is still taken
    admin.post("/api/admin/resume")
    assert ann.get("/api/screen").json()["state"] == "question"


def test_an_erased_rater_is_gone(server, client):
    admin, ann = client(server, server.admin), client(server, server.ann.token)
    ann.post("/api/answers", json=entry(number(ann)))
    assert admin.post("/api/admin/raters/erase", params={"rater": server.ann.id}, json={}).status_code == 200
    assert ann.get("/api/screen").status_code == 401
    seen = admin.get("/api/admin/overview").json()
    assert "Ann" not in json.dumps(seen) and seen["answered"] == 1


def test_enough_is_said_when_the_planned_answers_are_there(serve, make_study, client):
    study = make_study(budget=2)
    ann = study.add_rater("Ann")
    with serve(study) as server:
        rater = client(server, ann.token)
        for _ in range(2):
            rater.post("/api/answers", json=entry(number(rater)))
        screen = rater.get("/api/screen").json()
        assert screen["state"] == "enough" and "planned answers" in screen["message"] and screen["question"] is None
        rater.post("/api/undo", json={"id": "a" * 8, "question": screen["last"]})
        assert rater.get("/api/screen").json()["state"] == "question"


def test_the_study_goes_on_where_it_was_after_the_server_was_stopped(serve, make_study, client, tmp_path):
    study = make_study()
    ann = study.add_rater("Ann")
    with serve(study) as server:
        rater = client(server, ann.token)
        rater.post("/api/answers", json=entry(number(rater)))
        before = rater.get("/api/screen").json()
    study.close()
    with serve(load_study(str(tmp_path / "study.db"))) as server:
        assert client(server, ann.token).get("/api/screen").json() == before


def test_a_study_in_memory_is_served_too(serve, client):
    from prefopt import create_study

    study = create_study(["a", "b", "c"], seed=1)
    ann = study.add_rater("Ann")
    with serve(study) as server:
        rater = client(server, ann.token)
        for _ in range(4):
            assert rater.post("/api/answers", json=entry(number(rater))).status_code == 200
        assert study.answered == 4
