"""Commands of operators on both databases: users are listed, described, signed out and deleted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg
import pytest

from tests.store.values import (
    ANA,
    BEN,
    DAY,
    NOW,
    WEEK,
    access_token,
    add_clock_once,
    clock,
    code,
    code_limits,
    connection,
    digest,
    link,
    link_token,
    make_record,
    sent,
    session,
    user,
)
from tests.support.program import until
from tickover.server.settings import SettingError
from tickover.server.storage import migrations, open_store
from tickover.server.storage.admin.admin_users import Deleted, User, UserDetails, Users, open_users
from tickover.server.storage.migrations import Migration, newest_version
from tickover.server.storage.store import Quota, Store, Token

RowsOf = Callable[[str], Awaitable[int]]
TABLES = [
    "users", "tokens", "link_tokens", "clocks", "schedules", "creations", "connections", "login_emails",
    "login_failures",
]  # fmt: skip


@pytest.fixture
async def users(store: Store, database_url: str) -> AsyncIterator[Users]:
    async with open_users(database_url) as opened:
        yield opened


async def add_user(store: Store, number: int, email: str) -> User:
    """Create a user with a session, an access token with a link token, a code with a failed attempt, and two clocks.

    One of the clocks has a connection, and the other has expired.
    """
    await sent(store, code(number, email=email))
    key = await store.redeem_code(email, digest(number), session(number))
    assert key == user(number)
    await store.allow_resend(code(number, email=email))
    await sent(store, link(number + 100, email=email))
    await store.allow_resend(link(number + 100, email=email))
    await sent(store, code(number + 200, email=email))
    assert await store.count_attempt(email, code_limits(), NOW)
    await store.create_access_token(*access_token(number + 300), key, 50)
    token = Token(digest(number + 300), key, NOW + DAY)
    await store.create_link_token(link_token(), digest(number + 500), token, 10)
    await add_clock_once(store, make_record(number), clock(number), key)
    await store.create_connection(connection(number), digest(number), clock(number).key, key, 20)
    await add_clock_once(store, make_record(number + 400), clock(number + 400, NOW - WEEK), key)
    return User(key, email, NOW)


async def test_users_are_listed_newest_first(store: Store, users: Users) -> None:
    assert await users.page(None, 2) == []
    for number in range(1, 4):
        await store.find_or_create_user(f"user{number}@example.test", user(number), NOW)
    first = await users.page(None, 2)
    assert [found.key for found in first] == [user(3), user(2)]
    assert await users.page(first[-1], 2) == [User(user(1), "user1@example.test", NOW)]


async def test_user_is_found_by_address_or_key(store: Store, users: Users) -> None:
    await store.find_or_create_user(ANA, user(1), NOW)
    expected = User(user(1), ANA, NOW)
    assert [await users.find(ANA), await users.find(user(1))] == [expected, expected]
    assert [await users.find(BEN), await users.find(user(2))] == [None, None]


async def test_details_count_live_rows(store: Store, users: Users) -> None:
    ana = await add_user(store, 1, ANA)
    await add_user(store, 2, BEN)
    size = len(b"schedule")
    assert await users.describe(ana, NOW) == UserDetails(clocks=1, bytes=size, sessions=1, access_tokens=1)
    assert await users.describe(ana, NOW + 100 * DAY) == UserDetails(0, 0, 0, 0)


@pytest.mark.parametrize("and_access_tokens", [False, True])
async def test_revoked_sessions_are_invalid(store: Store, users: Users, and_access_tokens: bool) -> None:
    ana, _ = await add_user(store, 1, ANA), await add_user(store, 2, BEN)
    expected = [False, not and_access_tokens, True, True]
    assert await users.revoke_sessions(ana, and_access_tokens=and_access_tokens) == 1 + and_access_tokens
    assert [await store.find_token(digest(number), NOW) is not None for number in (1, 301, 2, 302)] == expected
    assert await users.revoke_sessions(ana, and_access_tokens=and_access_tokens) == 0


async def test_deleted_user_leaves_nothing(store: Store, users: Users, rows_of: RowsOf) -> None:
    await add_user(store, 2, BEN)
    before = [await rows_of(table) for table in TABLES]
    ana = await add_user(store, 1, ANA)
    assert all([await rows_of(table) > count for table, count in zip(TABLES, before, strict=True)])
    assert await users.delete(ana) == Deleted(clocks=2, tokens=2, emails=3, idempotency_records=2)
    assert [await rows_of(table) for table in TABLES] == before
    assert await users.delete(ana) is None
    assert await store.find_clock(clock(1).key, ana.key) is None
    assert (await store.find_token(digest(2), NOW)) is not None


async def test_database_with_another_schema_is_rejected(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for difference, advice in ((1, "tickover migrate"), (-1, "newer Tickover")):
        newest = newest_version("sqlite")
        with monkeypatch.context() as patch:
            migration = Migration(newest + difference, "")
            patch.setattr(migrations, "newest_version", lambda _, number=migration.number: number)
            patch.setattr(migrations, "_migrations", lambda _, known=migration: [known])
            with pytest.raises(SettingError, match=advice):
                await open_users(database_url).__aenter__()


async def test_errors_of_the_caller_are_not_errors_of_the_database(users: Users, database_url: str) -> None:
    with pytest.raises(BrokenPipeError):
        async with open_users(database_url):
            raise BrokenPipeError


async def test_reads_take_as_long_as_they_need(postgres_url: str) -> None:
    store = await open_store(postgres_url)
    key = await store.find_or_create_user(ANA, user(1), NOW)
    other = await asyncpg.connect(postgres_url)
    async with open_users(f"{postgres_url}?statement_timeout=100ms") as users:
        async with other.transaction():
            await other.execute("lock table users")
            reading = asyncio.ensure_future(users.find(ANA))
            await asyncio.sleep(0.3)
        assert await reading == User(key, ANA, NOW)
    await other.close()
    await store.close()


async def test_running_call_leaves_no_clock_of_a_deleted_user(postgres_url: str) -> None:
    """The call has read its token, and waits for a lock, when the deletion starts."""
    store = await open_store(postgres_url)
    ana = await add_user(store, 1, ANA)
    token = await store.find_token(digest(1), NOW)
    assert token is not None
    other = await asyncpg.connect(postgres_url)
    waiting = "select count(*) from pg_locks where not granted"
    holding = other.transaction()
    await holding.start()
    await other.execute("select from locks where name = $1 for update", user(1).hex())
    creation = asyncio.ensure_future(store.create_clock(clock(9), token, b"schedule", Quota(clocks=10)))
    await until(lambda: pytest.fail("it has not waited") if creation.done() else other.fetchval(waiting))
    async with open_users(postgres_url) as users:
        deletion = asyncio.ensure_future(users.delete(ana))
        await until(lambda: deletion.done() or other.fetchval("select count(*) > 1 from pg_locks where not granted"))
        await holding.rollback()
        await asyncio.wait([creation, deletion])
        assert deletion.result() is not None
    assert await other.fetchval("select count(*) from clocks") == 0
    await other.close()
    await store.close()


# By the user


async def test_user_who_is_deleted_by_a_token_leaves_nothing(store: Store, rows_of: RowsOf) -> None:
    await add_user(store, 2, BEN)
    before = [await rows_of(table) for table in TABLES]
    await add_user(store, 1, ANA)
    assert await store.delete_user(digest(1), NOW)
    assert [await rows_of(table) for table in TABLES] == before
    assert not await store.delete_user(digest(1), NOW)
    assert await store.find_token(digest(2), NOW) is not None


async def test_user_who_is_deleted_during_other_calls_leaves_nothing(store: Store, rows_of: RowsOf) -> None:
    before = [await rows_of(table) for table in TABLES]
    await add_user(store, 1, ANA)
    token = await store.find_token(digest(1), NOW)
    assert token is not None
    creating = [store.create_clock(clock(number), token, b"schedule", Quota(1000)) for number in range(200, 250)]
    deleted, *_ = await asyncio.gather(store.delete_user(digest(1), NOW), *creating, return_exceptions=True)
    assert deleted is True
    assert [await rows_of(table) for table in TABLES] == before


async def test_all_sessions_of_a_user_are_revoked(store: Store) -> None:
    await add_user(store, 1, ANA)
    await add_user(store, 2, BEN)
    assert await store.revoke_token(digest(1), all_sessions=True)
    live = [await store.find_token(digest(number), NOW) is not None for number in (1, 301, 2, 302)]
    assert live == [False, True, True, True]
    assert not await store.revoke_token(digest(1), all_sessions=True)
