"""The methods that both stores have alike: rules, and statements with the same values and columns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

from msgspec import json
from msgspec.structs import astuple

from tickover.api.connections import BankProtocol, ConnectionCall
from tickover.api.errors import unauthenticated
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, to_micros
from tickover.server.schedule.clock import Clock
from tickover.server.sign_in.login_emails import CountedAttempt, LoginEmail
from tickover.server.sign_in.resend_limits import HOUR, EmailRecorded, SendLimits, TooSoon
from tickover.server.storage import rows, statements
from tickover.server.storage.rows import MAX_KEY, owner_values
from tickover.server.storage.rules import clock_rules as clocks
from tickover.server.storage.rules import connection_rules as connections
from tickover.server.storage.rules import login_rules as logins
from tickover.server.storage.rules import token_rules as tokens
from tickover.server.storage.rules.steps import Rule
from tickover.server.storage.statements import Statement
from tickover.server.storage.store import (
    Amended,
    Amendment,
    ClockScan,
    ClockSearch,
    Conflict,
    ConnectedClock,
    Created,
    ExistingClock,
    IdempotencyRecord,
    LeasedWebhook,
    Moved,
    NameChanges,
    NewSession,
    OwedWebhook,
    Owner,
    Quota,
    QuotaExceeded,
    Repair,
    StoredAccessToken,
    StoredClock,
    StoredConnection,
    StoredLinkToken,
    Token,
    TooManyConnections,
    TooManyLinkTokens,
    TooManyTokens,
    WebhookProgress,
)
from tickover.server.storage.write_probe import WriteProbe

_Outcome = TypeVar("_Outcome")
_DELETED_AT_ONCE: Final = 100
"""Clocks that are deleted with a user in one transaction, so that other calls don't wait for long."""
_NEVER: Final = 2**62


