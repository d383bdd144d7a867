"""Signing in: letters are sent, and what is in them is exchanged for tokens."""

import hmac
from datetime import timedelta

from tickover.api import ids
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.results import Done, Sent, SignedIn
from tickover.api.timestamps import Instant
from tickover.server.domain import tokens
from tickover.server.domain.logins import (
    LIFETIMES,
    Claimed,
    Kind,
    LoginByEmailLinkParams,
    LoginByEmailVerificationParams,
    LogoutParams,
    Send,
    SendLoginCodeEmailParams,
    TooSoon,
)
from tickover.server.domain.rate_limits import Buckets
from tickover.server.domain.tokens import Mint
from tickover.server.mail.mailer import Email, EmailKind, Mailer, MailOutcomeUnknown, MailRefused
from tickover.server.operations.callers import Caller, Policy
from tickover.server.storage.store import NewSession, Store


class LoginOperations:
    def __init__(self, store: Store, mailer: Mailer, mint: Mint, policy: Policy) -> None:
        self._store = store
        self._mailer = mailer
        self._mint = mint
        self._policy = policy
        self._buckets = Buckets(policy.client_burst, policy.client_refill)

    async def authenticate(self, token: str | None, anyone: Caller) -> Caller:
        """The caller as the user whom this token lets in; UNAUTHENTICATED when it lets in nobody."""
        digest = tokens.digest(token or "")
        user = await self._store.user_of_token(digest, anyone.now) if token else None
        if user is None:
            message = "A valid bearer token is required. Sign in, and send it as: Authorization: Bearer <token>"
            raise Rejection(Reason.UNAUTHENTICATED, message)
        return Caller(anyone.now, anyone.network, user, digest)

    async def send_login_code_email(self, params: SendLoginCodeEmailParams, caller: Caller) -> Sent:
        secret = self._mint.new_code() if params.kind is Kind.CODE else self._mint.new_link_secret()
        send = self._send_of(params, secret, caller)
        claim = await self._store.claim_send(send, self._policy.logins)
        if isinstance(claim, TooSoon):
            raise _held(claim, caller.now)
        letter = self._letter_of(send, secret, claim)
        await self._deliver(letter, send)
        # With real mail the link would hand the account to whoever asks.
        hand_out = letter.kind is EmailKind.LINK and self._mailer.stays_here
        return Sent("ok", letter.secret) if hand_out else Sent("ok")

    def _send_of(self, params: SendLoginCodeEmailParams, secret: str, caller: Caller) -> Send:
        is_code = params.kind is Kind.CODE
        digest = self._mint.code_digest(params.email, caller.now, secret) if is_code else tokens.digest(secret)
        return Send(digest, params.email, params.kind, caller.now, self._mint.network_digest(caller.network))

    def _letter_of(self, send: Send, secret: str, claim: Claimed) -> Email:
        minutes = LIFETIMES[send.kind] // timedelta(minutes=1)
        if send.kind is Kind.LINK:
            link = f"{self._policy.public_url}/login#token={secret}"
            return Email(send.email, EmailKind.LINK, link, minutes, send.sent_at)
        if claim.codes_stopped:
            return Email(send.email, EmailKind.CODES_STOPPED, "", minutes, send.sent_at)
        return Email(send.email, EmailKind.CODE, secret, minutes, send.sent_at)

    async def _deliver(self, letter: Email, send: Send) -> None:
        message = "The mail server did not take the letter. Try again."
        try:
            await self._mailer.deliver(letter)
        except MailRefused:
            await self._store.undo_send(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None
        except MailOutcomeUnknown:
            await self._store.free_slot(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None

    async def login_by_email_verification(self, params: LoginByEmailVerificationParams, caller: Caller) -> SignedIn:
        attempt = await self._store.count_try(params.email, self._policy.logins, caller.now)
        # Without a live code the same work is done against a digest that nothing matches.
        expected, sent_at = (attempt.digest, attempt.sent_at) if attempt else (bytes(32), caller.now)
        given = self._mint.code_digest(params.email, sent_at, params.code)
        token, session = self._new_session(caller.now)
        user = None
        if hmac.compare_digest(expected, given):
            user = await self._store.redeem_code(params.email, expected, session)
        return _signed_in(token, user)

    async def login_by_email_link(self, params: LoginByEmailLinkParams, caller: Caller) -> SignedIn:
        token, session = self._new_session(caller.now)
        user = await self._store.redeem_link(tokens.digest(params.token), session)
        return _signed_in(token, user)

    async def logout(self, params: LogoutParams, caller: Caller) -> Done:
        await self._store.revoke_token(caller.token_digest)
        return Done()

    def _new_session(self, now: Instant) -> tuple[str, NewSession]:
        token = self._mint.new_bearer_token()
        return token, NewSession(self._mint.new_key(now), tokens.digest(token), now, now + TOKEN_LIFETIME)

    def take_from_bucket(self, caller: Caller) -> None:
        """Take one from the client's bucket. Raise RATE_LIMITED when it is empty."""
        wait = self._buckets.take(caller.network, caller.now)
        if wait:
            message = f"Too many calls from your address; the next may follow in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})


def _held(held: TooSoon, now: Instant) -> Rejection:
    wait = held.retry_after_seconds(now)
    if held.by_last_email:
        message = f"A letter was sent to this address a moment ago; the next may follow in {wait} s."
        return Rejection(Reason.RESEND_TOO_SOON, message, {"retryAfterSeconds": wait})
    message = f"Too many letters were sent to this address; the next may follow in {wait} s."
    return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})


def _signed_in(token: str, user: bytes | None) -> SignedIn:
    if user is None:
        # One answer for every way in which it can be wrong, so that it tells nothing.
        message = "This code or link is wrong, used or too old. Ask for a new one."
        raise Rejection(Reason.LOGIN_REFUSED, message)
    return SignedIn(token, ids.write("user", user))
