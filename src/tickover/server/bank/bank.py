"""The bank that connected programs read: connections, the clocks that they open, and faults."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.connections import BankFault, BankProtocol
from tickover.api.limits import CALL_COST
from tickover.api.timestamps import Instant
from tickover.server.bank.view import BankView, Row
from tickover.server.lru_cache import LruCache
from tickover.server.operations.access import Caller
from tickover.server.operations.connections import decode_faults
from tickover.server.operations.services import Services
from tickover.server.rpc.admission import Admission, User
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.schedule import Schedule
from tickover.server.sign_in import tokens
from tickover.server.storage.store import ConnectedClock, StoredConnection

_MAX_KNOWN_CONNECTIONS: Final = 10_000
_MAX_CACHED_BYTES: Final = 16_000_000
"""Enough for the largest clock, whose items have two rows each, and others beside it."""
_BYTES_PER_ROW: Final = 2_500
"""The approximate size of a row in a view, with its JSON."""
_ROWS_PER_STEP: Final = 250
_COST_PER_BYTE: Final = 10
"""As for operations that need a ledger."""


class BankRequest(Struct, frozen=True):
    """An HTTP request to the bank."""

    method: str
    path: str
    query: bytes
    headers: Mapping[bytes, bytes]
    body: bytes | None
    """None if it is too large."""
    now: Instant
    network: str
    request_id: str

    def with_path(self, path: str) -> "BankRequest":
        return replace(self, path=path)


class UnknownSecret(Exception):
    """The secret opens nothing, or not anymore."""


class CachedView:
    """The view of a schedule, and its rows as JSON by protocol."""

    def __init__(self, view: BankView) -> None:
        self.view = view
        self.encoded_rows: dict[BankProtocol, list[Raw]] = {}


class OpenClock(Struct, frozen=True):
    """A clock that a connection has opened."""

    connection: StoredConnection
    at: Instant
    schedule: Schedule
    cached: CachedView
    fault: BankFault | None
    """The failure that the bank simulates at this instant."""

    @property
    def view(self) -> BankView:
        return self.cached.view

    async def encode_rows(self, encode: Callable[[Row], bytes]) -> list[Raw]:
        """Return all rows as JSON of the connection's protocol. Other calls run in between."""
        protocol = self.connection.protocol
        encoded = self.cached.encoded_rows.get(protocol)
        if encoded is None:
            encoded = []
            for row in self.view.rows:
                encoded.append(Raw(encode(row)))
                if len(encoded) % _ROWS_PER_STEP == 0:
                    await asyncio.sleep(0)
            self.cached.encoded_rows[protocol] = encoded
        return encoded


class _KnownConnection(Struct, frozen=True):
    clock_key: bytes
    owner: bytes


class Bank:
    def __init__(self, services: Services, admission: Admission) -> None:
        self.services = services
        self._admission = admission
        self._known: LruCache[bytes, _KnownConnection] = LruCache(_MAX_KNOWN_CONNECTIONS)
        """By the digest of the access secret. What never changes, to admit the next call before it reads anything."""
        self._views: LruCache[tuple[bytes, int], CachedView] = LruCache(_MAX_CACHED_BYTES)
        """By the key and the revision of the clock, which have one schedule."""

    async def claim(self, setup_secret: str, access_secret: str, protocol: BankProtocol, request: BankRequest) -> bytes:
        """Replace the setup secret of a connection with its access secret. Return the connection's key."""
        self.services.access.check_client_limit(Caller(request.now, request.network))
        digests = tokens.digest(setup_secret), tokens.digest(access_secret)
        key = await self.services.store.claim_connection(*digests, protocol, ids.first_live_key(request.now))
        if key is None:
            raise UnknownSecret
        return key

    async def find_institution(self, key: bytes, request: BankRequest) -> str | None:
        """Return the institution of a connection, or None."""
        async with self._admission.turn(request.network, CALL_COST):
            return await self.services.store.find_institution(key, ids.first_live_key(request.now))

    @asynccontextmanager
    async def open(self, secret: str, protocol: BankProtocol, request: BankRequest) -> AsyncIterator[OpenClock]:
        """Open the clock of a connection, when its cost fits beside the other calls of its owner."""
        clocks, digest = self.services.clocks, tokens.digest(secret)
        known = self._known.get(digest)
        user: User = request.network
        key, size = None, 0
        if known is not None:
            user, key, size = known.owner, known.clock_key, clocks.size_of_key(known.clock_key)
        async with self._admission.turn(user, CALL_COST + _COST_PER_BYTE * size):
            min_live_key = ids.first_live_key(request.now)
            found = await clocks.find_connected(digest, protocol, min_live_key, key)
            if found is None:
                self._known.remove(digest)
                raise UnknownSecret
            connected, schedule = found
            clock = connected.stored.clock
            self._known.put(digest, _KnownConnection(clock.key, connected.owner), 1)
            cached = self._views.get((clock.key, clock.revision))
            if cached is None:
                ledger = (await self.services.ledgers.get(clock, schedule)).ledger
                cached = CachedView(BankView(ledger, clock.key))
                self._views.put((clock.key, clock.revision), cached, _BYTES_PER_ROW * (1 + len(cached.view.rows)))
            fault = _fault(connected, clock)
            yield OpenClock(connected.connection, clock.frozen_time, schedule, cached, fault)


def _fault(connected: ConnectedClock, clock: Clock) -> BankFault | None:
    """Return the first fault that holds. It begins with the clock at the earliest."""
    at = clock.frozen_time
    if connected.login_required:
        return BankFault("LOGIN_REQUIRED", at)
    faults = decode_faults(connected.connection.faults or "[]")
    found = next((fault for fault in faults if fault.holds(at)), None)
    return found and replace(found, from_=max(found.from_, clock.start_time))
