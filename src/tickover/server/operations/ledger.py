"""Operations on balances, events and expectations. They only read."""

import asyncio
from functools import cached_property
from typing import Final

from msgspec import UNSET, UnsetType, json

from tickover.api.errors import Fault, invalid_params
from tickover.api.timestamps import Instant
from tickover.server.domain.clocks import Clock
from tickover.server.domain.events import EventIndex, EventQuery, events, index_events, read_cursor
from tickover.server.domain.expectations import Scope, check, scope_faults, time_faults
from tickover.server.domain.ledger import Ledger, balances
from tickover.server.domain.ledger_params import BalancesEntry, CheckEntry, EventsEntry
from tickover.server.domain.lru_cache import LruCache
from tickover.server.domain.schedule_json import Schedule
from tickover.server.domain.totals import Totals
from tickover.server.operations.callers import Caller
from tickover.server.operations.clocks import ClockOperations

_MAX_CACHED_BYTES: Final = 8_000_000
_BYTES_PER_ITEM: Final = 800
"""The approximate size of an item in a ledger, including the index of events and the totals."""
_BYTES_PER_LEDGER: Final = 4_000
_MANY_ITEMS: Final = 100
_HOLDS: Final = b'{"ok":true}'
_CLOCK_RANGE: Final = "the clock's start and its maxTime"
_encode: Final = json.Encoder().encode


class CachedLedger:
    """The ledger of a schedule. The indexes are built on first use."""

    def __init__(self, schedule: Schedule, start: Instant) -> None:
        self.ledger = Ledger(schedule, start)

    @cached_property
    def events(self) -> EventIndex:
        return index_events(self.ledger)

    @cached_property
    def totals(self) -> Totals:
        return Totals(self.ledger)


class LedgerOperations:
    def __init__(self, clocks: ClockOperations) -> None:
        self._clocks = clocks
        self._ledgers: LruCache[tuple[bytes, int], CachedLedger] = LruCache(_MAX_CACHED_BYTES)
        """By the key and the revision of the clock, which have one schedule."""

    async def get_test_clock_balances(self, params: BalancesEntry, caller: Caller) -> bytes:
        clock, schedule = await self._clocks.find(params.id, caller)
        at = clock.frozen_time if params.at is UNSET else params.at
        _reject("getTestClockBalances", list(time_faults("at", at, clock.start_time, clock.max_time, _CLOCK_RANGE)))
        ledger = (await self._ledger(clock, schedule)).ledger
        found = balances(ledger, clock.start_time, at, params.opening_balances)
        return _encode({"at": at, "balances": found})

    async def list_test_clock_events(self, params: EventsEntry, caller: Caller) -> bytes:
        clock, schedule = await self._clocks.find(params.id, caller)
        until = clock.frozen_time if params.until is UNSET else params.until
        after = None if params.after is UNSET else params.after
        faults = list(time_faults("until", params.until, clock.start_time, clock.max_time, _CLOCK_RANGE))
        latest = clock.max_time if faults else until
        limits = "the clock's start and until"
        faults += time_faults("after", params.after, clock.start_time, latest, limits)
        _reject("listTestClockEvents", faults)
        cursor = None if isinstance(params.cursor, UnsetType) else read_cursor(params.cursor)
        query = EventQuery(clock.frozen_time, until, int(params.limit), after, cursor, params.opening_balances)
        cached = await self._ledger(clock, schedule)
        return events(cached.ledger, cached.events, query)

    async def check_test_clock(self, params: CheckEntry, caller: Caller) -> bytes:
        clock, schedule = await self._clocks.find(params.id, caller)
        cached = await self._ledger(clock, schedule)
        until = clock.max_time if params.until is UNSET else params.until
        faults = list(time_faults("until", until, clock.start_time, clock.max_time, _CLOCK_RANGE))
        scope = Scope(clock.start_time, clock.max_time if faults else until, params.opening_balances)
        faults += scope_faults(params.expectations, cached.ledger, cached.totals, scope)
        _reject("checkTestClock", faults)
        results: list[bytes] = []
        for each in params.expectations:
            found = check(each, cached.ledger, cached.totals, scope)
            results.append(_HOLDS if found is None else _encode({"ok": False, "violation": found}))
            if found is not None and len(found.item_ids) > _MANY_ITEMS:
                # The next one can take as long.
                await asyncio.sleep(0)
        ok = b"true" if results.count(_HOLDS) == len(results) else b"false"
        return b'{"ok":%b,"until":%b,"results":[%b]}' % (ok, _encode(until), b",".join(results))

    async def _ledger(self, clock: Clock, schedule: Schedule) -> CachedLedger:
        key = clock.key, clock.revision
        cached = self._ledgers.get(key)
        if cached is None:
            cached = CachedLedger(schedule, clock.start_time)
            for _ in cached.ledger.build():
                await asyncio.sleep(0)
            items = len(schedule.transactions.instants) + sum(len(goal.savings.sums) for goal in schedule.goals)
            self._ledgers.put(key, cached, _BYTES_PER_LEDGER + _BYTES_PER_ITEM * items)
        return cached


def _reject(method: str, faults: list[Fault]) -> None:
    if faults:
        raise invalid_params(method, faults)
