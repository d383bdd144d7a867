"""Records several histories at the same time on the same servers, with one fault for all of them."""

import asyncio
import time
from collections.abc import Sequence
from itertools import count
from random import Random

from lab.soak.connections import open_connections
from lab.soak.linearizability.clients import CALLS_PER_CLIENT, CLIENTS, ClockClients, LoginClients, Recorder
from lab.soak.linearizability.history import History
from lab.soak.linearizability.mail import PlannedMailServer
from lab.soak.linearizability.servers import CUT, Servers
from tests.support.program import code_params, verify_params
from tickover.api.limits import MAIL_TIMEOUT

HISTORIES_PER_ROUND = 8
_MAX_SECONDS = 50.0
"""Below the resend interval, which the model of sign-ins doesn't know."""


class _Round:
    def __init__(self, servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str) -> None:
        self._servers = servers
        self._mail = mail
        self._fault = fault
        self._chances = Random(numbers[0])
        self._calls = count(1)
        all_calls = len(numbers) * CLIENTS * CALLS_PER_CLIENT
        self._calls_before_fault = self._chances.randint(all_calls // 5, all_calls // 2)
        self._fault_begins = asyncio.Event()
        self._ready = asyncio.Barrier(len(numbers))
        self._recorders: list[Recorder] = []
        self._histories: list[History] = []

    async def run(self, numbers: Sequence[int]) -> list[History]:
        async with asyncio.TaskGroup() as group:
            for number in numbers:
                group.create_task(self._record(number))
            if self._fault:
                await self._fault_begins.wait()
                await self._servers.inject(self._fault, self._chances, self._abandon_calls)
        return self._histories

    async def _record(self, number: int) -> None:
        chances = Random(number)
        kind = LoginClients if number % 3 == 0 else ClockClients
        clients = kind(self._mail, number, chances)
        recorder = Recorder(self._servers, chances, self._fault, self._count_call)
        self._recorders.append(recorder)
        if isinstance(clients, ClockClients):
            recorder.token = await self._sign_in(clients.addresses[0])
        await self._ready.wait()
        began = time.monotonic()
        await recorder.run(clients)
        seconds = time.monotonic() - began
        if seconds > _MAX_SECONDS:
            return
        emails = {address: list(self._mail.deliveries[address]) for address in clients.addresses}
        is_slow = seconds > MAIL_TIMEOUT.total_seconds()
        fault = self._fault if self._fault == CUT or self._fault_begins.is_set() else ""
        self._histories.append(History(number, clients.subject, fault, recorder.calls, emails, is_slow))

    def _count_call(self) -> None:
        if next(self._calls) == self._calls_before_fault:
            self._fault_begins.set()

    def _abandon_calls(self) -> None:
        for recorder in self._recorders:
            recorder.abandon_calls()

    async def _sign_in(self, address: str) -> str:
        async with open_connections(await self._servers.url(0), 1) as [connection]:
            response = await connection.call("sendLoginCodeEmail", code_params(address))
            assert "result" in response, response
            code = self._mail.deliveries[address][-1].secret
            response = await connection.call("loginByEmailVerification", verify_params(address, code))
        token: str = response["result"]["token"]
        return token


async def record_round(
    servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str = ""
) -> list[History]:
    """Record one history for each number. Histories that took too long are left out."""
    return await _Round(servers, mail, numbers, fault).run(numbers)
