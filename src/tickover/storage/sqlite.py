"""The store on SQLite: one writer thread, and reads beside it on the event loop's own thread.

A read here is a look-up by key, mostly in pages that are in memory; to hand it to another thread would cost more.
"""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw

from tickover.core.clocks import Clock
from tickover.core.errors import unavailable
from tickover.core.ids import first_living_key
from tickover.core.logins import HOUR, Claimed, Held, Kind, Limits, Send, Try
from tickover.core.moments import Moment, from_micros, to_micros
from tickover.ports import Kept, NewSession
from tickover.settings import SettingError
from tickover.storage.migrate import migrations, pending
from tickover.storage.tally import Tally
from tickover.storage.writer import Writer, as_told, immediate

_LOCK_WAIT_SECONDS = 5.0
_OUT_OF_ORDER = timedelta(minutes=10)
_PING_SECONDS = 1.0
_READ_WAIT_MILLISECONDS = 50
_CACHE_KIBIBYTES = 8_000
"""Of each connection; SQLite's own choice is 2,000, less than the rows of a thousand clocks."""


class SqliteStore:
    """See `ports.Store` for what each method promises."""

    def __init__(self, path: Path) -> None:
        self._writing = _connect(path)
        _migrate(self._writing)
        self._reading = _connect(path)
        # Reads are on the event loop's thread, and must not wait there.
        self._reading.set_busy_timeout(_READ_WAIT_MILLISECONDS)
        self._writer = Writer(self._writing, _LOCK_WAIT_SECONDS)
        self._tally = Tally()
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open or create the file, and bring its schema up to date; SettingError when it cannot be used."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(path)
        except (apsw.Error, OSError) as error:
            raise SettingError(f"The database {path} cannot be opened: {error}.") from None

    async def close(self) -> None:
        await self._writer.close()
        self._reading.close()
        self._writing.close()

    async def ping(self) -> None:
        """By writing: a store that can only be read from is not ready."""
        try:
            async with asyncio.timeout(_PING_SECONDS):
                await self._writer.submit(_statement("update login_failures set count = count where email = ''"))
        except TimeoutError:
            raise unavailable("The database does not answer just now.") from None

    async def share_key(self, fingerprint: bytes, now: Moment) -> bool:
        """One machine has one data folder, and the key is in it."""
        return True

    async def user_of_token(self, token_digest: bytes, now: Moment) -> bytes | None:
        found = self._look_up(
            "select user_key from tokens where digest = ? and expires_at > ?", token_digest, to_micros(now)
        )
        return found[0] if found else None

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, living_from: bytes, most: int
    ) -> bytes | None:
        instants = (to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time))

        def job(db: apsw.Connection) -> bytes | None:
            if most == 0:
                self._tally.forget(owner)
            elif (oldest := self._tally.take_place(db, owner, living_from, most)) is not None:
                return oldest
            db.execute("insert into clocks values (?, ?, ?, ?, ?)", (clock.key, owner, *instants))
            db.execute("insert into schedules values (?, ?)", (clock.key, schedule))
            return None

        oldest = await self._writer.submit(job)
        if oldest is not None:
            self._tally.note_full(owner, most, oldest)
        return oldest

    async def advance_clock(self, key: bytes, owner: bytes, to: Moment, *, with_schedule: bool = True) -> Kept | None:
        micros = to_micros(to)

        def job(db: apsw.Connection) -> Any:
            # Three plain statements take a quarter of the time of one with `returning`; nobody else writes in between.
            instants: Any = db.execute(_CLOCK, (key, owner)).fetchone()
            if instants is None:
                return None
            start, standing, latest = instants
            if standing <= micros <= latest:
                db.execute("update clocks set frozen_time = ? where key = ?", (micros, key))
                standing = micros
            schedule = _one(db.execute(_SCHEDULE, (key,))) if with_schedule else b""
            return start, standing, latest, schedule

        kept = await self._writer.submit(job)
        if kept is None:
            return None
        start, standing, latest, schedule = kept
        return Kept(Clock(key, from_micros(start), from_micros(standing), from_micros(latest)), schedule)

    async def claim_send(self, send: Send, limits: Limits) -> Claimed | Held:
        def job(db: apsw.Connection) -> Claimed | Held:
            last = _nth_newest_send(db, send, 1, limits.resend_interval, "holds_slot")
            if last:
                return Held(last, limits.resend_interval, by_last_letter=True)
            counted = [
                _nth_newest_send(db, send, limits.sends_an_hour, HOUR, "not spent"),
                _nth_newest_send(
                    db, send, limits.sends_an_hour_from_one_network, HOUR, "not spent and network = :network"
                ),
            ]
            # Where both caps hold, the wait is until neither does.
            latest = max((since for since in counted if since), default=None)
            if latest:
                return Held(latest, HOUR, by_last_letter=False)
            return _keep_send(db, send, limits)

        return await self._writer.submit(job)

    async def undo_send(self, send: Send) -> None:
        await self._writer.submit(_statement("delete from login_sends where digest = ?", send.digest))

    async def free_slot(self, send: Send) -> None:
        await self._writer.submit(_statement("update login_sends set holds_slot = 0 where digest = ?", send.digest))

    async def count_try(self, email: str, limits: Limits, now: Moment) -> Try | None:
        values = {
            "email": email,
            "now": to_micros(now),
            "tries": limits.code_tries,
            "failures": limits.failures_in_a_row,
        }

        def job(db: apsw.Connection) -> Any:
            counted = db.execute(
                f"""update login_sends set tries = tries + 1
                    where digest = {_NEWEST_CODE} and not spent and tries < :tries and expires_at > :now
                      and not {_CODES_STOPPED}
                    returning digest, sent_at""",
                values,
            ).fetchone()
            if counted is None:
                _count_miss(db)
            else:
                _count_failure(db, email)
            return counted

        row = await self._writer.submit(job)
        return Try(row[0], from_micros(row[1])) if row else None

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        def job(db: apsw.Connection) -> bytes | None:
            spent = db.execute(
                f"""update login_sends set spent = 1
                    where digest = :digest and not spent and digest = {_NEWEST_CODE} returning 1""",
                {"email": email, "digest": code_digest},
            ).fetchone()
            return _open_session(db, email, session) if spent else None

        return await self._writer.submit(job)

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        def job(db: apsw.Connection) -> bytes | None:
            spent: Any = db.execute(
                """update login_sends set spent = 1
                   where digest = ? and kind = 'LINK' and not spent and expires_at > ? returning email""",
                (link_digest, to_micros(session.created_at)),
            ).fetchone()
            if spent is None:
                _count_miss(db)
                return None
            return _open_session(db, spent[0], session)

        return await self._writer.submit(job)

    async def revoke_token(self, token_digest: bytes) -> None:
        await self._writer.submit(_statement("delete from tokens where digest = ?", token_digest))

    async def sweep(self, now: Moment, most: int) -> int:
        def job(db: apsw.Connection) -> int:
            before = db.total_changes()
            dead = db.execute("select key from clocks where key < ? limit ?", (first_living_key(now), most)).fetchall()
            db.executemany("delete from schedules where clock_key = ?", dead)
            db.executemany("delete from clocks where key = ?", dead)
            db.execute(
                "delete from tokens where digest in (select digest from tokens where expires_at <= ? limit ?)",
                (to_micros(now), most),
            )
            # Letters are kept for an hour whatever they carried, because they are counted by the hour.
            db.execute(
                "delete from login_sends where digest in (select digest from login_sends where sent_at <= ? limit ?)",
                (to_micros(now - HOUR), most),
            )
            return db.total_changes() - before

        return await self._writer.submit(job, is_long=True)

    def _look_up(self, statement: str, *bindings: object) -> Any:
        """Look up in the database as it is in this turn of the event loop: locking it again each time took longer."""
        try:
            if not self._reading.in_transaction:
                self._reading.execute("begin")
                # Whoever is asked in a later turn, and may know of something newer, finds that there too.
                self._loop.call_soon(self._end_looking)
            return self._reading.execute(statement, bindings).fetchone()
        except apsw.Error as error:
            raise as_told(error) from error

    def _end_looking(self) -> None:
        with suppress(apsw.Error):
            self._reading.execute("rollback")


