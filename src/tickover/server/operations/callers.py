"""Who calls, and what the operator has settled."""

from msgspec import Struct

from tickover.api.limits import CLIENT_BURST, CLIENT_REFILL
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Limits


class IdempotencyKey(Struct, frozen=True):
    """An Idempotency-Key that came with a call, and a digest of the call's parameters."""

    key: str
    params: bytes


class Caller(Struct, frozen=True):
    """Who asks, from where, and when. Only operations that need a token are given the user's key, and its digest."""

    now: Instant
    network: str
    user: bytes = b""
    token_digest: bytes = b""
    idempotency_key: IdempotencyKey | None = None


class Policy(Struct, frozen=True):
    """What the operator has settled."""

    public_url: str
    max_clocks_per_user: int
    max_bytes_per_user: int = 0
    logins: Limits = Limits()
    client_burst: int = CLIENT_BURST
    client_refill: float = CLIENT_REFILL
