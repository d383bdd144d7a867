"""PgBouncer in front of PostgreSQL: session and transaction mode work, or the start fails with instructions."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from tests.store.test_store import METHODS
from tests.store.values import START, WEEK, add_clock, advance, clock, key, user
from tests.support.postgres import PostgresServer
from tests.system.pgbouncer import PgBouncer
from tickover.api.errors import Reason, Rejection
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.admin.admin_users import open_users
from tickover.server.storage.postgres.session_settings import SETTINGS
from tickover.server.storage.store import Store

_NUMBERS = range(1, 31)


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@asynccontextmanager
async def _opened(url: str, max_database: int = 10) -> AsyncIterator[Store]:
    store = await open_store(url, max_database)
    try:
        yield store
    finally:
        await store.close()


async def _use(store: Store) -> None:
    """Call every method of the store, and many concurrently, so that sessions change."""
    await asyncio.gather(*(add_clock(store, clock(number), user(1)) for number in _NUMBERS))
    for _ in range(2):
        found = await asyncio.gather(*(store.find_clock(key(number), user(1)) for number in _NUMBERS))
        assert None not in found
        moved = await asyncio.gather(*(advance(store, key(number), user(1), START + WEEK) for number in _NUMBERS))
        assert {clock.frozen_time for clock in moved if clock} == {START + WEEK}
    assert await store.delete_clock(key(1), user(1))
    for method in METHODS.values():
        await method(store)


async def test_session_mode_of_the_file_in_deploy_works(postgres: PostgresServer, url: str) -> None:
    with PgBouncer(postgres) as pooler:
        async with _opened(pooler.url_of(url)) as store, _opened(pooler.url_of(url)) as another:
            await _use(store)
            assert await another.find_clock(key(2), user(1)) is not None
            assert await _session_settings(store) == SETTINGS


async def _session_settings(store: Store) -> dict[str, str]:
    """Return the settings of a connection in the store's pool."""
    rows = await store._database.fetch(  # type: ignore[attr-defined]
        "select name, current_setting(name) from unnest($1::text[]) as name", [*SETTINGS]
    )
    return dict(rows)


@pytest.mark.parametrize(
    ("mode", "settings"),
    [("transaction", {"server_round_robin": "1"}), ("statement", {})],
    ids=["transaction", "statement"],
)
async def test_mode_that_shares_sessions_is_rejected_on_one_line(
    postgres: PostgresServer, url: str, mode: str, settings: dict[str, str]
) -> None:
    with PgBouncer(postgres, pool_mode=mode, default_pool_size="2", min_pool_size="2", **settings) as pooler:
        # Both sessions of the pooler exist, as in a pooler that others use.
        others = [await asyncpg.connect(pooler.url_of(url), statement_cache_size=0) for _ in range(2)]
        await asyncio.gather(*(other.fetchval("select pg_sleep(0.1)") for other in others))
        with pytest.raises(SettingError, match="is behind a pooler in transaction or statement mode") as error:
            await open_store(pooler.url_of(url))
        assert "\n" not in str(error.value)
        # The sessions of others are unchanged.
        assert {await other.fetchval("show enable_seqscan") for other in others} == {"on"}
        for other in others:
            await other.close()


@pytest.fixture
def pooler_in_transaction_mode(postgres: PostgresServer) -> PgBouncer:
    """Has fewer sessions than a store has connections, so that connections share them."""
    return PgBouncer(postgres, pool_mode="transaction", default_pool_size="3")


async def test_transaction_mode_needs_the_settings_of_the_role(
    postgres: PostgresServer, url: str, pooler_in_transaction_mode: PgBouncer
) -> None:
    with (
        pooler_in_transaction_mode as pooler,
        pytest.raises(SettingError, match="RECONNECT in the pooler's console") as error,
    ):
        await open_store(pooler.url_of(url, "?pool_mode=transaction"))
    commands = re.findall(r"alter role tickover set \w+ = '[^']+';", str(error.value))
    assert len(commands) == len(SETTINGS) - 1, "this isolation is PostgreSQL's default"


async def test_transaction_mode_works_with_the_settings_of_the_role(
    postgres: PostgresServer, url: str, pooler_in_transaction_mode: PgBouncer
) -> None:
    database = url.rpartition("/")[2]
    for name, value in SETTINGS.items():
        # Only in this database, because other tests use the role too.
        postgres.execute(f"alter role tickover in database {database} set {name} = '{value}'")
    with pooler_in_transaction_mode as pooler:
        led = pooler.url_of(url, "?pool_mode=transaction")
        async with _opened(led) as store, _opened(led) as another:
            await asyncio.gather(_use(store), *(another.ping() for _ in range(50)))
            assert await _session_settings(another) == SETTINGS
            assert await another.find_clock(key(2), user(1)) is not None
        async with open_users(led) as users:
            assert await users.page(None, 10)


async def test_session_changed_during_operation_is_not_an_internal_error(postgres_url: str) -> None:
    """The mode of a pooler was changed, or it shares sessions undetected."""
    async with _opened(postgres_url, 1) as store:
        await store.find_clock(key(1), user(1))
        await store._database.fetch("deallocate all")  # type: ignore[attr-defined]
        with pytest.raises(Rejection) as error:
            await store.find_clock(key(1), user(1))
        assert error.value.reason is Reason.UNAVAILABLE
