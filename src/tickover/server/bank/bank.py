"""The bank that connected programs read: connections, the clocks that they open, and faults."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.connections import BankFault, BankProtocol
from tickover.api.limits import CALL_COST
from tickover.api.timestamps import Instant
from tickover.server.http1.messages import Request
from tickover.server.lru_cache import LruCache
from tickover.server.operations.access import Caller
from tickover.server.operations.connect_test_clock import decode_faults
from tickover.server.operations.services import Services
from tickover.server.rpc.admission import Admission
from tickover.server.schedule.bank_view import BankView, Row
from tickover.server.schedule.clocks import Clock
from tickover.server.sign_in import tokens
from tickover.server.storage.store import ConnectedClock, StoredConnection

_MAX_KNOWN_CONNECTIONS: Final = 10_000
_MAX_CACHED_BYTES: Final = 16_000_000
"""Enough for the largest clock, whose items have two rows each, and others beside it."""
_BYTES_PER_ROW: Final = 1_800
"""The approximate size of a row as JSON."""
_ROWS_PER_STEP: Final = 250
_COST_PER_BYTE: Final = 10
"""As for operations that need a ledger."""


class BankRequest(Struct, frozen=True):
    """An HTTP request to the bank."""

    http: Request
    path: str
    """Without the prefix of the protocol."""
    now: Instant
    network: str
    request_id: str


class BankError(Exception):
    """An error that the protocol of the program has."""


class UnknownSecret(BankError):
    """The secret opens nothing, or not anymore."""


class OpenClock(Struct, frozen=True):
    """A clock that a connection has opened."""

    connection: StoredConnection
    clock: Clock
    at: Instant
    view: BankView
    fault: BankFault | None
    """The failure that the bank simulates at this instant."""


class Bank:
    def __init__(self, services: Services, admission: Admission) -> None:
        self.services = services
        self._admission = admission
        self._known: LruCache[bytes, tuple[bytes, bytes]] = LruCache(_MAX_KNOWN_CONNECTIONS)
        """The owner and key of the clock by the access secret's digest, to admit the next call before it reads them."""
        self._rows: LruCache[tuple[bytes, int, BankProtocol], list[Raw]] = LruCache(_MAX_CACHED_BYTES)
        """By the key and the revision of the clock, which have one schedule, and the protocol."""

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
        user, key = self._known.get(digest) or (request.network, None)
        size = clocks.size_of_key(key) if key else 0
        async with self._admission.turn(user, CALL_COST + _COST_PER_BYTE * size):
            min_live_key = ids.first_live_key(request.now)
            found = await clocks.find_connected(digest, protocol, min_live_key, key)
            if found is None:
                self._known.remove(digest)
                raise UnknownSecret
            connected, schedule = found
            clock = connected.stored.clock
            self._known.put(digest, (connected.owner, clock.key))
            view = (await self.services.ledgers.get(clock, schedule)).bank_view
            yield OpenClock(connected.connection, clock, clock.frozen_time, view, _fault(connected, clock))

    async def encode_rows(self, opened: OpenClock, encode: Callable[[Row], bytes]) -> list[Raw]:
        """Return all rows as JSON of the connection's protocol. Other calls run in between."""
        key = opened.clock.key, opened.clock.revision, opened.connection.protocol
        encoded = self._rows.get(key)
        if encoded is None:
            encoded = []
            for row in opened.view.rows:
                encoded.append(Raw(encode(row)))
                if len(encoded) % _ROWS_PER_STEP == 0:
                    await asyncio.sleep(0)
            self._rows.put(key, encoded, _BYTES_PER_ROW * len(encoded))
        return encoded


def _fault(connected: ConnectedClock, clock: Clock) -> BankFault | None:
    """Return the first fault that holds. It begins with the clock at the earliest."""
    at = clock.frozen_time
    if connected.login_required:
        return BankFault("LOGIN_REQUIRED", at)
    faults = decode_faults(connected.connection.faults or "[]")
    found = next((fault for fault in faults if fault.holds(at)), None)
    return found and replace(found, from_=max(found.from_, clock.start_time))
