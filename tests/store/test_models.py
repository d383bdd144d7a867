"""The contract of every store against a small model: any sequence of calls has the same results in both.

One store serves all examples. Each example has its own addresses, owners and keys. The model ignores sweeps, so these
tests also prove that sweeps don't change results.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.store.values import DAY, END, HOUR, MICROSECOND, NOW, START, WEEK, advance, digest, key, user
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock
from tickover.server.storage.rows import RECORD_BYTES
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    Created,
    ExistingClock,
    IdempotencyRecord,
    Moved,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

_fresh = count(1_000)
_of_two = st.integers(0, 1)
_which = st.integers(0, 9)
_one_store_for_all = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


_targets: list[Callable[[Clock], Instant]] = [
    lambda clock: clock.frozen_time - MICROSECOND,
    lambda clock: clock.frozen_time,
    lambda clock: clock.frozen_time + MICROSECOND,
    lambda clock: clock.frozen_time + WEEK,
    lambda clock: clock.start_time,
    lambda clock: clock.max_time,
    lambda clock: clock.max_time + MICROSECOND,
]

_pauses = st.sampled_from([timedelta(milliseconds=1), HOUR, DAY, 3 * DAY, WEEK - timedelta(milliseconds=1), WEEK])
_AMENDED_BYTES = RECORD_BYTES + 10, RECORD_BYTES + 40, 2 * RECORD_BYTES + 30
# Mostly the same limits, so that owners often reach them.
_quotas = st.sampled_from([*[Quota(clocks=2)] * 3, *[Quota(bytes=30)] * 3, Quota(), Quota(3, 40)]) | st.builds(
    Quota, clocks=st.integers(0, 3), bytes=st.sampled_from([0, 10, *_AMENDED_BYTES])
)
# Few sizes, so that they often add up to a limit.
_schedules = st.builds(lambda size, fill: bytes([fill]) * size, st.sampled_from([0, 1, 10, 20, 30]), st.integers(0, 3))
_clock_acts = st.lists(
    st.one_of(
        # Several creations are concurrent.
        st.tuples(st.just("create"), _of_two, _quotas, st.lists(_schedules, min_size=1, max_size=3)),
        st.tuples(st.just("create once"), _of_two, _quotas, _of_two, st.binary(max_size=1)),
        st.tuples(st.just("find creation"), _of_two, _of_two),
        st.tuples(st.just("advance"), _of_two, _which, st.sampled_from(_targets)),
        st.tuples(st.just("find"), _of_two, _which, st.booleans()),
        st.tuples(
            st.just("amend"),
            _of_two,
            _which,
            _quotas,
            st.integers(0, 2),
            st.sampled_from(_targets),
            _schedules,
            st.none() | _of_two,
        ),
        st.tuples(
            st.just("move"), _of_two, _which, _quotas, st.none() | st.sampled_from(_targets), st.none() | _of_two
        ),
        st.tuples(st.just("delete"), _of_two, _which),
        st.tuples(st.just("list"), _of_two, st.none() | _which, st.integers(1, 4)),
        st.tuples(st.just("wait"), _pauses),
        st.tuples(st.just("sweep"), st.integers(1, 3)),
    ),
    min_size=20,
    max_size=60,
)


@dataclass
class _ModelClocks:
    """A model of live clocks. Results for expired clocks are undefined, so the test doesn't request them."""

    stored: dict[bytes, StoredClock] = field(default_factory=dict)
    owners: dict[bytes, bytes] = field(default_factory=dict)
    creations: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    """The parameters and the clock of each digest's last creation."""
    moves: Counter[bytes] = field(default_factory=Counter)
    """Advances of each clock with a record."""

    def create(self, clock: Clock, owner: bytes, schedule: bytes, quota: Quota) -> Created | QuotaExceeded:
        live = self.listed(owner, quota.min_live_key)
        oldest = live[-1].key if live else clock.key
        if quota.clocks and len(live) >= quota.clocks:
            return QuotaExceeded("clocks", oldest)
        if quota.bytes and self.used_bytes(live) + len(schedule) > quota.bytes:
            return QuotaExceeded("bytes", oldest)
        self.stored[clock.key], self.owners[clock.key] = StoredClock(clock, schedule), owner
        return Created()

    def create_once(
        self, record: IdempotencyRecord, clock: Clock, owner: bytes, schedule: bytes, quota: Quota
    ) -> ExistingClock | Created | QuotaExceeded:
        earlier = self.find_creation(record.key_digest, owner, quota.min_live_key)
        if earlier is not None:
            return earlier
        outcome = self.create(clock, owner, schedule, quota)
        if isinstance(outcome, Created):
            self.creations[record.key_digest] = record.params_digest, clock.key
        return outcome

    def find_creation(self, digest: bytes, owner: bytes, min_live_key: bytes) -> ExistingClock | None:
        params, key = self.creations.get(digest, (b"", b""))
        stored = self.find(key, owner)
        return ExistingClock(params, stored) if stored and key >= min_live_key else None

    def find(self, key: bytes, owner: bytes) -> StoredClock | None:
        return self.stored.get(key) if self.owners.get(key) == owner else None

    def advance(self, key: bytes, owner: bytes, to: Instant) -> Clock | None:
        found = self.find(key, owner)
        if found is None:
            return None
        clock = found.clock
        if clock.frozen_time <= to <= clock.max_time:
            clock = replace(clock, frozen_time=to)
            self.stored[key] = StoredClock(clock, found.schedule)
        return clock

    def amend(
        self, key: bytes, owner: bytes, amendment: Amendment, quota: Quota
    ) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
        record = amendment.record
        if record and (earlier := self.find_creation(record.key_digest, owner, quota.min_live_key)):
            return earlier
        found = self.find(key, owner)
        if found is None:
            return None
        if found.clock.revision != amendment.revision or found.clock.frozen_time > amendment.valid_until:
            return Conflict(found)
        live = self.listed(owner, quota.min_live_key)
        growth = len(amendment.schedule) - len(found.schedule)
        used_bytes = self.used_bytes(live) + growth + RECORD_BYTES
        if quota.bytes and growth >= 0 and used_bytes > quota.bytes:
            return QuotaExceeded("bytes", live[-1].key)
        clock = replace(found.clock, revision=amendment.revision + 1)
        self.stored[key] = StoredClock(clock, amendment.schedule)
        if record:
            self.creations[record.key_digest] = record.params_digest, key
        return Amended(clock)

    def move(
        self,
        key: bytes,
        owner: bytes,
        target: Callable[[Clock], Instant] | None,
        quota: Quota,
        record: IdempotencyRecord | None,
    ) -> Moved | ExistingClock | QuotaExceeded | None:
        if record and (earlier := self.find_creation(record.key_digest, owner, quota.min_live_key)):
            return earlier
        found = self.find(key, owner)
        if found is None:
            return None
        before, to = found.clock.frozen_time, target(found.clock) if target else None
        if to is None or not before <= to <= found.clock.max_time:
            return Moved(before, found)
        live = self.listed(owner, quota.min_live_key)
        if record and quota.bytes and self.used_bytes(live) + RECORD_BYTES > quota.bytes:
            return QuotaExceeded("bytes", live[-1].key)
        if record:
            self.moves[key] += 1
            self.creations[record.key_digest] = record.params_digest, key
        moved = self.stored[key] = StoredClock(replace(found.clock, frozen_time=to), found.schedule)
        return Moved(before, moved)

    def delete(self, key: bytes, owner: bytes) -> bool:
        if self.find(key, owner) is None:
            return False
        del self.stored[key], self.owners[key]
        return True

    def used_bytes(self, live: list[Clock]) -> int:
        records = sum(one.revision + self.moves[one.key] for one in live)
        return sum(len(self.stored[one.key].schedule) for one in live) + RECORD_BYTES * records

    def listed(self, owner: bytes, min_live_key: bytes, before: bytes = b"\xff" * 16) -> list[Clock]:
        keys = [key for key, whose in self.owners.items() if whose == owner and min_live_key <= key < before]
        return [self.stored[key].clock for key in sorted(keys, reverse=True)]