_SCHEDULE = "select body from schedules where clock_key = ?"
_CLOCK = "select start_time, frozen_time, max_time from clocks where key = ? and owner = ?"
_NEWEST_CODE = f"""
    (select digest from login_sends where email = :email and kind = '{Kind.CODE}' order by sent_at desc limit 1)"""

_CODES_STOPPED = "exists (select 1 from login_failures where email = :email and count >= :failures)"


def _nth_newest_send(db: apsw.Connection, send: Send, nth: int, interval: timedelta, condition: str) -> Moment | None:
    """When the nth letter, counted back from this one, was sent to its address; None if not within the interval."""
    values = {
        "email": send.email,
        "network": send.network,
        "since": to_micros(send.sent_at - interval),
        # Sends that run side by side may come out of order. Later than that, the wall clock was set back since.
        "until": to_micros(send.sent_at + _OUT_OF_ORDER),
        "skipped": nth - 1,
    }
    found: Any = (
        nth
        and db.execute(
            f"""select sent_at from login_sends
                where email = :email and sent_at > :since and sent_at < :until and {condition}
                order by sent_at desc limit 1 offset :skipped""",
            values,
        ).fetchone()
    )
    return from_micros(found[0]) if found else None


def _keep_send(db: apsw.Connection, send: Send, limits: Limits) -> Claimed:
    db.execute(
        "insert into login_sends (digest, email, kind, sent_at, expires_at, network) values (?, ?, ?, ?, ?, ?)",
        (send.digest, send.email, send.kind, to_micros(send.sent_at), to_micros(send.expires_at), send.network),
    )
    values = {"email": send.email, "failures": limits.failures_in_a_row}
    stopped: Any = db.execute(f"select {_CODES_STOPPED}", values).fetchone()
    return Claimed(codes_stopped=bool(stopped[0]))


