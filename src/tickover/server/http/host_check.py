"""Checks the Host header of requests, against DNS rebinding."""

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from tickover.api.errors import Reason, Rejection
from tickover.server.domain.networks import host_name
from tickover.server.settings import Settings, is_loopback

_MAX_HOST: Final = 300


class HostCheck:
    """Knows the host names that this server serves."""

    def __init__(self, settings: Settings) -> None:
        self._allows_any = not settings.allowed_hosts and not is_loopback(settings.host)
        self._allows_loopback = is_loopback(settings.host)
        public = urlsplit(settings.public_url).hostname
        self._names = {*settings.allowed_hosts} | ({public} if public else set())
        # Most requests repeat the same few names.
        self._is_allowed = lru_cache(maxsize=1024)(self._check_name)

    def check(self, host: bytes | None) -> None:
        """Raise INVALID_REQUEST if the Host header doesn't name this server."""
        if self._allows_any:
            return
        if host and len(host) <= _MAX_HOST and self._is_allowed(host):
            return
        message = "This server doesn't serve that Host. To allow it, add it to TICKOVER_ALLOWED_HOSTS."
        raise Rejection(Reason.INVALID_REQUEST, message)

    def _check_name(self, host: bytes) -> bool:
        name = host_name(host)
        return name in self._names or (self._allows_loopback and is_loopback(name))