class _Example:
    """Two owners with two idempotency keys each, a store and its model."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._model = _ModelClocks()
        self._now = NOW
        self._made: list[Clock] = []
        self._owners = [user(next(_fresh)) for _ in range(2)]
        self._digests = [[digest(next(_fresh)) for _ in range(2)] for _ in self._owners]

    async def act(self, act: str, *how: Any) -> None:
        match act, *how:
            case "wait", pause:
                self._now += pause
            case "sweep", limit:
                await self._store.sweep(self._now, limit)
            case "create", who, quota, schedules:
                each = [(self._new(), self._owners[who], body, self._at(quota)) for body in schedules]
                outcomes = await asyncio.gather(*(self._store.create_clock(*args) for args in each))
                assert outcomes == [self._model.create(*args) for args in each]
            case "create once", who, quota, which, params:
                record = IdempotencyRecord(self._digests[who][which], params)
                new = self._new(), self._owners[who], b"schedule of " + params, self._at(quota)
                assert await self._store.create_clock(*new, record) == self._model.create_once(record, *new)
            case "find creation", who, which:
                sought = self._digests[which][0], self._owners[who], self._min_live_key
                assert await self._store.find_creation(*sought) == self._model.find_creation(*sought)
            case "list", who, which, limit:
                cursor = None if which is None or not self._made else self._made[which % len(self._made)].key
                found = await self._store.list_clocks(self._owners[who], self._min_live_key, cursor, limit)
                assert (
                    found == self._model.listed(self._owners[who], self._min_live_key, cursor or b"\xff" * 16)[:limit]
                )
            case _, who, which, *more if self._live():
                live = self._live()
                await self._act_on_clock(act, self._owners[who], live[which % len(live)], *more)

    async def _act_on_clock(self, act: str, owner: bytes, named: Clock, *how: Any) -> None:
        match act, *how:
            case "advance", target:
                stands = self._model.stored.get(named.key)
                to = target(stands.clock if stands else named)
                moved = await advance(self._store, named.key, owner, to)
                assert moved == self._model.advance(named.key, owner, to)
            case "find", with_schedule:
                expected = self._model.find(named.key, owner)
                known = None if with_schedule or expected is None else expected.clock.revision
                found = await self._store.find_clock(named.key, owner, known_revision=known)
                bare = None if expected is None else StoredClock(expected.clock, b"")
                assert found == (expected if with_schedule else bare)
            case "amend", quota, back, target, schedule, which:
                stands = self._model.stored.get(named.key, StoredClock(named, b""))
                digests = self._digests[self._owners.index(owner)]
                record = None if which is None else IdempotencyRecord(digests[which], schedule)
                revision = max(0, stands.clock.revision - back // 2)
                amendment = Amendment(revision, target(stands.clock), schedule, record)
                args = named.key, owner, amendment, self._at(quota)
                assert await self._store.amend_clock(*args) == self._model.amend(*args)
            case "move", quota, target, which:
                digests = self._digests[self._owners.index(owner)]
                record = None if which is None else IdempotencyRecord(digests[which], b"move")
                quota = self._at(quota)
                outcome = await self._store.move_clock(named.key, owner, target or (lambda _: None), quota, record)
                assert outcome == self._model.move(named.key, owner, target, quota, record)
            case _:
                deleted = await self._store.delete_clock(named.key, owner)
                assert deleted == self._model.delete(named.key, owner)

    @property
    def _min_live_key(self) -> bytes:
        return first_live_key(self._now)

    def _at(self, quota: Quota) -> Quota:
        return replace(quota, min_live_key=self._min_live_key)

    def _live(self) -> list[Clock]:
        """Return the clocks that have not expired, whether they were created, rejected or deleted."""
        return [clock for clock in self._made if clock.key >= self._min_live_key]

    def _new(self) -> Clock:
        self._made.append(Clock(key(next(_fresh), self._now), START, START, END))
        return self._made[-1]


@_one_store_for_all
@given(acts=_clock_acts, cached_owners=st.sampled_from([1, 10_000]))
async def test_clocks_match_the_model(
    store: Store, monkeypatch: pytest.MonkeyPatch, acts: list[tuple[Any, ...]], cached_owners: int
) -> None:
    monkeypatch.setattr("tickover.server.storage.sqlite.usage._MAX_OWNERS", cached_owners)
    play = _Example(store)
    for act in acts:
        await play.act(*act)
