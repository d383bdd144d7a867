"""Continuous writes to replicas during failures, and a check that all confirmed writes are stored."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any, Protocol

from lab.soak.clock_writer import ClockWriter
from lab.soak.connections import Connection, ConnectionLost, ResponseTruncated, connect
from lab.soak.sign_ins import Rows, Visits
from tests.support.program import Program, link_params, until, wait_until

_NUMBERS = count()
_MAX_SIGN_INS = 20


class LoadTarget(Protocol):
    """Programs with one database."""

    programs: list[Program]

    def sessions(self, condition: str = "true") -> list[str]:
        """Return the sessions of the programs in the database."""

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |."""

    def stop(self) -> None:
        """Stop all programs gracefully."""


class WriteLoad:
    """Callers that write until they are stopped. If a server is lost, its callers use another one, or wait for one.

    A caller pauses between two calls. Without a pause, callers take all processor time. At the end, the servers are
    stopped, unless `stops_servers` is false.
    """

    def __init__(self, servers: LoadTarget, pause_seconds: float = 0, stops_servers: bool = True) -> None:
        self._servers = servers
        self._pause_seconds = pause_seconds
        self._stops_servers = stops_servers
        first = servers.programs[0]
        self._name, token = _sign_in(first)
        self.writer = ClockWriter(first, token, self._stored_times)
        self.visits = Visits(first.data / "outbox", self._name)
        self.running = list(servers.programs)
        self.proxy_url = ""
        """The address for calls, if they go through a proxy."""
        self.broken = 0
        """Number of connections lost during a call."""
        self._turns = count()
        self._stopping = False
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    @asynccontextmanager
    async def of(self, writers: int, visitors: int) -> AsyncIterator[None]:
        """Run this number of callers, then check the stored data."""
        async with asyncio.TaskGroup() as callers:
            for _ in range(writers):
                callers.create_task(self._work(partial(self.writer.write, mine=[])))
            for _ in range(visitors):
                callers.create_task(self._work(self.visits.visit))
            try:
                yield
            finally:
                self._stopping = True
                self._may_go_on.set()
        self._check()

    async def _work(self, call: Callable[[Connection], Awaitable[None]]) -> None:
        while not self._stopping:
            # Wait, because the next server may be stopping too.
            await asyncio.sleep(0.001)
            if not self.running:
                continue
            try:
                connection = await connect(self.proxy_url or self.running[next(self._turns) % len(self.running)].url)
            except ConnectionError:
                continue
            try:
                while not self._stopping:
                    await call(connection)
                    await asyncio.sleep(self._pause_seconds)
                    await self._may_go_on.wait()
            except (ConnectionLost, ResponseTruncated):
                self.broken += 1
            finally:
                connection.close()
                await connection.wait_until_closed()

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Pause all callers."""
        self._may_go_on.clear()
        try:
            yield
        finally:
            self._may_go_on.set()

    async def succeed(self, more: int) -> None:
        """Wait until this number of further calls has succeeded."""
        enough = self.writer.results + more
        await until(lambda: self.writer.results >= enough)

    async def be_rejected(self, more: int) -> None:
        """Wait until this number of further calls was rejected as unavailable."""
        enough = self.writer.rejections + more
        await until(lambda: self.writer.rejections >= enough)

    async def until_readiness_is(self, status: int) -> None:
        """Wait until /readyz of every server returns this status. /healthz must always return 200."""
        for program in self.running:
            await until(partial(_is_alive_and_says, program, status))

    def _check(self) -> None:
        """Check that confirmed writes are stored and unconfirmed ones are complete or missing."""
        wait_until(lambda: not self._servers.sessions("state <> 'idle'"))
        self.writer.check()
        rows = self._rows()
        for visit in self.visits.every:
            visit.check(rows)
        if self._stops_servers:
            self._servers.stop()

    def _stored_times(self) -> dict[bytes, int]:
        pairs = self._pairs(
            f"""select clocks.key, frozen_time from clocks join users on users.key = owner
                where email = '{self._name}@example.test'"""
        )
        return {bytes.fromhex(key.replace("-", "")): int(frozen_time) for key, frozen_time in pairs}

    def _rows(self) -> Rows:
        sends = self._pairs("select email, count(*) from login_sends where email <> '' group by email")
        failures = self._pairs("select email, count from login_failures where email like '%@%'")
        sessions = defaultdict(list)
        for email, digest in self._pairs(
            "select email, encode(digest, 'hex') from users join tokens on user_key = key"
        ):
            sessions[email].append(bytes.fromhex(digest))
        return Rows(_counter(sends), _counter(failures), sessions)

    def _pairs(self, sql: str) -> list[Any]:
        return [line.split("|") for line in self._servers.ask(sql)]


def _sign_in(program: Program) -> tuple[str, str]:
    """Return the name and the token of a new user. With short timeouts, a busy machine may need several users."""
    for _ in range(_MAX_SIGN_INS):
        name = f"load{next(_NUMBERS)}"
        sent = program.call("sendLoginCodeEmail", link_params(f"{name}@example.test"))
        if "result" in sent:
            opened = program.call("loginByEmailLink", {"token": sent["result"]["loginUrl"].partition("#token=")[2]})
            if "result" in opened:
                return name, opened["result"]["token"]
    raise AssertionError(f"nobody can sign in: {program.output}")


def _counter(pairs: list[tuple[str, str]]) -> Counter[str]:
    return Counter({email: int(number) for email, number in pairs})


async def _is_alive_and_says(program: Program, status: int) -> bool:
    assert (await asyncio.to_thread(program.request, "GET", "/healthz")).status == 200
    return (await asyncio.to_thread(program.request, "GET", "/readyz")).status == status
