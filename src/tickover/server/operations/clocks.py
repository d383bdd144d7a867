"""Operations on test clocks."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from typing import Final

from msgspec import UNSET, DecodeError, Struct, json, msgpack

from tickover.api import ids, timestamps
from tickover.api.clocks import ClockPage, NewClock, Summary
from tickover.api.errors import Fault, Reason, Rejection, invalid_params
from tickover.api.limits import MAX_PAGE_NAMES, MAX_SCANNED_CLOCKS
from tickover.api.timestamps import Instant
from tickover.api.tokens import Done
from tickover.server.domain.amendments import NextSchedule
from tickover.server.domain.clock_params import AdvanceEntry, DeleteEntry, ForkEntry, GetEntry, ListEntry, UpdateEntry
from tickover.server.domain.clocks import Clock, encode_label, encode_labels, encode_names, encode_start, new_clock
from tickover.server.domain.lru_cache import LruCache
from tickover.server.domain.schedule_json import Schedule, encode_schedule, fork_schedule, view
from tickover.server.domain.tokens import Mint
from tickover.server.operations.callers import Caller, Policy
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    ExistingClock,
    IdempotencyRecord,
    LabelSearch,
    NameChanges,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

_decode_stored: Final = msgpack.Decoder(Schedule).decode
_encode_stored: Final = msgpack.Encoder().encode

_MAX_CACHED_BYTES: Final = 8_000_000
"""Total size of cached schedules. Clocks tend to be advanced several times in a row."""
_MAX_SMALL_SCHEDULE: Final = 16 * 1024
_MAX_LARGE_CLOCKS: Final = 10_000
"""Large clocks whose sizes are cached. The limit of stored bytes allows a user about as many."""


class _ClockId(Struct):
    id: str = ""


_decode_id: Final = json.Decoder(_ClockId).decode


class CachedSchedule(Struct, frozen=True):
    """The schedule of one revision of a clock, which never changes."""

    revision: int
    schedule: Schedule


class ClockOperations:
    def __init__(self, store: Store, mint: Mint, policy: Policy) -> None:
        self._store = store
        self._mint = mint
        self._quota = Quota(policy.max_clocks_per_user, policy.max_bytes_per_user)
        self._schedules: LruCache[bytes, CachedSchedule] = LruCache(_MAX_CACHED_BYTES)
        self._large_sizes: LruCache[str, int] = LruCache(_MAX_LARGE_CLOCKS)
        """By the ID of the clock."""

    async def create_test_clock(self, params: NewClock, caller: Caller) -> bytes:
        clock = new_clock(self._mint.new_key(caller.now), params, caller.now)
        schedule = encode_schedule(clock, params)
        if caller.idempotency_key is not None:
            return await self._create_once("createTestClock", clock, schedule, caller)
        await self._store_new(clock, schedule, caller)
        return _clock_result(clock, schedule)

    async def _store_new(self, clock: Clock, schedule: Schedule, caller: Caller) -> None:
        min_live_key = ids.first_live_key(caller.now)
        body = _encode_stored(schedule)
        outcome = await self._store.create_clock(clock, caller.token, body, min_live_key, self._quota)
        if isinstance(outcome, QuotaExceeded):
            raise _quota_exceeded(outcome, self._quota, caller.now)
        self._note_size(clock.key, len(body))

    async def _create_once(self, method: str, clock: Clock, schedule: Schedule, caller: Caller) -> bytes:
        """Create the clock, or return the one that an earlier call with the same key and parameters created."""
        record = _idempotency_record(caller)
        assert record is not None
        min_live_key = ids.first_live_key(caller.now)
        body = _encode_stored(schedule)
        outcome = await self._store.create_clock_once(record, clock, caller.token, body, min_live_key, self._quota)
        if isinstance(outcome, QuotaExceeded):
            raise _quota_exceeded(outcome, self._quota, caller.now)
        if isinstance(outcome, ExistingClock):
            return self._repeat(method, outcome, record)
        self._note_size(clock.key, len(body))
        return _clock_result(clock, schedule)

    def _repeat(self, method: str, existing: ExistingClock, record: IdempotencyRecord) -> bytes:
        """Return the clock of an earlier call with the same key, as it is now, if it had the same parameters."""
        if existing.params_digest != record.params_digest:
            message = "was already used with other parameters for a live clock; use a new key"
            raise invalid_params(method, [Fault("Idempotency-Key", "reused", message)])
        return _clock_result(*self.decode(existing.stored))

    async def find_existing(self, method: str, caller: Caller) -> bytes | None:
        """Return the live clock that an earlier call with the caller's idempotency key created or amended."""
        record = _idempotency_record(caller)
        existing = record and await self._find_creation(record, caller)
        return self._repeat(method, existing, record) if existing and record else None

    async def find_repeated(self, caller: Caller) -> bytes | None:
        """Return the live clock of an earlier call with the caller's idempotency key and the same parameters."""
        record = _idempotency_record(caller)
        existing = record and await self._find_creation(record, caller)
        is_repeated = existing and record and existing.params_digest == record.params_digest
        return _clock_result(*self.decode(existing.stored)) if existing and is_repeated else None

    async def _find_creation(self, record: IdempotencyRecord, caller: Caller) -> ExistingClock | None:
        return await self._store.find_creation(record.key_digest, caller.token, ids.first_live_key(caller.now))

    async def advance_test_clock(self, params: AdvanceEntry, caller: Caller) -> bytes:
        key = _live_key(params.id, caller.now)
        cached = self._schedules.get(key)
        known = None if cached is None else cached.revision
        stored = await self._store.advance_clock(key, caller.token, params.frozen_time, known_revision=known)
        clock, schedule = self._with_schedule(stored, cached)
        _check_time(params.frozen_time, clock)
        return _clock_result(clock, schedule)

    async def get_test_clock(self, params: GetEntry, caller: Caller) -> bytes:
        clock, schedule = await self.find(params.id, caller)
        at = clock.frozen_time if params.at is UNSET else params.at
        _check_time(at, clock)
        return _clock_result(clock, schedule, at, details=params.details)

    async def list_test_clocks(self, params: ListEntry, caller: Caller) -> ClockPage:
        limit = int(params.limit)
        before = ids.read_cursor(params.cursor) if isinstance(params.cursor, str) else None
        min_live_key = ids.first_live_key(caller.now)
        if params.labels:
            return await self._search(params, limit, before, caller)
        # One more than the limit tells whether there is a next page.
        found = await self._store.list_clocks(caller.token, min_live_key, before, limit + 1)
        return _page(found, limit, details=params.details)

    async def _search(self, params: ListEntry, limit: int, before: bytes | None, caller: Caller) -> ClockPage:
        """Return a page of clocks with these labels. It may be short if there are many other clocks."""
        members = [encode_label(name, value) for name, value in params.labels.items()]
        scan = await self._store.search_clocks(
            caller.token,
            ids.first_live_key(caller.now),
            before,
            limit + 1,
            LabelSearch(members, MAX_SCANNED_CLOCKS),
        )
        return _page(scan.clocks, limit, scan.last_key, details=params.details)

    async def update_test_clock(self, params: UpdateEntry, caller: Caller) -> bytes:
        key = _live_key(params.id, caller.now)
        cached = self._schedules.get(key)
        labels = params.labels if params.labels is UNSET else encode_labels(params.labels)
        changes = NameChanges(params.name, labels)
        known = None if cached is None else cached.revision
        stored = await self._store.update_clock(key, caller.token, changes, known_revision=known)
        clock, schedule = self._with_schedule(stored, cached)
        return _clock_result(clock, schedule)

    async def delete_test_clock(self, params: DeleteEntry, caller: Caller) -> Done:
        if not await self._store.delete_clock(_live_key(params.id, caller.now), caller.token):
            raise _not_found()
        return Done()

    async def fork_test_clock(self, params: ForkEntry, caller: Caller) -> bytes:
        existing = await self.find_existing("forkTestClock", caller)
        if existing is not None:
            return existing
        original, schedule = await self.find(params.id, caller)
        at = original.start_time if params.at is UNSET else params.at
        if not original.start_time <= at <= original.max_time:
            limits = f"{timestamps.write(original.start_time)} to {timestamps.write(original.max_time)}"
            message = f"must be between the clock's start and its maxTime ({limits})"
            raise invalid_params("forkTestClock", [Fault("at", "range", message, timestamps.write(at))])
        name = original.name if params.name is UNSET else params.name
        labels = original.labels if params.labels is UNSET else encode_labels(params.labels)
        fork = Clock(self._mint.new_key(caller.now), original.start_time, at, original.max_time, name, labels)
        forked = fork_schedule(schedule, original.key, fork)
        if caller.idempotency_key is not None:
            return await self._create_once("forkTestClock", fork, forked, caller)
        await self._store_new(fork, forked, caller)
        return _clock_result(fork, forked)

    async def find(self, id: str, caller: Caller) -> tuple[Clock, Schedule]:
        key = _live_key(id, caller.now)
        cached = self._schedules.get(key)
        known = None if cached is None else cached.revision
        stored = await self._store.find_clock(key, caller.token, known_revision=known)
        return self._with_schedule(stored, cached)

    async def store_amended(self, clock: Clock, amended: NextSchedule, caller: Caller) -> bytes | Conflict:
        """Replace the schedule of the clock. Return the clock, or the conflict if it changed since it was read."""
        record = _idempotency_record(caller)
        body = _encode_stored(amended.schedule)
        amendment = Amendment(clock.revision, amended.valid_until, body, record)
        min_live_key = ids.first_live_key(caller.now)
        outcome = await self._store.amend_clock(clock.key, caller.token, amendment, min_live_key, self._quota)
        match outcome:
            case Amended(new):
                self._schedules.put(new.key, CachedSchedule(new.revision, amended.schedule), len(body))
                self._note_size(new.key, len(body), new.revision)
                return _clock_result(new, amended.schedule)
            case QuotaExceeded():
                raise _quota_exceeded(outcome, self._quota, caller.now)
            case ExistingClock():
                assert record is not None
                return self._repeat("amendTestClock", outcome, record)
            case None:
                raise _not_found()
        return outcome

    def _with_schedule(self, stored: StoredClock | None, cached: CachedSchedule | None) -> tuple[Clock, Schedule]:
        """Return the stored clock and its schedule, from the cache or decoded."""
        if stored is None:
            raise _not_found()
        if cached is None or cached.revision != stored.clock.revision:
            return self.decode(stored)
        return stored.clock, cached.schedule

    def decode(self, stored: StoredClock) -> tuple[Clock, Schedule]:
        """Return the stored clock and its decoded schedule, and add that to the cache."""
        schedule = _decode_stored(stored.schedule)
        cached = CachedSchedule(stored.clock.revision, schedule)
        self._schedules.put(stored.clock.key, cached, len(stored.schedule))
        self._note_size(stored.clock.key, len(stored.schedule), stored.clock.revision)
        return stored.clock, schedule

    def size_of(self, params: bytes) -> int:
        """Return the bytes of the schedule of the clock in these parameters, or 0 if it is small or unknown.

        The parameters may be invalid.
        """
        if not self._large_sizes:
            return 0
        try:
            return self._large_sizes.get(_decode_id(params).id) or 0
        except DecodeError:
            return 0

    def _note_size(self, key: bytes, size: int, revision: int = 0) -> None:
        if size > _MAX_SMALL_SCHEDULE:
            self._large_sizes.put(ids.write("clock", key), size, 1)
        elif revision:
            self._large_sizes.remove(ids.write("clock", key))


