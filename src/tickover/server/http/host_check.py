"""What is turned away before anything of it is read: requests under a foreign name, or from a foreign page."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from tickover.api.errors import Reason, Rejection
from tickover.server.domain.networks import host_name
from tickover.server.http.messages import Header
from tickover.server.settings import Settings, is_loopback

_LONGEST_HOST: Final = 300


class Guard:
    """Against DNS rebinding, the names that this server answers to; against foreign pages, the origins it lets read."""

    def __init__(self, settings: Settings) -> None:
        self._any_host = not settings.allowed_hosts and not is_loopback(settings.host)
        self._loopback = is_loopback(settings.host)
        public = urlsplit(settings.public_url).hostname
        self._hosts = {*settings.allowed_hosts} | ({public} if public else set())
        # The same few names come with every request.
        self._is_ours = lru_cache(maxsize=1024)(self._answers_to)
        self._origins = frozenset(origin.encode() for origin in settings.cors_origins)

    def check_host(self, host: bytes | None) -> None:
        """INVALID_REQUEST when the Host header names a machine that this server is not."""
        if self._any_host:
            return
        if host and len(host) <= _LONGEST_HOST and self._is_ours(host):
            return
        message = "This server does not answer to that Host. If it should, name it in TICKOVER_ALLOWED_HOSTS."
        raise Rejection(Reason.INVALID_REQUEST, message)

    def _answers_to(self, host: bytes) -> bool:
        name = host_name(host)
        return name in self._hosts or (self._loopback and is_loopback(name))

    def headers_for(self, origin: bytes | None) -> Sequence[Header]:
        """What lets a page of this origin read the answer; nothing unless the operator has named the origin."""
        if not self._origins:
            return ()
        if origin not in self._origins or origin is None:
            return [(b"vary", b"Origin")]
        return [(b"vary", b"Origin"), (b"access-control-allow-origin", origin), *_EXPOSED]

    def preflight_for(self, origin: bytes | None) -> Sequence[Header] | None:
        """What answers a browser that asks beforehand, beside `headers_for`; None when the answer is no."""
        return _PREFLIGHT if origin in self._origins else None


_EXPOSED: Final = [(b"access-control-expose-headers", b"X-Request-Id, Retry-After")]
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key"),
    (b"access-control-max-age", b"600"),
]
