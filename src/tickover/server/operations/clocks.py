"""Test clocks: each operation from start to finish, what is asked of the store and what is answered."""

import hashlib
from math import ceil
from typing import Final

from msgspec import UNSET, msgpack

from tickover.api import ids, timestamps
from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.api.results import ClockPage, Done, Summary
from tickover.api.timestamps import Instant
from tickover.server.domain import clocks
from tickover.server.domain.clocks import (
    AdvanceTestClockParams,
    Clock,
    CreateTestClockParams,
    DeleteTestClockParams,
    ForkTestClockParams,
    GetTestClockParams,
    ListTestClocksParams,
    Schedule,
)
from tickover.server.domain.lru_cache import LruCache
from tickover.server.domain.tokens import Mint
from tickover.server.operations.callers import Caller, IdempotencyKey, Policy
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

_read_schedule: Final = msgpack.Decoder(Schedule).decode
_write_schedule: Final = msgpack.Encoder().encode

_SCHEDULES_AT_HAND: Final = 8_000_000
"""Bytes of schedules that are not read again: they never change, and whoever moves a clock moves it again soon."""


class ClockOperations:
    def __init__(self, store: Store, mint: Mint, policy: Policy) -> None:
        self._store = store
        self._mint = mint
        self._quota = Quota(policy.max_clocks_per_user, policy.max_bytes_per_user)
        self._schedules: LruCache[bytes, Schedule] = LruCache(_SCHEDULES_AT_HAND)

    async def create_test_clock(self, params: CreateTestClockParams, caller: Caller) -> bytes:
        key = self._mint.new_key(caller.now)
        clock = clocks.start(key, params, caller.now)
        schedule = clocks.write_schedule(clock, params)
        if caller.idempotency_key is not None:
            return await self._create_once(clock, schedule, caller, caller.idempotency_key)
        await self._keep(clock, schedule, caller)
        return _clock_result(clock.frozen_time, schedule)

    async def _keep(self, clock: Clock, schedule: Schedule, caller: Caller) -> None:
        min_live_key = ids.first_live_key(caller.now)
        outcome = await self._store.create_clock(
            clock, caller.user, _write_schedule(schedule), min_live_key, self._quota
        )
        if isinstance(outcome, QuotaExceeded):
            raise _quota_exceeded(outcome, self._quota, caller.now)

    async def _create_once(
        self, clock: Clock, schedule: Schedule, caller: Caller, idempotency_key: IdempotencyKey
    ) -> bytes:
        """Create the clock, or give the one back that was created with the same key before."""
        once = _once(idempotency_key, caller)
        min_live_key = ids.first_live_key(caller.now)
        outcome = await self._store.create_clock_once(
            once, clock, caller.user, _write_schedule(schedule), min_live_key, self._quota
        )
        match outcome:
            case Created():
                return _clock_result(clock.frozen_time, schedule)
            case QuotaExceeded():
                raise _quota_exceeded(outcome, self._quota, caller.now)
            case ExistingClock(params, kept) if params == once.params:
                return _clock_result(kept.clock.frozen_time, _read_schedule(kept.schedule))
        message = "was sent before with other parameters, and their clock lives; take a new key"
        raise invalid_params("createTestClock", [Fault("Idempotency-Key", "reused", message)])

    async def find_created(self, idempotency_key: IdempotencyKey, caller: Caller) -> bytes | None:
        """The clock that lives and was created with this key and these parameters, as it is now."""
        once = _once(idempotency_key, caller)
        earlier = await self._store.find_creation(once.digest, caller.user, ids.first_live_key(caller.now))
        if earlier is None or earlier.params != once.params:
            return None
        return _clock_result(earlier.stored.clock.frozen_time, _read_schedule(earlier.stored.schedule))

    async def advance_test_clock(self, params: AdvanceTestClockParams, caller: Caller) -> bytes:
        key = _key_of(params.id, caller.now)
        at_hand = self._schedules.get(key)
        kept = await self._store.advance_clock(key, caller.user, params.frozen_time, with_schedule=at_hand is None)
        clock, schedule = self._found(kept, at_hand)
        _refuse_outside(params.frozen_time, clock)
        return _clock_result(clock.frozen_time, schedule)

    async def get_test_clock(self, params: GetTestClockParams, caller: Caller) -> bytes:
        clock, schedule = await self._find(params.id, caller)
        if params.at is UNSET:
            return _clock_result(clock.frozen_time, schedule)
        _refuse_outside(params.at, clock)
        return _clock_result(params.at, schedule)

    async def list_test_clocks(self, params: ListTestClocksParams, caller: Caller) -> ClockPage:
        limit = int(params.limit)
        before = ids.read_cursor(params.cursor) if isinstance(params.cursor, str) else None
        min_live_key = ids.first_live_key(caller.now)
        # One more than is asked for tells whether there are more.
        found = await self._store.list_clocks(caller.user, min_live_key, before, limit + 1)
        page = [_summary(clock) for clock in found[:limit]]
        return ClockPage(page, ids.write_cursor(found[limit - 1].key) if len(found) > limit else None)

    async def delete_test_clock(self, params: DeleteTestClockParams, caller: Caller) -> Done:
        if not await self._store.delete_clock(_key_of(params.id, caller.now), caller.user):
            raise _not_found()
        return Done()

    async def fork_test_clock(self, params: ForkTestClockParams, caller: Caller) -> bytes:
        original, schedule = await self._find(params.id, caller)
        at = original.start_time if params.at is UNSET else params.at
        if not original.start_time <= at <= original.max_time:
            limits = f"{timestamps.write(original.start_time)} to {timestamps.write(original.max_time)}"
            message = f"must lie between the clock's start and its maxTime ({limits})"
            raise invalid_params("forkTestClock", [Fault("at", "range", message, timestamps.write(at))])
        fork = Clock(self._mint.new_key(caller.now), original.start_time, at, original.max_time)
        forked = clocks.fork_schedule(schedule, original.key, fork)
        await self._keep(fork, forked, caller)
        return _clock_result(fork.frozen_time, forked)

    async def _find(self, id: str, caller: Caller) -> tuple[Clock, Schedule]:
        key = _key_of(id, caller.now)
        at_hand = self._schedules.get(key)
        return self._found(await self._store.find_clock(key, caller.user, with_schedule=at_hand is None), at_hand)

    def _found(self, kept: StoredClock | None, at_hand: Schedule | None) -> tuple[Clock, Schedule]:
        """What the store gave, with its schedule, which may have been at hand."""
        if kept is None:
            raise _not_found()
        if at_hand is None:
            at_hand = _read_schedule(kept.schedule)
            self._schedules.put(kept.clock.key, at_hand, len(kept.schedule))
        return kept.clock, at_hand


