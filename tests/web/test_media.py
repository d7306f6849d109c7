"""What options are shown as: addresses that tell nothing, and pages that reach nothing."""

from pathlib import Path

import pytest

from prefopt.frontend import Html

pytest.importorskip("fastapi")

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4" fill="%s"/></svg>'


def cards(client):
    return client.get("/api/screen").json()["question"]["cards"]


def rater(study, server, client):
    return client(server, study.add_rater("Ann").token)


def test_addresses_are_keyed_and_belong_to_the_content(serve, make_study, client):
    study = make_study()
    with serve(study, render=lambda item: PICTURE % (b"red" if item < "m" else b"blue")) as server:
        urls = [card["url"] for card in cards(rater(study, server, client))]
        reply = client(server).get(urls[0])
        assert reply.headers["content-type"] == "image/svg+xml" and b"<rect" in reply.content
        assert "sandbox" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert client(server).get(urls[0][:-1] + "0").status_code in (404, 200)
    with serve(study, render=lambda item: PICTURE % b"red") as again:
        assert all(again.desk.media.find(url.rpartition("/")[2]) is None for url in urls)


def test_a_film_can_be_read_from_the_middle(serve, make_study, client, tmp_path):
    film = tmp_path / "film.webm"
    film.write_bytes(b"\x1a\x45\xdf\xa3" + bytes(range(256)))
    study = make_study()
    with serve(study, render=lambda item: film) as server:
        url = cards(rater(study, server, client))[0]["url"]
        part = client(server).get(url, headers={"range": "bytes=4-7"})
        assert part.status_code == 206 and part.content == bytes(range(4))


def test_html_comes_with_a_policy_of_its_own(serve, make_study, client):
    study = make_study()
    with serve(study, render=lambda item: Html(f"<script>fetch('/api/screen')</script>{item}")) as server:
        card = cards(rater(study, server, client))[0]
        assert card["kind"] == "html" and set(card) == {"kind", "url"}
        policy = client(server).get(card["url"]).headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts;") and "allow-same-origin" not in policy
        assert "default-src 'none'" in policy and "connect-src" not in policy


def test_a_render_function_that_fails_is_said_and_stops_nothing(serve, make_study, client):
    def broken(item):
        raise ValueError("no milk")

    study = make_study()
    with serve(study, render=broken) as server:
        assert "could not be shown" in cards(rater(study, server, client))[0]["text"]
        seen = client(server, server.admin).get("/api/admin/overview").json()
        assert "ValueError: no milk" in seen["problem"]


def test_an_option_is_drawn_once(serve, make_study, client):
    drawn = []
    study = make_study()
    with serve(study, render=lambda item: drawn.append(item) or item) as server:
        one = rater(study, server, client)
        for _ in range(5):
            cards(one)
        assert len(drawn) == len(set(drawn))


def test_items_that_name_files_are_shown(serve, make_study, client, tmp_path):
    for name in ("a.svg", "b.svg"):
        (tmp_path / name).write_bytes(PICTURE % b"red")
    study = make_study(("a.svg", "b.svg"))
    with serve(study, folder=Path(tmp_path)) as server:
        assert {card["kind"] for card in cards(rater(study, server, client))} == {"image"}