def _quota_exceeded(exceeded: QuotaExceeded, quota: Quota, now: Instant) -> Rejection:
    wait = ceil((ids.expires_at(exceeded.oldest) - now).total_seconds())
    if exceeded.limit == "clocks":
        problem = f"You have reached the limit of live clocks ({quota.clocks})."
    else:
        problem = f"This clock would exceed the limit of {quota.bytes} bytes for your stored clocks."
    message = f"{problem} Delete clocks, or wait until the oldest expires in {wait} s."
    return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})


def _idempotency_record(caller: Caller) -> IdempotencyRecord | None:
    if caller.idempotency_key is None:
        return None
    digest = hashlib.sha256(caller.token.user + caller.idempotency_key.key.encode()).digest()
    return IdempotencyRecord(digest, caller.idempotency_key.call_digest)


def _live_key(id: str, now: Instant) -> bytes:
    """Return the key in a clock's ID. Raise CLOCK_EXPIRED or CLOCK_NOT_FOUND if no live clock can have the ID."""
    key = ids.read_clock_id(id)
    if key is None:
        raise _not_found()
    if ids.has_expired(key, now):
        raise Rejection(Reason.CLOCK_EXPIRED, "This clock has expired; clocks live for seven days.")
    return key


def _not_found() -> Rejection:
    return Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this ID.")