def _quota_exceeded(exceeded: QuotaExceeded, quota: Quota, now: Instant) -> Rejection:
    wait = ceil((ids.expires_at(exceeded.oldest) - now).total_seconds())
    if exceeded.limit == "clocks":
        message = f"You have as many live clocks as you may ({quota.clocks}); the oldest expires in {wait} s."
    else:
        message = (
            f"With this clock, your live clocks would take more than the {quota.bytes} bytes that one user may store; "
            f"delete clocks, or wait until the oldest expires in {wait} s."
        )
    return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})


def _once(idempotency_key: IdempotencyKey, caller: Caller) -> IdempotencyRecord:
    return IdempotencyRecord(
        hashlib.sha256(caller.user + idempotency_key.key.encode()).digest(), idempotency_key.params
    )


def _key_of(id: str, now: Instant) -> bytes:
    """The key in a clock's id, which alone tells whether the clock has expired."""
    key = ids.read_clock_id(id)
    if key is None:
        raise _not_found()
    if ids.has_expired(key, now):
        raise Rejection(Reason.CLOCK_EXPIRED, "This clock has expired; clocks live for seven days.")
    return key


def _not_found() -> Rejection:
    return Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this id.")


def _refuse_outside(at: Instant, clock: Clock) -> None:
    if at < clock.frozen_time:
        current = timestamps.write(clock.frozen_time)
        message = f"The clock is already at {current}; time only moves forward."
        raise Rejection(Reason.TIME_BEFORE_CURRENT, message, {"currentFrozenTime": current})
    if at > clock.max_time:
        latest = timestamps.write(clock.max_time)
        message = f"The clock cannot go beyond {latest}."
        raise Rejection(Reason.TIME_AFTER_MAX, message, {"maxTime": latest})


def _summary(clock: Clock) -> Summary:
    return Summary(ids.write("clock", clock.key), "READY", clock.frozen_time, clock.max_time, ids.expires_at(clock.key))


def _clock_result(frozen_time: Instant, schedule: Schedule) -> bytes:
    return b'{"clock":%b}' % clocks.view(frozen_time, schedule)
