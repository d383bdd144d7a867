"""The bank that connected programs read: connections, the clocks that they open, and faults."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.connections import BankFault, BankProtocol, Quirk
from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.http1.http_messages import Request
from tickover.server.lru_cache import LruCache
from tickover.server.operations.access import Caller
from tickover.server.operations.services import Services
from tickover.server.schedule.bank_changes import Shown
from tickover.server.schedule.bank_rows import BankConnection, Row
from tickover.server.schedule.bank_view import BankView
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.quirks import NO_QUIRKS, AppliedQuirks
from tickover.server.schedule.schedule import Schedule
from tickover.server.sign_in import tokens
from tickover.server.storage.store import ConnectedClock, StoredConnection
from tickover.server.webhook_calls import CallsInProgress

_MAX_KNOWN_CONNECTIONS: Final = 10_000
_MAX_CACHED_BYTES: Final = 20_000_000
"""Enough for the largest clock, whose items have two rows each, and others beside it."""
_BYTES_PER_ROW: Final = 1_800
"""The approximate size of a row as JSON."""


class Opened(Struct):
    """What a call has found."""

    connection_key: bytes | None = None
    clock_time: Instant = datetime.min.replace(tzinfo=UTC)
    rows: int | UnsetType = UNSET
    """The number of transactions in the response."""


class BankRequest(Struct, frozen=True):
    """An HTTP request to the bank."""

    http: Request
    prefix: str
    """That of the protocol, without slashes."""
    path: str
    """After the prefix."""
    now: Instant
    network: str
    request_id: str
    opened: Opened = field(default_factory=Opened)


class BankError(Rejection):
    """An error that the protocol of the program has."""

    def __init__(self, message: str, reason: Reason = Reason.INVALID_REQUEST) -> None:
        super().__init__(reason, message)


class UnknownSecret(BankError):
    """The secret opens nothing, or not anymore."""

    def __init__(self) -> None:
        super().__init__("The secret is unknown.", Reason.UNAUTHENTICATED)


class OpenClock(Struct, frozen=True):
    """A clock that a connection has opened."""

    connection: StoredConnection
    connected_at: Instant
    """The clock's time when it was connected."""
    quirks: AppliedQuirks
    clock: Clock
    schedule: Schedule
    at: Instant
    view: BankView
    consent_ends: Instant | None
    fault: BankFault | None
    """The failure that the bank simulates at this instant."""
    owner: bytes

    @property
    def institution_key(self) -> bytes:
        """The key of the connection, or of the clock if that is the institution itself."""
        return self.clock.key if self.connection.has_clock_institution else self.connection.key

    @property
    def shown(self) -> Shown:
        return Shown(self.view, self.view.state(self.at))


class Bank:
    def __init__(self, services: Services) -> None:
        self.services = services
        self.webhook_calls = CallsInProgress()
        self._clocks: LruCache[bytes, bytes] = LruCache(_MAX_KNOWN_CONNECTIONS)
        """The key of the clock, by the digest of an access secret that was valid before."""
        self._rows: LruCache[tuple[bytes, int, AppliedQuirks, BankProtocol], dict[int, Raw]] = LruCache(
            _MAX_CACHED_BYTES
        )
        """Encoded rows by their positions, for each view and protocol."""

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
        return await self.services.store.find_institution(key, ids.first_live_key(request.now))

    async def open(self, secret: str, protocol: BankProtocol, request: BankRequest) -> OpenClock:
        """Open the clock of a connection."""
        opened = await self.open_digest(tokens.digest(secret), protocol, request)
        request.opened.connection_key, request.opened.clock_time = opened.connection.key, opened.clock.frozen_time
        return opened

    async def open_digest(self, digest: bytes, protocol: BankProtocol, request: BankRequest) -> OpenClock:
        """Open the clock of a connection by the digest of its secret."""
        return await self.open_known(digest, protocol, request.now, self._clocks.get(digest))

    async def open_known(self, digest: bytes, protocol: BankProtocol, now: Instant, key: bytes | None) -> OpenClock:
        """Open the clock of a connection with this digest of its access secret. With the clock's key, it is faster."""
        found = await self.services.clocks.find_connected(digest, protocol, ids.first_live_key(now), key)
        if found is None:
            self._clocks.remove(digest)
            raise UnknownSecret
        connected, schedule = found
        clock = connected.stored.clock
        self._clocks.put(digest, clock.key)
        gate.identify(connected.owner)
        quirks = _applied_quirks(connected)
        view = await self.services.ledgers.bank_view(clock, schedule, quirks)
        return OpenClock(
            connected.connection,
            connected.connected_at,
            quirks,
            clock,
            schedule,
            clock.frozen_time,
            view,
            _consent_end(connected),
            _fault(connected, clock),
            connected.owner,
        )

    async def count_call(self, opened: OpenClock, request: BankRequest, account: str = "") -> bool:
        """Count a call for data that succeeds. Return False if it exceeds the limit of the connection."""
        connection = opened.connection
        if connection.settings.calls_per_day is UNSET:
            return True
        is_counted = await self.services.store.count_bank_call(connection.key, account, request.now)
        if is_counted is None:
            raise UnknownSecret
        return is_counted

    async def view_with(self, opened: OpenClock, names: Collection[Quirk]) -> BankView:
        """Return the view that the connection has with these quirks."""
        connection = BankConnection(opened.connection.key, opened.connected_at)
        quirks = AppliedQuirks.of(names, connection)
        return await self.services.ledgers.bank_view(opened.clock, opened.schedule, quirks)

    async def encode_rows(
        self, opened: OpenClock, positions: Sequence[int], encode: Callable[[Row], bytes]
    ) -> list[Raw]:
        """Return the rows at these positions as JSON of the connection's protocol. Other calls run in between."""
        key = opened.clock.key, opened.clock.revision, opened.quirks, opened.connection.protocol
        encoded = self._rows.get(key) or {}
        missing = [position for position in positions if position not in encoded]
        if missing:
            await gate.become_heavy()
            for position in missing:
                encoded[position] = Raw(encode(opened.view.rows[position]))
                await gate.pause()
            self._rows.put(key, encoded, _BYTES_PER_ROW * len(encoded))
        return [encoded[position] for position in positions]


def _applied_quirks(connected: ConnectedClock) -> AppliedQuirks:
    connection = connected.connection
    if not connection.settings.quirks:
        return NO_QUIRKS
    return AppliedQuirks.of(connection.settings.quirks, BankConnection(connection.key, connected.connected_at))


def _consent_end(connected: ConnectedClock) -> Instant | None:
    days = connected.connection.settings.consent_days
    return None if days is UNSET else connected.consent_from + timedelta(days=days)


def _fault(connected: ConnectedClock, clock: Clock) -> BankFault | None:
    """Return the first fault that holds. It begins with the clock at the earliest."""
    at, consent_ends = clock.frozen_time, _consent_end(connected)
    if consent_ends is not None and consent_ends <= at:
        return BankFault("LOGIN_REQUIRED", consent_ends)
    if connected.login_required:
        return BankFault("LOGIN_REQUIRED", at)
    faults = connected.connection.settings.bank_faults or ()
    found = next((fault for fault in faults if fault.holds(at)), None)
    return found and replace(found, from_=max(found.from_, clock.start_time))
