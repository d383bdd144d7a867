"""Values for the tests of stores, built from small numbers so that failures are readable."""

import hashlib
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from tickover.api.connections import BankProtocol, BankSettings
from tickover.api.ids import uuid7
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant, years_after
from tickover.server.schedule.clock import Clock
from tickover.server.sign_in.login_emails import LoginEmail, SecretKind
from tickover.server.sign_in.resend_limits import EmailRecorded, SendLimits, TooSoon
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    NewSession,
    Quota,
    QuotaExceeded,
    Store,
    StoredAccessToken,
    StoredConnection,
    StoredLinkToken,
)

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)

START = datetime(2027, 3, 1, tzinfo=UTC)
END = years_after(START)
ANA = "ana@example.test"
BEN = "ben@example.test"

INTERVAL_ONLY = SendLimits(sends_an_hour=0, sends_an_hour_from_one_network=0)
HOURLY_LIMITS_ONLY = SendLimits(resend_interval=timedelta(0))


def user(number: int) -> bytes:
    return uuid7(NOW - DAY, number.to_bytes(10, "big"))


def key(number: int, created_at: Instant = NOW) -> bytes:
    return uuid7(created_at, number.to_bytes(10, "big"))


def clock(number: int, created_at: Instant = NOW) -> Clock:
    return Clock(key(number, created_at), START, START, END)


def digest(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(8, "big")).digest()


def code(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = b"a network") -> LoginEmail:
    return LoginEmail(digest(number), email, SecretKind.CODE, sent_at, network)


def link(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = b"a network") -> LoginEmail:
    return LoginEmail(digest(number), email, SecretKind.LINK, sent_at, network)


def code_limits(attempts: int = 5) -> SendLimits:
    """Return limits that restrict only the attempts with a code and the interval between emails."""
    return SendLimits(
        sends_an_hour=0, sends_an_hour_from_one_network=0, code_attempts=attempts, failures_in_a_row=1_000_000
    )


def session(number: int, created_at: Instant = NOW) -> NewSession:
    return NewSession(user(number), digest(number), created_at, created_at + TOKEN_LIFETIME)


def connection(number: int, protocol: BankProtocol = "PLAID") -> StoredConnection:
    settings = BankSettings(quirks=["TELLS_LATE"], consent_days=90) if number % 2 else BankSettings()
    return StoredConnection(key(number), protocol, f"Bank {number}", NOW, settings)


def link_token(hours: int = 4, item_digest: bytes | None = None) -> StoredLinkToken:
    return StoredLinkToken(NOW, NOW + hours * HOUR, item_digest, "{}")


def access_token(
    number: int, created_at: Instant = NOW, days: int = 90, read_only: bool = False
) -> tuple[StoredAccessToken, bytes]:
    """Return a new access token and its digest."""
    name, expires_at = f"token {number}", created_at + days * DAY
    return StoredAccessToken(key(number, created_at), name, read_only, created_at, expires_at), digest(number)


async def user_of_token(store: Store, token_digest: bytes, now: Instant) -> bytes | None:
    """Return the user's key if the token is valid."""
    found = await store.find_token(token_digest, now)
    return found.user if found else None


async def create(
    store: Store, new: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, limit: int
) -> bytes | None:
    """Create a clock with a limit on the number only. Return the oldest clock if the limit is exceeded."""
    return oldest(await store.create_clock(new, owner, schedule, Quota(limit, 0, min_live_key)))


async def create_once(  # noqa: PLR0917 - as many as the method of the store has
    store: Store, known: IdempotencyRecord, new: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, limit: int
) -> ExistingClock | bytes | None:
    outcome = await store.create_clock(new, owner, schedule, Quota(limit, 0, min_live_key), known)
    return outcome if isinstance(outcome, ExistingClock) else oldest(outcome)


def oldest(outcome: Created | ExistingClock | QuotaExceeded) -> bytes | None:
    if isinstance(outcome, Created):
        return None
    assert isinstance(outcome, QuotaExceeded)
    assert outcome.limit == "clocks"
    return outcome.oldest


async def add_clock(store: Store, new: Clock, owner: bytes, schedule: bytes = b"schedule") -> None:
    """Create a clock without a quota."""
    assert await create(store, new, owner, schedule, min_live_key=bytes(16), limit=0) is None


def make_record(number: int, params: bytes = b"parameters") -> IdempotencyRecord:
    """Return an idempotency record with the digest of this number."""
    return IdempotencyRecord(digest(number), params)


async def add_clock_once(
    store: Store, known: IdempotencyRecord, new: Clock, owner: bytes, min_live_key: bytes = bytes(16)
) -> ExistingClock | bytes | None:
    """Create a clock with an idempotency record and without a quota."""
    return await create_once(store, known, new, owner, b"schedule", min_live_key, limit=0)


async def advance(store: Store, clock_key: bytes, owner: bytes, to: Instant) -> Clock | None:
    """Return the frozen time after an advance."""
    stored = await store.advance_clock(clock_key, owner, to)
    return stored.clock if stored else None


async def schedule_of(store: Store, clock_key: bytes, owner: bytes) -> bytes | None:
    """Return the stored schedule, by an advance to before the start, which changes nothing."""
    stored = await store.advance_clock(clock_key, owner, START - DAY)
    return stored.schedule if stored else None


async def listed(
    store: Store, owner: bytes, min_live_key: bytes = bytes(16), before: bytes | None = None, limit: int = 1000
) -> list[bytes]:
    """Return the keys of the owner's clocks, as listed."""
    return [found.key for found in await store.list_clocks(owner, min_live_key, before, limit)]


async def delaying_email(store: Store, email: LoginEmail, interval: timedelta = MINUTE) -> Instant | None:
    """Record an email with a limit on the interval only. Return the time of the email that delays it, or None."""
    outcome = await store.record_email(email, replace(INTERVAL_ONLY, resend_interval=interval))
    return outcome.since if isinstance(outcome, TooSoon) else None


async def sent(store: Store, email: LoginEmail, limits: SendLimits = INTERVAL_ONLY) -> LoginEmail:
    """Record an email that the limits must allow."""
    assert isinstance(await store.record_email(email, limits), EmailRecorded)
    return email


async def redeem(store: Store, email: LoginEmail, new: NewSession) -> bytes | None:
    """Sign in with the code or the link of the email."""
    if email.kind is SecretKind.LINK:
        return await store.redeem_link(email.digest, new)
    return await store.redeem_code(email.address, email.digest, new)


async def attempts_left(store: Store, email: str, limit: int, now: Instant) -> int:
    """Use up the attempts with the newest code, and return their number."""
    for number in range(limit):
        if await store.count_attempt(email, code_limits(limit), now) is None:
            return number
    assert await store.count_attempt(email, code_limits(limit), now) is None
    return limit
