"""Clocks as operations need them: loaded, stored and returned, with a cache of their schedules."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from math import ceil
from typing import Final
from weakref import WeakValueDictionary

from msgspec import Struct

from tickover.api import ids, timestamps
from tickover.api.connections import BankProtocol
from tickover.api.errors import Fault, Reason, Rejection, unavailable
from tickover.api.fields import ClockId, Params
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.lru_cache import LruCache
from tickover.server.operations.access import Caller
from tickover.server.schedule.amend_schedule import NextSchedule
from tickover.server.schedule.clock import Clock, encode_names, encode_start
from tickover.server.schedule.schedule import Schedule, decode_stored, encode_stored
from tickover.server.schedule.view import view
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    ConnectedClock,
    ExistingClock,
    Moved,
    NameChanges,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

_MAX_CACHED_BYTES: Final = 16_000_000
"""Total size of cached schedules in memory. Clocks tend to be advanced several times in a row."""
_BYTES_PER_SCHEDULE: Final = 2_000
_BYTES_PER_ITEM: Final = 420
_MAX_WAIT_SECONDS: Final = 3.0
_MAX_ATTEMPTS: Final = 20
_NO_NAMES: Final = NameChanges()
_LARGE: Final = 64 * 1024
"""Bytes of a stored schedule. A user has one call at a time on a clock with more."""


class CachedSchedule(Struct, frozen=True):
    """The schedule of one revision of a clock, which never changes."""

    revision: int
    schedule: Schedule
    size: int
    """Bytes, as it is stored."""

    @property
    def bytes_in_memory(self) -> int:
        """The approximate size of the schedule with the JSON of its items. Both have all texts."""
        return _BYTES_PER_SCHEDULE + _BYTES_PER_ITEM * self.schedule.item_count + 2 * self.size


CLOCK_REASONS: Final = (Reason.CLOCK_EXPIRED, Reason.CLOCK_NOT_FOUND)
TIME_REASONS: Final = (Reason.TIME_BEFORE_CURRENT, Reason.TIME_AFTER_MAX)

EXAMPLE_CLOCK: Final = "clock_01a2d11f-0200-7129-903a-c1d45597fdf1"
"""The ID of the first clock in the examples, which use a fixed seed."""


class ClockParams(Params, frozen=True):
    """The parameters of an operation on a clock."""

    id: ClockId


class KeyReused(Rejection):
    """An earlier call with the same idempotency key had other parameters, and its clock is live."""

    def __init__(self) -> None:
        message = "was already used with other parameters for a live clock; use a new key"
        faults = [Fault("Idempotency-Key", "reused", message)]
        super().__init__(Reason.INVALID_PARAMS, message, {"errors": faults})


ComputeNext = Callable[[Clock, Schedule], Awaitable[NextSchedule]]
Target = Callable[[Clock, Schedule], Instant | None]


class Clocks:
    """The clocks of a store, and a cache of their schedules."""

    def __init__(self, store: Store, quota: Quota) -> None:
        self._store = store
        self._quota = quota
        self._schedules: LruCache[bytes, CachedSchedule] = LruCache(_MAX_CACHED_BYTES)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, id: str, caller: Caller) -> tuple[Clock, Schedule]:
        return await self.load(id, caller, self._store.find_clock)

    async def rename(self, id: str, changes: NameChanges, caller: Caller) -> tuple[Clock, Schedule]:
        return await self.load(id, caller, self._store.update_clock, changes, self._quota_at(caller.now))

    def _quota_at(self, now: Instant) -> Quota:
        return Quota(self._quota.clocks, self._quota.bytes, ids.first_live_key(now))

    async def load(
        self,
        id: str,
        caller: Caller,
        verb: Callable[..., Awaitable[StoredClock | QuotaExceeded | None]],
        *arguments: object,
    ) -> tuple[Clock, Schedule]:
        """Run a method of the store that returns a clock, and return the clock with its schedule."""
        key = live_key(id, caller.now)
        cached = await self._find_cached(key)
        stored = await verb(key, caller.token, *arguments, known_revision=cached and cached.revision)
        if stored is None:
            raise not_found()
        if isinstance(stored, QuotaExceeded):
            raise _quota_exceeded(stored, self._quota, caller.now)
        if len(stored.schedule) > _LARGE:
            await gate.become_heavy()
            cached = self._schedules.get(key)
        return self.decode(stored, cached)

    async def _find_cached(self, key: bytes) -> CachedSchedule | None:
        """Return the schedule of a clock if it is cached. A large one waits for other calls on large clocks."""
        cached = self._schedules.get(key)
        if cached is not None and cached.size > _LARGE:
            await gate.become_heavy()
        return cached

    async def find_connected(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, key: bytes | None
    ) -> tuple[ConnectedClock, Schedule] | None:
        """Return the clock that a connection's secret opens. With the clock's key, its schedule may be cached."""
        cached = None if key is None else await self._find_cached(key)
        known = None if cached is None else cached.revision
        found = await self._store.find_connection(access_digest, protocol, min_live_key, known_revision=known)
        if found is None:
            return None
        if len(found.stored.schedule) > _LARGE:
            gate.identify(found.owner)
            await gate.become_heavy()
            cached = self._schedules.get(found.stored.clock.key)
        return found, self.decode(found.stored, cached)[1]

    async def create(self, clock: Clock, schedule: Schedule, caller: Caller) -> bytes:
        """Store a new clock and return it, or the clock of an earlier call with the same key and parameters."""
        body, quota, record = encode_stored(schedule), self._quota_at(caller.now), caller.idempotency_record
        gate.charge_bytes(len(body))
        outcome = await self._store.create_clock(clock, caller.token, body, quota, record)
        match outcome:
            case QuotaExceeded():
                raise _quota_exceeded(outcome, self._quota, caller.now)
            case ExistingClock():
                return self._repeat(outcome, caller)
        # Most clocks are advanced soon.
        self._cache(clock, schedule, body)
        return clock_result(clock, schedule)

    async def amend(self, id: str, caller: Caller, compute: ComputeNext, names: NameChanges = _NO_NAMES) -> bytes:
        """Replace the schedule of a clock, change its names, and return the clock.

        The next schedule is computed from the clock as it was read. It is stored only if the clock still has the same
        revision, and a frozen time at which it is valid. Otherwise it is computed again. Amendments of one clock wait
        for each other in a process, so only another process can make this compute one again.
        """
        # First, because the lock must not wait for other calls of this user, who may not even own the clock.
        await self._find_cached(live_key(id, caller.now))
        lock = self._locks.setdefault(id, asyncio.Lock())
        try:
            async with asyncio.timeout(_MAX_WAIT_SECONDS):
                await lock.acquire()
        except TimeoutError:
            raise _too_many_amendments() from None
        try:
            clock, schedule = await self.find(id, caller)
            for _ in range(_MAX_ATTEMPTS):
                outcome = await self._amend(clock, await compute(clock, schedule), names, caller)
                if isinstance(outcome, bytes):
                    return outcome
                clock, schedule = self.decode(outcome.stored)
        finally:
            lock.release()
        raise _too_many_amendments()

    async def _amend(self, clock: Clock, amended: NextSchedule, names: NameChanges, caller: Caller) -> bytes | Conflict:
        body = encode_stored(amended.schedule)
        gate.charge_bytes(len(body))
        amendment = Amendment(clock.revision, amended.valid_until, body, caller.idempotency_record, names)
        outcome = await self._store.amend_clock(clock.key, caller.token, amendment, self._quota_at(caller.now))
        match outcome:
            case Amended(new):
                self._cache(new, amended.schedule, body)
                return clock_result(new, amended.schedule)
            case QuotaExceeded():
                raise _quota_exceeded(outcome, self._quota, caller.now)
            case ExistingClock():
                return self._repeat(outcome, caller)
            case None:
                raise not_found()
        return outcome

    async def move(
        self, clock: Clock, schedule: Schedule, target: Target, caller: Caller
    ) -> tuple[Instant | None, Clock, Schedule]:
        """Advance a clock to the instant that `target` returns for it at the moment of the change.

        Return the frozen time before, and the clock, which is unchanged if the instant is None or out of range. For a
        repeated call, return no instant and the clock as it is now.
        """
        quota, record = self._quota_at(caller.now), caller.idempotency_record
        for _ in range(_MAX_ATTEMPTS):
            revision = clock.revision
            compute = partial(_target_of_revision, target, revision, schedule)
            moved = await self._store.move_clock(
                clock.key, caller.token, compute, quota, record, known_revision=revision
            )
            match moved:
                case Moved():
                    clock, schedule = self.decode(moved.stored, CachedSchedule(revision, schedule, 0))
                    if clock.revision == revision:
                        return moved.before, clock, schedule
                case ExistingClock():
                    return None, *self._check_repeat(moved, caller)
                case QuotaExceeded():
                    raise _quota_exceeded(moved, self._quota, caller.now)
                case None:
                    raise not_found()
        raise _too_many_amendments()

    async def find_existing(self, caller: Caller) -> bytes | None:
        """Return the live clock that an earlier call with the caller's idempotency key created or amended.

        Raise KeyReused if that call had other parameters.
        """
        assert caller.idempotency_record is not None
        key_digest, min_live_key = caller.idempotency_record.key_digest, ids.first_live_key(caller.now)
        existing = await self._store.find_creation(key_digest, caller.token, min_live_key)
        return self._repeat(existing, caller) if existing else None

    def _repeat(self, existing: ExistingClock, caller: Caller) -> bytes:
        return clock_result(*self._check_repeat(existing, caller))

    def _check_repeat(self, existing: ExistingClock, caller: Caller) -> tuple[Clock, Schedule]:
        """Return the clock of an earlier call. Raise KeyReused if that call had other parameters."""
        assert caller.idempotency_record is not None
        if existing.params_digest != caller.idempotency_record.params_digest:
            raise KeyReused
        return self.decode(existing.stored)

    def decode(self, stored: StoredClock, cached: CachedSchedule | None = None) -> tuple[Clock, Schedule]:
        """Return the stored clock and its schedule, which is decoded and cached unless `cached` has this revision."""
        if cached is not None and cached.revision == stored.clock.revision:
            return stored.clock, cached.schedule
        schedule = decode_stored(stored.schedule)
        self._cache(stored.clock, schedule, stored.schedule)
        return stored.clock, schedule

    def _cache(self, clock: Clock, schedule: Schedule, stored: bytes) -> None:
        cached = CachedSchedule(clock.revision, schedule, len(stored))
        self._schedules.put(clock.key, cached, cached.bytes_in_memory)


def _target_of_revision(target: Target, revision: int, schedule: Schedule, clock: Clock) -> Instant | None:
    """Return the instant to which a clock advances, or None if it has another schedule by now."""
    return target(clock, schedule) if clock.revision == revision else None


def _quota_exceeded(exceeded: QuotaExceeded, quota: Quota, now: Instant) -> Rejection:
    wait = ceil((ids.expires_at(exceeded.oldest) - now).total_seconds())
    if exceeded.limit == "clocks":
        problem = f"You have reached the limit of live clocks ({quota.clocks})."
    else:
        problem = f"This clock would exceed the limit of {quota.bytes} bytes for your stored clocks."
    message = f"{problem} Delete clocks, or wait until the oldest expires in {wait} s."
    return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})


def live_key(id: str, now: Instant) -> bytes:
    """Return the key in a clock's ID. Raise CLOCK_EXPIRED or CLOCK_NOT_FOUND if no live clock can have the ID."""
    key = ids.read("clock", id)
    if key is None:
        raise not_found()
    if ids.has_expired(key, now):
        raise Rejection(Reason.CLOCK_EXPIRED, "This clock has expired; clocks live for seven days.")
    return key


