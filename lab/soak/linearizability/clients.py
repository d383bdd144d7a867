"""Clients that make concurrent calls on a small set of clocks or addresses, and record them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

from lab.soak.histories import CUT
from lab.soak.linearizability.calls import outcome, request
from lab.soak.linearizability.clock_model import FIRST_TRANSFER, View
from lab.soak.linearizability.history import UNKNOWN, Call, Outcome, Subject
from lab.soak.linearizability.planned_mail import PlannedMailServer, Reply
from lab.soak.raw_connections import ConnectionLost, RawConnection, ResponseTruncated, connect
from lab.soak.servers import Servers

CLIENTS = 8
CALLS_PER_CLIENT = 7
_SHARE_CUT = 0.15
_MAX_ABANDONED = 8
"""Calls of a history whose clients don't wait for the response. The search grows with their number."""
_KEYS = ("k1", "k1", "k2", "")
_OTHER_KEYS = ("a1", "a2", "a3", "", "", "")
"""Keys of amendments, moves and forks. Most calls with one key have different parameters."""
_ACTIONS = ["create", "advance", "get", "list", "fork", "delete", "add", "cancel", "update", "move"]
_WEIGHTS = (
    [20, 20, 15, 8, 6, 10, 10, 6, 8, 10],
    [6, 20, 20, 4, 3, 3, 30, 15, 12, 10],
    [40, 6, 6, 8, 4, 24, 6, 4, 4, 4],
)
"""Of the actions."""
_FAILED_REPLIES: tuple[Reply, ...] = ("rejected", "none")


class Recorder:
    """Makes the calls of one history. A client without a response continues on a new connection."""

    def __init__(self, servers: Servers, chances: Random, fault: str, count_call: Callable[[], None]) -> None:
        self._servers = servers
        self._chances = chances
        self._count_call = count_call
        self._share_cut = _SHARE_CUT if fault == CUT else 0.0
        self._abandoned = 0
        self._waiting: set[asyncio.Timeout] = set()
        self._time = count()
        self.token = ""
        self.calls: list[Call] = []

    async def run(self, clients: "ClockClients | LoginClients") -> None:
        """Make all calls."""
        async with asyncio.TaskGroup() as group:
            for client in range(CLIENTS):
                group.create_task(self._run_client(client, clients))

    async def _run_client(self, client: int, clients: "ClockClients | LoginClients") -> None:
        connection = None
        try:
            for _ in range(CALLS_PER_CLIENT):
                connection = connection or await self._connect(client)
                name, arguments = clients.choose()
                call = Call(len(self.calls), client, name, arguments, next(self._time))
                self.calls.append(call)
                self._count_call()
                found = await self._call(connection, name, arguments)
                if found is UNKNOWN:
                    connection.close()
                    connection = None
                    continue
                finished = Call(call.number, client, name, arguments, call.begin, next(self._time), found)
                self.calls[call.number] = finished
                clients.note(finished)
        finally:
            if connection is not None:
                connection.close()

    def abandon_calls(self) -> None:
        """Let half of the waiting clients give up, as after a timeout."""
        for wait in list(self._waiting)[::2]:
            wait.reschedule(0.0)

    async def _connect(self, client: int) -> RawConnection:
        while True:
            with suppress(ConnectionError):
                return await connect(await self._servers.url(client), self.token)
            await asyncio.sleep(0.01)

    async def _call(self, connection: RawConnection, name: str, arguments: dict[str, Any]) -> Outcome:
        method, params, key = request(name, arguments)
        connection.send(method, params, key=key)
        if self._abandoned < _MAX_ABANDONED and self._chances.random() < self._share_cut:
            self._abandoned += 1
            # Let the bytes leave before the connection is closed.
            await asyncio.sleep(0)
            return UNKNOWN
        try:
            async with asyncio.timeout(None) as wait:
                self._waiting.add(wait)
                return outcome(name, await connection.receive())
        except (ConnectionLost, ResponseTruncated, TimeoutError):
            return UNKNOWN
        finally:
            self._waiting.discard(wait)


class ClockClients:
    """Calls on the clocks of a new account."""

    subject: Subject = "clocks"

    def __init__(self, mail: PlannedMailServer, number: int, chances: Random) -> None:
        self.addresses = [f"clocks{number}@example.test"]
        self._chances = chances
        self._weights = chances.choice(_WEIGHTS)
        self._days: dict[str, int] = {}
        """The last seen day of each clock, in the order of creation."""

    def choose(self) -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments of the next call."""
        chances = self._chances
        [name] = chances.choices(_ACTIONS, self._weights)
        if name == "list":
            return name, {}
        if name == "create" or not self._days:
            params = "salary" if chances.random() < 0.15 else "rent"
            return "create", {"key": chances.choice(_KEYS), "params": params}
        [id] = chances.choices(list(self._days)[-3:][::-1], [8, 2, 1][: len(self._days)])
        if name in ("get", "delete", "update"):
            return name, {"id": id} | ({"count": chances.randint(0, 3)} if name == "update" else {})
        key = chances.choice(_OTHER_KEYS)
        if name == "move":
            return name, {"id": id, "days": chances.randint(1, 2), "key": key}
        if name == "cancel":
            number = chances.choice((*range(5), FIRST_TRANSFER, FIRST_TRANSFER + 1))
            return name, {"id": id, "number": number, "key": key}
        day = self._days[id] + chances.randint(-1, 3) if name in ("advance", "add") else chances.randint(0, 9)
        arguments = {"id": id, "day": max(0, day)}
        return name, arguments if name == "advance" else {**arguments, "key": key}

    def note(self, call: Call) -> None:
        """Use the result of a call in later calls."""
        if call.outcome and isinstance(call.outcome[-1], View):
            self._days[call.outcome[-1].id] = call.outcome[-1].day


class LoginClients:
    """Sign-ins with two addresses. The mail server fails up to four times for each."""

    subject: Subject = "logins"

    def __init__(self, mail: PlannedMailServer, number: int, chances: Random) -> None:
        self.addresses = [f"{name}{number}@example.test" for name in ("ana", "ben")]
        self._mail = mail
        self._chances = chances
        for address in self.addresses:
            mail.planned[address] = [chances.choice(_FAILED_REPLIES) for _ in range(chances.randint(0, 4))]

    def choose(self) -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments of the next call. Clients know all emails that reached the mail server."""
        chances = self._chances
        address = chances.choice(self.addresses)
        emails = self._mail.deliveries[address]
        codes = [email.secret for email in emails if email.kind == "code"]
        links = [email.secret for email in emails if email.kind == "link"]
        share = chances.random()
        if links and share < 0.12:
            return "open_link", {"address": address, "secret": chances.choice(links)}
        if codes and share < 0.65:
            wrong = f"{chances.randrange(10):06}"
            [code] = chances.choices([codes[-1], chances.choice(codes), wrong], [3, 2, 5])
            return "verify", {"address": address, "code": code}
        return "send", {"address": address, "kind": "link" if chances.random() < 0.3 else "code"}

    def note(self, call: Call) -> None:
        """Nothing in a result matters for later calls."""
