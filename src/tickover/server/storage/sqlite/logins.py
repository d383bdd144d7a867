"""Emails, attempts and sessions in SQLite. Each public function is a job of the writer."""

from datetime import timedelta
from typing import Any

import apsw

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.sign_in.logins import (
    HOUR,
    MAX_DISORDER,
    Claimed,
    CountedAttempt,
    Limits,
    LoginEmail,
    SecretKind,
    TooSoon,
)
from tickover.server.storage import statements
from tickover.server.storage.sqlite.statements import numbered
from tickover.server.storage.store import NewSession

_FIND_OR_CREATE_USER = numbered(statements.FIND_OR_CREATE_USER)
_NEWEST_CODE = f"""
    (select digest from login_sends where email = :email and kind = '{SecretKind.CODE}' order by number desc limit 1)"""

_CODES_STOPPED = "exists (select 1 from login_failures where email = :email and count >= :failures)"


def claim_send(db: apsw.Connection, send: LoginEmail, limits: Limits) -> Claimed | TooSoon:
    last = _last_send(db, send, limits.resend_interval)
    if send.is_mailed and last:
        return TooSoon(last, limits.resend_interval, by_last_email=True)
    limiting = [
        _nth_newest_send(db, send, limits.sends_an_hour, "not spent"),
        _nth_newest_send(db, send, limits.sends_an_hour_from_one_network, "not spent and network = :network"),
    ]
    # If both limits are reached, the later one decides.
    latest = max((sent_at for sent_at in limiting if sent_at), default=None)
    if latest:
        return TooSoon(latest, HOUR, by_last_email=False)
    return _insert_send(db, send, limits)


def count_attempt(db: apsw.Connection, email: str, limits: Limits, now: Instant) -> CountedAttempt | None:
    values = {"email": email, "now": to_micros(now), "tries": limits.code_tries, "failures": limits.failures_in_a_row}
    counted = db.execute(
        f"""update login_sends set tries = tries + 1
            where digest = {_NEWEST_CODE} and not spent and tries < :tries and expires_at > :now
              and not {_CODES_STOPPED}
            returning digest, sent_at""",
        values,
    ).get
    if counted is None:
        _count_miss(db)
        return None
    _count_failure(db, email)
    code_digest, sent_at = counted
    return CountedAttempt(code_digest, from_micros(sent_at))


def redeem_code(db: apsw.Connection, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
    spent = db.execute(
        f"""update login_sends set spent = 1
            where digest = :digest and not spent and digest = {_NEWEST_CODE} returning 1""",
        {"email": email, "digest": code_digest},
    ).get
    return _open_session(db, email, session) if spent else None


def redeem_link(db: apsw.Connection, link_digest: bytes, session: NewSession) -> bytes | None:
    email = db.execute(
        """update login_sends set spent = 1
           where digest = ? and kind = 'LINK' and not spent and expires_at > ? returning email""",
        (link_digest, to_micros(session.created_at)),
    ).get
    if email is None:
        _count_miss(db)
        return None
    return _open_session(db, email, session)


def revoke_token(db: apsw.Connection, digest: bytes, allow_resend: bool) -> bool:
    revoked = db.execute("delete from tokens where digest = ? returning user_key", (digest,)).fetchall()
    if revoked and allow_resend:
        db.execute(
            "update login_sends set holds_slot = 0 where email = (select email from users where key = ?)", revoked[0]
        )
    return bool(revoked)


def sweep(db: apsw.Connection, now: Instant, limit: int) -> None:
    """Delete emails that are at least an hour old. Younger ones count for the hourly limits.

    Delete earlier emails to the same address too, whatever their timestamps. If the wall clock was set back, an earlier
    code would otherwise outlive a newer one, and become the newest.
    """
    query = "select email, number from login_sends where sent_at <= ? order by sent_at limit ?"
    old = db.execute(query, (to_micros(now - HOUR), limit))
    newest: dict[Any, Any] = {}
    for email, number in old:
        newest[email] = max(number, newest.get(email, number))
    db.executemany("delete from login_sends where email = ? and number <= ?", newest.items())


def _last_send(db: apsw.Connection, send: LoginEmail, interval: timedelta) -> Instant | None:
    """Return the time of the last email that delays the next one, or None if the interval has passed."""
    query = "select sent_at from login_sends where email = ? and holds_slot order by number desc limit 1"
    sent_at = db.execute(query, (send.email,)).get
    since, until = _span(send, interval)
    return from_micros(sent_at) if sent_at is not None and since < sent_at < until else None


def _nth_newest_send(db: apsw.Connection, send: LoginEmail, nth: int, condition: str) -> Instant | None:
    """Return the time of the nth newest email to the address, or None if it is not within the hour or n is 0."""
    if not nth:
        return None
    since, until = _span(send, HOUR)
    values = {"email": send.email, "network": send.network, "since": since, "until": until, "skipped": nth - 1}
    sent_at = db.execute(
        f"""select sent_at from login_sends
            where email = :email and sent_at > :since and sent_at < :until and {condition}
            order by number desc limit 1 offset :skipped""",
        values,
    ).get
    return None if sent_at is None else from_micros(sent_at)


def _span(send: LoginEmail, interval: timedelta) -> tuple[int, int]:
    """Return the range, both ends exclusive, in which an earlier email counts for the limits."""
    return to_micros(send.sent_at - interval), to_micros(send.sent_at + MAX_DISORDER)


def _insert_send(db: apsw.Connection, send: LoginEmail, limits: Limits) -> Claimed:
    db.execute(
        """insert into login_sends (digest, email, kind, sent_at, expires_at, network, holds_slot, number)
           values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1 + coalesce((select max(number) from login_sends where email = ?2), 0))
           on conflict (digest) do nothing  -- fixed codes of one instant have the same digest""",
        (
            send.digest,
            send.email,
            send.kind,
            to_micros(send.sent_at),
            to_micros(send.expires_at),
            send.network,
            send.is_mailed,
        ),
    )
    values = {"email": send.email, "failures": limits.failures_in_a_row}
    return Claimed(codes_stopped=bool(db.execute(f"select {_CODES_STOPPED}", values).get))


def _count_failure(db: apsw.Connection, email: str) -> None:
    db.execute("insert into login_failures values (?, 1) on conflict do update set count = count + 1", (email,))


def _count_miss(db: apsw.Connection) -> None:
    """Write to decoy rows what an attempt against a live code writes, so that both take the same time."""
    db.execute("update login_sends set tries = tries + 1 where digest = zeroblob(32)")
    _count_failure(db, "")


def _open_session(db: apsw.Connection, email: str, session: NewSession) -> bytes:
    """Void the address's emails, reset its failures, and create a session, and a user if there is none yet."""
    db.execute("update login_sends set spent = 1 where email = ? and not spent", (email,))
    db.execute("delete from login_failures where email = ?", (email,))
    values = session.user_key, email, to_micros(session.created_at)
    user_key: bytes = db.execute(_FIND_OR_CREATE_USER, values).get
    db.execute(
        "insert into tokens (digest, user_key, expires_at) values (?, ?, ?)",
        (session.token_digest, user_key, to_micros(session.expires_at)),
    )
    return user_key
