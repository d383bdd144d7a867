"""The PostgreSQL store: each method is one round trip, and concurrent calls share one.

Methods that need several statements call a function in the database; see schema.sql.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from asyncpg import PostgresError
from msgspec import UnsetType

from tickover.api.errors import unauthenticated
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.clocks import Clock
from tickover.server.sign_in.logins import HOUR, MAX_DISORDER, Claimed, CountedAttempt, Limits, LoginEmail, TooSoon
from tickover.server.storage.base_store import BaseStore
from tickover.server.storage.postgres import statements
from tickover.server.storage.postgres.batcher import Batcher
from tickover.server.storage.postgres.pool import Connections
from tickover.server.storage.postgres.statements import slot_of
from tickover.server.storage.rows import (
    AMENDMENT_BYTES,
    MAX_AMENDMENT_BYTES,
    connections_of,
    existing_clock,
    owner_values,
    stored_clock,
    token_of,
)
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    Created,
    ExistingClock,
    IdempotencyRecord,
    Load,
    NameChanges,
    NewSession,
    Owner,
    Quota,
    QuotaExceeded,
    StoredAccessToken,
    StoredClock,
    StoredConnection,
    Token,
    TooManyConnections,
    TooManyTokens,
    overloaded,
)
from tickover.server.storage.write_probe import WriteProbe

_DAY = timedelta(days=1)
_KEY_REGISTRATION_LIFETIME = timedelta(minutes=5)
_MAX_WAIT_SECONDS = 3.0


class _TokenLookup(NamedTuple):
    digest: bytes
    now: Instant


class _NewClock(NamedTuple):
    clock: Clock
    owner: Owner
    schedule: bytes
    quota: Quota


class _Advance(NamedTuple):
    key: bytes
    owner: Owner
    to: Instant
    known_revision: int | None = None


class _TokenRevoked(PostgresError):
    """A token of the batch was revoked. The batch changed nothing."""


class PostgresStore(BaseStore):
    """Implements `storage.store.Store`."""

    FIND_CREATION = statements.FIND_CREATION
    FIND_CONNECTION = statements.FIND_CONNECTION
    SEARCH_CLOCKS = statements.SEARCH_CLOCKS

    def __init__(self, connections: Connections, max_locking: int = 4) -> None:
        self._connections = connections
        self._probe = WriteProbe(lambda: connections.fetch(statements.PROBE))
        self._locking_calls = asyncio.Semaphore(max_locking)
        """Limits the calls that may wait for a lock of the database."""
        self._tokens = Batcher(self._find_tokens, group_key=lambda _: None)
        self._new_clocks = Batcher(
            self._create_clocks,
            group_key=lambda new: (slot_of(new.clock.key), new.quota.clocks, new.quota.bytes),
            size=lambda new: len(new.schedule),
        )
        self._advances = Batcher(
            self._advance_clocks,
            group_key=lambda advance: (slot_of(advance.key), advance.known_revision is None),
            conflict_key=lambda advance: advance.key,
        )

    @classmethod
    async def open(cls, url: str, max_connections: int) -> "PostgresStore":
        """Connect, and bring the schema up to date. See `Connections.open` for errors."""
        connections = Connections(url, max_connections)
        await connections.open()
        # Calls that wait for a lock occupy a connection. Half of the connections stay free for other calls.
        return cls(connections, max(1, max_connections // 2))

    async def close(self) -> None:
        for batcher in (self._tokens, self._new_clocks, self._advances):
            await batcher.close()
        await self._probe.close()
        await self._connections.close()

    def load(self) -> Load:
        batchers = (self._tokens, self._new_clocks, self._advances)
        return Load(sum(batcher.waiting_calls for batcher in batchers), *self._connections.usage())

    async def _read(self, statement: str, *values: object) -> list[Any]:
        return await self._connections.fetch(statement, *values, is_repeatable=True)

    async def _change(self, statement: str, *values: object, is_repeatable: bool = False) -> list[Any]:
        return await self._connections.fetch(statement, *values, is_repeatable=is_repeatable)

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        values = fingerprint, to_micros(now), to_micros(now - _KEY_REGISTRATION_LIFETIME)
        return bool(await self._connections.fetch_value("select share_key($1, $2, $3)", *values))

    async def find_token(self, digest: bytes, now: Instant) -> Token | None:
        return await self._tokens.submit(_TokenLookup(digest, now))

    async def _find_tokens(self, lookups: Sequence[_TokenLookup]) -> list[Token | None]:
        digests = [lookup.digest for lookup in lookups]
        instants = [to_micros(lookup.now) for lookup in lookups]
        rows = await self._read(statements.FIND_TOKENS, digests, instants)
        found = {position: token_of(digests[position - 1], user, *columns) for position, user, *columns in rows}
        return [found.get(position) for position in range(1, len(lookups) + 1)]

    async def create_clock(
        self, clock: Clock, owner: Owner, schedule: bytes, quota: Quota, record: IdempotencyRecord | None = None
    ) -> Created | ExistingClock | QuotaExceeded:
        new = _NewClock(clock, owner, schedule, quota)
        if record is not None:
            return await self._create_clock_once(new, record)
        try:
            return await self._new_clocks.submit(new)
        except _TokenRevoked:
            raise unauthenticated() from None

    async def _create_clocks(self, new_clocks: Sequence[_NewClock]) -> list[Created | QuotaExceeded]:
        clocks = [new.clock for new in new_clocks]
        rows = await self._connections.fetch(
            statements.CREATE_CLOCKS,
            *_owner_lists(new_clocks),
            slot_of(clocks[0].key),
            [clock.key for clock in clocks],
            [to_micros(clock.start_time) for clock in clocks],
            [to_micros(clock.frozen_time) for clock in clocks],
            [to_micros(clock.max_time) for clock in clocks],
            [new.schedule for new in new_clocks],
            [clock.name for clock in clocks],
            [clock.labels for clock in clocks],
            [new.quota.min_live_key for new in new_clocks],
            new_clocks[0].quota.clocks,
            new_clocks[0].quota.bytes,
        )
        if any(oldest is None for *_, oldest in rows):
            raise _TokenRevoked
        rejected = {position: QuotaExceeded(limit, oldest) for position, limit, oldest in rows}
        return [rejected.get(position, Created()) for position in range(1, len(new_clocks) + 1)]

    async def _create_clock_once(
        self, new: _NewClock, record: IdempotencyRecord
    ) -> Created | ExistingClock | QuotaExceeded:
        clock = new.clock
        rows = await self._fetch_with_lock(
            statements.CREATE_CLOCK_ONCE,
            *owner_values(new.owner),
            record.key_digest,
            record.params_digest,
            slot_of(clock.key),
            clock.key,
            to_micros(clock.start_time),
            to_micros(clock.frozen_time),
            to_micros(clock.max_time),
            new.schedule,
            clock.name,
            clock.labels,
            new.quota.min_live_key,
            new.quota.clocks,
            new.quota.bytes,
        )
        if not rows:
            raise unauthenticated()
        limit, oldest, *existing = rows[0]
        if existing[0] is not None:
            return existing_clock(*existing)
        return QuotaExceeded(limit, oldest) if limit else Created()

    async def find_clock(self, key: bytes, owner: Owner, *, known_revision: int | None = None) -> StoredClock | None:
        rows = await self._read(statements.FIND_CLOCK[slot_of(key)], *owner_values(owner), key, known_revision)
        return stored_clock(key, *rows[0]) if rows else None

    async def update_clock(
        self, key: bytes, owner: Owner, changes: NameChanges, quota: Quota, *, known_revision: int | None = None
    ) -> StoredClock | QuotaExceeded | None:
        values = (*owner_values(owner), slot_of(key), key, *_name_values(changes))
        limits = known_revision, quota.min_live_key, quota.bytes
        [(outcome, oldest, *columns)] = await self._fetch_with_lock(statements.UPDATE_CLOCK, *values, *limits)
        if outcome is None:
            return None
        return stored_clock(key, *columns) if oldest is None else QuotaExceeded("bytes", oldest)

    async def amend_clock(
        self, key: bytes, owner: Owner, amendment: Amendment, quota: Quota
    ) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
        record = amendment.record
        [(outcome, oldest, *columns)] = await self._fetch_with_lock(
            statements.AMEND_CLOCK,
            *owner_values(owner),
            slot_of(key),
            key,
            amendment.revision,
            to_micros(amendment.valid_until),
            amendment.schedule,
            *_name_values(amendment.names),
            record and record.key_digest,
            record and record.params_digest,
            quota.min_live_key,
            quota.bytes,
            AMENDMENT_BYTES,
            MAX_AMENDMENT_BYTES,
        )
        if outcome is None:
            return None
        if outcome == "quota":
            return QuotaExceeded("bytes", oldest)
        existing = existing_clock(*columns)
        if outcome == "existing":
            return existing
        return Amended(existing.stored.clock) if outcome == "amended" else Conflict(existing.stored)

    async def delete_clock(self, key: bytes, owner: Owner) -> bool:
        statement = statements.DELETE_CLOCK[slot_of(key)]
        return bool(await self._connections.fetch_value(statement, *owner_values(owner), key))

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        while (moved := await self._advances.submit(_Advance(key, owner, to, known_revision))) is None:
            if await self.find_clock(key, owner, known_revision=known_revision) is None:
                return None
            known_revision = None
        return moved

    async def _advance_clocks(self, advances: Sequence[_Advance]) -> list[StoredClock | None]:
        in_order = sorted(advances)
        needs_schedules = advances[0].known_revision is None
        by_slot = statements.ADVANCE_CLOCKS_WITH_SCHEDULES if needs_schedules else statements.ADVANCE_CLOCKS
        rows = await self._connections.fetch(
            by_slot[slot_of(advances[0].key)],
            *_owner_lists(in_order),
            [advance.key for advance in in_order],
            [to_micros(advance.to) for advance in in_order],
            [advance.known_revision for advance in in_order],
        )
        found = {key: stored_clock(key, *columns) for key, *columns in rows}
        return [found.get(advance.key) for advance in advances]

    async def claim_send(self, send: LoginEmail, limits: Limits) -> Claimed | TooSoon:
        [row] = await self._fetch_with_lock(
            "select * from claim_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            send.digest,
            send.email,
            send.kind,
            send.is_mailed,
            to_micros(send.sent_at),
            to_micros(send.expires_at),
            send.network,
            to_micros(send.sent_at - limits.resend_interval),
            to_micros(send.sent_at - HOUR),
            to_micros(send.sent_at + MAX_DISORDER),
            limits.sends_an_hour,
            limits.sends_an_hour_from_one_network,
            limits.failures_in_a_row,
        )
        if row["held_since"] is None:
            return Claimed(codes_stopped=row["codes_stopped"])
        interval = limits.resend_interval if row["by_last_email"] else HOUR
        return TooSoon(from_micros(row["held_since"]), interval, row["by_last_email"])

    async def undo_send(self, send: LoginEmail) -> None:
        await self._fetch_with_lock("select undo_send($1, $2)", send.digest, send.email)

    async def count_attempt(self, email: str, limits: Limits, now: Instant) -> CountedAttempt | None:
        values = (email, to_micros(now), limits.code_tries, limits.failures_in_a_row)
        [row] = await self._fetch_with_lock("select * from count_try($1, $2, $3, $4)", *values)
        return None if row["code"] is None else CountedAttempt(row["code"], from_micros(row["code_sent_at"]))

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        statement = "select redeem_code($1, $2, $3, $4, $5, $6)"
        return await self._redeem(statement, code_digest, email, *_session_values(session))

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        return await self._redeem("select redeem_link($1, $2, $3, $4, $5)", link_digest, *_session_values(session))

    async def _redeem(self, statement: str, *values: object) -> bytes | None:
        [(user_key,)] = await self._fetch_with_lock(statement, *values)
        return bytes(user_key) if user_key else None

    async def _fetch_with_lock(self, statement: str, *values: object) -> list[Any]:
        """Run a statement that may wait for a lock, such as that of an email address. Return its rows."""
        try:
            async with asyncio.timeout(_MAX_WAIT_SECONDS):
                await self._locking_calls.acquire()
        except TimeoutError:
            raise overloaded()  # noqa: B904 - it has its own cause
        try:
            return await self._connections.fetch(statement, *values)
        finally:
            self._locking_calls.release()

    async def revoke_token(self, digest: bytes, *, allow_resend: bool = False) -> bool:
        return bool(await self._connections.fetch(statements.REVOKE_TOKEN, digest, allow_resend))

    async def create_access_token(
        self, new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
    ) -> Created | TooManyTokens:
        rows = await self._fetch_with_lock(
            statements.CREATE_ACCESS_TOKEN,
            *owner_values(owner),
            digest,
            new.key,
            new.name,
            new.read_only,
            to_micros(new.created_at),
            to_micros(new.expires_at),
            limit,
        )
        if not rows:
            raise unauthenticated()
        [(first_expires_at,)] = rows
        return Created() if first_expires_at is None else TooManyTokens(from_micros(first_expires_at))

    async def create_connection(
        self, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
    ) -> Created | TooManyConnections | None:
        clock = *owner_values(owner), slot_of(clock_key), clock_key
        columns = new.key, new.protocol, new.institution, to_micros(new.created_at), new.faults
        values = (*clock, *columns, setup_digest, limit)
        [(outcome,)] = await self._fetch_with_lock(statements.CREATE_CONNECTION, *values)
        return {"created": Created(), "too many": TooManyConnections(), None: None}[outcome]

    async def list_connections(self, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
        statement = statements.LIST_CONNECTIONS[slot_of(clock_key)]
        return connections_of(await self._read(statement, *owner_values(owner), clock_key))

    async def delete_connection(self, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
        statement = statements.DELETE_CONNECTION[slot_of(clock_key)]
        rows = await self._connections.fetch(statement, *owner_values(owner), clock_key, key)
        return rows[0][0] if rows else None

    async def sweep(self, now: Instant, limit: int) -> int:
        swept = await self._connections.fetch_value(
            "select sweep($1, $2, $3, $4, $5) + sweep_creations($1, $5) + sweep_connections($1, $5)",
            first_live_key(now),
            first_live_key(now - _DAY),
            to_micros(now),
            to_micros(now - HOUR),
            limit,
        )
        return int(swept)


def _owner_lists(calls: Sequence[_NewClock] | Sequence[_Advance]) -> tuple[list[bytes | None], list[bytes | None]]:
    values = [owner_values(call.owner) for call in calls]
    return [user for user, _ in values], [digest for _, digest in values]


def _name_values(changes: NameChanges) -> Sequence[object]:
    """Return whether there is a new name, the name, and the same for labels."""
    name, labels = [
        (False, None) if isinstance(change, UnsetType) else (True, change) for change in (changes.name, changes.labels)
    ]
    return *name, *labels


def _session_values(session: NewSession) -> Sequence[object]:
    instants = to_micros(session.created_at), to_micros(session.expires_at)
    return session.user_key, session.token_digest, *instants