class BaseStore(ABC):
    """Implements a part of `storage.store.Store`."""

    _probe: WriteProbe

    @abstractmethod
    async def _run(self, rule: Callable[[], Rule[_Outcome]], *, size: int = 0) -> _Outcome:
        """Execute a rule, and return its outcome. `size` is the number of bytes that it may write."""

    @abstractmethod
    async def _read(self, statement: Statement, *values: object) -> list[Any]:
        """Return the rows of a statement. It changes nothing that a caller can see."""

    @abstractmethod
    async def _change(self, statement: Statement, *values: object, is_repeatable: bool = False) -> list[Any]:
        """Run a statement that changes rows, and return those that it returns."""

    async def _read_list(self, statement: Statement, *values: object) -> list[Any]:
        """Return the rows of an owner's list. Raise UNAUTHENTICATED if the owner's token was revoked."""
        found = await self._read(statement, *values)
        if found and found[-1][0] is None:
            raise unauthenticated()
        return found

    async def ping(self) -> None:
        await self._probe.check()

    async def find_email(self, token_digest: bytes) -> str | None:
        found = await self._read(statements.FIND_EMAIL, token_digest)
        return found[0][0] if found else None

    async def find_or_create_user(self, email: str, new_key: bytes, now: Instant) -> bytes:
        return await self._run(lambda: logins.find_or_create_user(email, new_key, now))

    async def record_email(self, email: LoginEmail, limits: SendLimits) -> EmailRecorded | TooSoon:
        return await self._run(lambda: logins.record_email(email, limits))

    async def delete_email(self, email: LoginEmail) -> None:
        await self._run(lambda: logins.delete_email(email))

    async def allow_resend(self, email: LoginEmail) -> None:
        await self._change(statements.ALLOW_RESEND, email.digest)

    async def count_attempt(self, email: str, limits: SendLimits, now: Instant) -> CountedAttempt | None:
        return await self._run(lambda: logins.count_attempt(email, limits, now))

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        return await self._run(lambda: logins.redeem_code(email, code_digest, session))

    async def redeem_link(
        self, link_digest: bytes, session: NewSession, is_allowed: Callable[[str], bool] = lambda _: True
    ) -> bytes | None:
        return await self._run(lambda: logins.redeem_link(link_digest, session, is_allowed))

    async def revoke_token(self, digest: bytes, *, allow_resend: bool = False, all_sessions: bool = False) -> bool:
        return await self._run(
            lambda: logins.revoke_token(digest, allow_resend=allow_resend, all_sessions=all_sessions)
        )

    async def delete_user(self, token_digest: bytes, now: Instant) -> bool:
        user = await self._run(lambda: logins.delete_user(token_digest, now))
        if user is None:
            return False
        while await self._run(lambda: clocks.delete_clocks_of_user(user, _DELETED_AT_ONCE)):
            pass
        return True

    async def find_clock(self, key: bytes, owner: Owner, *, known_revision: int | None = None) -> StoredClock | None:
        found = await self._read(statements.FIND_CLOCK, *owner_values(owner), key, known_revision)
        return rows.stored_clock(key, *found[0]) if found else None

    async def find_creation(self, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
        found = await self._read(statements.FIND_CREATION, *owner_values(owner), digest, min_live_key)
        return rows.existing_clock(*found[0]) if found else None

    async def update_clock(
        self, key: bytes, owner: Owner, changes: NameChanges, quota: Quota, *, known_revision: int | None = None
    ) -> StoredClock | QuotaExceeded | None:
        return await self._run(lambda: clocks.update_clock(key, owner, changes, quota, known_revision))

    async def amend_clock(
        self, key: bytes, owner: Owner, amendment: Amendment, quota: Quota
    ) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
        size = len(amendment.schedule)
        return await self._run(lambda: clocks.amend_clock(key, owner, amendment, quota), size=size)

    async def move_clock(
        self,
        key: bytes,
        owner: Owner,
        target: Callable[[Clock], Instant | None],
        quota: Quota,
        record: IdempotencyRecord | None = None,
        *,
        known_revision: int | None = None,
    ) -> Moved | ExistingClock | QuotaExceeded | None:
        return await self._run(lambda: clocks.move_clock(key, owner, target, quota, record, known_revision))

    async def delete_clock(self, key: bytes, owner: Owner) -> bool:
        return await self._run(lambda: clocks.delete_clock(key, owner))

    async def list_clocks(self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        page = *owner_values(owner), min_live_key, before or MAX_KEY, limit
        return [rows.stored_clock(*row).clock for row in await self._read_list(statements.LIST_CLOCKS, *page)]

    async def search_clocks(
        self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int, search: ClockSearch
    ) -> ClockScan:
        scan = *owner_values(owner), min_live_key, before or MAX_KEY, search.max_scanned
        members = json.encode(search.labels).decode()
        return rows.scan_of(await self._read_list(statements.SEARCH_CLOCKS, *scan, members, limit, search.name))

    async def record_token_use(self, digest: bytes, day: Instant) -> None:
        await self._change(statements.RECORD_TOKEN_USE, digest, to_micros(day), is_repeatable=True)

    async def list_access_tokens(self, owner: Owner, now: Instant) -> list[StoredAccessToken]:
        found = await self._read_list(statements.LIST_ACCESS_TOKENS, *owner_values(owner), to_micros(now))
        return [rows.access_token_of(*row) for row in found]

    async def revoke_access_token(self, key: bytes, owner: Owner, now: Instant) -> bool:
        return bool(await self._change(statements.REVOKE_ACCESS_TOKEN, *owner_values(owner), key, to_micros(now)))

    async def create_access_token(
        self, new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
    ) -> Created | TooManyTokens:
        outcome = await self._run(lambda: tokens.create_access_token(new, digest, owner, limit))
        if outcome is None:
            raise unauthenticated()
        return outcome

    async def create_connection(
        self, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
    ) -> Created | TooManyConnections | None:
        return await self._run(lambda: connections.create_connection(new, setup_digest, clock_key, owner, limit))

    async def list_connections(self, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
        return rows.connections_of(await self._read(statements.LIST_CONNECTIONS, *owner_values(owner), clock_key))

    async def delete_connection(self, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
        return await self._run(lambda: connections.delete_connection(key, clock_key, owner))

    async def update_connection(
        self, key: bytes, clock_key: bytes, owner: Owner, changes: Mapping[str, Any]
    ) -> StoredConnection | Literal[False] | None:
        return await self._run(lambda: connections.update_connection(key, clock_key, owner, changes))

    async def count_bank_call(self, key: bytes, account: str, now: Instant) -> bool | None:
        return await self._run(lambda: connections.count_bank_call(key, account, now))

    async def add_bank_calls(self, key: bytes, calls: Sequence[ConnectionCall], now: Instant) -> None:
        await self._run(lambda: connections.add_bank_calls(key, calls, now))

    async def list_bank_calls(
        self, key: bytes, clock_key: bytes, owner: Owner
    ) -> Sequence[ConnectionCall] | Literal[False] | None:
        found = await self._read(statements.LIST_LAST_CALLS, *owner_values(owner), clock_key, key)
        if not found:
            return None
        found_key, calls = found[0]
        return False if found_key is None else rows.decode_calls(calls)

    async def update_webhook(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, url: str | None
    ) -> bool:
        values = access_digest, protocol, min_live_key, url
        return bool(await self._change(statements.UPDATE_WEBHOOK, *values, is_repeatable=True))

    async def list_webhook_clocks(self, min_live_key: bytes) -> set[bytes]:
        return {key for (key,) in await self._read(statements.LIST_WEBHOOK_CLOCKS, min_live_key)}

    async def list_owed_webhooks(
        self,
        now: Instant,
        lease_time: Instant,
        *,
        clock_key: bytes | None = None,
        min_live_key: bytes = b"",
        at_start: bool = False,
    ) -> list[OwedWebhook]:
        statement = statements.LIST_OWED_WEBHOOKS if clock_key is None else statements.LIST_OWED_WEBHOOKS_OF_CLOCK
        latest = _NEVER if at_start else to_micros(now)
        found = await self._read(statement, clock_key or min_live_key, to_micros(lease_time), latest)
        return [OwedWebhook(*row) for row in found]

    async def lease_webhook(self, key: bytes, now: Instant, until: Instant) -> LeasedWebhook | None:
        leased = await self._change(statements.LEASE_WEBHOOK, key, to_micros(now), to_micros(until))
        return LeasedWebhook(*leased[0]) if leased else None

    async def end_webhook_lease(self, key: bytes, until: Instant, progress: WebhookProgress) -> bool:
        values = astuple(progress)
        return bool(await self._change(statements.END_WEBHOOK_LEASE, key, to_micros(until), *values))

    async def claim_connection(
        self, setup_digest: bytes, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes
    ) -> bytes | None:
        values = setup_digest, access_digest, protocol, min_live_key
        claimed = await self._change(statements.CLAIM_CONNECTION, *values)
        return claimed[0][0] if claimed else None

    async def find_connection(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, *, known_revision: int | None = None
    ) -> ConnectedClock | None:
        found = await self._read(statements.FIND_CONNECTION, access_digest, protocol, min_live_key, known_revision)
        return rows.connected_clock(*found[0]) if found else None

    async def require_login(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        values = access_digest, protocol, min_live_key
        return bool(await self._change(statements.REQUIRE_LOGIN, *values, is_repeatable=True))

    async def end_connection(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        return bool(await self._change(statements.END_CONNECTION, access_digest, protocol, min_live_key))

    async def find_institution(self, key: bytes, min_live_key: bytes) -> str | None:
        found = await self._read(statements.FIND_INSTITUTION, key, min_live_key)
        return found[0][0] if found else None

    async def repair_login(
        self, access_digest: bytes, setup_digest: bytes, owner: Owner, min_live_key: bytes, repair: Repair
    ) -> bool:
        digests = access_digest, setup_digest
        return await self._run(lambda: connections.repair_login(*digests, owner, min_live_key, repair))

    async def create_link_token(
        self, new: StoredLinkToken, digest: bytes, token: Token, limit: int
    ) -> Created | TooManyLinkTokens:
        outcome = await self._run(lambda: tokens.create_link_token(new, digest, token, limit))
        if outcome is None:
            raise unauthenticated()
        return outcome

    async def find_link_token(self, digest: bytes, now: Instant) -> tuple[StoredLinkToken, Token] | None:
        found = await self._read(statements.FIND_LINK_TOKEN, digest, to_micros(now))
        return rows.link_token_of(*found[0]) if found else None


def sweeps(now: Instant) -> Iterator[tuple[Statement, object]]:
    """Yield the statements that delete expired rows, and their first value."""
    for statement in statements.SWEEPS_OF_CLOCKS:
        yield statement, first_live_key(now)
    yield statements.SWEEP_TOKENS, to_micros(now)
    yield statements.SWEEP_LINK_TOKENS, to_micros(now)
    # Emails count for the hourly limits for an hour.
    yield statements.SWEEP_SENDS, to_micros(now - HOUR)
