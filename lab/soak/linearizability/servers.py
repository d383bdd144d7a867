"""The servers of a soak, and the faults that are injected into them."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from random import Random

from tests.support.postgres import PostgresServer
from tests.support.program import Program
from tests.support.proxy import Proxy

_PAUSE_SECONDS = 0.1
_CUTS_PER_FAULT = 4
_CUT_STATEMENTS = (
    *("insert into clocks", "update clocks", "delete from clocks"),
    *("insert into login_emails", "set attempts", "set spent", ""),
)
"""Parts of the statements before or after which the connection is closed. The empty text is any statement."""
_SECONDS_TO_CUT = 0.5

KILL, PAUSE, CUT, DATABASE_CUT = "kill -9", "pause", "connections cut", "database connections cut"


class Servers:
    """One server on SQLite, or two on one PostgreSQL database."""

    def __init__(self, programs: list[Program], proxy: Proxy | None) -> None:
        self._programs = programs
        self._proxy = proxy
        self._running = list(programs)
        self._is_up = asyncio.Event()
        self._is_up.set()
        self.faults = [KILL, PAUSE, CUT, *([DATABASE_CUT] if proxy else [])]

    async def url(self, number: int) -> str:
        """Return the URL of a running server. Wait until there is one."""
        await self._is_up.wait()
        return self._running[number % len(self._running)].url

    async def inject(self, fault: str, chances: Random, abandon_calls: Callable[[], None]) -> None:
        """Cause a fault, and wait until it is over. Clients cut their own connections."""
        program = chances.choice(self._programs)
        if fault == KILL:
            await self._restart(program)
        elif fault == PAUSE:
            program.process.send_signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
                abandon_calls()
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                program.process.send_signal(signal.SIGCONT)
        elif fault == DATABASE_CUT:
            for _ in range(_CUTS_PER_FAULT):
                await self._cut_database_connection(chances)

    async def _cut_database_connection(self, chances: Random) -> None:
        """Close the connection that next runs a certain statement. Stop waiting if there is none soon."""
        assert self._proxy is not None
        before = self._proxy.cuts
        self._proxy.cut(chances.choice(_CUT_STATEMENTS), chances.choice(["before", "after", "after"]))
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_CUT):
                while self._proxy.cuts == before:  # noqa: ASYNC110 - the proxy runs in another thread
                    await asyncio.sleep(0.005)
        # A later cut would hit the next round, which has no fault.
        self._proxy.cancel_cut()

    async def _restart(self, program: Program) -> None:
        self._running.remove(program)
        if not self._running:
            self._is_up.clear()
        program.kill()
        await asyncio.to_thread(program.start)
        self._running.append(program)
        self._is_up.set()


@asynccontextmanager
async def run_servers(
    folder: Path, postgres: PostgresServer | None, mail_port: int, **environment: str
) -> AsyncIterator[Servers]:
    """Start one server on SQLite, or two on a new PostgreSQL database. The second connects to it through a proxy."""
    settings = {
        "TICKOVER_MAIL_URL": f"smtp://127.0.0.1:{mail_port}",
        "TICKOVER_SECRET_KEY": "the same key for all servers",
        **environment,
    }
    with ExitStack() as stack:
        proxy = None
        databases: list[dict[str, str]] = [{}]
        if postgres is not None:
            proxy = stack.enter_context(Proxy(postgres.port))
            url = postgres.create_database()
            databases = [{"TICKOVER_DATABASE_URL": url}, {"TICKOVER_DATABASE_URL": proxy.url_of(url)}]
        programs = []
        for number, own in enumerate(databases):
            own_folder = folder / f"server{number}"
            own_folder.mkdir()
            programs.append(stack.enter_context(Program(own_folder, **settings, **own)))
        yield Servers(programs, proxy)
