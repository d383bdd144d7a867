"""Emails, attempts and sessions in PostgreSQL. The functions call those of the schema."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from asyncpg.pgproto.pgproto import UUID

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.sign_in.logins import HOUR, Claimed, CountedAttempt, Limits, LoginEmail, TooSoon
from tickover.server.storage.store import NewSession

Fetch = Callable[..., Awaitable[list[Any]]]
"""Runs a statement with values, and returns its rows."""

_OUT_OF_ORDER: Final = timedelta(minutes=10)
_REVOKE: Final = "delete from tokens where digest = $1 returning true"
_REVOKE_AND_ALLOW_RESEND: Final = """
    with revoked as (delete from tokens where digest = $1 returning user_key),
    allowed as (
      update login_sends set holds_slot = false
      where email = (select email from users where key = (select user_key from revoked)))
    select true from revoked"""


async def claim_send(fetch: Fetch, send: LoginEmail, limits: Limits) -> Claimed | TooSoon:
    (row,) = await fetch(
        "select * from claim_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        send.digest,
        send.email,
        send.kind,
        to_micros(send.sent_at),
        to_micros(send.expires_at),
        send.network,
        to_micros(send.sent_at - limits.resend_interval),
        to_micros(send.sent_at - HOUR),
        # Concurrent emails may be recorded out of order. A later time means that the wall clock was set back.
        to_micros(send.sent_at + _OUT_OF_ORDER),
        limits.sends_an_hour,
        limits.sends_an_hour_from_one_network,
        limits.failures_in_a_row,
    )
    if row["held_since"] is None:
        return Claimed(codes_stopped=row["codes_stopped"])
    interval = limits.resend_interval if row["by_last_letter"] else HOUR
    return TooSoon(from_micros(row["held_since"]), interval, row["by_last_letter"])


async def count_attempt(fetch: Fetch, email: str, limits: Limits, now: Instant) -> CountedAttempt | None:
    values = (email, to_micros(now), limits.code_tries, limits.failures_in_a_row)
    (row,) = await fetch("select * from count_try($1, $2, $3, $4)", *values)
    return None if row["code"] is None else CountedAttempt(row["code"], from_micros(row["code_sent_at"]))


async def redeem_code(fetch: Fetch, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
    return await _redeem(fetch, "select redeem_code($1, $2, $3, $4, $5, $6)", code_digest, email, session=session)


async def redeem_link(fetch: Fetch, link_digest: bytes, session: NewSession) -> bytes | None:
    return await _redeem(fetch, "select redeem_link($1, $2, $3, $4, $5)", link_digest, session=session)


async def revoke_token(fetch: Fetch, digest: bytes, allow_resend: bool) -> bool:
    return bool(await fetch(_REVOKE_AND_ALLOW_RESEND if allow_resend else _REVOKE, digest))


async def _redeem(fetch: Fetch, statement: str, *secret: object, session: NewSession) -> bytes | None:
    ((user_key,),) = await fetch(
        statement,
        *secret,
        UUID(session.user_key),
        session.token_digest,
        to_micros(session.created_at),
        to_micros(session.expires_at),
    )
    return user_key.bytes if user_key else None
