"""Every store: connections of clocks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tests.store.values import (
    DAY,
    MICROSECOND,
    MINUTE,
    NOW,
    START,
    WEEK,
    add_clock,
    clock,
    connection,
    digest,
    key,
    user,
)
from tickover.api.connections import BankProtocol, BankSettings, ConnectionCall
from tickover.api.ids import first_live_key
from tickover.server.storage.store import (
    Amendment,
    ConnectedClock,
    Created,
    NameChanges,
    Quota,
    Store,
    TooManyConnections,
)

LIVE = first_live_key(NOW)
RowsOf = Callable[[str], Awaitable[int]]


@pytest.fixture(autouse=True)
async def clocks(store: Store) -> None:
    for number in (1, 2):
        await add_clock(store, clock(number), user(number), b"schedule %d" % number)


async def connect(store: Store, number: int, clock_number: int = 1, protocol: BankProtocol = "PLAID") -> None:
    """Create connection `number`, with the setup secret of the same number."""
    new = connection(number, protocol)
    assert await store.create_connection(new, digest(number), key(clock_number), user(clock_number), 20) == Created()


async def claim(store: Store, number: int, protocol: BankProtocol = "PLAID") -> bytes | None:
    """Claim connection `number`. Its access secret has the number plus 100."""
    return await store.claim_connection(digest(number), digest(number + 100), protocol, LIVE)


async def find(store: Store, number: int, protocol: BankProtocol = "PLAID") -> ConnectedClock | None:
    return await store.find_connection(digest(number + 100), protocol, LIVE)


async def test_connections_of_a_clock_are_listed_oldest_first(store: Store) -> None:
    assert await store.list_connections(key(1), user(1)) == []
    await connect(store, 3)
    await connect(store, 2, protocol="SIMPLEFIN")
    await connect(store, 4, 2)
    await claim(store, 3)
    claimed = replace(connection(3), is_claimed=True)
    assert await store.list_connections(key(1), user(1)) == [connection(2, "SIMPLEFIN"), claimed]
    assert await store.list_connections(key(1), user(2)) is None
    assert await store.list_connections(key(9), user(1)) is None


async def test_connections_of_a_clock_are_limited(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    stores = [store, await open_another()]
    outcomes = await asyncio.gather(
        *(
            stores[number % 2].create_connection(connection(number), digest(number), key(1), user(1), 7)
            for number in range(10, 30)
        )
    )
    assert (outcomes.count(Created()), outcomes.count(TooManyConnections())) == (7, 13)
    assert await store.create_connection(connection(50), digest(50), key(2), user(2), 7) == Created()
    assert await store.create_connection(connection(51), digest(51), key(2), user(1), 7) is None


async def test_setup_secret_works_once(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    await connect(store, 3)
    stores = [store, await open_another()]
    claimed = await asyncio.gather(
        *(stores[n % 2].claim_connection(digest(3), digest(200 + n), "PLAID", LIVE) for n in range(10))
    )
    assert [found for found in claimed if found] == [key(3)]
    opened = [await store.find_connection(digest(200 + n), "PLAID", LIVE) for n in range(10)]
    assert [found is not None for found in opened] == [found is not None for found in claimed]


async def test_access_secret_opens_one_clock(store: Store) -> None:
    await connect(store, 3, 2)
    assert await find(store, 3) is None
    await claim(store, 3)
    found = await find(store, 3)
    assert found is not None
    assert (found.connection, found.connected_at, found.login_required, found.owner) == (
        replace(connection(3), is_claimed=True),
        START,
        False,
        user(2),
    )
    assert (found.stored.clock, found.stored.schedule) == (clock(2), b"schedule 2")
    assert await store.find_connection(digest(3), "PLAID", LIVE) is None, "the setup secret opens nothing"


@pytest.mark.parametrize("method", ["claim_connection", "find_connection", "require_login", "end_connection"])
async def test_secrets_of_another_protocol_are_unknown(store: Store, method: str) -> None:
    await connect(store, 3)
    if method == "claim_connection":
        assert await claim(store, 3, "SIMPLEFIN") is None
    else:
        await claim(store, 3)
        assert not await getattr(store, method)(digest(103), "SIMPLEFIN", LIVE)
        assert await find(store, 3)


async def test_schedule_of_a_known_revision_is_left_out(store: Store) -> None:
    await connect(store, 3)
    await claim(store, 3)
    await store.amend_clock(key(1), user(1), Amendment(0, START, b"amended"), Quota())
    for known, schedule in ((1, b""), (0, b"amended"), (None, b"amended")):
        found = await store.find_connection(digest(103), "PLAID", LIVE, known_revision=known)
        assert found is not None
        assert (found.stored.clock.revision, found.stored.schedule) == (1, schedule)


async def test_login_stays_required(store: Store) -> None:
    await connect(store, 3)
    await claim(store, 3)
    assert [await store.require_login(digest(number), "PLAID", LIVE) for number in (103, 103, 3)] == [True, True, False]
    found = await find(store, 3)
    assert found is not None
    assert found.login_required


async def test_clock_is_the_institution_by_its_current_name(store: Store) -> None:
    new = replace(connection(3), institution="Tickover Bank", has_clock_institution=True)
    await store.create_connection(new, digest(3), key(1), user(1), 20)
    for name, institution in ((None, "Tickover Bank"), ("é" * 150, "é" * 120), ("Savings", "Savings")):
        await store.update_clock(key(1), user(1), NameChanges(name), Quota())
        assert await store.list_connections(key(1), user(1)) == [replace(new, institution=institution)]
        assert [await store.find_institution(key(n), LIVE) for n in (1, 3)] == [institution] * 2
    await claim(store, 3)
    found = await find(store, 3)
    assert found is not None
    assert (found.connection.institution, found.connection.has_clock_institution) == ("Savings", True)
    assert await store.find_institution(key(1), first_live_key(NOW + WEEK)) is None


async def test_institution_is_found_by_the_key(store: Store) -> None:
    await connect(store, 3)
    assert await store.find_institution(key(3), LIVE) == connection(3).institution
    assert await store.find_institution(key(4), LIVE) is None
    assert await store.find_institution(key(3), first_live_key(NOW + WEEK)) is None


async def test_disconnected_secrets_are_unknown(store: Store) -> None:
    for number in (3, 4, 5):
        await connect(store, number)
    for number in (3, 4):
        await claim(store, number)
    assert await store.delete_connection(key(3), key(1), user(2)) is None
    assert await store.delete_connection(key(3), key(2), user(2)) is False
    assert [await store.delete_connection(key(3), key(1), user(1)) for _ in range(2)] == [True, False]
    assert [await store.end_connection(digest(104), "PLAID", LIVE) for _ in range(2)] == [True, False]
    assert [await find(store, number) for number in (3, 4)] == [None, None]
    assert await store.list_connections(key(1), user(1)) == [connection(5)]


async def test_connections_end_with_their_clock(store: Store, rows_of: RowsOf) -> None:
    for number, clock_number in ((3, 1), (4, 1), (5, 2)):
        await connect(store, number, clock_number)
    await claim(store, 3)
    await store.delete_clock(key(1), user(1))
    assert await find(store, 3) is None
    assert await claim(store, 4) is None
    assert await rows_of("connections") == 1


async def test_connections_of_an_expired_clock_are_unknown_and_swept(store: Store, rows_of: RowsOf) -> None:
    await connect(store, 3)
    await connect(store, 4)
    await claim(store, 3)
    expired = first_live_key(NOW + WEEK)
    assert await store.find_connection(digest(103), "PLAID", expired) is None
    assert await store.claim_connection(digest(4), digest(104), "PLAID", expired) is None
    assert not await store.require_login(digest(103), "PLAID", expired)
    assert not await store.end_connection(digest(103), "PLAID", expired)
    await store.sweep(NOW + DAY, 100)
    assert await rows_of("connections") == 2
    while await store.sweep(NOW + WEEK, 1):
        pass
    assert await rows_of("connections") == 0


async def test_settings_of_a_connection_are_replaced(
    store: Store, open_another: Callable[[], Awaitable[Store]]
) -> None:
    await connect(store, 3)
    stores = [store, await open_another()]
    changes: list[dict[str, Any]] = [{"quirks": ["DOUBLES"]}, {"calls_per_day": 5}, {"consent_days": UNSET}]
    await asyncio.gather(
        *(stores[n % 2].update_connection(key(3), key(1), user(1), change) for n, change in enumerate(changes))
    )
    settings = BankSettings(quirks=["DOUBLES"], calls_per_day=5)
    assert await store.list_connections(key(1), user(1)) == [replace(connection(3), settings=settings)]
    cleared = await store.update_connection(key(3), key(1), user(1), {"quirks": UNSET, "calls_per_day": UNSET})
    assert cleared == replace(connection(3), settings=BankSettings())
    assert await store.update_connection(key(3), key(2), user(2), {}) is False
    assert await store.update_connection(key(3), key(1), user(2), {}) is None


async def test_calls_of_a_day_are_limited(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    await connect(store, 3)
    stores = [store, await open_another()]

    async def call(times: int, account: str = "") -> int:
        """Return how many calls at the same time are counted."""
        counted = await asyncio.gather(*(stores[n % 2].count_bank_call(key(3), account, NOW) for n in range(times)))
        return sum(bool(each) for each in counted)

    async def limit(calls: int | UnsetType) -> None:
        assert await store.update_connection(key(3), key(1), user(1), {"calls_per_day": calls})

    # Without a limit, none is counted.
    assert await call(9) == 9
    await limit(3)
    assert await call(5) == 3
    assert await call(5, "another account") == 3
    await limit(UNSET)
    await limit(5)
    assert await call(5) == 2, "another limit doesn't forget"
    await store.advance_clock(key(1), user(1), START + DAY - MICROSECOND)
    assert await call(1) == 0
    await store.advance_clock(key(1), user(1), START + DAY)
    assert await call(6) == 5
    await store.delete_connection(key(3), key(1), user(1))
    assert await store.count_bank_call(key(3), "", NOW) is None


async def test_consent_is_from_the_time_of_the_claim(store: Store) -> None:
    await connect(store, 3)
    await store.advance_clock(key(1), user(1), START + DAY)
    await claim(store, 3)
    await store.advance_clock(key(1), user(1), START + WEEK)
    found = await find(store, 3)
    assert found is not None
    assert (found.connected_at, found.consent_from) == (START, START + DAY)


async def test_last_calls_of_a_connection_are_kept(store: Store, open_another: Callable[[], Awaitable[Store]]) -> None:
    await connect(store, 3)
    stores = [store, await open_another()]
    made = [ConnectionCall(NOW + n * MINUTE, START, "/item/get", "200", 1.5) for n in range(120)]
    await asyncio.gather(*(stores[n % 2].add_bank_calls(key(3), made[n::6], NOW) for n in range(6)))
    assert await store.list_bank_calls(key(3), key(1), user(1)) == made[-100:]
    assert await store.list_bank_calls(key(3), key(2), user(2)) is False
    assert await store.list_bank_calls(key(3), key(1), user(2)) is None
    await store.add_bank_calls(key(9), made, NOW)
