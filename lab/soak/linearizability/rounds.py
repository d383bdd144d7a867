"""Records several histories at the same time on the same servers, with one fault for all of them."""

import asyncio
import time
from collections.abc import Sequence
from random import Random

from lab.soak.histories import FaultDuringCalls, sign_in
from lab.soak.linearizability.clients import CALLS_PER_CLIENT, CLIENTS, ClockClients, LoginClients, Recorder
from lab.soak.linearizability.history import History
from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.servers import Servers
from tickover.server.sign_in.mail.mailer import MAIL_TIMEOUT_SECONDS

_MAX_SECONDS = 50.0
"""Below the resend interval, which the model of sign-ins doesn't know."""


class _Round:
    def __init__(self, servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str) -> None:
        self._servers = servers
        self._mail = mail
        self._fault_name = fault
        calls = len(numbers) * CLIENTS * CALLS_PER_CLIENT
        self._fault = FaultDuringCalls(servers, fault, Random(numbers[0]), calls)
        self._ready = asyncio.Barrier(len(numbers))
        self._recorders: list[Recorder] = []
        self._histories: list[History] = []

    async def run(self, numbers: Sequence[int]) -> list[History]:
        async with asyncio.TaskGroup() as group:
            for number in numbers:
                group.create_task(self._record(number))
            await self._fault.inject(self._abandon_calls)
        return self._histories

    async def _record(self, number: int) -> None:
        chances = Random(number)
        kind = LoginClients if number % 3 == 0 else ClockClients
        clients = kind(self._mail, number, chances)
        recorder = Recorder(self._servers, chances, self._fault_name, self._fault.count_call)
        self._recorders.append(recorder)
        if isinstance(clients, ClockClients):
            recorder.token = await sign_in(self._servers, self._mail, clients.addresses[0])
        await self._ready.wait()
        began = time.monotonic()
        await recorder.run(clients)
        seconds = time.monotonic() - began
        if seconds > _MAX_SECONDS:
            return
        emails = {address: list(self._mail.deliveries[address]) for address in clients.addresses}
        is_slow = seconds > MAIL_TIMEOUT_SECONDS
        happened = self._fault.happened
        self._histories.append(History(number, clients.subject, happened, recorder.calls, emails, is_slow))

    def _abandon_calls(self) -> None:
        for recorder in self._recorders:
            recorder.abandon_calls()


async def record_round(
    servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str = ""
) -> list[History]:
    """Record one history for each number. Histories that took too long are left out."""
    return await _Round(servers, mail, numbers, fault).run(numbers)
