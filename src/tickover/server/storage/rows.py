"""Rows of clocks and tokens. Both databases have the same columns."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UnsetType, json
from msgspec.structs import replace

from tickover.api.connections import BankProtocol, BankSettings, ConnectionCall
from tickover.api.timestamps import Instant, from_micros
from tickover.server.schedule.clock import Clock
from tickover.server.sign_in.tokens import Permission
from tickover.server.storage.store import (
    ClockScan,
    ConnectedClock,
    ExistingClock,
    NameChanges,
    Owner,
    StoredAccessToken,
    StoredClock,
    StoredConnection,
    StoredLinkToken,
    StoredWebhook,
    Token,
)

MAX_KEY: Final = b"\xff" * 16
RECORD_BYTES: Final = 200
"""What an amendment or an advance adds that may leave an idempotency record, which has two index entries."""
_decode_calls: Final = json.Decoder(list[ConnectionCall]).decode
_decode_settings: Final = json.Decoder(BankSettings).decode


def stored_clock(  # noqa: PLR0913, PLR0917 - one argument for each column
    key: bytes,
    start_time: int,
    frozen_time: int,
    max_time: int,
    name: str | None,
    labels: str | None,
    revision: int,
    schedule: bytes | None = None,
) -> StoredClock:
    start, frozen, latest = from_micros(start_time), from_micros(frozen_time), from_micros(max_time)
    return StoredClock(Clock(key, start, frozen, latest, name, labels, revision), schedule or b"")


def existing_clock(params: bytes, *columns: Any) -> ExistingClock:
    return ExistingClock(params, stored_clock(*columns))


def owner_values(owner: Owner) -> tuple[bytes | None, bytes | None]:
    """Return the user's key or the token's digest, as the statements expect them."""
    return (owner, None) if isinstance(owner, bytes) else (None, owner.digest)


def token_of(
    digest: bytes, user: bytes, expires_at: int, key: object, read_only: object, last_used_on: int | None
) -> Token:
    """Return the token of these columns. Only access tokens have a key."""
    permission = Permission.SESSION if key is None else Permission.READ if read_only else Permission.WRITE
    return Token(digest, user, from_micros(expires_at), permission, _optional_instant(last_used_on))


def access_token_of(
    key: bytes, name: str, read_only: object, created_at: int, expires_at: int, last_used_on: int | None
) -> StoredAccessToken:
    instants = from_micros(created_at), from_micros(expires_at), _optional_instant(last_used_on)
    return StoredAccessToken(key, name, bool(read_only), *instants)


def connection_of(  # noqa: PLR0913, PLR0917 - one argument for each column
    key: bytes,
    protocol: BankProtocol,
    institution: str,
    created_at: int,
    settings: str | None,
    claimed: object,
    is_clock: object,
    url: str | None,
    is_owed: object,
    status: int | None,
    last_at: int | None,
) -> StoredConnection:
    instant = from_micros(created_at)
    decoded = decode_settings(settings)
    webhook = None if url is None else StoredWebhook(url, bool(is_owed), status, _optional_instant(last_at))
    return StoredConnection(key, protocol, institution, instant, decoded, bool(claimed), bool(is_clock), webhook)


def decode_settings(settings: str | None) -> BankSettings:
    return _decode_settings(settings) if settings else BankSettings()


def decode_calls(calls: str | None) -> list[ConnectionCall]:
    return _decode_calls(calls) if calls else []


def encode_settings(settings: BankSettings) -> str | None:
    """Return the settings as JSON, or None if all are the defaults."""
    return None if settings == BankSettings() else json.encode(settings).decode()


def connections_of(rows: Sequence[Sequence[Any]]) -> list[StoredConnection] | None:
    """Return the connections of a clock, oldest first. Without any row there is no clock."""
    # Here, because SQLite would sort the rows of a left join in a temporary table.
    in_order = sorted((row for row in rows if row[0] is not None), key=lambda row: row[0])
    return [connection_of(*row) for row in in_order] if rows else None


def connected_clock(*columns: Any) -> ConnectedClock:
    """Return the clock of these columns: those of a connection, and those of its clock."""
    connected_at, consent_from, login_required, owner, *clock = columns[11:]
    instants = from_micros(connected_at), from_micros(consent_from)
    return ConnectedClock(connection_of(*columns[:11]), *instants, bool(login_required), owner, stored_clock(*clock))


def link_token_of(*columns: Any) -> tuple[StoredLinkToken, Token]:
    """Return a link token, and the access token that created it."""
    created_at, expires_at, item_digest, settings, *token = columns
    stored = StoredLinkToken(from_micros(created_at), from_micros(expires_at), item_digest, settings)
    return stored, token_of(*token)


def _optional_instant(micros: int | None) -> Instant | None:
    return None if micros is None else from_micros(micros)


def scan_of(rows: Sequence[Sequence[Any]]) -> ClockScan:
    """Return the result of a search. Its rows start with a key, and a row without other values ends an early scan."""
    clocks = [stored_clock(*row).clock for row in rows if row[1] is not None]
    return ClockScan(clocks, next((row[0] for row in rows if row[1] is None), None))


def rename(clock: Clock, changes: NameChanges) -> Clock:
    name = clock.name if isinstance(changes.name, UnsetType) else changes.name
    labels = clock.labels if isinstance(changes.labels, UnsetType) else changes.labels
    return replace(clock, name=name, labels=labels)


def stored_bytes(clock: Clock, schedule: bytes = b"") -> int:
    """Return the bytes of a new clock that count for its owner's limit."""
    return len(schedule) + len((clock.name or "").encode()) + len((clock.labels or "").encode())
