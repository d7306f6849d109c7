"""What an option looks like: a table of its parameters, or whatever a render function makes of them."""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefopt.errors import StudyError

#: Endings that the registry of some systems does not know or calls otherwise.
ENDINGS = {
    ".md": "text/markdown", ".webp": "image/webp", ".avif": "image/avif", ".webm": "video/webm", ".m4a": "audio/mp4",
    ".opus": "audio/ogg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac", ".mp3": "audio/mpeg",
}  # fmt: skip
#: How the bytes of a medium begin (at an offset), and what they are.
MAGIC = (
    (0, b"\x89PNG", "image/png"), (0, b"\xff\xd8\xff", "image/jpeg"), (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"), (0, b"<svg", "image/svg+xml"), (8, b"WAVE", "audio/wav"), (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"), (0, b"fLaC", "audio/flac"), (0, b"OggS", "audio/ogg"),
    (4, b"ftyp", "video/mp4"), (0, b"\x1a\x45\xdf\xa3", "video/webm"),
)  # fmt: skip
#: What objects of notebooks call their pictures and texts, the richest first.
NOTEBOOK = (
    ("_repr_html_", "html"), ("_repr_markdown_", "markdown"), ("_repr_svg_", "svg"), ("_repr_png_", "png"),
    ("_repr_jpeg_", "jpeg"),
)  # fmt: skip
#: Longest text of an option, in characters; a longer one belongs into a file.
LONGEST = 100_000


class Html(str):
    """Text that is HTML: it is shown in a frame of its own that cannot reach the page around it."""


class Markdown(str):
    """Text that is Markdown."""


@dataclass(frozen=True)
class Content:
    """What is shown on a card.

    Attributes:
        kind: "table", "text", "markdown" (``text`` is then HTML without any HTML of the author), "html", "image",
            "audio" or "video".
        text: of the three kinds of text.
        rows: names and values of a table.
        source: bytes or file of a medium, or of an HTML page.
        media_type: of the source, as in "image/png".
    """

    kind: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    source: bytes | Path | None = None
    media_type: str = ""


def format_value(value: Any) -> str:
    """A number short enough to read, anything else as it is.

    >>> format_value(0.123456), format_value("soft")
    ('0.1235', 'soft')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def content_of(made: Any, *, folder: Path | None = None) -> Content:
    r"""What to show of an option.

    Args:
        made: its parameters, or what a render function returned: text, ``Html`` or ``Markdown``, a ``Path`` to a
            file, the bytes of a picture, sound or film, a matplotlib figure, or anything that a notebook can display.
        folder: where to look for a text that names a picture, sound, film, HTML or Markdown file, such as an item
            "a.png" of a list of options; None for not at all.

    Raises:
        StudyError: a file that is not there, or of a kind that a browser does not show.

    >>> content_of({"dose": 14.5, "water": "soft"}).rows
    (('dose', '14.5'), ('water', 'soft'))
    >>> content_of(Markdown("a *b* <script>")).text
    '<p>a <em>b</em> &lt;script&gt;</p>\n'
    """
    if isinstance(made, Content):
        return made
    if isinstance(made, Mapping):
        return Content("table", rows=tuple((str(name), format_value(value)) for name, value in made.items()))
    if isinstance(made, Path):
        return _file(made)
    if isinstance(made, bytes | bytearray):
        return _medium(bytes(made))
    if isinstance(made, str):
        return _text(made, folder)
    return _displayed(made)


def _text(made: str, folder: Path | None) -> Content:
    if len(made) > LONGEST:
        raise StudyError(f"the text of an option has {len(made)} characters, at most {LONGEST} can be shown")
    if isinstance(made, Html):
        return Content("html", source=made.encode(), media_type="text/html")
    if isinstance(made, Markdown):
        return Content("markdown", text=_rendered(made))
    if folder is not None and "\n" not in made and _is_shown(_type_of(made)):
        path = folder / made
        if path.is_file():
            return _file(path)
    return Content("text", text=str(made))


def _file(path: Path) -> Content:
    if not path.is_file():
        raise StudyError(f"expected a file to show at {str(path)!r}, there is none")
    media_type = _type_of(path.name)
    kind = media_type.partition("/")[0]
    if kind in ("image", "audio", "video"):
        return Content(kind, source=path, media_type=media_type)
    if media_type == "text/html":
        return Content("html", source=path, media_type=media_type)
    if kind == "text":
        text = path.read_text(encoding="utf-8", errors="replace")
        return _text(Markdown(text) if media_type == "text/markdown" else text, None)
    raise StudyError(
        f"a browser does not show {path.name!r} ({media_type or 'of unknown type'}); give a picture, sound, film, "
        "text, Markdown or HTML file"
    )


def _is_shown(media_type: str) -> bool:
    """Whether an option that names such a file is shown as what is in it."""
    return media_type.startswith(("image/", "audio/", "video/")) or media_type in ("text/html", "text/markdown")


def _type_of(name: str) -> str:
    return ENDINGS.get(Path(name[-255:]).suffix.lower()) or mimetypes.guess_type(name)[0] or ""


def _medium(data: bytes) -> Content:
    for start, mark, media_type in MAGIC:
        if data[start : start + len(mark)] == mark:
            return Content(media_type.partition("/")[0], source=data, media_type=media_type)
    raise StudyError(f"bytes that are no picture, sound or film that a browser shows; they begin {data[:12]!r}")


def _displayed(made: Any) -> Content:
    """A matplotlib figure, or an object that a notebook displays, or its text."""
    if hasattr(made, "savefig"):
        buffer = io.BytesIO()
        made.savefig(buffer, format="png", dpi=150, bbox_inches="tight")
        return _medium(buffer.getvalue())
    for method, kind in NOTEBOOK:
        found = getattr(made, method, lambda: None)()
        if found is None:
            continue
        if kind in ("html", "markdown"):
            return _text((Html if kind == "html" else Markdown)(found), None)
        if kind == "svg":
            return Content("image", source=str(found).encode(), media_type="image/svg+xml")
        return Content("image", source=bytes(found), media_type=f"image/{kind}")
    return _text(format_value(made), None)


def _rendered(text: str) -> str:
    from markdown_it import MarkdownIt

    return str(MarkdownIt("js-default", {"html": False, "linkify": False}).disable(["image", "link"]).render(text))
