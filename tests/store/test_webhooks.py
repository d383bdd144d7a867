"""Every store: which webhooks are owed, and which server calls them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.store.values import DAY, NOW, START, add_clock, clock, connection, digest, key, user
from tickover.api.connections import BankFault
from tickover.api.ids import first_live_key
from tickover.server.storage.store import OwedWebhook, Store, StoredWebhook, WebhookProgress

LIVE = first_live_key(NOW)
UNTIL = NOW + timedelta(seconds=12)
URL = "http://localhost/webhook"


@pytest.fixture(autouse=True)
async def connected(store: Store) -> None:
    """A clock of user 1 with the claimed connection 3, whose webhook is owed."""
    await add_clock(store, clock(1), user(1), b"schedule")
    new = replace(connection(3), webhook=StoredWebhook(URL))
    await store.create_connection(new, digest(3), key(1), user(1), 20)
    assert await owed(store) == [], "no program knows the connection"
    await store.claim_connection(digest(3), digest(103), "PLAID", LIVE)


async def owed(store: Store, seconds: float = 0, *, at_start: bool = False) -> list[OwedWebhook]:
    now = NOW + timedelta(seconds=seconds)
    of_clock = await store.list_owed_webhooks(now, now, clock_key=key(1), at_start=at_start)
    assert await store.list_owed_webhooks(now, now, min_live_key=LIVE, at_start=at_start) == of_clock
    return of_clock


async def announce(store: Store, **members: object) -> None:
    """Announce everything that the bank shows, or fail as these members say."""
    [webhook] = await owed(store)
    assert await store.lease_webhook(key(3), NOW, UNTIL)
    progress = WebhookProgress('{"state":1}', webhook.state)
    assert await store.end_webhook_lease(key(3), UNTIL, replace(progress, **members))


async def test_claimed_connection_is_owed_until_everything_is_announced(store: Store) -> None:
    [webhook] = await owed(store)
    assert webhook[:5] == (key(3), key(1), user(1), digest(103), "PLAID")
    assert await store.list_webhook_clocks(LIVE) == {key(1)}
    await announce(store)
    assert await owed(store) == []
    assert await store.list_owed_webhooks(NOW, NOW, min_live_key=key(2)) == [], "the clock is too old"


CHANGES: dict[str, Callable[[Store], Awaitable[object]]] = {
    "an advance": lambda store: store.advance_clock(key(1), user(1), START + DAY),
    "a login that is required": lambda store: store.require_login(digest(103), "PLAID", LIVE),
    "new faults": lambda store: store.update_connection(
        key(3), key(1), user(1), {"bank_faults": [BankFault("RATE_LIMITED", START)]}
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_change_makes_it_owed_again(store: Store, change: Callable[[Store], Awaitable[object]]) -> None:
    await announce(store)
    await change(store)
    [webhook] = await owed(store)
    leased = await store.lease_webhook(webhook.key, NOW, UNTIL)
    assert leased is not None
    assert (leased.url, leased.announced) == (URL, '{"state":1}')


async def test_one_server_has_the_lease(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    stores = [store, await open_another()]
    leases = [UNTIL + timedelta(seconds=number) for number in range(10)]
    leased = await asyncio.gather(*(stores[n % 2].lease_webhook(key(3), NOW, until) for n, until in enumerate(leases)))
    [(has_lease, until)] = [(found, until) for found, until in zip(leased, leases, strict=True) if found]
    assert await owed(store) == []
    other = until + timedelta(seconds=1)
    assert not await store.end_webhook_lease(key(3), other, WebhookProgress("of another lease"))
    # Its server was killed.
    assert await owed(store, 60) != []
    again = await store.lease_webhook(key(3), until, other)
    assert again == has_lease
    assert not await store.end_webhook_lease(key(3), until, WebhookProgress("too late"))


async def test_failed_call_is_owed_later_or_after_a_change(store: Store) -> None:
    [webhook] = await owed(store)
    next_at = int((NOW + timedelta(seconds=5)).timestamp() * 1_000_000)
    await announce(store, checked=None, tried=webhook.state, attempts=2, next_at=next_at, last_status=500)
    assert await owed(store, 4) == []
    [found] = await store.list_connections(key(1), user(1)) or []
    assert found.webhook == StoredWebhook(URL, is_owed=True, last_status=500)
    assert await owed(store, 5) == [webhook]
    assert await owed(store, at_start=True) == [webhook]
    await store.advance_clock(key(1), user(1), START + DAY)
    [changed] = await owed(store)
    assert changed.state != webhook.state
    leased = await store.lease_webhook(key(3), NOW, UNTIL)
    assert leased is not None
    assert (leased.tried, leased.attempts, leased.last_status) == (webhook.state, 2, 500)


async def test_webhook_of_a_program_is_replaced_and_removed(store: Store) -> None:
    assert await store.update_webhook(digest(103), "PLAID", LIVE, "http://localhost/new")
    leased = await store.lease_webhook(key(3), NOW, UNTIL)
    assert leased is not None
    assert leased.url == "http://localhost/new"
    assert await store.update_webhook(digest(103), "PLAID", LIVE, None)
    assert await owed(store, 60) == []
    assert await store.lease_webhook(key(3), UNTIL, UNTIL + DAY) is None
    assert not await store.update_webhook(digest(104), "PLAID", LIVE, URL)
