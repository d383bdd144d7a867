"""A real PgBouncer in front of PostgreSQL: session and transaction mode work, or the start says what to set."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from tests.contract.test_store import METHODS
from tests.contract.values import START, WEEK, add_clock, advance, clock, key, make_record, user
from tests.support.pgbouncer import PgBouncer
from tests.support.postgres import PostgresServer
from tests.support.transcripts import ROOT
from tickover.api.errors import Reason, Rejection
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.copy import copy
from tickover.server.storage.postgres.sessions import SETTINGS
from tickover.server.storage.store import Quota, Store

_NUMBERS = range(1, 31)


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@asynccontextmanager
async def _opened(url: str, max_connections: int = 10) -> AsyncIterator[Store]:
    store = await open_store(url, max_connections)
    try:
        yield store
    finally:
        await store.close()


async def _use(store: Store) -> None:
    """Call every method of the store, and many at once, so that sessions change hands."""
    await asyncio.gather(*(add_clock(store, clock(number), user(1)) for number in _NUMBERS))
    for _ in range(5):
        found = await asyncio.gather(*(store.find_clock(key(number), user(1)) for number in _NUMBERS))
        assert None not in found
        moved = await asyncio.gather(*(advance(store, key(number), user(1), START + WEEK) for number in _NUMBERS))
        assert {clock.frozen_time for clock in moved if clock} == {START + WEEK}
    assert await store.delete_clock(key(1), user(1))
    for name, method in METHODS.items():
        if name != "create_clock_once":  # which would create the same clock as create_clock
            await method(store)
    await store.create_clock_once(make_record(1), clock(99), user(1), b"schedule", bytes(16), Quota())


async def test_session_mode_needs_no_settings_of_the_pooler(postgres: PostgresServer, url: str) -> None:
    with PgBouncer(postgres, pool_mode="session", default_pool_size="30") as pooler:
        async with _opened(pooler.lead(url)) as store, _opened(pooler.lead(url)) as another:
            await _use(store)
            assert await another.find_clock(key(2), user(1)) is not None
            assert await _settings_of_sessions(store) == SETTINGS


async def _settings_of_sessions(store: Store) -> dict[str, str]:
    """Those in force on a connection of the store's pool."""
    rows = await store._connections.fetch(  # type: ignore[attr-defined]
        "select name, current_setting(name) from unnest($1::text[]) as name", [*SETTINGS]
    )
    return dict(rows)


@pytest.mark.parametrize("settings", [{}, {"server_round_robin": "1"}], ids=["last used first", "each in turn"])
@pytest.mark.parametrize("mode", ["transaction", "statement"])
async def test_a_mode_that_lends_sessions_is_refused_in_one_sentence(
    postgres: PostgresServer, url: str, mode: str, settings: dict[str, str]
) -> None:
    with PgBouncer(postgres, pool_mode=mode, default_pool_size="2", min_pool_size="2", **settings) as pooler:
        # Both sessions of the pooler are there, as in one that others use.
        others = [await asyncpg.connect(pooler.lead(url), statement_cache_size=0) for _ in range(2)]
        await asyncio.gather(*(other.fetchval("select pg_sleep(0.1)") for other in others))
        with pytest.raises(SettingError, match="is behind a pooler in transaction or statement mode") as told:
            await open_store(pooler.lead(url))
        assert "\n" not in str(told.value)
        # The sessions that others use are left as they were.
        assert {await other.fetchval("show enable_seqscan") for other in others} == {"on"}
        for other in others:
            await other.close()


@pytest.fixture
def lending(postgres: PostgresServer) -> PgBouncer:
    """Fewer sessions than a store has connections, so that it has to share them."""
    return PgBouncer(postgres, pool_mode="transaction", default_pool_size="3")


async def test_transaction_mode_needs_the_settings_of_the_role(
    postgres: PostgresServer, url: str, lending: PgBouncer
) -> None:
    with lending as pooler, pytest.raises(SettingError, match="RECONNECT in the pooler's console") as told:
        await open_store(pooler.lead(url, "?pool_mode=transaction"))
    commands = re.findall(r"alter role tickover set \w+ = '[^']+';", str(told.value))
    assert len(commands) == len(SETTINGS) - 1, "the isolation is PostgreSQL's own default"


async def test_transaction_mode_works_with_the_settings_of_the_role(
    postgres: PostgresServer, url: str, lending: PgBouncer
) -> None:
    database = url.rpartition("/")[2]
    for name, value in SETTINGS.items():
        # In this database alone, because other tests use the role too.
        postgres.execute(f"alter role tickover in database {database} set {name} = '{value}'")
    with lending as pooler:
        led = pooler.lead(url, "?pool_mode=transaction")
        async with _opened(led) as store, _opened(led) as another:
            await asyncio.gather(_use(store), *(another.ping() for _ in range(50)))
            assert await _settings_of_sessions(another) == SETTINGS
            assert await another.find_clock(key(2), user(1)) is not None
        with pytest.raises(SettingError, match="URL of the database itself"):
            await copy(led, url, lambda *_: None)


async def test_a_session_that_is_changed_under_a_running_store_is_no_internal_error(
    postgres: PostgresServer, url: str
) -> None:
    """A pooler whose mode is changed, or that lends sessions without being seen to."""
    async with _opened(url, 1) as store:
        await store.find_clock(key(1), user(1))
        await store._connections.fetch("deallocate all")  # type: ignore[attr-defined]
        with pytest.raises(Rejection) as refused:
            await store.find_clock(key(1), user(1))
        assert refused.value.reason is Reason.UNAVAILABLE


async def test_an_unknown_pool_mode_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="pool_mode in TICKOVER_DATABASE_URL must be session or transaction"):
        await open_store(f"{url}?pool_mode=statement")


def test_the_docs_give_the_role_its_settings() -> None:
    told = (ROOT / "docs" / "operating.md").read_text("utf-8")
    commands = re.findall(r"^alter role tickover set (\w+) = '([^']+)';$", told, re.MULTILINE)
    assert dict(commands) == SETTINGS
