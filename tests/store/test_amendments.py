"""Every store: an amendment replaces the schedule of a clock that is as it was read."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from tests.store.values import DAY, END, MICROSECOND, START, add_clock, clock, key, make_record, user
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock
from tickover.server.storage.rows import RECORD_BYTES
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    ExistingClock,
    IdempotencyRecord,
    NameChanges,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]
Outcome = Amended | Conflict | ExistingClock | QuotaExceeded | None

_CONCURRENT = 50
_NO_QUOTA = Quota()
_LARGE_SCHEDULE = bytes(range(256)) * 4000


async def _amend(  # noqa: PLR0917 - all but the store have defaults
    store: Store,
    schedule: bytes = b"amended",
    revision: int = 0,
    valid_until: Instant = END,
    record: IdempotencyRecord | None = None,
    quota: Quota = _NO_QUOTA,
    number: int = 1,
    owner: int = 1,
) -> Outcome:
    amendment = Amendment(revision, valid_until, schedule, record)
    return await store.amend_clock(key(number), user(owner), amendment, quota)


def _revision(number: int, of: Clock | None = None) -> Clock:
    return replace(of or clock(1), revision=number)


async def test_amended_clock_has_the_next_revision_and_the_new_schedule(store: Store, rows_of: RowsOf) -> None:
    await add_clock(store, clock(1), user(1))
    for revision, schedule in enumerate([b"amended", _LARGE_SCHEDULE, b""]):
        assert await _amend(store, schedule, revision) == Amended(_revision(revision + 1))
        stored = StoredClock(_revision(revision + 1), schedule)
        assert await store.find_clock(key(1), user(1)) == stored
        assert await store.advance_clock(key(1), user(1), START) == stored
        assert await store.update_clock(key(1), user(1), NameChanges(), Quota()) == stored
        assert await store.list_clocks(user(1), bytes(16), None, 9) == [_revision(revision + 1)]
    # No old revision stays.
    assert await rows_of("schedules") == 1


@pytest.mark.parametrize("known_revision", [0, 1, 2, None])
async def test_schedule_is_returned_unless_its_revision_is_known(store: Store, known_revision: int | None) -> None:
    await add_clock(store, clock(1), user(1))
    await _amend(store)
    expected = StoredClock(_revision(1), b"" if known_revision == 1 else b"amended")
    assert await store.find_clock(key(1), user(1), known_revision=known_revision) == expected
    assert await store.advance_clock(key(1), user(1), START, known_revision=known_revision) == expected
    assert await store.update_clock(key(1), user(1), NameChanges(), Quota(), known_revision=known_revision) == expected


@pytest.mark.parametrize(
    ("changes", "name", "labels"),
    [
        (NameChanges(), "Old", '{"a":"1"}'),
        (NameChanges(name="New"), "New", '{"a":"1"}'),
        (NameChanges(name=None, labels="{}"), None, "{}"),
    ],
)
async def test_amendment_changes_names_too(
    store: Store, changes: NameChanges, name: str | None, labels: str | None
) -> None:
    named = replace(clock(1), name="Old", labels='{"a":"1"}')
    await store.create_clock(named, user(1), b"schedule", _NO_QUOTA)
    amendment = Amendment(0, END, b"amended", names=changes)
    expected = replace(named, name=name, labels=labels, revision=1)
    assert await store.amend_clock(key(1), user(1), amendment, _NO_QUOTA) == Amended(expected)
    assert await store.find_clock(key(1), user(1)) == StoredClock(expected, b"amended")
    conflict = Amendment(0, END, b"late", names=NameChanges(name="late"))
    outcome = await store.amend_clock(key(1), user(1), conflict, _NO_QUOTA)
    assert outcome == Conflict(StoredClock(expected, b"amended"))


async def test_names_of_an_amendment_count_for_the_quota(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    amendment = Amendment(0, END, b"", names=NameChanges(name="n" * 200, labels="l" * 1000))
    used = RECORD_BYTES + 1200
    refused = await store.amend_clock(key(1), user(1), amendment, Quota(bytes=used - 1))
    assert refused == QuotaExceeded("bytes", key(1))
    assert isinstance(await store.amend_clock(key(1), user(1), amendment, Quota(bytes=used)), Amended)


async def test_amendment_of_a_clock_that_was_advanced_too_far_is_a_conflict(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    await store.advance_clock(key(1), user(1), START + DAY)
    moved = Clock(key(1), START, START + DAY, END)
    outcome = await _amend(store, valid_until=START + DAY - MICROSECOND)
    assert outcome == Conflict(StoredClock(moved, b"schedule"))
    assert await _amend(store, valid_until=START + DAY) == Amended(_revision(1, moved))


# Quota


async def test_concurrent_amendments_respect_the_quota(store: Store) -> None:
    numbers = range(_CONCURRENT)
    for number in numbers:
        await add_clock(store, clock(number), user(1), bytes(10))
    quota = Quota(bytes=10 * _CONCURRENT + 7 * (10 + RECORD_BYTES))
    outcomes = await asyncio.gather(*(_amend(store, bytes(20), number=number, quota=quota) for number in numbers))
    assert sum(isinstance(outcome, Amended) for outcome in outcomes) == 7
    assert outcomes.count(QuotaExceeded("bytes", key(0))) == _CONCURRENT - 7


# Idempotency


async def test_of_concurrent_repeated_amendments_one_is_applied(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    outcomes = await asyncio.gather(*(_amend(store, record=make_record(1)) for _ in range(_CONCURRENT)))
    assert outcomes.count(Amended(_revision(1))) == 1
    existing = ExistingClock(b"parameters", StoredClock(_revision(1), b"amended"))
    assert outcomes.count(existing) == _CONCURRENT - 1


# Races


async def test_of_concurrent_amendments_of_one_revision_one_succeeds(store: Store, open_another: OpenAnother) -> None:
    stores = [store, await open_another()]
    await add_clock(store, clock(1), user(1))
    for revision in range(5):
        names = [b"%d of %d" % (number, revision) for number in range(_CONCURRENT)]
        outcomes = await asyncio.gather(
            *(_amend(stores[number % 2], name, revision) for number, name in enumerate(names))
        )
        [winner] = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Amended)]
        now = StoredClock(_revision(revision + 1), names[winner])
        assert outcomes.count(Conflict(now)) == _CONCURRENT - 1
        assert await store.find_clock(key(1), user(1)) == now


@pytest.mark.parametrize("known", [True, False], ids=["known schedule", "unknown schedule"])
async def test_concurrent_calls_see_a_clock_and_its_schedule_of_one_revision(
    store: Store, open_another: OpenAnother, known: bool
) -> None:
    """A schedule names its revision, so that a mixture of two revisions is visible."""
    another = await open_another()
    await add_clock(store, clock(1), user(1), b"0")

    async def amend(revision: int) -> Outcome:
        return await _amend(store, b"%d" % (revision + 1), revision)

    for revision in range(60):
        to = START + revision * MICROSECOND
        names = NameChanges(name=f"{revision}")
        known_revision = revision if known else None
        calls = [another.advance_clock(key(1), user(1), to, known_revision=known_revision) for _ in range(4)]
        reads = [another.find_clock(key(1), user(1), known_revision=known_revision) for _ in range(2)]
        updates = [another.update_clock(key(1), user(1), names, Quota(), known_revision=known_revision)]
        amended, *seen = await asyncio.gather(amend(revision), *calls, *reads, *updates)
        assert isinstance(amended, Amended)
        for stored in seen:
            assert isinstance(stored, StoredClock)
            assert stored.schedule == (
                b"" if stored.clock.revision == known_revision else b"%d" % stored.clock.revision
            )
        assert all(stored.clock.frozen_time == to for stored in seen[:4] if isinstance(stored, StoredClock))
