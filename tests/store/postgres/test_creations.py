"""Creations on PostgreSQL that wait at the same time share statements."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import asyncpg
import pytest

from tests.store.values import clock, digest, key, make_record, user
from tickover.api.errors import Reason, Rejection
from tickover.server.storage.postgres.database import Database
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Created, DatabaseUnavailable, ExistingClock, Quota, QuotaExceeded

_QUOTA = Quota(clocks=5)
_numbers = count(1)


class _CountingDatabase(Database):
    """Counts statements, and is unavailable after `limit` of them."""

    statements = 0
    limit = 1_000

    async def fetch(self, statement: str, *values: object, is_repeatable: bool = False) -> list[Any]:
        if self.statements == self.limit:
            raise DatabaseUnavailable("connection", OSError(), "The database is not responding.")
        self.statements += 1
        return await super().fetch(statement, *values, is_repeatable=is_repeatable)


@pytest.fixture
def database(database_url: str) -> _CountingDatabase:
    return _CountingDatabase(database_url, 5)


@pytest.fixture
async def store(database: _CountingDatabase) -> AsyncIterator[PostgresStore]:
    await database.open_pool()
    opened = PostgresStore(database)
    yield opened
    await opened.close()


async def _create(store: PostgresStore, owner: int, record: int = 0) -> object:
    known = make_record(record) if record else None
    return await store.create_clock(clock(next(_numbers)), user(owner), b"schedule", _QUOTA, known)


async def _use_as_another_server(other: asyncpg.Connection, owner: int) -> None:
    """Create a clock, and change the version of the owner's lock."""
    new = key(1_000_000 + next(_numbers)).hex()
    await other.execute("insert into clocks values ($1, $2, 0, 0, 0)", new, user(owner).hex())
    await other.execute("update locks set version = -1 where name = $1", user(owner).hex())


async def test_batch_takes_two_statements_and_one_if_the_owners_are_known(
    store: PostgresStore, database: _CountingDatabase
) -> None:
    taken: list[int] = []
    for _ in range(3):
        before = database.statements
        calls = [_create(store, owner, record) for owner in range(4) for record in (0, next(_numbers))]
        assert await asyncio.gather(*calls) == [Created()] * 8 or len(taken) == 2
        taken.append(database.statements - before)
    # The third batch exceeds the quota, so it is counted again.
    assert taken == [2, 1, 2]


async def test_repeated_creation_takes_one_statement(store: PostgresStore, database: _CountingDatabase) -> None:
    assert await _create(store, 1, record=1) == Created()
    before = database.statements
    repeated, another = await asyncio.gather(_create(store, 1, record=1), _create(store, 2))
    assert isinstance(repeated, ExistingClock)
    assert another == Created()
    # The second statement is that of the other owner, whom the store doesn't know.
    assert database.statements - before == 2


async def test_creations_beside_a_repeated_one_count_exactly(store: PostgresStore) -> None:
    """The repeated one doesn't count again, and the last one exceeds the quota."""
    assert await _create(store, 1, record=1) == Created()
    records = (0, 0, 1, 0, 2, 0)
    outcomes = await asyncio.gather(*(_create(store, 1, record) for record in records))
    assert [type(outcome) for outcome in outcomes] == [Created, Created, ExistingClock, Created, Created, QuotaExceeded]


async def test_same_key_in_one_batch_creates_one_clock(store: PostgresStore, database: _CountingDatabase) -> None:
    first, *others = await asyncio.gather(*(_create(store, 1, record=1) for _ in range(5)))
    assert first == Created()
    # No statement fails because it would insert the key twice.
    assert database.statements == 2 + len(others)
    found = await store.find_creation(digest(1), user(1), bytes(16))
    assert found is not None
    assert others == [found] * 4


async def test_creations_count_what_another_server_has_created_since(
    store: PostgresStore, other: asyncpg.Connection
) -> None:
    for _ in range(4):
        assert await _create(store, 1) == Created()
    await _use_as_another_server(other, 1)
    assert isinstance(await _create(store, 1), QuotaExceeded)


@pytest.mark.parametrize("limit", [1, 2])
async def test_failure_of_a_later_statement_keeps_the_clocks_of_other_owners(
    store: PostgresStore, database: _CountingDatabase, other: asyncpg.Connection, limit: int
) -> None:
    for owner in (1, 2):
        assert await _create(store, owner) == Created()
    await _use_as_another_server(other, 2)
    database.limit = database.statements + limit
    outcomes = await asyncio.gather(*(_create(store, owner) for owner in (1, 2)), return_exceptions=True)
    database.limit = 1_000
    count_clocks = "select count(*) from clocks where owner = $1"
    clocks = [await other.fetchval(count_clocks, user(owner).hex()) for owner in (1, 2)]
    if limit == 2:
        assert outcomes == [Created(), Created()]
        assert clocks == [2, 3]
    else:
        assert outcomes[0] == Created()
        assert isinstance(outcomes[1], Rejection)
        assert outcomes[1].reason is Reason.UNAVAILABLE
        assert clocks == [2, 2]


async def test_creation_without_a_limit_leaves_no_count_for_one_with_a_limit(
    store: PostgresStore, database_url: str
) -> None:
    other = Database(database_url, 5)
    await other.open_pool()
    server = PostgresStore(other)
    for _ in range(2):
        assert await server.create_clock(clock(next(_numbers)), user(1), b"schedule", Quota()) == Created()
    await server.close()
    assert await store.create_clock(clock(next(_numbers)), user(1), b"schedule", Quota()) == Created()
    outcome = await store.create_clock(clock(next(_numbers)), user(1), b"schedule", Quota(clocks=2))
    assert isinstance(outcome, QuotaExceeded)
