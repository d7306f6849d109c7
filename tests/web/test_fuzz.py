"""Requests made up by schemathesis from our own description: nothing breaks, and nobody without the token gets in."""

import secrets

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from prefopt import load_study

schemathesis = pytest.importorskip("schemathesis")
from schemathesis import GenerationMode  # noqa: E402

#: What the description says of every path.
DOCUMENTED = {200, 400, 401, 403, 404, 409, 413, 422, 503}
#: How often something is made up, in the default suite and in the long one.
MANY = [pytest.param(40, id="some"), pytest.param(200, id="many", marks=pytest.mark.slow)]


@pytest.fixture
def server(serve, make_study, tmp_path):
    """A study with raters and some answers, and links that are worth nothing any more."""
    study = make_study(tuple(f"tea {i}" for i in range(100)))
    ann, bob, old, out, gone = (study.add_rater(name) for name in ("Ann", "Bob", "Old", "Out", "Gone"))
    for rater in (ann, bob, ann, bob, ann):
        query = study.ask(rater)
        study.tell(query, best=query.shown[0], rater=rater)
    study.renew_token(old)
    study.remove_rater(out, "leaves")
    study.erase_rater(gone)
    with serve(study) as made:
        made.ann, made.bob, made.file = ann, bob, str(tmp_path / "study.db")
        made.worthless = [None, "x" * 32, ann.token[:-1], *(r.token for r in (old, out, gone))]
        schema = schemathesis.openapi.from_dict(made.app.openapi())
        made.operations = [found.ok() for found in schema.get_all_operations()]
        with httpx.Client(base_url=made.origin, timeout=60) as made.http:
            yield made


def made_up(operation):
    """Requests as described, and others that are nearly so."""
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    return st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])


def repeatedly(examples):
    """So many cases, the same in every run."""
    return settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


def send(server, case, token):
    """The response to a made-up request, sent with ``token``; None if no client could send it."""
    wanted = case.as_transport_kwargs(base_url=server.origin)
    content = {"json": wanted["json"]} if wanted.get("json") is not None else {"content": wanted.get("data")}
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        return server.http.request(
            wanted["method"], wanted["url"], params=wanted.get("params"), headers=headers, **content
        )
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError, TypeError):
        return None


def is_admins(operation):
    return operation.path.startswith("/api/admin/")


@pytest.mark.parametrize("examples", MANY)
def test_without_the_right_token_nothing_is_told_or_kept(server, examples):
    before = load_study(server.file).history()
    seen = set()

    @repeatedly(examples)
    @given(data=st.data())
    def try_it(data):
        operation = data.draw(st.sampled_from(server.operations))
        others = [server.ann.token] if is_admins(operation) else [server.admin]
        token = data.draw(st.sampled_from(server.worthless + others))
        response = send(server, data.draw(made_up(operation)), token)
        if response is not None:
            seen.add(response.status_code)
            assert response.status_code in {400, 401, 404, 405, 413, 422}, (operation.label, response.text)
            assert set(response.json()) == {"error"}

    try_it()
    assert 401 in seen
    assert load_study(server.file).history() == before


@pytest.mark.parametrize("examples", MANY)
def test_with_the_right_token_nothing_breaks(server, examples):
    seen = set()

    @repeatedly(examples)
    @given(data=st.data())
    def try_it(data):
        operation = data.draw(st.sampled_from(server.operations))
        case = data.draw(made_up(operation))
        response = send(server, case, server.admin if is_admins(operation) else server.ann.token)
        if response is not None:
            seen.add(response.status_code)
            documented = {int(status) for status in operation.definition.raw["responses"]}
            assert response.status_code in documented | {404, 405}, (operation.label, response.text)

    try_it()
    assert {200, 422} <= seen <= DOCUMENTED | {405}
    kept = load_study(server.file)
    assert kept.replay().matches
    answered = [row["question"] for row in kept.history() if row["status"] == "answered"]
    assert len(answered) == len(set(answered))


@pytest.mark.parametrize("examples", MANY)
def test_answers_to_real_questions_count_once_and_only_with_the_token_of_who_was_asked(server, examples):
    operation = next(op for op in server.operations if op.path == "/api/answers")
    counted = []

    @repeatedly(examples // 4)
    @given(data=st.data())
    def try_it(data):
        for rater in (server.ann, server.bob):
            mine = {"authorization": f"Bearer {rater.token}"}
            screen = server.http.get("/api/screen", headers=mine).json()
            other = server.bob if rater is server.ann else server.ann
            case = data.draw(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
            case.body |= {"question": screen["question"]["number"], "id": secrets.token_hex(8)}
            if data.draw(st.booleans()):  # else hardly any fits two options
                case.body |= {"kind": "best", "options": [data.draw(st.integers(0, 1))], "infeasible": []}
            token = data.draw(st.sampled_from([*server.worthless, server.admin, other.token]))
            wrong = send(server, case, token).status_code
            first, second = (send(server, case, rater.token).status_code for _ in range(2))
            assert first == second and (wrong, first) in {(401, 200), (401, 422), (422, 422)}
            counted.extend([case.body["question"]] * (first == 200))
            case.body["id"] = secrets.token_hex(8)
            assert send(server, case, rater.token).status_code in {409, 422}

    before = {row["question"] for row in load_study(server.file).history() if row["status"] != "open"}
    try_it()
    said = [row["question"] for row in load_study(server.file).history() if row["status"] in ("answered", "skipped")]
    assert len(counted) > 3 and sorted([*before, *counted]) == sorted(said) and len(said) == len(set(said))
