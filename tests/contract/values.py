"""What the contract's tests put into a store: all of it made from small numbers, so that a failure can be read."""

import hashlib
from datetime import UTC, datetime, timedelta

from tickover.api.ids import uuid7
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant, years_after
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import Kind, Limits, Send, TooSoon
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    NewSession,
    Quota,
    QuotaExceeded,
    Store,
)

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)

START = datetime(2027, 3, 1, tzinfo=UTC)
END = years_after(START)
ANA = "ana@example.test"
BEN = "ben@example.test"


def user(number: int) -> bytes:
    return uuid7(NOW - DAY, number.to_bytes(10, "big"))


def key(number: int, born: Instant = NOW) -> bytes:
    return uuid7(born, number.to_bytes(10, "big"))


def clock(number: int, born: Instant = NOW) -> Clock:
    return Clock(key(number, born), START, START, END)


def digest(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(8, "big")).digest()


def letter(number: int, kind: Kind, sent_at: Instant = NOW, email: str = ANA) -> Send:
    return Send(digest(number), email, kind, sent_at, network=b"a network")


def code(number: int, sent_at: Instant = NOW, email: str = ANA) -> Send:
    return letter(number, Kind.CODE, sent_at, email)


def link(number: int, sent_at: Instant = NOW, email: str = ANA) -> Send:
    return letter(number, Kind.LINK, sent_at, email)


def allowing(tries: int = 5) -> Limits:
    """Limits of which only the tries of a code and the time between two letters are felt."""
    return Limits(sends_an_hour=0, sends_an_hour_from_one_network=0, code_tries=tries, failures_in_a_row=1_000_000)


def session(number: int, created_at: Instant = NOW) -> NewSession:
    return NewSession(user(number), digest(number), created_at, created_at + TOKEN_LIFETIME)


async def create(
    store: Store, new: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, limit: int
) -> bytes | None:
    """Create a clock where only the number of clocks is limited; the oldest clock of an owner who has no room."""
    return oldest(await store.create_clock(new, owner, schedule, min_live_key, Quota(clocks=limit)))


async def create_once(  # noqa: PLR0917 - as many as the method of the store has
    store: Store, known: IdempotencyRecord, new: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, limit: int
) -> ExistingClock | bytes | None:
    outcome = await store.create_clock_once(known, new, owner, schedule, min_live_key, Quota(clocks=limit))
    return outcome if isinstance(outcome, ExistingClock) else oldest(outcome)


def oldest(outcome: Created | QuotaExceeded) -> bytes | None:
    if isinstance(outcome, Created):
        return None
    assert outcome.limit == "clocks"
    return outcome.oldest


async def keep(store: Store, new: Clock, owner: bytes, schedule: bytes = b"schedule") -> None:
    """Keep a clock where nothing limits how many there are."""
    assert await create(store, new, owner, schedule, min_live_key=bytes(16), limit=0) is None


def once(number: int, params: bytes = b"parameters") -> IdempotencyRecord:
    """What makes a creation known again, as its digest."""
    return IdempotencyRecord(digest(number), params)


async def keep_once(
    store: Store, known: IdempotencyRecord, new: Clock, owner: bytes, min_live_key: bytes = bytes(16)
) -> ExistingClock | bytes | None:
    """Keep a clock unless the same was asked for before, where nothing limits how many there are."""
    return await create_once(store, known, new, owner, b"schedule", min_live_key, limit=0)


async def advance(store: Store, clock_key: bytes, owner: bytes, to: Instant) -> Clock | None:
    """Where the clock stands after it was told to move."""
    kept = await store.advance_clock(clock_key, owner, to)
    return kept.clock if kept else None


async def schedule_of(store: Store, clock_key: bytes, owner: bytes) -> bytes | None:
    """What was kept with the clock, seen by a move to before its start, which moves nothing."""
    kept = await store.advance_clock(clock_key, owner, START - DAY)
    return kept.schedule if kept else None


async def listed(
    store: Store, owner: bytes, min_live_key: bytes = bytes(16), before: bytes | None = None, limit: int = 1000
) -> list[bytes]:
    """The keys of the owner's clocks, in the order in which they are given."""
    return [found.key for found in await store.list_clocks(owner, min_live_key, before, limit)]


async def claim(store: Store, send: Send, interval: timedelta = MINUTE) -> Instant | None:
    """Claim where only the time between two letters is limited; when the letter that holds the slot was sent."""
    limits = Limits(resend_interval=interval, sends_an_hour=0, sends_an_hour_from_one_network=0)
    claimed = await store.claim_send(send, limits)
    return claimed.since if isinstance(claimed, TooSoon) else None


async def sent(store: Store, send: Send) -> Send:
    """Claim the slot, which must be free."""
    assert await claim(store, send) is None
    return send


async def tries_left(store: Store, email: str, limit: int, now: Instant) -> int:
    """How many tries are counted before the store says no; they are used up by asking."""
    for number in range(limit):
        if await store.count_try(email, allowing(limit), now) is None:
            return number
    assert await store.count_try(email, allowing(limit), now) is None
    return limit
