"""Operations for signing in: send an email with a code or link, and exchange either for a bearer token."""

import hmac
from datetime import timedelta

from tickover.api import ids
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.api.tokens import Sent, SignedIn
from tickover.server.domain import tokens
from tickover.server.domain.logins import (
    LIFETIMES,
    Claimed,
    LinkEntry,
    LoginEmail,
    SecretKind,
    SendEntry,
    TooSoon,
    VerificationEntry,
)
from tickover.server.domain.rate_limits import Buckets
from tickover.server.domain.tokens import Mint
from tickover.server.mail.mailer import Email, EmailKind, Mailer, MailOutcomeUnknown, MailRejected
from tickover.server.operations.callers import Caller, Policy
from tickover.server.storage.store import NewSession, Store


class LoginOperations:
    def __init__(self, store: Store, mailer: Mailer, mint: Mint, policy: Policy) -> None:
        self._store = store
        self._mailer = mailer
        self._mint = mint
        self._policy = policy
        self._buckets = Buckets(policy.client_burst, policy.client_refill)

    def check_client_limit(self, caller: Caller) -> None:
        """Count a call of the client's network. Raise RATE_LIMITED if there were too many."""
        wait = self._buckets.take(caller.network, caller.now)
        if wait:
            message = f"Too many calls from your IP address. Try again in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})

    async def send_login_code_email(self, params: SendEntry, caller: Caller) -> Sent:
        secret = self._mint.new_code() if params.kind is SecretKind.CODE else self._mint.new_link_secret()
        send = self._new_send(params, secret, caller)
        claim = await self._store.claim_send(send, self._policy.logins)
        if isinstance(claim, TooSoon):
            raise self._too_soon(claim, caller.now)
        email = self._compose(send, secret, claim)
        await self._deliver(email, send)
        # With real mail, a loginUrl in the response would give the account to any caller.
        returns_link = email.kind is EmailKind.LINK and self._mailer.is_local
        return Sent("ok", email.secret) if returns_link else Sent("ok")

    def _new_send(self, params: SendEntry, secret: str, caller: Caller) -> LoginEmail:
        is_code = params.kind is SecretKind.CODE
        digest = self._mint.code_digest(params.email, caller.now, secret) if is_code else tokens.digest(secret)
        return LoginEmail(digest, params.email, params.kind, caller.now, self._mint.network_digest(caller.network))

    def _compose(self, send: LoginEmail, secret: str, claim: Claimed) -> Email:
        minutes = LIFETIMES[send.kind] // timedelta(minutes=1)
        if send.kind is SecretKind.LINK:
            link = f"{self._policy.public_url}/login#token={secret}"
            return Email(send.email, EmailKind.LINK, link, minutes, send.sent_at)
        if claim.codes_stopped:
            return Email(send.email, EmailKind.CODES_STOPPED, "", minutes, send.sent_at)
        return Email(send.email, EmailKind.CODE, secret, minutes, send.sent_at)

    async def _deliver(self, email: Email, send: LoginEmail) -> None:
        message = "The mail server didn't accept the email. Try again."
        try:
            await self._mailer.deliver(email)
        except MailRejected:
            await self._store.undo_send(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None
        except MailOutcomeUnknown:
            await self._store.allow_resend(send)
            raise Rejection(Reason.MAIL_NOT_SENT, message) from None

    def _too_soon(self, too_soon: TooSoon, now: Instant) -> Rejection:
        wait = too_soon.retry_after_seconds(now)
        if not too_soon.by_last_email:
            message = f"Too many emails were sent to this address. Try again in {wait} s."
            return Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
        message = f"An email was just sent to this address. Try again in {wait} s."
        if self._mailer.is_local:
            message += (
                " To sign in more often at this development server, start it with TICKOVER_RESEND_SECONDS=1, or use an"
                " access token."
            )
        return Rejection(Reason.RESEND_TOO_SOON, message, {"retryAfterSeconds": wait})

    async def login_by_email_verification(self, params: VerificationEntry, caller: Caller) -> SignedIn:
        attempt = await self._store.count_attempt(params.email, self._policy.logins, caller.now)
        # Without a live code, compare with a digest that never matches, so that the response takes the same time.
        expected, sent_at = (attempt.digest, attempt.sent_at) if attempt else (bytes(32), caller.now)
        actual = self._mint.code_digest(params.email, sent_at, params.code)
        token, session = self._new_session(caller.now)
        user = None
        if hmac.compare_digest(expected, actual):
            user = await self._store.redeem_code(params.email, expected, session)
        return _signed_in(token, user)

    async def login_by_email_link(self, params: LinkEntry, caller: Caller) -> SignedIn:
        token, session = self._new_session(caller.now)
        user = await self._store.redeem_link(tokens.digest(params.token), session)
        return _signed_in(token, user)

    def _new_session(self, now: Instant) -> tuple[str, NewSession]:
        token = self._mint.new_bearer_token()
        return token, NewSession(self._mint.new_key(now), tokens.digest(token), now, now + TOKEN_LIFETIME)


def _signed_in(token: str, user: bytes | None) -> SignedIn:
    if user is None:
        # The response doesn't say which, so that it reveals nothing about the address.
        message = "This code or link is wrong, used or expired. Request a new one."
        raise Rejection(Reason.LOGIN_REFUSED, message)
    return SignedIn(token, ids.write("user", user))
