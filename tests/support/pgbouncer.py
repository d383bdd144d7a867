"""PgBouncer in front of a test's PostgreSQL server."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Self

import pytest

from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import unprivileged

_WAIT_SECONDS = 120.0


class PgBouncer:
    """Connects to every database of the server as the role tickover. It runs inside the context."""

    def __init__(self, server: PostgresServer, **settings: str) -> None:
        self._program = find_pgbouncer()
        self._server = server
        self._settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="tickover-pgbouncer-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        account = unprivileged()
        owner = account.get("user", os.getuid()), account.get("group", os.getgid())
        settings = {
            "listen_addr": "127.0.0.1", "listen_port": str(self.port), "unix_socket_dir": "", "auth_type": "any",
            **self._settings,
        }  # fmt: skip
        to = f"host=127.0.0.1 port={self._server.port} user=tickover password={self._server.password}"
        lines = ["[databases]", f"* = {to}", "[pgbouncer]", *(f"{name} = {value}" for name, value in settings.items())]
        config = self._folder / "pgbouncer.ini"
        config.write_text("\n".join(lines))
        shutil.chown(self._folder, *owner)
        shutil.chown(config, *owner)
        with (self._folder / "log.txt").open("wb") as log:
            self._process = subprocess.Popen([self._program, config], stdout=log, stderr=log, cwd="/", **account)
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(_WAIT_SECONDS)
        shutil.rmtree(self._folder)

    @property
    def log(self) -> str:
        return (self._folder / "log.txt").read_text()

    def url_of(self, url: str, query: str = "") -> str:
        """Return the URL of a database pooled PgBouncer."""
        direct, pooled = f"127.0.0.1:{self._server.port}", f"127.0.0.1:{self.port}"
        return url.replace(direct, pooled) + query

    def _wait(self) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            assert self._process is not None
            assert self._process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)


@cache
def find_pgbouncer() -> str:
    """Return the path of the program. Install it if possible, or else skip the test."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    if found := shutil.which("pgbouncer", path=path):
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # At this run level, Debian doesn't start installed services.
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", "pgbouncer"]):
            subprocess.run(["apt-get", *command], env=environment, capture_output=True, check=False)
    if found := shutil.which("pgbouncer", path=path):
        return found
    pytest.skip("PgBouncer is not installed, and only root on Debian can install it")
