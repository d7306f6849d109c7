"""Pictures, sounds, films and pages that options are shown as, under addresses that nobody can guess.

An address is a keyed hash of the content, so it tells neither the file's name nor the option, and the same content has
the same address. A browser cannot send the rater's token for a picture; the address itself is the permission.
"""

from __future__ import annotations

import hmac
import secrets
import tempfile
import threading
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from prefopt.frontend import Content

#: Largest source of one option, in bytes.
LARGEST = 512 * 1024 * 1024
#: What a page or picture may do when it is opened on its own or in a frame: run inside, reach nothing.
POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; media-src data: blob:; font-src data:"
)


@dataclass(frozen=True)
class Medium:
    """A file to send and its type."""

    path: Path
    media_type: str


class Media:
    """The media that were shown since the server was started."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._folder = tempfile.TemporaryDirectory(prefix="prefopt-media-")
        self._known: dict[str, Medium] = {}
        self._lock = threading.Lock()

    def place(self, content: Content) -> str:
        """The address of the source of ``content``, which can be fetched from now on."""
        source = content.source
        if source is None:
            return ""
        stamp = f"{source.resolve()}:{source.stat().st_mtime_ns}".encode() if isinstance(source, Path) else source
        name = hmac.new(self._key, content.media_type.encode() + b"\0" + stamp, sha256).hexdigest()[:40]
        with self._lock:
            if name not in self._known:
                if isinstance(source, bytes):
                    path = Path(self._folder.name) / name
                    path.write_bytes(source)
                else:
                    path = source.resolve()
                self._known[name] = Medium(path, content.media_type)
        return f"/media/{name}"

    def find(self, name: str) -> Medium | None:
        """The medium at that address."""
        return self._known.get(name)

    def close(self) -> None:
        """Remove the files that were made."""
        self._folder.cleanup()
