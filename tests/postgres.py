"""A PostgreSQL server for tests: Debian's programs, own folder, free port, a password, gone afterwards."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

#: The user of the server, and its password, which must never be seen anywhere.
USER, PASSWORD = "tester", "s3cret-of-the-tests"


def programs():
    """The folder of ``initdb`` and ``postgres``, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def unprivileged():
    """What makes a process run as somebody who is not root, as the server insists."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    who = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}


@contextmanager
def server():
    """The start of a URL of a fresh server, ``postgresql://user:password@host:port``."""
    folder, who = Path(tempfile.mkdtemp(prefix="prefopt-postgres-")), unprivileged()
    try:
        if who:
            os.chown(folder, who["user"], who["group"])
        data, secret = folder / "data", folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        words = ["-D", data, "-U", USER, f"--pwfile={secret}", "--auth=scram-sha-256", "-E", "UTF8", "--no-locale"]
        subprocess.run([programs() / "initdb", *words, "--no-sync"], check=True, capture_output=True, cwd=folder, **who)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = ["-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen([programs() / "postgres", *options], stdout=log, stderr=log, cwd=folder, **who)
        try:
            url = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}"
            _wait(url, process, folder / "log")
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    finally:
        shutil.rmtree(folder)


def run(url, statement):
    """Run one SQL statement outside of a transaction, in the database of ``url``."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def _wait(url, process, log):
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            return run(f"{url}/postgres", "SELECT 1")
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}") from None
            time.sleep(0.05)
