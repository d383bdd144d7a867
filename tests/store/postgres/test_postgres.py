"""The PostgreSQL store: sessions, database settings, the schema and secret keys."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.store.values import (
    ANA,
    DAY,
    MICROSECOND,
    MINUTE,
    NOW,
    START,
    add_clock,
    advance,
    clock,
    code,
    code_limits,
    create,
    delaying_email,
    digest,
    key,
    schedule_of,
    sent,
    session,
    user,
)
from tests.support.postgres import PostgresServer
from tests.support.world import open_world
from tickover.api.errors import Reason, Rejection
from tickover.server.settings import SettingError
from tickover.server.sign_in.login_emails import CountedAttempt
from tickover.server.storage import open_store
from tickover.server.storage.migrations import newest_version
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import DatabaseUnavailable, Store


async def _opened(url: str, max_database: int = 8) -> PostgresStore:
    store = await open_store(url, max_database)
    assert isinstance(store, PostgresStore)
    return store


# Readiness


async def test_server_without_a_free_connection_is_not_ready(
    postgres_url: str, other: asyncpg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_world(tmp_path, postgres_url) as world:
        async with other.transaction():
            await other.execute("lock table tokens")
            calls = [asyncio.ensure_future(world.store.find_email(digest(1))) for _ in range(10)]
            while world.store.load().busy_connections < len(calls):  # noqa: ASYNC110 - the pool has no event for it
                await asyncio.sleep(0.001)
            with monkeypatch.context() as patch:
                patch.setattr("tickover.server.storage.write_probe._TIMEOUT_SECONDS", 0.01)
                assert (await world.request("GET", "/readyz")).status == 503
            assert (await world.request("GET", "/healthz")).status == 200
        assert await asyncio.gather(*calls) == [None] * len(calls)
        assert (await world.request("GET", "/readyz")).status == 200


# Sessions


@pytest.mark.parametrize(
    ("query", "setting", "value"),
    [
        ("", "application_name", "tickover"),
        ("", "statement_timeout", "4s"),
        ("", "default_transaction_isolation", "read committed"),
        ("", "synchronous_commit", "on"),
        ("?application_name=clocks", "application_name", "clocks"),
        # Many URLs contain it, because other clients use it.
        ("?connect_timeout=10", "application_name", "tickover"),
        ("?statement_timeout=7s&lock_timeout=6s", "statement_timeout", "7s"),
        ("?options=-c%20work_mem%3D1MB", "work_mem", "1MB"),
    ],
)
async def test_session_has_its_settings_unless_the_url_overrides_them(
    postgres_url: str, query: str, setting: str, value: str
) -> None:
    store = await _opened(postgres_url + query)
    assert await store._database.fetch_value("select current_setting($1)", setting) == value
    await store.close()


@pytest.mark.parametrize("limit", ["statement_timeout=100ms", "lock_timeout=100ms"])
async def test_call_that_waits_too_long_for_a_lock_is_rejected_and_changes_nothing(
    postgres_url: str, other: asyncpg.Connection, limit: str
) -> None:
    store = await _opened(f"{postgres_url}?{limit}")
    message = await sent(store, code(1))
    async with other.transaction():
        await other.execute("select from login_emails where digest = $1 for update", message.digest)
        for call in (
            store.allow_resend(message),
            store.delete_email(message),
            store.count_attempt(ANA, code_limits(), NOW),
        ):
            with pytest.raises(Rejection) as error:
                await call
            assert error.value.reason is Reason.UNAVAILABLE
            assert "is not responding" in error.value.message
    assert await delaying_email(store, code(2, NOW + MICROSECOND)) == NOW
    assert await store.count_attempt(ANA, code_limits(attempts=1), NOW) == CountedAttempt(message.digest, NOW)
    await store.close()


# Settings of the database


@pytest.fixture
async def fresh_url(postgres: PostgresServer) -> AsyncIterator[str]:
    """An empty database."""
    url = postgres.create_database()
    yield url
    postgres.execute(f"drop database {url.rpartition('/')[2]} with (force)")


async def _use(store: Store) -> None:
    """Make many concurrent calls, and check their results."""
    delays = await asyncio.gather(*(delaying_email(store, code(number)) for number in range(30)))
    assert delays.count(None) == 1
    attempts = await asyncio.gather(*(store.count_attempt(ANA, code_limits(), NOW) for _ in range(30)))
    assert attempts.count(None) == 25
    message = digest(delays.index(None))
    users = await asyncio.gather(*(store.redeem_code(ANA, message, session(number)) for number in range(30)))
    assert len([each for each in users if each]) == 1
    made = [create(store, clock(number), user(1), b"", bytes(16), limit=7) for number in range(30)]
    results = await asyncio.gather(*made)
    assert results.count(None) == 7
    number = results.index(None)
    moved = await asyncio.gather(*(advance(store, key(number), user(1), START + day * DAY) for day in range(30)))
    assert max(each.frozen_time for each in moved if each) == START + 29 * DAY
    assert await store.sweep(NOW + 8 * DAY, 100) > 0
    assert await schedule_of(store, key(number), user(1)) is None


@pytest.mark.parametrize(
    "settings",
    [
        [
            "default_transaction_isolation = 'serializable'",
            "default_transaction_deferrable = on",
            "bytea_output = 'escape'",
            "intervalstyle = 'iso_8601'",
            "datestyle = 'German, DMY'",
            "timezone = 'Pacific/Chatham'",
            "standard_conforming_strings = off",
        ],
        [
            "default_transaction_isolation = 'repeatable read'",
            "client_encoding = 'latin1'",
            "search_path = 'nowhere', 'public'",
            "plan_cache_mode = 'force_custom_plan'",
            "enable_indexscan = off",
            "synchronous_commit = local",
            "row_security = off",
            "session_replication_role = 'replica'",
        ],
    ],
)
async def test_store_works_with_any_settings_of_the_database(
    postgres: PostgresServer, fresh_url: str, settings: list[str]
) -> None:
    name = fresh_url.rpartition("/")[2]
    postgres.execute(";".join(f"alter database {name} set {setting}" for setting in settings))
    store = await open_store(fresh_url)
    await _use(store)
    await store.close()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_encoding_that_cannot_store_every_address_is_rejected(postgres: PostgresServer, encoding: str) -> None:
    name = f"in_{encoding.lower()}"
    postgres.execute(f"create database {name} owner tickover encoding '{encoding}' template template0")
    with pytest.raises(SettingError, match=rf"has the encoding {encoding}\. Create one with the encoding UTF8\.$"):
        await open_store(postgres.url(name))
    postgres.execute(f"drop database {name} with (force)")


@pytest.mark.usefixtures("long_timeouts")
async def test_schema_named_in_the_url_is_a_separate_store(postgres: PostgresServer, fresh_url: str) -> None:
    for schema in ("one", "other"):
        postgres.execute(f"create schema {schema} authorization tickover", fresh_url.rpartition("/")[2])
    # A later schema in the search path is ignored.
    urls = [fresh_url, f"{fresh_url}?search_path=one", f"{fresh_url}?search_path=other,public"]
    stores = [await open_store(url) for url in urls]
    for number, store in enumerate(stores):
        assert await store.share_key(b"key %d" % number, NOW)
        await add_clock(store, clock(99), user(99), b"schedule %d" % number)
    await asyncio.gather(*(store.sweep(NOW, 100) for store in stores))
    found = [await schedule_of(store, key(99), user(99)) for store in stores]
    assert found == [b"schedule 0", b"schedule 1", b"schedule 2"]
    for store in stores:
        await store.close()


# The schema


@pytest.mark.usefixtures("long_timeouts")
async def test_servers_that_start_together_on_an_empty_database_migrate_it_once(fresh_url: str) -> None:
    stores = await asyncio.gather(*(open_store(fresh_url) for _ in range(10)))
    await asyncio.gather(*(store.ping() for store in stores))
    connection = await asyncpg.connect(fresh_url)
    applied = await connection.fetch("select number from schema_version order by number")
    assert [number for (number,) in applied] == [newest_version("postgres")]
    assert await connection.fetchval("select count(*) from login_emails") == 64
    await connection.close()
    for store in stores:
        await store.close()


async def test_database_of_a_newer_version_is_rejected_and_not_changed(
    store: Store, postgres_url: str, other: asyncpg.Connection
) -> None:
    await other.execute("insert into schema_version values (1000)")
    with pytest.raises(SettingError, match="schema version 1000") as error:
        await open_store(postgres_url)
    assert "newer Tickover" in str(error.value)
    assert await other.fetchval("select max(number) from schema_version") == 1000


async def test_failed_migration_leaves_nothing(fresh_url: str) -> None:
    """Another program has a table of the same name."""
    connection = await asyncpg.connect(fresh_url)
    await connection.execute("create table tokens (mine text)")
    with pytest.raises(SettingError, match='relation "tokens" already exists'):
        await open_store(fresh_url)
    tables = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
    assert [name for (name,) in tables] == ["tokens"]
    await connection.execute("drop table tokens")
    await connection.close()
    await (await open_store(fresh_url)).close()


# Secret keys


async def test_server_with_another_key_is_rejected_for_five_minutes(store: Store) -> None:
    assert await store.share_key(b"mine", NOW)
    for after in (0 * MINUTE, MINUTE, 5 * MINUTE):
        assert not await store.share_key(b"yours", NOW + after)
    assert await store.share_key(b"yours", NOW + 5 * MINUTE + MICROSECOND)
    assert not await store.share_key(b"mine", NOW + 5 * MINUTE + MICROSECOND)


async def test_rejected_key_is_not_registered(store: Store) -> None:
    assert await store.share_key(b"mine", NOW)
    for minute in range(10):
        assert not await store.share_key(b"yours", NOW + minute * MINUTE)
        assert await store.share_key(b"mine", NOW + minute * MINUTE)


# Results and errors


async def test_statement_without_a_connection_was_not_executed(postgres: PostgresServer, postgres_url: str) -> None:
    """Only the result of a statement that was sent can be unknown."""
    store = await _opened(postgres_url)
    store._database._hosts = ["postgresql://tickover@127.0.0.1:1/nowhere"]
    with pytest.raises(Rejection) as error:
        await add_clock(store, clock(1), user(1))
    assert error.value.message == "The database is not responding."
    assert isinstance(error.value, DatabaseUnavailable)
    assert isinstance(error.value.error, ConnectionRefusedError)
    await store.close()


async def test_rejected_creation_names_a_live_clock_and_changes_nothing(store: Store) -> None:
    """Also if the owner's clocks expire between two calls of one batch."""
    await add_clock(store, clock(1, NOW - 7 * DAY), user(1))
    before, after = key(0, NOW - 7 * DAY), key(0, NOW - 7 * DAY + MINUTE)
    results = await asyncio.gather(
        create(store, clock(2), user(1), b"", before, 1),
        create(store, clock(3), user(1), b"", after, 1),
        create(store, clock(4), user(2), b"", after, 1),
    )
    assert [*results] == [None, key(2), None]
    assert await schedule_of(store, key(4), user(2)) == b""


async def test_tries_for_one_address_leave_connections_for_others(postgres_url: str, other: asyncpg.Connection) -> None:
    store = await _opened(postgres_url, 4)
    await add_clock(store, clock(1), user(1))
    async with other.transaction():
        await other.execute("insert into locks (name, version, used_at) values ($1, 0, 0)", ANA)
        attempts = [asyncio.create_task(store.count_attempt(ANA, code_limits(), NOW)) for _ in range(20)]
        assert await advance(store, key(1), user(1), START + DAY) is not None
        assert not any(attempt.done() for attempt in attempts)
    assert await asyncio.gather(*attempts) == [None] * 20
    await store.close()
