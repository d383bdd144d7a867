"""Every store: secret keys, readiness and closing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.store.values import (
    ANA,
    DAY,
    NOW,
    START,
    access_token,
    add_clock,
    clock,
    code,
    code_limits,
    connection,
    digest,
    key,
    link_token,
    make_record,
    schedule_of,
    session,
    user,
)
from tickover.api.errors import Reason, Rejection
from tickover.server.storage import open_store
from tickover.server.storage.store import (
    Amendment,
    ClockSearch,
    NameChanges,
    Owner,
    Quota,
    Store,
    Token,
    WebhookProgress,
)


@pytest.fixture
async def own_store(database_url: str) -> AsyncIterator[Store]:
    """A store that closes its connections, as a server does. Later tests don't reuse them."""
    opened = await open_store(database_url)
    yield opened
    await opened.close()


# The clock 1 was created with the idempotency record 1. The access token 5 and the connection 5 exist too, or nothing.
OWNED: dict[str, Callable[[Store, Owner], Awaitable[object]]] = {
    "find_clock": lambda store, owner: store.find_clock(key(1), owner),
    "find_creation": lambda store, owner: store.find_creation(digest(1), owner, bytes(16)),
    "advance_clock": lambda store, owner: store.advance_clock(key(1), owner, START),
    "update_clock": lambda store, owner: store.update_clock(key(1), owner, NameChanges("x"), Quota()),
    "amend_clock": lambda store, owner: store.amend_clock(
        key(1), owner, Amendment(0, START, b"amended", make_record(2)), Quota(100, 10**6)
    ),
    "move_clock": lambda store, owner: store.move_clock(
        key(1), owner, lambda found: found.frozen_time, Quota(100, 10**6), make_record(3)
    ),
    "create_connection": lambda store, owner: store.create_connection(connection(6), digest(6), key(1), owner, 20),
    "list_connections": lambda store, owner: store.list_connections(key(1), owner),
    "update_connection": lambda store, owner: store.update_connection(key(5), key(1), owner, {}),
    "list_bank_calls": lambda store, owner: store.list_bank_calls(key(5), key(1), owner),
    "delete_connection": lambda store, owner: store.delete_connection(key(5), key(1), owner),
    "repair_login": lambda store, owner: store.repair_login(
        digest(105), digest(7), owner, bytes(16), lambda settings, _: settings
    ),
    "delete_clock": lambda store, owner: store.delete_clock(key(1), owner),
    "revoke_access_token": lambda store, owner: store.revoke_access_token(key(5), owner, NOW),
    "create_access_token": lambda store, owner: store.create_access_token(*access_token(9), owner, 50),
    "list_access_tokens": lambda store, owner: store.list_access_tokens(owner, NOW),
    "list_clocks": lambda store, owner: store.list_clocks(owner, bytes(16), None, 10),
    "search_clocks": lambda store, owner: store.search_clocks(owner, bytes(16), None, 10, ClockSearch(10)),
    "create_clock": lambda store, owner: asyncio.gather(
        store.create_clock(clock(1000), owner, b"schedule", Quota(100, 10**6)),
        store.create_clock(clock(1001), owner, b"schedule", Quota(100, 10**6), make_record(1000)),
    ),
}
"""A call of each method of clocks and access tokens as their owner."""


async def _create_link_token(store: Store) -> None:
    new, its_digest = access_token(8)
    await store.create_access_token(new, its_digest, user(1), 50)
    await store.create_link_token(link_token(), digest(8), Token(its_digest, user(1), NOW + DAY), 10)


