"""Cross-origin resource sharing: the origins whose pages may call the server from a browser."""

from collections.abc import Iterable, Sequence
from typing import Final

from tickover.server.http1.messages import Header


class CorsPolicy:
    def __init__(self, origins: Iterable[str] = ()) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)

    def response_headers(self, origin: bytes | None) -> Sequence[Header]:
        """Return the headers of every response to a request from `origin`."""
        if not self._origins:
            return ()
        if origin is None or origin not in self._origins:
            return [(b"vary", b"Origin")]
        return [(b"vary", b"Origin"), (b"access-control-allow-origin", origin), *_EXPOSED]

    def preflight_headers(self, origin: bytes | None) -> Sequence[Header] | None:
        """Return the additional headers of a preflight response, or None if the origin is not allowed."""
        return _PREFLIGHT if origin in self._origins else None


_EXPOSED: Final = [(b"access-control-expose-headers", b"X-Request-Id, Retry-After")]
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key"),
    (b"access-control-max-age", b"600"),
]
