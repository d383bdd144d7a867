"""The servers of a row: one on SQLite, or several on a new database of PostgreSQL."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

import apsw

from tests.support.postgres import PostgresServer
from tests.support.program import Program
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas


class Servers:
    def __init__(self, programs: list[Program], replicas: Replicas | None = None, proxy: Proxy | None = None) -> None:
        self.programs = programs
        self.proxy = proxy
        """Between the servers and PostgreSQL."""
        self.disk: Path | None = None
        """A small disk with the database, if one could be mounted."""
        self._replicas = replicas
        self._running = list(programs)
        self._is_up = asyncio.Event()
        self._is_up.set()

    @property
    def program(self) -> Program:
        """The only server, or the first one."""
        return self.programs[0]

    @property
    def postgres(self) -> PostgresServer:
        assert self._replicas is not None
        return self._replicas.server

    @property
    def database(self) -> str:
        assert self._replicas is not None
        return self._replicas.database

    def connect_sqlite(self) -> apsw.Connection:
        default = f"sqlite:///{self.program.data / 'tickover.db'}"
        return apsw.Connection(
            self.program.environment.get("TICKOVER_DATABASE_URL", default).removeprefix("sqlite:///")
        )

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |."""
        if self._replicas is not None:
            return self._replicas.ask(sql)
        database = self.connect_sqlite()
        try:
            return ["|".join(map(str, row)) for row in database.execute(sql)]
        finally:
            database.close()

    def stop(self) -> None:
        """Stop all servers gracefully."""
        if self._replicas is not None:
            self._replicas.stop()
        else:
            self.program.stop()

    @contextmanager
    def restarted_with(self, **environment: str) -> Iterator[None]:
        """Run the first server with more variables in its environment."""
        before = dict(self.program.environment)
        self.program.stop()
        self.program.environment.update(environment)
        self.program.start()
        try:
            yield
        finally:
            self.program.kill()
            self.program.environment.clear()
            self.program.environment.update(before)
            self.program.start()

    async def url(self, number: int) -> str:
        """Return the URL of a running server. Wait until there is one."""
        await self._is_up.wait()
        return self._running[number % len(self._running)].url

    async def kill_and_start(self, program: Program) -> None:
        self._running.remove(program)
        if not self._running:
            self._is_up.clear()
        program.kill()
        await asyncio.to_thread(program.start)
        self._running.append(program)
        self._is_up.set()


@contextmanager
def run_servers(
    folder: Path,
    postgres: PostgresServer | None,
    amount: int,
    environment: Mapping[str, str] = {},
    *,
    has_proxy: bool = False,
) -> Iterator[Servers]:
    """Start one server on SQLite, or this number on PostgreSQL."""
    environment = {"TICKOVER_MAX_CLOCKS_PER_USER": "0", **environment}
    if postgres is None:
        with Program(folder, **environment) as program:
            yield Servers([program])
        return
    with Proxy(postgres.port) if has_proxy else nullcontext() as proxy:
        url_of = proxy.url_of if proxy else str
        with Replicas(folder, postgres, amount, url_of, script=None, **environment) as replicas:
            yield Servers(replicas.programs, replicas, proxy)
