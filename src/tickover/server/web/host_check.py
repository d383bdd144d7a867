"""The check of the Host header."""

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from tickover.api.errors import Reason, Rejection
from tickover.server.networks import host_name, is_address, is_loopback
from tickover.server.settings import OUTBOX, Settings

_MAX_HOST: Final = 300


class HostCheck:
    """Checks the Host header of requests, against DNS rebinding."""

    def __init__(self, settings: Settings) -> None:
        is_local, has_outbox = is_loopback(settings.host), settings.mail_url == OUTBOX
        self._allows_any = not (settings.allowed_hosts or is_local or has_outbox)
        self._allows_loopback = is_local or has_outbox
        # No DNS name stands behind an address. An outbox is reached by address in containers and local networks.
        self._allows_addresses = has_outbox and not is_local
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
        if name in self._names or (self._allows_loopback and is_loopback(name)):
            return True
        return self._allows_addresses and is_address(name)
