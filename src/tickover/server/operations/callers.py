"""The caller of an operation, and the operator's settings for operations."""

from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from tickover.api.limits import CLIENT_BURST, CLIENT_REFILL
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Limits
from tickover.server.storage.store import Token


class IdempotencyKey(Struct, frozen=True):
    """The Idempotency-Key header of a call, and a digest of its method and parameters."""

    key: str
    call_digest: bytes


_NO_TOKEN: Final = Token(b"", b"", datetime.min.replace(tzinfo=UTC))


class Caller(Struct, frozen=True, gc=False):
    """The caller, its network, and the time of the call."""

    now: Instant
    network: str
    token: Token = _NO_TOKEN
    """Without authentication, its digest and user are empty. No stored token has an empty digest."""
    idempotency_key: IdempotencyKey | None = None


class Policy(Struct, frozen=True):
    """The limits and URL that the operator configures."""

    public_url: str
    max_clocks_per_user: int
    max_bytes_per_user: int = 0
    logins: Limits = Limits()
    client_burst: int = CLIENT_BURST
    client_refill: float = CLIENT_REFILL
