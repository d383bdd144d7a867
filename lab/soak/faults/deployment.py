"""What faults act on: a server on one store. And the declaration of a fault."""

import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.soak.rows import STORES, Context, StoreName
from lab.soak.sqlite_server import SqliteServer
from lab.soak.write_load import WriteLoad
from tests.support.postgres import PostgresServer
from tests.support.program import Program
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_DISK_SIZE = "256m"
_CONNECTIONS = 4
_SETTINGS = {"TICKOVER_MAX_CLOCKS_PER_USER": "0", "TICKOVER_KEEP_ALIVE_SECONDS": "75"}


class Deployment:
    """A running server. Faults may restart it, but leave it as they found it."""

    def __init__(self, servers: "Replicas | SqliteServer", disk: Path | None) -> None:
        self.servers = servers
        self.program = servers.programs[0]
        self.disk = disk
        """A small disk with the database, if one could be mounted."""
        self.proxy: Proxy | None = None

    @property
    def sqlite(self) -> SqliteServer:
        assert isinstance(self.servers, SqliteServer)
        return self.servers

    @property
    def postgres(self) -> PostgresServer:
        assert isinstance(self.servers, Replicas)
        return self.servers.server

    @property
    def replicas(self) -> Replicas:
        assert isinstance(self.servers, Replicas)
        return self.servers

    @contextmanager
    def restarted_with(self, **environment: str) -> Iterator[None]:
        """Run the program with more variables in its environment."""
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


@contextmanager
def deploy(context: Context) -> Iterator[Deployment]:
    with ExitStack() as stack:
        if context.store == "sqlite":
            disk = stack.enter_context(_small_disk(context.folder))
            file = (disk or context.folder) / "tickover.db"
            program = Program(context.folder, TICKOVER_DATABASE_URL=f"sqlite:///{file}", **_SETTINGS)
            yield Deployment(SqliteServer(stack.enter_context(program)), disk)
            return
        server = PostgresServer()
        server.settings |= {"fsync": "on", "full_page_writes": "on"}
        stack.enter_context(server)
        proxy = stack.enter_context(Proxy(server.port))
        limit = {"TICKOVER_DATABASE_CONNECTIONS": str(_CONNECTIONS), **_SETTINGS}
        deployment = Deployment(
            stack.enter_context(Replicas(context.folder, server, 1, proxy.url_of, script=None, **limit)), None
        )
        deployment.proxy = proxy
        yield deployment


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a file system in memory. Only root may do this."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_SIZE},mode=700", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


Inject = Callable[[Deployment, WriteLoad], Awaitable[None]]
"""Causes a fault while callers write. It returns when everything is right again."""


class Fault(NamedTuple):
    name: str
    inject: Inject
    stores: tuple[StoreName, ...]
    visitors: int
    """Callers that sign in by email. None of them if the fault keeps them from it."""


FAULTS: list[Fault] = []


def fault(name: str, *stores: StoreName, visitors: int = 2) -> Callable[[Inject], Inject]:
    """Add a function to `FAULTS`, for these stores or for all."""

    def add(inject: Inject) -> Inject:
        FAULTS.append(Fault(name, inject, stores or STORES, visitors))
        return inject

    return add
