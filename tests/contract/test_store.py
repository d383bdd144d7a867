"""The contract of every store: whom a token lets in, whether the store answers, and how it closes."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.contract.values import (
    ANA,
    INSTANT,
    MINUTE,
    NOW,
    START,
    WEEK,
    advance,
    allowing,
    claim,
    clock,
    code,
    create,
    create_once,
    digest,
    keep,
    keep_once,
    key,
    listed,
    once,
    schedule_of,
    sent,
    session,
    user,
)
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import TOKEN_LIFETIME
from tickover.server.storage import open_store
from tickover.server.storage.store import ExistingClock, Store

METHODS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "ping": lambda store: store.ping(),
    "user_of_token": lambda store: store.user_of_token(digest(1), NOW),
    "create_clock": lambda store: create(store, clock(1), user(1), b"schedule", bytes(16), 0),
    "create_clock_once": lambda store: create_once(store, once(1), clock(1), user(1), b"schedule", bytes(16), 0),
    "find_creation": lambda store: store.find_creation(digest(1), user(1), bytes(16)),
    "find_clock": lambda store: store.find_clock(key(1), user(1)),
    "list_clocks": lambda store: store.list_clocks(user(1), bytes(16), None, 100),
    "delete_clock": lambda store: store.delete_clock(key(1), user(1)),
    "advance_clock": lambda store: store.advance_clock(key(1), user(1), START),
    "claim_send": lambda store: store.claim_send(code(1), allowing()),
    "undo_send": lambda store: store.undo_send(code(1)),
    "free_slot": lambda store: store.free_slot(code(1)),
    "count_try": lambda store: store.count_try(ANA, allowing(), NOW),
    "redeem_code": lambda store: store.redeem_code(ANA, digest(1), session(1)),
    "redeem_link": lambda store: store.redeem_link(digest(1), session(1)),
    "revoke_token": lambda store: store.revoke_token(digest(1)),
    "sweep": lambda store: store.sweep(NOW, 100),
}


def test_every_method_but_two_is_in_the_table_above() -> None:
    """A store that is for one machine alone has nothing to ask to know whether its servers share a key."""
    assert {*METHODS, "share_key", "close"} == {name for name in vars(Store) if not name.startswith("_")}


# Tokens


@pytest.mark.parametrize(
    ("after", "lets_in"),
    [
        pytest.param(timedelta(0), True, id="at its birth"),
        pytest.param(TOKEN_LIFETIME - INSTANT, True, id="just before its end"),
        pytest.param(TOKEN_LIFETIME, False, id="at its end"),
        pytest.param(TOKEN_LIFETIME + WEEK, False, id="long after"),
    ],
)
async def test_a_token_lets_its_user_in_until_it_expires(store: Store, after: timedelta, lets_in: bool) -> None:
    await sent(store, code(1))
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)
    assert await store.user_of_token(digest(7), NOW + after) == (user(7) if lets_in else None)


@pytest.mark.parametrize(
    "unknown",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(digest(8), id="another"),
        pytest.param(digest(7)[:-1], id="cut short"),
        pytest.param(digest(7) + b"\0", id="with a byte more"),
    ],
)
async def test_an_unknown_token_lets_nobody_in(store: Store, unknown: bytes) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    assert await store.user_of_token(unknown, NOW) is None


# Keys


async def test_servers_with_the_same_key_share_a_store(store: Store, database_url: str) -> None:
    """And what a server with another key is told is up to the store: on one machine there is no other."""
    other = await open_store(database_url)
    try:
        for minute in range(10):
            for server in (store, other):
                assert await server.share_key(b"a fingerprint", NOW + minute * MINUTE)
    finally:
        await other.close()


# Answering and closing


async def test_an_open_store_answers(store: Store) -> None:
    await store.ping()


async def test_an_open_store_answers_however_many_ask(store: Store) -> None:
    async def ask(times: int) -> None:
        for _ in range(times):
            await store.ping()

    await asyncio.gather(*(ask(times % 7) for times in range(50)))


async def test_the_question_whether_a_store_answers_writes_once_a_second_at_most(
    store: Store, writes_of_probes: Callable[[], Awaitable[int]]
) -> None:
    before = await writes_of_probes()
    await store.ping()
    assert await writes_of_probes() == before + 1, "a question that changes nothing writes nothing on some disks"
    loop = asyncio.get_running_loop()
    began = loop.time()
    for _ in range(20):
        await asyncio.gather(*(store.ping() for _ in range(50)))
    seconds = loop.time() - began
    assert await writes_of_probes() <= before + 2 + seconds


async def test_a_store_that_has_just_answered_is_unavailable_once_it_is_closed(store: Store) -> None:
    await store.ping()
    await store.close()
    with pytest.raises(Rejection):
        await store.ping()


@pytest.mark.parametrize("method", METHODS)
async def test_a_closed_store_is_unavailable(store: Store, method: str) -> None:
    await store.close()
    with pytest.raises(Rejection) as refused:
        await METHODS[method](store)
    assert refused.value.reason is Reason.UNAVAILABLE
    assert refused.value.details["retryAfterSeconds"] >= 1


async def test_closing_twice_is_fine(store: Store) -> None:
    await store.close()
    await store.close()


async def test_two_may_close_at_once(store: Store) -> None:
    await asyncio.gather(store.close(), store.close())


async def test_closing_finishes_what_was_accepted(store: Store, database_url: str) -> None:
    creations = [asyncio.create_task(keep(store, clock(number), user(1))) for number in range(300)]
    await asyncio.sleep(0)  # gives every creation the turn in which it is accepted
    await store.close()
    assert all(creation.done() for creation in creations)
    await asyncio.gather(*creations)
    reopened = await open_store(database_url)
    try:
        assert [await schedule_of(reopened, key(number), user(1)) for number in range(300)] == [b"schedule"] * 300
    finally:
        await reopened.close()


async def test_what_was_kept_is_there_after_a_restart(store: Store, database_url: str) -> None:
    await keep(store, clock(1), user(7))
    await advance(store, key(1), user(7), START + WEEK)
    assert await keep_once(store, once(2), clock(2), user(7)) is None
    await keep(store, clock(3), user(7))
    assert await store.delete_clock(key(3), user(7))
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    await store.close()
    reopened = await open_store(database_url)
    try:
        assert await reopened.user_of_token(digest(7), NOW) == user(7)
        moved = await advance(reopened, key(1), user(7), START + WEEK)
        assert moved is not None
        assert moved.frozen_time == START + WEEK
        assert await listed(reopened, user(7)) == [key(2), key(1)]
        assert isinstance(await keep_once(reopened, once(2), clock(4), user(7)), ExistingClock)
        assert await claim(reopened, code(2, NOW + INSTANT)) == NOW
    finally:
        await reopened.close()
