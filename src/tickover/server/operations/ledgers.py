"""Ledgers of clocks, cached for operations on balances, events and expectations."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Final

from msgspec import UNSET, UnsetType

from tickover.api.clocks import OPENING_WITH_ACCOUNTS
from tickover.api.errors import Fault
from tickover.api.fields import Number
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.lru_cache import LruCache
from tickover.server.schedule.bank_view import BankView
from tickover.server.schedule.check_expectations import Check, time_faults
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.events import Events
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.quirks import NO_QUIRKS, AppliedQuirks
from tickover.server.schedule.schedule import Expectation, Schedule
from tickover.server.schedule.totals import Totals

_MAX_CACHED_BYTES: Final = 8_000_000
_BYTES_PER_ITEM: Final = 850
"""The approximate size of an item in a ledger, including the indexes."""
_BYTES_PER_LEDGER: Final = 4_000
_MAX_BANK_BYTES: Final = 16_000_000
_BYTES_PER_ROW: Final = 600
"""The approximate size of a row of a bank, including the indexes."""


class CachedLedger:
    """The ledger of a schedule. The indexes are built on first use."""

    def __init__(self, schedule: Schedule) -> None:
        self.ledger = Ledger(schedule)

    @cached_property
    def events(self) -> Events:
        return Events(self.ledger)

    @cached_property
    def totals(self) -> Totals:
        return Totals(self.ledger)


OpeningBalances = Mapping[str, Number] | UnsetType | None
Expectations = Sequence[Expectation] | UnsetType | None


class Ledgers:
    def __init__(self) -> None:
        self._ledgers: LruCache[tuple[bytes, int], CachedLedger] = LruCache(_MAX_CACHED_BYTES)
        """By the key and the revision of the clock, which have one schedule."""
        self._bank_views: LruCache[tuple[bytes, int, AppliedQuirks], BankView] = LruCache(_MAX_BANK_BYTES)

    async def get(self, clock: Clock, schedule: Schedule) -> CachedLedger:
        key = clock.key, clock.revision
        if self._ledgers.get(key) is None:
            await gate.become_heavy()
        cached = self._ledgers.get(key)
        if cached is None:
            cached = CachedLedger(schedule)
            for _ in cached.ledger.build():
                await gate.pause()
            items = schedule.item_count + len(schedule.goals) + len(schedule.transfers.all)
            self._ledgers.put(key, cached, _BYTES_PER_LEDGER + _BYTES_PER_ITEM * items)
        return cached

    async def bank_view(self, clock: Clock, schedule: Schedule, quirks: AppliedQuirks = NO_QUIRKS) -> BankView:
        key = clock.key, clock.revision, quirks
        if self._bank_views.get(key) is None:
            await gate.become_heavy()
        view = self._bank_views.get(key)
        if view is None:
            view = BankView((await self.get(clock, schedule)).ledger, quirks)
            for _ in view.build():
                await gate.pause()
            self._bank_views.put(key, view, _BYTES_PER_LEDGER + _BYTES_PER_ROW * len(view.rows))
        return view

    async def expectation_faults(
        self, clock: Clock, schedule: Schedule, balances: OpeningBalances, expectations: Expectations
    ) -> list[Fault]:
        """Return the faults of new opening balances and expectations that depend on the clock."""
        faults = opening_faults(schedule, balances)
        still_fit = balances is UNSET or schedule.expectations is None
        if expectations is None or (expectations is UNSET and still_fit):
            return faults
        cached = await self.get(clock, schedule)
        opening = cached.ledger.opening_balances({} if balances is None else balances)
        if expectations is UNSET:
            return faults + _lost_currency_faults(schedule, cached.ledger, opening)
        check = Check(cached.ledger, cached.totals, clock.start_time, clock.max_time, opening)
        return faults + list(check.faults(expectations))


def range_faults(name: str, at: Instant | UnsetType, clock: Clock) -> list[Fault]:
    """Return a fault if an instant is given and the clock doesn't have it."""
    return list(time_faults(name, at, clock.start_time, clock.max_time, "the clock's start and its maxTime"))


def opening_faults(schedule: Schedule, given: OpeningBalances) -> list[Fault]:
    """Return a fault if the accounts of a clock have opening balances already."""
    if given is UNSET or not schedule.accounts:
        return []
    return [Fault("openingBalances", "combination", OPENING_WITH_ACCOUNTS)]


def _lost_currency_faults(schedule: Schedule, ledger: Ledger, opening: Mapping[str, Fraction]) -> list[Fault]:
    """Return a fault if stored expectations are about currencies that only the old opening balances have."""
    lost = set(schedule.opening_balances or ()).difference(ledger.currencies, opening)
    needed = {each.currency for each in schedule.expectations or () if each.currency}
    if not lost & needed:
        return []
    names = ", ".join(sorted(lost & needed))
    message = f"must have {names}, because the clock's expectations are about it; replace the expectations too"
    return [Fault("openingBalances", "currency", message)]


async def join_events(events: Iterator[bytes]) -> bytes:
    """Return the members of a JSON array. Let other calls run while they are encoded."""
    encoded = []
    for event in events:
        encoded.append(event)
        await gate.pause()
    return b",".join(encoded)
