"""The PostgreSQL store: concurrent calls of the hot path share a round trip. Others are rules."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from asyncpg import PostgresError
from msgspec import Struct
from msgspec.structs import replace

from tickover.api.errors import Rejection, unauthenticated
from tickover.api.timestamps import Instant, to_micros
from tickover.server.schedule.clock import Clock
from tickover.server.sign_in.resend_limits import HOUR
from tickover.server.storage import statements
from tickover.server.storage.base_store import BaseStore, sweeps
from tickover.server.storage.postgres.batcher import Batcher
from tickover.server.storage.postgres.creations import CreationRunner
from tickover.server.storage.postgres.database import Database
from tickover.server.storage.postgres.rules import RuleRunner
from tickover.server.storage.postgres.statements import ADVANCE_CLOCKS, ADVANCE_CLOCKS_WITH_SCHEDULES
from tickover.server.storage.rows import owner_values, stored_clock, token_of
from tickover.server.storage.rules import clock_rules as clocks
from tickover.server.storage.rules import server_key_rules as server_keys
from tickover.server.storage.rules.clock_rules import NewClock
from tickover.server.storage.rules.steps import Rule, owner_lock
from tickover.server.storage.statements import Statement
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    Load,
    Owner,
    Quota,
    QuotaExceeded,
    StoredClock,
    Token,
    user_of,
)
from tickover.server.storage.write_probe import WriteProbe

_Outcome = TypeVar("_Outcome")
_CreationOutcome = Created | ExistingClock | QuotaExceeded | None


class _TokenLookup(NamedTuple):
    digest: bytes
    now: Instant


class _Creation(Struct, eq=False):
    new: NewClock
    owner: Owner
    quota: Quota


class _Advance(NamedTuple):
    key: bytes
    owner: Owner
    to: Instant
    known_revision: int | None = None


class PostgresStore(BaseStore):
    """Implements `storage.store.Store`."""

    def __init__(self, database: Database, max_concurrent_rules: int = 4) -> None:
        self._database = database
        self._probe = WriteProbe(lambda: self._change(statements.PROBE))
        self._rules = RuleRunner(database, max_concurrent_rules)
        self._tokens = Batcher(self._find_tokens, group_key=lambda _: None)
        self._creation_rules = CreationRunner(self._rules)
        self._creations = Batcher(
            self._create_clocks,
            group_key=lambda each: (each.quota.clocks, each.quota.bytes),
            # Of concurrent calls with the same idempotency key, the later ones find the clock of the first one.
            conflict_key=lambda each: each.new.record.key_digest if each.new.record else id(each),
            size=lambda each: len(each.new.schedule),
        )
        self._advances = Batcher(
            self._advance_clocks,
            group_key=lambda advance: advance.known_revision is None,
            conflict_key=lambda advance: advance.key,
        )

    @classmethod
    async def open(cls, url: str, max_connections: int) -> "PostgresStore":
        """Connect, and bring the schema up to date. See `Database.open` for errors."""
        database = Database(url, max_connections)
        await database.open()
        # Statements of rules may wait for other servers. Half of the connections stay free for other calls.
        return cls(database, max(1, max_connections // 2))

    async def close(self) -> None:
        for batcher in (self._tokens, self._creations, self._advances):
            await batcher.close()
        await self._probe.close()
        await self._database.close()

    def load(self) -> Load:
        batchers = (self._tokens, self._creations, self._advances)
        return Load(sum(batcher.waiting_calls for batcher in batchers), *self._database.usage())

    async def _run(self, rule: Callable[[], Rule[_Outcome]], *, size: int = 0) -> _Outcome:
        return await self._rules.run(rule)

    async def _read(self, statement: Statement, *values: object) -> list[Any]:
        return await self._database.fetch(statement.postgres, *values, is_repeatable=True)

    async def _change(self, statement: Statement, *values: object, is_repeatable: bool = False) -> list[Any]:
        return await self._database.fetch(statement.postgres, *values, is_repeatable=is_repeatable)

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        return await self._run(lambda: server_keys.share_key(fingerprint, now))

    async def find_token(self, digest: bytes, now: Instant) -> Token | None:
        return await self._tokens.submit(_TokenLookup(digest, now))

    async def _find_tokens(self, lookups: Sequence[_TokenLookup]) -> list[Token | None]:
        digests = [lookup.digest for lookup in lookups]
        instants = [to_micros(lookup.now) for lookup in lookups]
        rows = await self._read(statements.FIND_TOKEN, digests, instants)
        found = {position: token_of(digests[position - 1], *columns) for position, *columns in rows}
        return [found.get(position) for position in range(1, len(lookups) + 1)]

    async def find_creation(self, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
        found = await super().find_creation(digest, owner, min_live_key)
        if found is not None:
            # The commit waits for synchronous standbys, which may lack the clock.
            await self._change(statements.TOUCH_CREATION, digest, is_repeatable=True)
        return found

    async def create_clock(
        self, clock: Clock, owner: Owner, schedule: bytes, quota: Quota, record: IdempotencyRecord | None = None
    ) -> Created | ExistingClock | QuotaExceeded:
        outcome = await self._creations.submit(_Creation(NewClock(clock, schedule, record), owner, quota))
        if outcome is None:
            raise unauthenticated()
        return outcome

    async def _create_clocks(self, creations: Sequence[_Creation]) -> Sequence[_CreationOutcome | Exception]:
        """Create the clocks of each owner in order. The result is None for an owner whose token was revoked."""
        outcomes: dict[_Creation, _CreationOutcome | Exception] = {}
        groups: dict[Owner, list[_Creation]] = {}
        for each in creations:
            groups.setdefault(each.owner, []).append(each)
        try:
            while groups:
                # An owner with several tokens has several groups, which share a lock.
                batch = {owner_lock(user_of(owner)).name: owner for owner in groups}
                await self._create_groups({name: groups.pop(owner) for name, owner in batch.items()}, outcomes)
        except (Rejection, PostgresError) as failure:
            if not outcomes:
                raise
            # What has been created stays, so only the others fail.
            return [outcomes.get(each, failure) for each in creations]
        return [outcomes[each] for each in creations]

    async def _create_groups(
        self, groups: Mapping[str, Sequence[_Creation]], outcomes: dict[_Creation, _CreationOutcome | Exception]
    ) -> None:
        """Create the clocks of one group for each owner, by the names of their locks."""
        rules = {name: partial(_create_in_order, group) for name, group in groups.items()}
        found: dict[str, list[_CreationOutcome] | None] = {}
        try:
            await self._creation_rules.run(rules, found)
        finally:
            for name, created in found.items():
                group = groups[name]
                outcomes.update(zip(group, created or [None] * len(group), strict=True))

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        while (moved := await self._advances.submit(_Advance(key, owner, to, known_revision))) is None:
            if await self.find_clock(key, owner, known_revision=known_revision) is None:
                return None
            known_revision = None
        return moved

    async def _advance_clocks(self, advances: Sequence[_Advance]) -> list[StoredClock | None]:
        in_order = sorted(advances, key=lambda advance: advance.key)
        needs_schedules = advances[0].known_revision is None
        owners = [owner_values(advance.owner) for advance in in_order]
        rows = await self._database.fetch(
            ADVANCE_CLOCKS_WITH_SCHEDULES if needs_schedules else ADVANCE_CLOCKS,
            [user for user, _ in owners],
            [digest for _, digest in owners],
            [advance.key for advance in in_order],
            [to_micros(advance.to) for advance in in_order],
            [advance.known_revision for advance in in_order],
        )
        found = {key: stored_clock(key, *columns) for key, *columns in rows}
        return [found.get(advance.key) for advance in advances]

    async def sweep(self, now: Instant, limit: int) -> int:
        swept = 0
        for statement, value in sweeps(now):
            swept += len(await self._change(statement, value, limit))
        # Not counted, because they are no data. There may be many, one for each address that someone tried.
        await self._change(statements.SWEEP_LOCKS, to_micros(now - HOUR), 50 * limit)
        return swept


def _create_in_order(
    creations: Sequence[_Creation],
) -> Rule[list[Created | ExistingClock | QuotaExceeded] | None]:
    """Return the rule for clocks of one owner."""
    owner, quota = creations[0].owner, creations[0].quota
    # The greatest value, so that a rejected owner has a live clock.
    quota = replace(quota, min_live_key=max(each.quota.min_live_key for each in creations))
    return clocks.create_clocks(owner, [each.new for each in creations], quota)