def _check_time(at: Instant, clock: Clock) -> None:
    """Raise a Rejection if `at` is before the frozen time or after the max time."""
    if at < clock.frozen_time:
        current = timestamps.write(clock.frozen_time)
        message = f"The clock is already at {current}; time only moves forward."
        raise Rejection(Reason.TIME_BEFORE_CURRENT, message, {"currentFrozenTime": current})
    if at > clock.max_time:
        latest = timestamps.write(clock.max_time)
        message = f"The clock can't go beyond {latest}."
        raise Rejection(Reason.TIME_AFTER_MAX, message, {"maxTime": latest})


def _page(found: Sequence[Clock], limit: int, last_key: bytes | None = None, *, details: bool) -> ClockPage:
    """Return a page, and the cursor after its last clock if there are more, or after `last_key`."""
    sizes = accumulate(len(encode_names(clock)) for clock in found[:limit])
    count = sum(size <= MAX_PAGE_NAMES for size in sizes)
    # One clock always fits.
    page = found[: max(count, 1)]
    last = page[-1].key if len(page) < len(found) else last_key
    return ClockPage([_summary(clock, details=details) for clock in page], ids.write_cursor(last) if last else None)


def _summary(clock: Clock, *, details: bool) -> Summary:
    labels = None if clock.labels is None else json.decode(clock.labels, type=dict[str, str])
    return Summary(
        ids.write("clock", clock.key),
        "READY",
        clock.frozen_time,
        clock.max_time,
        ids.expires_at(clock.key),
        name=clock.name,
        labels=labels,
        start_time=clock.start_time if details else None,
    )


def _clock_result(clock: Clock, schedule: Schedule, at: Instant | None = None, *, details: bool = False) -> bytes:
    """Return the clock at its frozen time, or at another instant."""
    # Most clocks have neither a name nor labels.
    names = b"" if clock.name is clock.labels is None else encode_names(clock)
    if details:
        names = encode_start(clock) + names
    return b'{"clock":%b}' % view(at or clock.frozen_time, schedule, names, details=details)
