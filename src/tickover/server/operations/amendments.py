"""The operation that amends a clock's schedule.

An amendment is computed from the clock as it was read. It is stored only if the clock still has the same revision, and
a frozen time at which the amendment is valid. Otherwise it is computed again. Amendments of one clock wait for each
other in a process, so only another process can make the operation compute one again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from tickover.api.errors import unavailable
from tickover.server.domain.amendments import amend
from tickover.server.domain.clock_params import AmendEntry
from tickover.server.domain.clocks import Clock
from tickover.server.domain.schedule_json import Schedule
from tickover.server.operations.callers import Caller
from tickover.server.operations.clocks import ClockOperations
from tickover.server.storage.store import Conflict

_MAX_ATTEMPTS: Final = 20
_MAX_WAIT_SECONDS: Final = 3.0


class AmendOperations:
    def __init__(self, clocks: ClockOperations) -> None:
        self._clocks = clocks
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def amend_test_clock(self, params: AmendEntry, caller: Caller) -> bytes:
        existing = await self._clocks.find_existing("amendTestClock", caller)
        if existing is not None:
            return existing
        async with self._lock_clock(params.id):
            clock, schedule = await self._clocks.find(params.id, caller)
            for _ in range(_MAX_ATTEMPTS):
                outcome = await self._amend(clock, schedule, params, caller)
                if isinstance(outcome, bytes):
                    return outcome
                clock, schedule = self._clocks.decode(outcome.stored)
        raise _too_many_amendments()

    async def _amend(self, clock: Clock, schedule: Schedule, params: AmendEntry, caller: Caller) -> bytes | Conflict:
        amended = amend(clock, schedule, params)
        return await self._clocks.store_amended(clock, amended, caller)

    @asynccontextmanager
    async def _lock_clock(self, id: str) -> AsyncIterator[None]:
        """Wait until no other call of this process amends the clock."""
        lock = self._locks.setdefault(id, asyncio.Lock())
        try:
            async with asyncio.timeout(_MAX_WAIT_SECONDS):
                await lock.acquire()
        except TimeoutError:
            raise _too_many_amendments() from None
        try:
            yield
        finally:
            lock.release()


def _too_many_amendments() -> Exception:
    return unavailable("Too many calls amend this clock at the same time. Try again in a moment.")