METHODS: dict[str, Callable[[Store], Awaitable[object]]] = {
    **{name: lambda store, call=call: call(store, user(1)) for name, call in OWNED.items()},  # type: ignore[misc]
    "ping": lambda store: store.ping(),
    "find_token": lambda store: store.find_token(digest(1), NOW),
    "find_email": lambda store: store.find_email(digest(1)),
    "record_email": lambda store: store.record_email(code(1), code_limits()),
    "delete_email": lambda store: store.delete_email(code(1)),
    "allow_resend": lambda store: store.allow_resend(code(1)),
    "count_attempt": lambda store: store.count_attempt(ANA, code_limits(), NOW),
    "redeem_code": lambda store: store.redeem_code(ANA, digest(1), session(1)),
    "redeem_link": lambda store: store.redeem_link(digest(1), session(1)),
    "revoke_token": lambda store: store.revoke_token(digest(1)),
    "delete_user": lambda store: store.delete_user(digest(1), NOW),
    "record_token_use": lambda store: store.record_token_use(digest(1), NOW),
    "find_or_create_user": lambda store: store.find_or_create_user(ANA, user(1), NOW),
    "add_bank_calls": lambda store: store.add_bank_calls(key(5), [], NOW),
    "count_bank_call": lambda store: store.count_bank_call(key(5), "", NOW),
    "claim_connection": lambda store: store.claim_connection(digest(1), digest(2), "PLAID", bytes(16)),
    "find_connection": lambda store: store.find_connection(digest(1), "PLAID", bytes(16)),
    "require_login": lambda store: store.require_login(digest(1), "PLAID", bytes(16)),
    "end_connection": lambda store: store.end_connection(digest(1), "PLAID", bytes(16)),
    "find_institution": lambda store: store.find_institution(key(1), bytes(16)),
    "create_link_token": _create_link_token,
    "find_link_token": lambda store: store.find_link_token(digest(8), NOW),
    "update_webhook": lambda store: store.update_webhook(digest(1), "PLAID", bytes(16), None),
    "list_webhook_clocks": lambda store: store.list_webhook_clocks(bytes(16)),
    "list_owed_webhooks": lambda store: store.list_owed_webhooks(NOW, NOW, min_live_key=bytes(16)),
    "lease_webhook": lambda store: store.lease_webhook(key(1), NOW, NOW),
    "end_webhook_lease": lambda store: store.end_webhook_lease(key(1), NOW, WebhookProgress(None)),
    "sweep": lambda store: store.sweep(NOW, 100),
}


def test_tables_contain_all_methods_that_use_the_database() -> None:
    """`close` is tested below. `share_key` of the SQLite store doesn't use the database."""
    methods = {name: method for name, method in vars(Store).items() if not name.startswith("_")}
    assert {*METHODS, "share_key", "load", "close"} == set(methods)
    assert set(OWNED) == {name for name, method in methods.items() if "owner" in method.__annotations__}


# Readiness and closing


async def test_ping_writes(store: Store, probe_writes: Callable[[], Awaitable[int]]) -> None:
    before = await probe_writes()
    await asyncio.gather(*(store.ping() for _ in range(50)))
    assert await probe_writes() == before + 1, "a probe that changes nothing may write nothing"


async def test_closed_store_is_unavailable(own_store: Store) -> None:
    """Also for a ping, although one has just succeeded."""
    await own_store.ping()
    await own_store.close()
    for name, method in METHODS.items():
        with pytest.raises(Rejection) as error:
            await method(own_store)
        assert error.value.reason is Reason.UNAVAILABLE, name
        assert error.value.details["retryAfterSeconds"] >= 1, name


async def test_close_finishes_accepted_calls(own_store: Store, database_url: str) -> None:
    creations = [asyncio.create_task(add_clock(own_store, clock(number), user(1))) for number in range(300)]
    await asyncio.sleep(0)  # one iteration of the event loop, in which every creation is accepted
    await own_store.close()
    assert all(creation.done() for creation in creations)
    await asyncio.gather(*creations)
    reopened = await open_store(database_url)
    try:
        assert [await schedule_of(reopened, key(number), user(1)) for number in range(300)] == [b"schedule"] * 300
    finally:
        await reopened.close()
