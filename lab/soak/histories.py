"""Records histories of calls on real servers, several at the same time, half of the rounds with a fault."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import count, cycle
from random import Random

from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.linearizability.servers import CUT, Servers, run_servers
from lab.soak.raw_connections import open_connections
from lab.soak.rows import Context, Figure, at_least
from tests.support.mail_servers import run_mail_server
from tests.support.postgres import PostgresServer
from tests.support.program import code_params, verify_params

_HISTORIES_PER_ROUND = 8
_MIN_SHARE_PERCENT = 33

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
            await self._servers.inject(self._fault, self._chances, abandon_calls)

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


async def _record(
    context: Context, wanted: int, faults: Counter[str], record: RecordRound, postgres: PostgresServer | None
) -> None:
    async with (
        run_mail_server(PlannedMailServer()) as mail,
        run_servers(context.folder, postgres, mail.port) as servers,
    ):
        first = 0
        # A fault in every second round, because some histories end before it.
        kinds = cycle(fault for kind in servers.faults for fault in ("", kind))
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
