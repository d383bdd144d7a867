"""Commits that no standby confirms: a repeated call must not confirm what the first one could not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from tests.store.values import (
    ANA,
    BEN,
    NOW,
    START,
    WEEK,
    add_clock,
    add_clock_once,
    advance,
    clock,
    code,
    code_limits,
    digest,
    key,
    link,
    make_record,
    sent,
    session,
    user,
)
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until
from tickover.api.errors import Reason, Rejection
from tickover.server.storage import open_store
from tickover.server.storage.postgres import database, session_settings
from tickover.server.storage.store import ExistingClock, Store

_STANDBYS = "show synchronous_standby_names"

Call = Callable[[Store], Awaitable[object]]

# Each call uses its own rows and locks, so that none of them waits for another.
_CALLS: dict[str, Call] = {
    "create_clock_once": lambda store: add_clock_once(store, make_record(2), clock(2), user(2)),
    "find_creation": lambda store: store.find_creation(digest(1), user(1), bytes(16)),
    "advance_clock": lambda store: advance(store, key(3), user(1), START + WEEK),
    "advance_clock to its frozen time": lambda store: advance(store, key(4), user(1), START),
    "delete_clock": lambda store: store.delete_clock(key(5), user(1)),
    "count_attempt": lambda store: store.count_attempt(ANA, code_limits(), NOW),
    "redeem_link": lambda store: store.redeem_link(digest(2), session(1)),
    "ping": lambda store: store.ping(),
}


@pytest.fixture
async def store(own_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(database, "_COMMAND_SECONDS", 2.0)
    monkeypatch.setitem(session_settings.SETTINGS, "statement_timeout", "1600ms")
    opened = await open_store(own_postgres.create_database())
    yield opened
    await opened.close()


@asynccontextmanager
async def _no_standby_confirms(server: PostgresServer) -> AsyncIterator[None]:
    await asyncio.to_thread(_configure, server, "nobody")
    try:
        yield
    finally:
        await asyncio.to_thread(_configure, server, "")


def _configure(server: PostgresServer, standbys: str) -> None:
    server.configure(synchronous_standby_names=standbys)
    wait_until(lambda: server.execute(_STANDBYS) == standbys)
    # The checkpointer reads the new setting before its next checkpoint. Only then do commits wait.
    server.execute("checkpoint")


async def _outcome(call: Call, store: Store) -> object:
    try:
        return await call(store)
    except Rejection as rejection:
        return rejection.reason


async def test_repeated_call_is_not_confirmed_without_a_standby(own_postgres: PostgresServer, store: Store) -> None:
    """The calls run concurrently, because each waits until its timeout."""
    assert await add_clock_once(store, make_record(1), clock(1), user(1)) is None
    for number in (3, 4, 5):
        await add_clock(store, clock(number), user(1))
    await sent(store, code(1))
    await sent(store, link(2, email=BEN))
    async with _no_standby_confirms(own_postgres):
        for _ in range(2):
            outcomes = await asyncio.gather(*(_outcome(call, store) for call in _CALLS.values()))
            assert dict(zip(_CALLS, outcomes, strict=True)) == dict.fromkeys(_CALLS, Reason.UNAVAILABLE)

    # Once standbys confirm, a repeated call reports what the first one did.
    assert isinstance(await _CALLS["create_clock_once"](store), ExistingClock)
    assert await _CALLS["delete_clock"](store) is False
