"""Several programs on one PostgreSQL database."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.support.postgres import PostgresServer
from tests.support.program import Program, wait_until

_WAIT_SECONDS = 120.0
_SESSIONS = "select pid from pg_stat_activity where datname = current_database() and application_name = 'tickover'"


class Replicas:
    """Server processes that share a new database, a secret key and an outbox. A context manager.

    `url_of` returns the URL that the programs use from the URL of the database. `server` may be set to another one that
    has the database too. `script` runs the programs with other timeouts.
    """

    def __init__(
        self,
        folder: Path,
        server: PostgresServer,
        amount: int,
        url_of: Callable[[str], str] = lambda url: url,
        script: Path | None = None,
        **environment: str,
    ) -> None:
        self.server = server
        url = server.create_database()
        self.database = url.rpartition("/")[2]
        self.environment = {
            "TICKOVER_DATABASE_URL": url_of(url),
            "TICKOVER_SECRET_KEY": "one key for all replicas",
            "TICKOVER_DATA_DIR": str(folder / "shared"),
            "TICKOVER_MAX_CLOCKS_PER_USER": "0",
            **environment,
        }
        self.programs = []
        for number in range(amount):
            own = folder / f"replica{number}"
            own.mkdir(parents=True)
            program = Program(own, **self.environment)
            program.script = script
            self.programs.append(program)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for program in self.programs:
            program.kill()

    def start(self) -> None:
        """Start all servers concurrently."""
        for program in self.programs:
            program.launch()
        for program in self.programs:
            program.wait_for_banner()

    def stop(self) -> None:
        """Stop all servers gracefully, and check that no connection is left."""
        for program in self.programs:
            program.process.send_signal(signal.SIGTERM)
        assert [program.process.wait(_WAIT_SECONDS) for program in self.programs] == [0] * len(self.programs)
        assert ["Traceback" in program.output for program in self.programs] == [False] * len(self.programs)
        wait_until(lambda: not self.sessions())

    def sessions(self, condition: str = "true") -> list[str]:
        """Return the sessions of the servers in PostgreSQL."""
        return self.ask(f"{_SESSIONS} and {condition}")

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |."""
        return self.server.execute(sql, self.database).splitlines()
