"""What an option looks like, from what a render function returned."""

import struct
import zlib
from pathlib import Path

import pytest

from prefopt.errors import AnswerError, StudyError
from prefopt.frontend import Content, Html, Markdown, answer_keywords, content_of, question_message


def png(width=2, height=2):
    """A grey picture."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_parameters_are_a_table_of_short_numbers():
    shown = content_of({"dose": 1 / 3, "cups": 2, "water": "soft"})
    assert shown == Content("table", rows=(("dose", "0.3333"), ("cups", "2"), ("water", "soft")))


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(), "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"RIFF1234WAVEfmt ", "audio/wav"),
        (b"RIFF1234WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
    ],
)
def test_bytes_tell_by_themselves_what_they_are(data, media_type):
    shown = content_of(data)
    assert (shown.kind, shown.media_type, shown.source) == (media_type.split("/")[0], media_type, data)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.png", "image"), ("a.WAV", "audio"), ("a.webm", "video"), ("a.html", "html"), ("a.txt", "text")],
)
def test_a_path_is_shown_by_its_ending(tmp_path, name, kind):
    (tmp_path / name).write_bytes(b"words")
    assert content_of(tmp_path / name).kind == kind


def test_markdown_of_a_file_and_html_in_it_stays_text(tmp_path):
    (tmp_path / "a.md").write_text("# Tea\n<img src=x onerror=alert(1)> [a](javascript:alert(1))")
    shown = content_of(tmp_path / "a.md")
    assert shown.kind == "markdown"
    assert "<h1>Tea</h1>" in shown.text and "<img" not in shown.text and "<a" not in shown.text


def test_what_cannot_be_shown_says_so(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(StudyError, match=r"does not show 'a.zip'"):
        content_of(tmp_path / "a.zip")
    with pytest.raises(StudyError, match="there is none"):
        content_of(tmp_path / "gone.png")
    with pytest.raises(StudyError, match="no picture, sound or film"):
        content_of(b"\x00\x01\x02")
    with pytest.raises(StudyError, match="at most 100000"):
        content_of("x" * 100_001)


def test_an_item_that_names_a_page_or_markdown_is_shown_as_that(tmp_path):
    (tmp_path / "a.html").write_text("<script>top.location='x'</script>")
    (tmp_path / "a.md").write_text("*tea* <script>alert(1)</script>")
    (tmp_path / "a.txt").write_text("a text")
    page = content_of("a.html", folder=tmp_path)
    assert (page.kind, page.source, page.text) == ("html", tmp_path / "a.html", "")  # from an address, in a frame
    assert content_of("a.md", folder=tmp_path).text == "<p><em>tea</em> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n"
    assert content_of("a.txt", folder=tmp_path) == Content("text", text="a.txt")
    assert content_of("b.html", folder=tmp_path) == Content("text", text="b.html")


def test_an_item_that_names_a_picture_is_that_picture_only_in_its_folder(tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    assert content_of("a.png", folder=tmp_path).source == tmp_path / "a.png"
    assert content_of("b.png", folder=tmp_path) == Content("text", text="b.png")
    assert content_of("a.png") == Content("text", text="a.png")


def test_what_a_notebook_displays():
    class Shape:
        def _repr_svg_(self):
            return "<svg/>"

    class Frame:
        def _repr_html_(self):
            return "<b>1</b>"

        def _repr_png_(self):
            return png()

    assert content_of(Shape()) == Content("image", source=b"<svg/>", media_type="image/svg+xml")
    assert content_of(Frame()).kind == "html"
    assert content_of(3.0) == Content("text", text="3")


def test_a_figure_is_a_picture():
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = plt.figure(figsize=(1, 1))
    assert content_of(figure).media_type == "image/png"
    plt.close(figure)


def test_a_message_holds_places_and_no_names(tmp_path):
    (tmp_path / "secret-name.png").write_bytes(png())
    contents = [
        content_of(Path(tmp_path / "secret-name.png")),
        content_of(Html("<b>x</b>")),
        content_of(Markdown("*x*")),
    ]
    message = question_message(4, "Which?", contents, lambda content: f"/{content.kind}")
    assert "secret" not in str(message)
    assert [card["kind"] for card in message["cards"]] == ["image", "html", "markdown"]
    assert message["cards"][0] == {"kind": "image", "url": "/image"}


@pytest.mark.parametrize(
    ("message", "keywords"),
    [
        ({"kind": "best", "options": [1]}, {"best": 7}),
        ({"kind": "worst", "options": [0]}, {"worst": 40}),
        ({"kind": "ranking", "options": [2, 0, 1]}, {"ranking": [3, 40, 7]}),
        ({"kind": "tie", "options": []}, {"tie": True}),
        ({"kind": "skip", "reason": "why", "infeasible": [2]}, {"skip": "why", "infeasible": [3]}),
    ],
)
def test_answers_go_from_positions_to_candidates(message, keywords):
    assert answer_keywords(message, [40, 7, 3]) == keywords


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"kind": "best", "options": [3]}, "positions on the screen go from 0 to 2, got 3"),
        ({"kind": "best", "options": [-1]}, "got -1"),
        ({"kind": "best", "options": [True]}, "got True"),
        ({"kind": "best", "options": [0, 1]}, "best names one option, got 2"),
        ({"kind": "tie", "options": [0]}, "tie names no option, got 1"),
        ({"kind": "love", "options": []}, "got 'love'"),
        ({"kind": "best", "options": "0"}, "a list of positions"),
    ],
)
def test_answers_that_are_none(message, said):
    with pytest.raises(AnswerError, match=said):
        answer_keywords(message, [40, 7, 3])
