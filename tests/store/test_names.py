"""Every store: names and labels are stored, changed, found and counted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.store.values import NOW, START, add_clock, clock, user
from tickover.server.schedule.clock import Clock, encode_label, encode_labels
from tickover.server.storage.rows import RECORD_BYTES
from tickover.server.storage.store import (
    Amended,
    Amendment,
    ClockScan,
    ClockSearch,
    Created,
    NameChanges,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

LABELS = encode_labels({"ci": "1", "team/a": 'é"\\😀'})


def named(number: int, name: str | None = "Sümmer 😀", labels: str | None = LABELS) -> Clock:
    return replace(clock(number, NOW + timedelta(milliseconds=number)), name=name, labels=labels)


async def search(
    store: Store, *members: str, limit: int = 100, before: bytes | None = None, max_scanned: int = 1000
) -> ClockScan:
    return await store.search_clocks(user(1), bytes(16), before, limit, ClockSearch(max_scanned, members))


@pytest.mark.parametrize(
    ("changes", "name", "labels"),
    [
        (NameChanges(), "old", '{"a":"1"}'),
        (NameChanges(name="new"), "new", '{"a":"1"}'),
        (NameChanges(name=None), None, '{"a":"1"}'),
        (NameChanges(labels="{}"), "old", "{}"),
        (NameChanges(labels=None), "old", None),
        (NameChanges("new", LABELS), "new", LABELS),
    ],
)
async def test_update_changes_only_what_is_given(
    store: Store, changes: NameChanges, name: str | None, labels: str | None
) -> None:
    await add_clock(store, named(1, "old", '{"a":"1"}'), user(1))
    await add_clock(store, named(2), user(1))
    expected = StoredClock(named(1, name, labels), b"schedule")
    assert await store.update_clock(named(1).key, user(1), changes, Quota()) == expected
    assert await store.find_clock(named(1).key, user(1)) == expected
    found = await store.find_clock(named(2).key, user(1))
    assert found == StoredClock(named(2), b"schedule")


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"ci": "1"}, [4, 2, 1]),
        ({"ci": "1", "run": "7"}, [2]),
        ({"ci": ""}, [3]),
        ({"CI": "1"}, []),
        ({"quote": '"ci":"1"'}, [3]),
        ({"back": "\\"}, [4]),
        ({"x/y.z_-": "é😀\n"}, [4]),
        ({"ci": "%"}, []),
    ],
)
async def test_search_finds_exactly_the_clocks_with_all_labels(
    store: Store, labels: dict[str, str], found: Sequence[int]
) -> None:
    stored = {
        1: {"ci": "1", "run": "17"},
        2: {"run": "7", "ci": "1"},
        3: {"ci": "", "quote": '"ci":"1"', "a": 'ci":"1'},
        4: {"back": "\\", "x/y.z_-": "é😀\n", "ci": "1"},
        5: {},
    }
    for number, each in stored.items():
        await add_clock(store, named(number, None, encode_labels(each)), user(1))
    await add_clock(store, named(6, None, None), user(1))
    await add_clock(store, named(7, None, encode_labels(labels)), user(2))
    scan = await search(store, *[encode_label(name, value) for name, value in labels.items()])
    assert [each.key for each in scan.clocks] == [named(number).key for number in found]
    assert scan.last_key is None


async def test_search_looks_at_a_limited_number_of_clocks(store: Store) -> None:
    for number in range(1, 8):
        await add_clock(store, named(number, None, encode_labels({"n": str(number % 3)})), user(1))
    keys = {number: named(number).key for number in range(1, 8)}
    pages, before = [], None
    for _ in keys:
        scan = await search(store, encode_label("n", "1"), before=before, max_scanned=2)
        pages.append([each.key for each in scan.clocks])
        if scan.last_key is None:
            break
        before = scan.last_key
    assert pages == [[keys[7]], [keys[4]], [], [keys[1]]]
    limited = await search(store, encode_label("n", "1"), limit=2)
    assert [each.key for each in limited.clocks] == [keys[7], keys[4]]


async def test_names_and_labels_count_towards_the_bytes(store: Store) -> None:
    size = len(b"schedule") + len("é".encode()) + len('{"a":"é"}'.encode())
    new = named(1, "é", '{"a":"é"}')
    oldest = QuotaExceeded("bytes", new.key)
    values = user(1), b"schedule"
    assert await store.create_clock(new, *values, Quota(bytes=size - 1)) == oldest
    assert await store.create_clock(new, *values, Quota(bytes=size)) == Created()
    bare = named(2, None, None)
    assert await store.create_clock(bare, *values, Quota(bytes=size + 7)) == oldest
    assert await store.create_clock(bare, *values, Quota(bytes=size + 8)) == Created()


async def test_new_names_stay_within_the_byte_limit(store: Store) -> None:
    first, limit = named(1, "12345", None), Quota(bytes=10)
    exceeded = QuotaExceeded("bytes", first.key)
    assert await store.create_clock(first, user(1), b"", limit) == Created()

    async def update(name: str | None, labels: str | None = None, quota: Quota = limit) -> StoredClock | object:
        return await store.update_clock(first.key, user(1), NameChanges(name, labels), quota)

    assert await update("é" * 5 + "1") == exceeded
    assert await update("é" * 4 + "1", "{}") == exceeded
    assert await store.find_clock(first.key, user(1)) == StoredClock(first, b""), "nothing changed"
    assert await update("é" * 4, "{}") == StoredClock(replace(first, name="é" * 4, labels="{}"), b"")
    assert await update("12345678901") == exceeded
    for name in ("123456789", "12345"):
        assert await update(name, quota=Quota(bytes=1)) == StoredClock(replace(first, name=name), b""), "it is shorter"
    assert await update("1234567890") == StoredClock(replace(first, name="1234567890"), b""), "there is room again"
    assert await update("x" * 200, quota=Quota(clocks=1)) == StoredClock(replace(first, name="x" * 200), b"")


async def test_new_names_count_after_a_restart(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    """A store that has counted nothing yet reads the bytes that an earlier one has written."""
    await add_clock(store, clock(1), user(1), bytes(10))
    await store.update_clock(clock(1).key, user(1), NameChanges("12345"), Quota())
    restarted = await open_another()
    rejected = await restarted.create_clock(clock(2), user(1), bytes(10), Quota(bytes=24))
    assert rejected == QuotaExceeded("bytes", clock(1).key)
    assert await restarted.create_clock(clock(2), user(1), bytes(10), Quota(bytes=25)) == Created()


async def test_expired_clocks_use_no_bytes_of_new_names(store: Store) -> None:
    old, new = named(1, "12345", None), named(2, "1", None)
    for each in (old, new):
        await add_clock(store, each, user(1), b"")
    changes = NameChanges("123456")
    assert await store.update_clock(new.key, user(1), changes, Quota(0, 10, old.key)) == QuotaExceeded("bytes", old.key)
    assert isinstance(await store.update_clock(new.key, user(1), changes, Quota(0, 10, new.key)), StoredClock)


async def test_concurrent_new_names_stay_within_the_byte_limit(store: Store) -> None:
    for number in (1, 2, 3):
        await add_clock(store, named(number, None, None), user(1), b"")
    updates = [
        store.update_clock(named(number).key, user(1), NameChanges("12345"), Quota(bytes=10)) for number in (1, 2, 3)
    ]
    outcomes = await asyncio.gather(*updates)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["QuotaExceeded", "StoredClock", "StoredClock"]


async def test_clock_that_becomes_smaller_makes_room(store: Store) -> None:
    first, limit = named(1, None, None), Quota(bytes=1_000)
    assert await store.create_clock(first, user(1), bytes(1_000), limit) == Created()
    for _ in range(2):
        second = await store.create_clock(named(2, None, None), user(1), bytes(500), limit)
        assert second == QuotaExceeded("bytes", first.key)
    amendment = Amendment(0, START, bytes(1_000 - 500 - RECORD_BYTES))
    assert isinstance(await store.amend_clock(first.key, user(1), amendment, limit), Amended)
    assert await store.create_clock(named(2, None, None), user(1), bytes(501), limit) != Created()
    assert await store.create_clock(named(2, None, None), user(1), bytes(500), limit) == Created()
