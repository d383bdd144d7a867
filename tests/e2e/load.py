"""Callers who write to replicas without pause, whatever happens, and whether all that they were told is kept."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

from tests.e2e.books import Books
from tests.e2e.connections import Connection, CutShort, Gone, connect
from tests.e2e.replicas import Replicas
from tests.e2e.visits import Rows, Visits
from tests.support.program import Program, wait_until

_WAIT_SECONDS = 60.0


async def until(condition: Callable[[], Awaitable[object] | object]) -> None:
    """Wait for something while others go on; fail aloud when it does not happen."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        found = condition()
        if await found if isinstance(found, Awaitable) else found:
            return
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.005)


class Load:
    """Callers who write until they are told to stop. Who finds his replica gone goes to one that is there."""

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas
        first = replicas.programs[0]
        self.books = Books(first, first.sign_in(), self._standing)
        self.visits = Visits(first.data / "outbox")
        self.running = list(replicas.programs)
        self.broken = 0
        """How often somebody's connection ended in the midst of a call."""
        self._turns = count()
        self._stopping = False
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    @asynccontextmanager
    async def of(self, writers: int, visitors: int) -> AsyncIterator[None]:
        """Have so many callers at work meanwhile; afterwards, hold what they know against what is there."""
        async with asyncio.TaskGroup() as callers:
            for _ in range(writers):
                callers.create_task(self._work(partial(self.books.write, mine=[])))
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
            # After a moment, because the next one may just be going too.
            await asyncio.sleep(0.001)
            try:
                connection = await connect(self.running[next(self._turns) % len(self.running)].url)
            except ConnectionError:
                continue
            try:
                while not self._stopping:
                    await call(connection)
                    await self._may_go_on.wait()
            except (Gone, CutShort):
                self.broken += 1
            finally:
                connection.close()
                await connection.wait_until_closed()

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Have nobody begin anything meanwhile."""
        self._may_go_on.clear()
        try:
            yield
        finally:
            self._may_go_on.set()

    async def succeed(self, more: int) -> None:
        """Wait until so many more calls were answered with a result."""
        enough = self.books.results + more
        await until(lambda: self.books.results >= enough)

    async def be_refused(self, more: int) -> None:
        """Wait until so many more calls were answered that the database is not to be had."""
        enough = self.books.refusals + more
        await until(lambda: self.books.refusals >= enough)

    async def until_readiness_is(self, status: int) -> None:
        """Wait until every replica answers so to whoever asks whether it is ready; it is alive all the time."""
        for program in self.running:
            await until(partial(_is_alive_and_says, program, status))

    def _check(self) -> None:
        """All that was told is there, and all that was not told is whole, once nothing is under way any more."""
        wait_until(lambda: not self._replicas.sessions("state <> 'idle'"))
        self.books.check(self.books.clocks.values())
        rows = self._rows()
        for visit in self.visits.every:
            visit.check(rows)
        self._replicas.stop()

    def _standing(self) -> dict[bytes, int]:
        pairs = self._pairs("select key, frozen_time from clocks")
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
        return [line.split("|") for line in self._replicas.ask(sql)]


def _counter(pairs: list[tuple[str, str]]) -> Counter[str]:
    return Counter({email: int(number) for email, number in pairs})


async def _is_alive_and_says(program: Program, status: int) -> bool:
    assert (await asyncio.to_thread(program.request, "GET", "/healthz")).status == 200
    return (await asyncio.to_thread(program.request, "GET", "/readyz")).status == status
