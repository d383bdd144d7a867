"""Servers of the previous release on PostgreSQL, after the current release has upgraded the schema."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.store.values import (
    ANA,
    END,
    HOUR,
    MINUTE,
    NOW,
    START,
    clock,
    code,
    code_limits,
    digest,
    key,
    sent,
    session,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, to_micros
from tickover.server.storage.postgres.rows import slot_of
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Created, NameChanges, Quota, QuotaExceeded, StoredClock

# The exact statements of that release.
_CREATE_CLOCKS = "select refused, oldest from keep_clocks($1, $2, $3, $4, $5, $6, $7, $8, $9)"
_CLAIM = "select * from claim_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
_COUNT_TRY = "select * from count_try($1, $2, $3, $4)"
_SWEEP = "select sweep($1, $2, $3, $4, $5) + sweep_creations($1, $5)"


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(postgres_url, 4)
    yield opened
    await opened.close()


@pytest.fixture
async def old(postgres_url: str, store: PostgresStore) -> AsyncIterator[asyncpg.Connection]:
    """A connection of a server of the previous release."""
    connection = await asyncpg.connect(postgres_url)
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    yield connection
    await connection.close()


_INSTANTS = (to_micros(START), to_micros(START), to_micros(END))


async def _create(old: asyncpg.Connection, number: int, size: int, limit: int) -> list[Any]:
    slot, min_live_key = slot_of(key(number)), first_live_key(NOW)
    instants = [[instant] for instant in _INSTANTS]
    return await old.fetch(
        _CREATE_CLOCKS, slot, [key(number)], [user(1)], *instants, [bytes(size)], [min_live_key], limit
    )


async def _claim(old: asyncpg.Connection, number: int, now: Instant) -> Any:
    send = code(number, now)
    instants = (now - MINUTE, now - HOUR, now + 10 * MINUTE)
    return await old.fetchrow(
        _CLAIM, send.digest, send.email, send.kind, to_micros(now), to_micros(send.expires_at), send.network,
        *map(to_micros, instants), 0, 0, 100,
    )  # fmt: skip


async def test_older_server_creates_clocks_and_their_bytes_count(old: asyncpg.Connection, store: PostgresStore) -> None:
    assert await _create(old, 1, 60, limit=2) == []
    stored = await store.find_clock(key(1), user(1))
    assert (stored and stored.clock, stored and stored.schedule) == (clock(1), bytes(60))
    one_more = clock(2), user(1), bytes(41), first_live_key(NOW)
    assert await store.create_clock(*one_more, Quota(bytes=100)) == QuotaExceeded("bytes", key(1))
    assert await store.create_clock(*one_more, Quota(bytes=101)) == Created()
    assert [tuple(row) for row in await _create(old, 3, 60, limit=2)] == [(1, key(1))]


async def test_server_of_the_last_release_creates_clocks_without_names(
    old: asyncpg.Connection, store: PostgresStore
) -> None:
    """Its functions had a limit on bytes, and no names."""
    slot, min_live_key = slot_of(key(1)), first_live_key(NOW)
    arrays = [key(1)], [user(1)], *([instant] for instant in _INSTANTS), [bytes(60)], [min_live_key]
    assert await old.fetch(f"select * from keep_clocks_v2({_marks(10)})", slot, *arrays, 0, 60) == []
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), bytes(60))
    await store.update_clock(key(1), user(1), NameChanges("Summer", '{"a":"b"}'), bytes(16), Quota())
    args = digest(2), b"params", slot, key(2), user(1), *_INSTANTS, b"", min_live_key
    once = f"select * from keep_clock_once_v2({_marks(12)})"
    [exceeded] = await old.fetch(once, *args, 0, 74)
    assert exceeded["exceeded"] == "bytes", "names count for it too"
    [created], [again] = [await old.fetch(once, *args, 0, 75) for _ in range(2)]
    assert created["exceeded"] is None
    assert again["earlier_key"] == key(2)
    found = await old.fetch(f"select * from find_creation({_marks(3)})", digest(2), user(1), min_live_key)
    assert [tuple(row) for row in found] == [(b"params", key(2), *_INSTANTS, b"")]


def _marks(count: int) -> str:
    return ", ".join(f"${number}" for number in range(1, count + 1))


async def test_old_and_new_servers_agree_on_the_newest_code(old: asyncpg.Connection, store: PostgresStore) -> None:
    now = NOW
    for number in range(6):
        # The wall clock is set back each time.
        now -= HOUR
        if number % 2:
            await sent(store, code(number, now))
        else:
            assert (await _claim(old, number, now))["held_since"] is None
        counted = await store.count_attempt(ANA, code_limits(), now)
        assert counted is not None
        assert counted.digest == digest(number)
        assert await old.fetchval(_COUNT_TRY, ANA, to_micros(now), 5, 100) == digest(number)
    assert await store.redeem_code(ANA, digest(5), session(1, now)) == user(1)


async def test_older_server_sweeps(old: asyncpg.Connection, store: PostgresStore) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW - HOUR))
    min_live_key = first_live_key(NOW)
    instants = to_micros(NOW + MINUTE), to_micros(NOW + MINUTE - HOUR)
    assert await old.fetchval(_SWEEP, min_live_key, min_live_key, *instants, 100) == 2
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) is None
