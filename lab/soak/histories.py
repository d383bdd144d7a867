"""Records histories of calls on real servers, several at the same time, half of the rounds with a fault."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from itertools import count, cycle
from pathlib import Path
from random import Random

from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.raw_connections import open_connections
from lab.soak.rows import Context, Figure, at_least
from lab.soak.servers import Servers, run_servers
from tests.support.mail_servers import run_mail_server
from tests.support.postgres import PostgresServer
from tests.support.program import code_params, verify_params

_HISTORIES_PER_ROUND = 8
_MIN_SHARE_PERCENT = 33

_PAUSE_SECONDS = 0.1
_CUTS_PER_FAULT = 4
_CUT_STATEMENTS = (
    *("insert into clocks", "update clocks", "delete from clocks"),
    *("insert into login_emails", "set attempts", "set spent", ""),
)
"""Parts of the statements before or after which the connection is closed. The empty text is any statement."""
_SECONDS_TO_CUT = 0.5

KILL, PAUSE, CUT, DATABASE_CUT = "kill -9", "pause", "connections cut", "database connections cut"

RecordRound = Callable[[Servers, PlannedMailServer, Sequence[int], str], Awaitable[Iterable[str]]]
"""Records one history for each number. Returns the fault of each recorded history, or an empty text."""


class FaultDuringCalls:
    """A fault that begins while clients call. Clients cut their own connections during all of their calls."""

    def __init__(self, servers: Servers, fault: str, chances: Random, calls: int) -> None:
        self._servers = servers
        self._fault = fault
        self._chances = chances
        self._calls = count(1)
        self._calls_before = chances.randint(calls // 5, calls // 2)
        self._begins = asyncio.Event()

    def count_call(self) -> None:
        if next(self._calls) == self._calls_before:
            self._begins.set()

    async def inject(self, abandon_calls: Callable[[], None] = lambda: None) -> None:
        """Cause the fault after enough calls, and wait until it is over."""
        if self._fault:
            await self._begins.wait()
            await self._inject(abandon_calls)

    async def _inject(self, abandon_calls: Callable[[], None]) -> None:
        program = self._chances.choice(self._servers.programs)
        if self._fault == KILL:
            await self._servers.kill_and_start(program)
        elif self._fault == PAUSE:
            program.process.send_signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
                abandon_calls()
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                program.process.send_signal(signal.SIGCONT)
        elif self._fault == DATABASE_CUT:
            for _ in range(_CUTS_PER_FAULT):
                await self._cut_database_connection()

    async def _cut_database_connection(self) -> None:
        """Close the connection that next runs a certain statement. Stop waiting if there is none soon."""
        proxy = self._servers.proxy
        assert proxy is not None
        before = proxy.cuts
        proxy.cut(self._chances.choice(_CUT_STATEMENTS), self._chances.choice(["before", "after", "after"]))
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_CUT):
                while proxy.cuts == before:  # noqa: ASYNC110 - the proxy runs in another thread
                    await asyncio.sleep(0.005)
        # A later cut would hit the next round, which has no fault.
        proxy.cancel_cut()

    @property
    def happened(self) -> str:
        """The fault, or an empty text if it has not begun."""
        return self._fault if self._fault == CUT or self._begins.is_set() else ""


async def sign_in(servers: Servers, mail: PlannedMailServer, address: str) -> str:
    """Return the token of a new user."""
    async with open_connections(await servers.url(0), 1) as [connection]:
        response = await connection.call("sendLoginCodeEmail", code_params(address))
        assert "result" in response, response
        code = mail.deliveries[address][-1].secret
        response = await connection.call("loginByEmailVerification", verify_params(address, code))
    token: str = response["result"]["token"]
    return token


def record_histories(context: Context, wanted: int, faults: Counter[str], record: RecordRound) -> None:
    """Record this many histories, and count their faults."""
    with PostgresServer() if context.store == "postgres" else nullcontext() as postgres:
        asyncio.run(_record(context, wanted, faults, record, postgres))


@asynccontextmanager
async def serve_with_mail(
    folder: Path, postgres: PostgresServer | None
) -> AsyncIterator[tuple[Servers, PlannedMailServer]]:
    """Start one server on SQLite, or two on PostgreSQL, and their mail server."""
    async with run_mail_server(PlannedMailServer()) as mail:
        settings = {"TICKOVER_MAIL_URL": f"smtp://127.0.0.1:{mail.port}"}
        with run_servers(folder, postgres, 2, settings, has_proxy=True) as servers:
            yield servers, mail


async def _record(
    context: Context, wanted: int, faults: Counter[str], record: RecordRound, postgres: PostgresServer | None
) -> None:
    async with serve_with_mail(context.folder, postgres) as (servers, mail):
        first = 0
        possible = (KILL, PAUSE, CUT, DATABASE_CUT) if servers.proxy else (KILL, PAUSE, CUT)
        # A fault in every second round, because some histories end before it.
        kinds = cycle(fault for kind in possible for fault in ("", kind))
        while (missing := wanted - faults.total()) > 0 and not context.is_out_of_time:
            context.progress(1 - missing / wanted, f"history {faults.total() + 1:,} of {wanted:,}")
            numbers = range(first, first + min(_HISTORIES_PER_ROUND, missing))
            faults.update(await record(servers, mail, numbers, next(kinds)))
            first = numbers.stop


def history_figures(faults: Counter[str], wanted: int) -> Iterator[Figure]:
    yield at_least("histories", faults.total(), wanted)
    kinds = ", ".join(f"{number:,} {fault}" for fault, number in sorted(faults.items()) if fault)
    share = round(100 * (faults.total() - faults[""]) / max(1, faults.total()))
    target = f"at least {_MIN_SHARE_PERCENT} %"
    yield Figure("histories with faults", f"{share} % ({kinds})", target, share >= _MIN_SHARE_PERCENT)
