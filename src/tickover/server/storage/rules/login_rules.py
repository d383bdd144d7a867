"""Signing in: limits on emails, attempts and failures, and secrets that are used once."""

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.sign_in.login_emails import CountedAttempt, LoginEmail
from tickover.server.sign_in.resend_limits import HOUR, MAX_DISORDER, EmailRecorded, SendLimits, TooSoon
from tickover.server.storage import statements
from tickover.server.storage.rules.steps import Call, Rule, address_lock, read, write
from tickover.server.storage.statements import Statement
from tickover.server.storage.store import NewSession

DECOYS: Final = 64
"""The decoys in `schema.sql`: emails that were never sent, with the numbers from 0 as their digests and addresses."""
_NEVER: Final = 2**40


def record_email(email: LoginEmail, limits: SendLimits) -> Rule[EmailRecorded | TooSoon]:
    yield address_lock(email.address, email.sent_at)
    until = to_micros(email.sent_at + MAX_DISORDER)
    skipped = [n - 1 if n else _NEVER for n in (limits.sends_an_hour, limits.sends_an_hour_from_one_network)]
    values = email.address, email.network, to_micros(email.sent_at - HOUR), until, *skipped
    [(last, nth, nth_from_network, number, *failures)] = yield read(Call(statements.FIND_LAST_EMAILS, values))
    since = to_micros(email.sent_at - limits.resend_interval)
    if email.is_mailed and last is not None and since < last < until:
        return TooSoon(from_micros(last), limits.resend_interval, by_last_email=True)
    if reached := [sent_at for sent_at in (nth, nth_from_network) if sent_at is not None]:
        # If both limits are reached, the later one decides.
        return TooSoon(from_micros(max(reached)), HOUR, by_last_email=False)
    instants = to_micros(email.sent_at), to_micros(email.expires_at)
    columns = email.digest, email.address, email.kind, *instants, email.network, email.is_mailed, (number or 0) + 1
    yield write(Call(statements.INSERT_EMAIL, columns))
    return EmailRecorded(codes_stopped=_live_failures(failures, limits, email.sent_at) >= limits.failures_in_a_row)


def delete_email(email: LoginEmail) -> Rule[None]:
    yield address_lock(email.address, email.sent_at)
    yield write(Call(statements.DELETE_EMAIL, (email.digest,)))


def count_attempt(email: str, limits: SendLimits, now: Instant) -> Rule[CountedAttempt | None]:
    yield address_lock(email, now)
    [code] = yield read(Call(statements.FIND_NEWEST_CODE, (email,)))
    if code is None:
        yield _count_miss(email, now)
        return None
    digest, sent_at, expires_at, attempts, spent, *failures = code
    live_failures = _live_failures(failures, limits, now)
    is_live = not spent and attempts < limits.code_attempts and expires_at > to_micros(now)
    if not is_live or live_failures >= limits.failures_in_a_row:
        yield _count_miss(email, now)
        return None
    yield write(
        Call(statements.COUNT_ATTEMPT, (digest,)),
        Call(statements.COUNT_FAILURE, (email, live_failures == 0, to_micros(now))),
    )
    return CountedAttempt(digest, from_micros(sent_at))


def redeem_code(email: str, code_digest: bytes, session: NewSession) -> Rule[bytes | None]:
    yield address_lock(email, session.created_at)
    user_key = yield from _open_session(email, statements.SPEND_CODE, code_digest, session)
    return user_key


def redeem_link(link_digest: bytes, session: NewSession, is_allowed: Callable[[str], bool]) -> Rule[bytes | None]:
    [link] = yield read(Call(statements.FIND_LINK, (link_digest, to_micros(session.created_at))))
    if link is None or not is_allowed(link[0]):
        yield _count_miss(link_digest.hex(), session.created_at)
        return None
    [email] = link
    yield address_lock(email, session.created_at)
    user_key = yield from _open_session(email, statements.SPEND_LINK, link_digest, session)
    return user_key


def revoke_token(digest: bytes, *, allow_resend: bool, all_sessions: bool) -> Rule[bool]:
    others = []
    if allow_resend:
        [user] = yield read(Call(statements.FIND_EMAIL, (digest,)))
        others = [Call(statements.ALLOW_RESENDS, user)] if user else []
    statement = statements.REVOKE_SESSIONS if all_sessions else statements.REVOKE_TOKEN
    revoked = yield write(Call(statement, (digest,)), *others)
    return bool(revoked)


def delete_user(token_digest: bytes, now: Instant) -> Rule[bytes | None]:
    """Delete the user of a token, the user's tokens, and the emails to the address. Return the user's key."""
    find = Call(statements.FIND_USER_OF_TOKEN, (token_digest,))
    [user] = yield read(find)
    if user is None:
        return None
    yield address_lock(user[1], now)
    [user] = yield read(find)
    if user is None:
        return None
    key, email = user
    yield write(
        Call(statements.DELETE_USER, (key,)),
        Call(statements.DELETE_TOKENS, (key,)),
        Call(statements.DELETE_LINK_TOKENS, (key,)),
        Call(statements.DELETE_EMAILS, (email,)),
        Call(statements.RESET_FAILURES, (email,)),
    )
    return bytes(key)


def find_or_create_user(email: str, new_key: bytes, now: Instant) -> Rule[bytes]:
    yield address_lock(email, now)
    [user] = yield read(Call(statements.FIND_USER, (email,)))
    if user is None:
        yield write(Call(statements.INSERT_USER, (new_key, email, to_micros(now))))
        return new_key
    # An empty write waits for synchronous standbys, which may lack the user.
    yield write()
    return bytes(user[0])


def _open_session(email: str, spend: Statement, digest: bytes, session: NewSession) -> Rule[bytes | None]:
    """Use the secret, void the address's other ones, reset its failures, and create a session, and a user if needed."""
    spent = yield write(
        Call(spend, (email, digest, session.user_key)),
        Call(statements.RESET_FAILURES, (email,)),
        Call(statements.INSERT_USER, (session.user_key, email, to_micros(session.created_at))),
        Call(statements.INSERT_SESSION, (session.token_digest, email, session.user_key, to_micros(session.expires_at))),
    )
    return bytes(spent[0][0]) if spent else None


def _live_failures(failures: Any, limits: SendLimits, now: Instant) -> int:
    """Return the consecutive failures of an address that have not expired."""
    count, last_at = failures
    if count is None or (limits.failure_lifetime and last_at <= to_micros(now - limits.failure_lifetime)):
        return 0
    return int(count)


def _count_miss(name: str, now: Instant) -> Any:
    """Write to a decoy what an attempt against a live code writes, so that both take the same time."""
    decoy = crc32(name.encode()) % DECOYS
    return write(
        Call(statements.COUNT_ATTEMPT, (decoy.to_bytes(32, "big"),)),
        Call(statements.COUNT_FAILURE, (str(decoy), False, to_micros(now))),
    )