def _too_many_amendments() -> Rejection:
    return unavailable("Too many calls amend this clock at the same time. Try again in a moment.")


def not_found() -> Rejection:
    return Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this ID.")


def check_time(at: Instant, clock: Clock) -> None:
    """Raise a Rejection if `at` is before the frozen time or after the max time."""
    if at < clock.frozen_time:
        current = timestamps.write(clock.frozen_time)
        message = f"The clock is already at {current}; time only moves forward."
        raise Rejection(Reason.TIME_BEFORE_CURRENT, message, {"currentFrozenTime": current})
    if at > clock.max_time:
        latest = timestamps.write(clock.max_time)
        message = f"The clock can't go beyond {latest}."
        raise Rejection(Reason.TIME_AFTER_MAX, message, {"maxTime": latest})


def clock_result(
    clock: Clock, schedule: Schedule, others: bytes = b"", *, at: Instant | None = None, details: bool = False
) -> bytes:
    """Return the clock at its frozen time, or at another instant. `others` has other members, each after a comma."""
    # Most clocks have neither a name nor labels.
    names = b"" if clock.name is clock.labels is None else encode_names(clock)
    if details:
        names = encode_start(clock) + names
    return b'{"clock":%b%b}' % (view(at or clock.frozen_time, schedule, names, details=details), others)