def _count_failure(db: apsw.Connection, email: str) -> None:
    db.execute("insert into login_failures values (?, 1) on conflict do update set count = count + 1", (email,))


def _count_miss(db: apsw.Connection) -> None:
    """Write what a try against a live code would write, to the letter that was never sent."""
    db.execute("update login_sends set tries = tries + 1 where digest = zeroblob(32)")
    _count_failure(db, "")


def _open_session(db: apsw.Connection, email: str, session: NewSession) -> bytes:
    """Void all that was sent to the address, forget its failures, and let its user, new or known, in."""
    db.execute("update login_sends set spent = 1 where email = ? and not spent", (email,))
    db.execute("delete from login_failures where email = ?", (email,))
    db.execute(
        "insert into users values (?, ?, ?) on conflict (email) do nothing",
        (session.user_key, email, to_micros(session.created_at)),
    )
    user_key = _one(db.execute("select key from users where email = ?", (email,)))
    db.execute("insert into tokens values (?, ?, ?)", (session.token_digest, user_key, to_micros(session.expires_at)))
    return user_key


def _one(cursor: apsw.Cursor) -> bytes:
    """What a statement finds, where it is known that there is one."""
    row: Any = cursor.fetchone()
    found: bytes = row[0]
    return found


def _statement(statement: str, *bindings: object) -> Any:
    def job(db: apsw.Connection) -> None:
        db.execute(statement, bindings)

    return job


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(int(_LOCK_WAIT_SECONDS * 1000))
    _enter_wal_mode(connection)
    # Otherwise statements are planned anew for each value that they are given.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(f"pragma cache_size = -{_CACHE_KIBIBYTES}")
    # FULL: an answered write survives the loss of power. On macOS only fullfsync reaches the disk itself.
    connection.execute("pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
    return connection


def _enter_wal_mode(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait for another process that is just doing the same."""
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: apsw.Connection) -> None:
    """Apply what is missing, each migration in a transaction of its own; another process may be doing the same."""
    known = migrations("sqlite")
    while True:
        with immediate(connection):
            version = connection.pragma("user_version")
            missing = pending(known, version)
            if not missing:
                return
            connection.execute(missing[0].sql)
            connection.pragma("user_version", missing[0].number)
