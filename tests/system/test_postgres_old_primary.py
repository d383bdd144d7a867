"""A replaced primary that stays up, read-only: the store closes all its connections to it.

The other server doesn't replicate. The store only sees which of its servers accepts writes.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.store.values import add_clock, clock, key, user
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until
from tickover.api.errors import Rejection
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

_CONCURRENT = 8
_DATABASE = "old_primary"


@pytest.fixture
def primary(own_postgres: PostgresServer) -> Iterator[PostgresServer]:
    yield own_postgres
    own_postgres.configure(default_transaction_read_only="off")
    wait_until(lambda: own_postgres.execute("show default_transaction_read_only") == "off")


@pytest.fixture
async def store(primary: PostgresServer, postgres: PostgresServer) -> AsyncIterator[Store]:
    """A store that may use both servers, with idle connections to the primary."""
    url = primary.create_database(_DATABASE)
    await (await open_store(postgres.create_database(_DATABASE))).close()
    own = f"127.0.0.1:{primary.port}"
    opened = await open_store(url.replace(own, f"{own},127.0.0.1:{postgres.port}"))
    # Reads are not batched, so each has its own connection.
    await asyncio.gather(*(opened.find_clock(key(number), user(1)) for number in range(_CONCURRENT)))
    yield opened
    await opened.close()
    postgres.execute(f"drop database {_DATABASE}")


async def _accepts_writes(store: Store) -> bool:
    try:
        await store.ping()
    except Rejection:
        return False
    return True


async def test_read_only_old_primary_is_abandoned(
    primary: PostgresServer, postgres: PostgresServer, store: Store
) -> None:
    await add_clock(store, clock(1), user(1))
    assert primary.execute("select count(*) from clocks", _DATABASE) == "1"
    primary.configure(default_transaction_read_only="on")
    wait_until(lambda: primary.execute("show default_transaction_read_only", _DATABASE) == "on")

    # The first write fails, and the store learns that the server is read-only.
    with pytest.raises(Rejection):
        await add_clock(store, clock(2), user(1))
    assert await _accepts_writes(store)
    await add_clock(store, clock(3), user(1))
    # No connection to the old primary is left. It doesn't have this clock.
    found = await asyncio.gather(*(store.find_clock(key(3), user(1)) for _ in range(_CONCURRENT)))
    assert None not in found
    assert postgres.execute("select count(*) from clocks", _DATABASE) == "1"
    assert primary.execute("select count(*) from clocks", _DATABASE) == "1"
