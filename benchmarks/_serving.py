"""What the benchmarks of the web server share: the server as a process of its own, and a cheap client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

#: What a request meets while there is no server.
GONE = (OSError, asyncio.IncompleteReadError)


class Server:
    """``prefopt serve`` on a study that exists; ready when made."""

    def __init__(self, storage: str, name: str, port: int = 0) -> None:
        self.storage, self.name, self.port = storage, name, port
        self.begin()

    def begin(self) -> None:
        """Start it, at the port it had before if it had one."""
        command = [sys.executable, "-m", "prefopt.cli", "serve", self.storage, "--name", self.name]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)], stdout=subprocess.PIPE, env=environment, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "/admin#" in line:
                self.port = int(line.split("/admin#")[0].rsplit(":", 1)[1])
                return
        raise RuntimeError("the server ended before it said its links")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def end(self) -> None:
        """End it as control-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)

    def cpu(self) -> float:
        """Seconds of processor it has used; nan where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Connection:
    """One kept-alive HTTP connection with a token, as cheap as it can be: it shares the computer with the server."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.head = f"HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
        self.reader: Any = None
        self.writer: Any = None

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of a response; raises one of ``GONE`` if the server is."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} {self.head}content-length: {len(content)}\r\n\r\n"
        self.writer.write(head.encode() + content)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(lines.split("content-length:")[1].split("\r\n")[0])
        return int(lines.split()[1]), json.loads(await self.reader.readexactly(length))

    async def call_patiently(self, *request: Any) -> tuple[int, Any, int]:
        """The response to a request, sent again for as long as the server is gone; and how often it was sent again."""
        again = 0
        while True:
            try:
                return *await self.call(*request), again
            except GONE:
                again += 1
                self.drop()
                await asyncio.sleep(0.1)

    def drop(self) -> None:
        """Forget the connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None
