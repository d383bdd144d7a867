"""PgBouncer in front of a test's PostgreSQL server."""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tests.support.debian_packages import require_program
from tests.support.deploy import running
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import give_to_postgres, unprivileged


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
        settings = {
            "listen_addr": "127.0.0.1", "listen_port": str(self.port), "unix_socket_dir": "", "auth_type": "any",
            **self._settings,
        }  # fmt: skip
        to = f"host=127.0.0.1 port={self._server.port} user=tickover password={self._server.password}"
        lines = ["[databases]", f"* = {to}", "[pgbouncer]", *(f"{name} = {value}" for name, value in settings.items())]
        config = self._folder / "pgbouncer.ini"
        config.write_text("\n".join(lines))
        give_to_postgres(self._folder)
        give_to_postgres(config)
        command = [self._program, str(config)]
        self._stack.callback(shutil.rmtree, self._folder)
        self._stack.enter_context(running(command, self._folder, self.port, cwd="/", **unprivileged()))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def log(self) -> str:
        return (self._folder / "output.txt").read_text()

    def url_of(self, url: str, query: str = "") -> str:
        """Return the URL of a database through PgBouncer."""
        direct, pooled = f"127.0.0.1:{self._server.port}", f"127.0.0.1:{self.port}"
        return url.replace(direct, pooled) + query
