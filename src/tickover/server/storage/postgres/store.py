"""The store on PostgreSQL: every verb is one round trip, and verbs that wait at the same time share one.

What takes more than one statement is a function in the database (schema/postgres), called in one; the driver is
asyncpg, the connections and their troubles are in `connections`.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from asyncpg import PostgresError
from asyncpg.pgproto.pgproto import UUID

from tickover.api.errors import unavailable
from tickover.api.ids import day_of_birth, first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import HOUR, Claimed, Limits, Send, TooSoon, Try
from tickover.server.storage.postgres import statements
from tickover.server.storage.postgres.batcher import Batcher
from tickover.server.storage.postgres.connections import Connections
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    NewSession,
    Quota,
    QuotaExceeded,
    StoredClock,
)
from tickover.server.storage.write_probe import WriteProbe

_OUT_OF_ORDER = timedelta(minutes=10)
_DAY = timedelta(days=1)
_KEY_NOTED_FOR = timedelta(minutes=5)
_TURN_SECONDS = 3.0
_AFTER_ALL = b"\xff" * 16
_CREATED = Created()


class _Token(NamedTuple):
    digest: bytes
    now: Instant


class _NewClock(NamedTuple):
    clock: Clock
    owner: bytes
    schedule: bytes
    min_live_key: bytes
    quota: Quota


class _Advance(NamedTuple):
    key: bytes
    owner: bytes
    to: Instant
    with_schedule: bool = True


class PostgresStore:
    """See `storage.store.Store` for what each method promises."""

    def __init__(self, connections: Connections, address_turns: int = 4) -> None:
        self._connections = connections
        self._probe = WriteProbe(lambda: connections.fetch(statements.PROBE))
        self._address_turns = asyncio.Semaphore(address_turns)
        self._tokens = Batcher(self._users_of_tokens, group_key=lambda _: None, rolled_back_on=PostgresError)
        self._new_clocks = Batcher(
            self._keep_clocks,
            group_key=lambda new: (slot_of(new.clock.key), new.quota),
            size=lambda new: len(new.schedule),
            rolled_back_on=PostgresError,
        )
        self._advances = Batcher(
            self._advance_clocks,
            group_key=lambda advance: (slot_of(advance.key), advance.with_schedule),
            conflict_key=lambda advance: advance.key,
            rolled_back_on=PostgresError,
        )

    @classmethod
    async def open(cls, url: str, most_connections: int) -> "PostgresStore":
        """Connect, and bring the schema up to date; SettingError when the database cannot be used."""
        connections = Connections(url, most_connections)
        await connections.open()
        # Whoever waits for the turn of an address holds a connection; the others are for those who do not.
        return cls(connections, max(1, most_connections // 2))

    async def close(self) -> None:
        for gatherer in (self._tokens, self._new_clocks, self._advances):
            await gatherer.close()
        await self._probe.close()
        await self._connections.close()

    async def ping(self) -> None:
        await self._probe.check()

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        row = await self._connections.fetch_row(
            "select share_key($1, $2, $3)", fingerprint, to_micros(now), to_micros(now - _KEY_NOTED_FOR)
        )
        shared: bool = row[0]
        return shared

    async def user_of_token(self, token_digest: bytes, now: Instant) -> bytes | None:
        return await self._tokens.submit(_Token(token_digest, now))

    async def _users_of_tokens(self, tokens: Sequence[_Token]) -> list[bytes | None]:
        digests = [token.digest for token in tokens]
        instants = [to_micros(token.now) for token in tokens]
        rows = await self._connections.fetch(statements.USERS_OF_TOKENS, digests, instants, only_reads=True)
        found = {place: user_key.bytes for place, user_key in rows}
        return [found.get(place) for place in range(1, len(tokens) + 1)]

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        return await self._new_clocks.submit(_NewClock(clock, owner, schedule, min_live_key, quota))

    async def _keep_clocks(self, fresh: Sequence[_NewClock]) -> list[Created | QuotaExceeded]:
        clocks = [new.clock for new in fresh]
        rows = await self._connections.fetch(
            statements.KEEP_CLOCKS,
            slot_of(clocks[0].key),
            [UUID(clock.key) for clock in clocks],
            [UUID(new.owner) for new in fresh],
            [to_micros(clock.start_time) for clock in clocks],
            [to_micros(clock.frozen_time) for clock in clocks],
            [to_micros(clock.max_time) for clock in clocks],
            [new.schedule for new in fresh],
            [UUID(new.min_live_key) for new in fresh],
            fresh[0].quota.clocks,
            fresh[0].quota.bytes,
        )
        refused = {place: QuotaExceeded(limit, oldest.bytes) for place, limit, oldest in rows}
        return [refused.get(place, _CREATED) for place in range(1, len(fresh) + 1)]

    async def create_clock_once(
        self, once: IdempotencyRecord, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> ExistingClock | Created | QuotaExceeded:
        row = await self._fetch_in_turn(
            statements.CREATE_ONCE,
            once.digest,
            once.params,
            slot_of(clock.key),
            UUID(clock.key),
            UUID(owner),
            to_micros(clock.start_time),
            to_micros(clock.frozen_time),
            to_micros(clock.max_time),
            schedule,
            UUID(min_live_key),
            quota.clocks,
            quota.bytes,
        )
        limit, oldest, *earlier = row
        if earlier[0] is not None:
            return _earlier(*earlier)
        return QuotaExceeded(limit, oldest.bytes) if limit else _CREATED

    async def find_creation(self, digest: bytes, owner: bytes, min_live_key: bytes) -> ExistingClock | None:
        values = (digest, UUID(owner), UUID(min_live_key))
        # It writes what is there already, so it may be repeated like a read.
        rows = await self._connections.fetch("select * from find_creation($1, $2, $3)", *values, only_reads=True)
        return _earlier(*rows[0]) if rows else None

    async def find_clock(self, key: bytes, owner: bytes, *, with_schedule: bool = True) -> StoredClock | None:
        by_slot = statements.FIND_WHOLE_CLOCK if with_schedule else statements.FIND_CLOCK
        rows = await self._connections.fetch(by_slot[slot_of(key)], UUID(key), UUID(owner), only_reads=True)
        return _kept(key, *rows[0]) if rows else None

    async def list_clocks(self, owner: bytes, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        rows = await self._connections.fetch(
            statements.LIST_CLOCKS, UUID(owner), UUID(min_live_key), UUID(before or _AFTER_ALL), limit, only_reads=True
        )
        return [_kept(key.bytes, *instants).clock for key, *instants in rows]

    async def delete_clock(self, key: bytes, owner: bytes) -> bool:
        row = await self._connections.fetch_row(statements.DELETE_CLOCK[slot_of(key)], UUID(key), UUID(owner))
        deleted: bool = row[0]
        return deleted

    async def advance_clock(
        self, key: bytes, owner: bytes, to: Instant, *, with_schedule: bool = True
    ) -> StoredClock | None:
        return await self._advances.submit(_Advance(key, owner, to, with_schedule))

    async def _advance_clocks(self, advances: Sequence[_Advance]) -> list[StoredClock | None]:
        in_order = sorted(advances)
        by_slot = statements.ADVANCE_CLOCKS if advances[0].with_schedule else statements.MOVE_CLOCKS
        rows = await self._connections.fetch(
            by_slot[slot_of(advances[0].key)],
            [UUID(advance.key) for advance in in_order],
            [UUID(advance.owner) for advance in in_order],
            [to_micros(advance.to) for advance in in_order],
        )
        found = {key.bytes: _kept(key.bytes, *kept) for key, *kept in rows}
        return [found.get(advance.key) for advance in advances]

    async def claim_send(self, send: Send, limits: Limits) -> Claimed | TooSoon:
        row = await self._fetch_in_turn(
            "select * from claim_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            send.digest,
            send.email,
            send.kind,
            to_micros(send.sent_at),
            to_micros(send.expires_at),
            send.network,
            to_micros(send.sent_at - limits.resend_interval),
            to_micros(send.sent_at - HOUR),
            # Sends that run side by side may come out of order. Later than that, the wall clock was set back since.
            to_micros(send.sent_at + _OUT_OF_ORDER),
            limits.sends_an_hour,
            limits.sends_an_hour_from_one_network,
            limits.failures_in_a_row,
        )
        if row["held_since"] is None:
            return Claimed(codes_stopped=row["codes_stopped"])
        interval = limits.resend_interval if row["by_last_letter"] else HOUR
        return TooSoon(from_micros(row["held_since"]), interval, row["by_last_letter"])

    async def undo_send(self, send: Send) -> None:
        await self._fetch_in_turn("select undo_send($1, $2)", send.digest, send.email)

    async def free_slot(self, send: Send) -> None:
        await self._connections.fetch("update login_sends set holds_slot = false where digest = $1", send.digest)

    async def count_try(self, email: str, limits: Limits, now: Instant) -> Try | None:
        row = await self._fetch_in_turn(
            "select * from count_try($1, $2, $3, $4)",
            email,
            to_micros(now),
            limits.code_tries,
            limits.failures_in_a_row,
        )
        return None if row["code"] is None else Try(row["code"], from_micros(row["code_sent_at"]))

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        return await self._redeem("select redeem_code($1, $2, $3, $4, $5, $6)", code_digest, email, session=session)

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        return await self._redeem("select redeem_link($1, $2, $3, $4, $5)", link_digest, session=session)

    async def _redeem(self, statement: str, *secret: object, session: NewSession) -> bytes | None:
        row = await self._fetch_in_turn(
            statement,
            *secret,
            UUID(session.user_key),
            session.token_digest,
            to_micros(session.created_at),
            to_micros(session.expires_at),
        )
        user_key: Any = row[0]
        return user_key.bytes if user_key else None

    async def _fetch_in_turn(self, statement: str, *values: object) -> Any:
        """The row of a statement that may have to wait for the turn of its address."""
        try:
            async with asyncio.timeout(_TURN_SECONDS):
                await self._address_turns.acquire()
        except TimeoutError:
            raise unavailable("The server has more to do than it can; try again in a moment.") from None
        try:
            return await self._connections.fetch_row(statement, *values)
        finally:
            self._address_turns.release()

    async def revoke_token(self, token_digest: bytes) -> None:
        await self._connections.fetch("delete from tokens where digest = $1", token_digest)

    async def sweep(self, now: Instant, limit: int) -> int:
        row = await self._connections.fetch_row(
            "select sweep($1, $2, $3, $4, $5) + sweep_creations($1, $5)",
            UUID(first_live_key(now)),
            UUID(first_live_key(now - _DAY)),
            to_micros(now),
            to_micros(now - HOUR),
            limit,
        )
        swept: int = row[0]
        return swept


def _earlier(params: bytes, key: UUID, *kept: Any) -> ExistingClock:
    return ExistingClock(params, _kept(key.bytes, *kept))


def _kept(key: bytes, start: int, standing: int, latest: int, schedule: bytes = b"") -> StoredClock:
    return StoredClock(Clock(key, from_micros(start), from_micros(standing), from_micros(latest)), schedule)


def slot_of(key: bytes) -> int:
    return day_of_birth(key) % statements.SLOTS
