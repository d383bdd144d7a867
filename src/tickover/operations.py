"""The operations, each from start to finish: what is asked of the store and the mailer, and what is answered."""

import hmac
from collections.abc import Awaitable, Callable
from datetime import timedelta
from math import ceil
from typing import Any, Final

from msgspec import Struct, msgpack

from tickover import tokens
from tickover.core import clocks, ids, moments
from tickover.core.clocks import AdvanceEntry, Schedule, ScheduleEntry
from tickover.core.entries import Entry
from tickover.core.errors import Reason, Rejection
from tickover.core.limits import CODE_TRIES, RESEND_INTERVAL, TOKEN_LIFETIME
from tickover.core.logins import (
    LIFETIMES,
    Kind,
    Send,
    SendEntry,
    Sent,
    SignedIn,
    VerificationEntry,
    retry_after_seconds,
)
from tickover.core.moments import Moment
from tickover.ports import Letter, Mailer, MailOutcomeUnknown, MailRefused, NewSession, Store
from tickover.tokens import Mint

_read_schedule: Final = msgpack.Decoder(Schedule).decode
_write_schedule: Final = msgpack.Encoder().encode


class Caller(Struct, frozen=True):
    """Who asks, and when. `user` is the user's key; only operations that need a token are given one."""

    now: Moment
    user: bytes = b""


class Policy(Struct, frozen=True):
    """What the operator has settled."""

    public_url: str
    max_clocks_per_user: int


class Operations:
    def __init__(self, store: Store, mailer: Mailer, mint: Mint, policy: Policy) -> None:
        self._store = store
        self._mailer = mailer
        self._mint = mint
        self._policy = policy

    async def user_of(self, token: str | None, now: Moment) -> bytes:
        """The key of the user whom this token lets in; UNAUTHENTICATED when it lets in nobody."""
        user = await self._store.user_of_token(tokens.digest(token), now) if token else None
        if user is None:
            message = "A valid bearer token is required. Sign in, and send it as: Authorization: Bearer <token>"
            raise Rejection(Reason.UNAUTHENTICATED, message)
        return user

    async def create_test_clock(self, entry: ScheduleEntry, caller: Caller) -> bytes:
        key = self._mint.new_key(caller.now)
        clock = clocks.start(key, entry, caller.now)
        schedule = clocks.write_schedule(key, entry)
        living_from = ids.first_living_key(caller.now)
        most = self._policy.max_clocks_per_user
        oldest = await self._store.create_clock(clock, caller.user, _write_schedule(schedule), living_from, most)
        if oldest is not None:
            wait = ceil((ids.expires_at(oldest) - caller.now).total_seconds())
            message = f"You have as many live clocks as you may ({most}); the oldest expires in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
        return _clock_result(clock, schedule)

    async def advance_test_clock(self, entry: AdvanceEntry, caller: Caller) -> bytes:
        key = ids.read_clock_id(entry.id)
        if key is not None and ids.has_expired(key, caller.now):
            raise Rejection(Reason.CLOCK_EXPIRED, "This clock has expired; clocks live for seven days.")
        clock = await self._store.advance_clock(key, caller.user, entry.frozen_time) if key else None
        schedule = await self._store.schedule_of(clock.key) if clock else None
        if clock is None or schedule is None:
            raise Rejection(Reason.CLOCK_NOT_FOUND, "You have no clock with this id.")
        if entry.frozen_time < clock.frozen_time:
            current = moments.write(clock.frozen_time)
            message = f"The clock is already at {current}; time only moves forward."
            raise Rejection(Reason.TIME_BEFORE_CURRENT, message, {"currentFrozenTime": current})
        if entry.frozen_time > clock.max_time:
            latest = moments.write(clock.max_time)
            message = f"The clock cannot go beyond {latest}."
            raise Rejection(Reason.TIME_AFTER_MAX, message, {"maxTime": latest})
        return _clock_result(clock, _read_schedule(schedule))

    async def send_login_code_email(self, entry: SendEntry, caller: Caller) -> Sent:
        secret = self._mint.new_code() if entry.kind is Kind.CODE else self._mint.new_link_secret()
        send = self._send_of(entry, secret, caller.now)
        last_sent_at = await self._store.claim_send(send, caller.now - RESEND_INTERVAL)
        if last_sent_at is not None:
            wait = retry_after_seconds(last_sent_at, caller.now)
            message = f"A letter was sent to this address less than a minute ago; the next may follow in {wait} s."
            raise Rejection(Reason.RESEND_TOO_SOON, message, {"retryAfterSeconds": wait})
        shown = secret if entry.kind is Kind.CODE else f"{self._policy.public_url}/login#token={secret}"
        minutes = LIFETIMES[entry.kind] // timedelta(minutes=1)
        await self._deliver(Letter(entry.email, entry.kind, shown, minutes, caller.now), send)
        # With real mail the link would hand the account to whoever asks.
        hand_out = entry.kind is Kind.LINK and self._mailer.stays_here
        return Sent("ok", shown) if hand_out else Sent("ok")

    def _send_of(self, entry: SendEntry, secret: str, now: Moment) -> Send:
        is_code = entry.kind is Kind.CODE
        digest = self._mint.code_digest(entry.email, now, secret) if is_code else tokens.digest(secret)
        return Send(digest, entry.email, entry.kind, now)

    async def _deliver(self, letter: Letter, send: Send) -> None:
        message = "The mail server did not take the letter. Try again."
        try:
            await self._mailer.deliver(letter)
        except MailRefused:
            await self._store.undo_send(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None
        except MailOutcomeUnknown:
            await self._store.free_slot(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None

    async def login_by_email_verification(self, entry: VerificationEntry, caller: Caller) -> SignedIn:
        attempt = await self._store.count_try(entry.email, CODE_TRIES, caller.now)
        # Without a live code the same work is done against a digest that nothing matches.
        expected, sent_at = (attempt.digest, attempt.sent_at) if attempt else (bytes(32), caller.now)
        given = self._mint.code_digest(entry.email, sent_at, entry.code)
        token = self._mint.new_bearer_token()
        user = None
        if hmac.compare_digest(expected, given):
            user = await self._store.redeem_code(entry.email, expected, self._new_session(token, caller.now))
        if user is None:
            raise Rejection(Reason.LOGIN_REFUSED, "This code is wrong, used or too old. Ask for a new one.")
        return SignedIn(token, ids.write("user", user))

    def _new_session(self, token: str, now: Moment) -> NewSession:
        return NewSession(self._mint.new_key(now), tokens.digest(token), now, now + TOKEN_LIFETIME)


def _clock_result(clock: clocks.Clock, schedule: Schedule) -> bytes:
    return b'{"clock":%b}' % clocks.view(clock, schedule)


class Operation(Struct, frozen=True):
    """How a method is called: what it takes, whether it needs a token, and who does it."""

    params: type[Entry]
    needs_token: bool
    run: Callable[[Operations, Any, Caller], Awaitable[bytes | Struct]]


OPERATIONS: Final = {
    "createTestClock": Operation(ScheduleEntry, True, Operations.create_test_clock),
    "advanceTestClock": Operation(AdvanceEntry, True, Operations.advance_test_clock),
    "sendLoginCodeEmail": Operation(SendEntry, False, Operations.send_login_code_email),
    "loginByEmailVerification": Operation(VerificationEntry, False, Operations.login_by_email_verification),
}
