"""The methods that both stores have alike. Most are one statement with the same values and columns."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from msgspec import json

from tickover.api.connections import BankProtocol
from tickover.api.errors import unauthenticated
from tickover.api.timestamps import Instant, to_micros
from tickover.server.schedule.clocks import Clock
from tickover.server.sign_in.logins import LoginEmail
from tickover.server.storage import rows, statements
from tickover.server.storage.rows import MAX_KEY, owner_values
from tickover.server.storage.store import (
    ClockScan,
    ConnectedClock,
    ExistingClock,
    LabelSearch,
    Owner,
    StoredAccessToken,
)
from tickover.server.storage.write_probe import WriteProbe


class BaseStore(ABC):
    """Implements a part of `storage.store.Store`."""

    FIND_CREATION: ClassVar[str]
    FIND_CONNECTION: ClassVar[str]
    SEARCH_CLOCKS: ClassVar[str]
    _probe: WriteProbe

    @abstractmethod
    async def _read(self, statement: str, *values: object) -> list[Any]:
        """Return the rows of a statement. It changes nothing that a caller can see."""

    @abstractmethod
    async def _change(self, statement: str, *values: object, is_repeatable: bool = False) -> list[Any]:
        """Run a statement that changes rows, and return those that it returns."""

    async def _read_list(self, statement: str, *values: object) -> list[Any]:
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
        values = new_key, email, to_micros(now)
        [(key,)] = await self._change(statements.FIND_OR_CREATE_USER, *values, is_repeatable=True)
        return bytes(key)

    async def allow_resend(self, send: LoginEmail) -> None:
        await self._change(statements.ALLOW_RESEND, send.digest)

    async def find_creation(self, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
        # PostgreSQL rewrites a row with the same values, so it can be repeated like a read.
        found = await self._read(self.FIND_CREATION, *owner_values(owner), digest, min_live_key)
        return rows.existing_clock(*found[0]) if found else None

    async def list_clocks(self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        page = *owner_values(owner), min_live_key, before or MAX_KEY, limit
        return [rows.stored_clock(*row).clock for row in await self._read_list(statements.LIST_CLOCKS, *page)]

    async def search_clocks(
        self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int, search: LabelSearch
    ) -> ClockScan:
        scan = *owner_values(owner), min_live_key, before or MAX_KEY, search.max_scanned
        members = json.encode(search.labels).decode()
        return rows.scan_of(await self._read_list(self.SEARCH_CLOCKS, *scan, members, limit))

    async def record_token_use(self, digest: bytes, day: Instant) -> None:
        await self._change(statements.RECORD_TOKEN_USE, digest, to_micros(day), is_repeatable=True)

    async def list_access_tokens(self, owner: Owner, now: Instant) -> list[StoredAccessToken]:
        found = await self._read_list(statements.LIST_ACCESS_TOKENS, *owner_values(owner), to_micros(now))
        return [rows.access_token_of(*row) for row in found]

    async def revoke_access_token(self, key: bytes, owner: Owner, now: Instant) -> bool:
        return bool(await self._change(statements.REVOKE_ACCESS_TOKEN, *owner_values(owner), key, to_micros(now)))

    async def claim_connection(
        self, setup_digest: bytes, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes
    ) -> bytes | None:
        values = setup_digest, access_digest, protocol, min_live_key
        claimed = await self._change(statements.CLAIM_CONNECTION, *values)
        return claimed[0][0] if claimed else None

    async def find_connection(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, *, known_revision: int | None = None
    ) -> ConnectedClock | None:
        found = await self._read(self.FIND_CONNECTION, access_digest, protocol, min_live_key, known_revision)
        return rows.connected_clock(*found[0]) if found else None

    async def require_login(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        values = access_digest, protocol, min_live_key
        return bool(await self._change(statements.REQUIRE_LOGIN, *values, is_repeatable=True))

    async def end_connection(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        return bool(await self._change(statements.END_CONNECTION, access_digest, protocol, min_live_key))

    async def find_institution(self, key: bytes, min_live_key: bytes) -> str | None:
        found = await self._read(statements.FIND_INSTITUTION, key, min_live_key)
        return found[0][0] if found else None
