"""PgBouncer in front of a test's PostgreSQL server, with the file in deploy/ and other settings."""

import shutil
import tempfile
from configparser import RawConfigParser
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tests.support.debian_packages import require_program
from tests.support.deploy import DEPLOY, running
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import give_to_postgres, unprivileged

_LONG = "120"
"""Seconds, for a busy machine."""


class PgBouncer:
    """Connects to every database of the server as the role tickover. It runs inside the context."""

    def __init__(self, server: PostgresServer, **settings: str) -> None:
        self._program = require_program("pgbouncer")
        self._server = server
        self._settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="tickover-pgbouncer-"))
        self._stack = ExitStack()
        self.port = free_port()

    def __enter__(self) -> Self:
        config = RawConfigParser()
        config.read(DEPLOY / "pgbouncer" / "pgbouncer.ini")
        to = f"host=127.0.0.1 port={self._server.port} user=tickover password={self._server.password}"
        config["databases"] = {"*": to}
        config["pgbouncer"].update({
            "listen_port": str(self.port), "unix_socket_dir": "", "auth_type": "any",
            "query_wait_timeout": _LONG, "server_connect_timeout": _LONG, **self._settings,
        })  # fmt: skip
        file = self._folder / "pgbouncer.ini"
        with file.open("w") as written:
            config.write(written)
        give_to_postgres(self._folder)
        give_to_postgres(file)
        command = [self._program, str(file)]
        self._stack.callback(shutil.rmtree, self._folder)
        self._stack.enter_context(running(command, self._folder, self.port, cwd="/", **unprivileged()))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def url_of(self, url: str, query: str = "") -> str:
        """Return the URL of a database through PgBouncer."""
        direct, pooled = f"127.0.0.1:{self._server.port}", f"127.0.0.1:{self.port}"
        return url.replace(direct, pooled) + query
