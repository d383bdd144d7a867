"""The caller of an operation."""

from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from tickover.api.timestamps import Instant
from tickover.server.storage.store import IdempotencyRecord, Token

_NO_TOKEN: Final = Token(b"", b"", datetime.min.replace(tzinfo=UTC))


class Caller(Struct, frozen=True, gc=False):
    """The caller, its network, and the time of the call."""

    now: Instant
    network: str
    token: Token = _NO_TOKEN
    """Without authentication, its digest and user are empty. No stored token has an empty digest."""
    idempotency_record: IdempotencyRecord | None = None
    """If the call has an Idempotency-Key header."""
