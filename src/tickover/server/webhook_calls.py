"""HTTP requests to webhooks of users.

A URL and the addresses of its name are checked, so that no request reaches other services of the server's network.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

from tickover.server.networks import is_address, is_loopback

MAX_URL: Final = 2000
CALL_SECONDS: Final = 10.0
_MAX_CALLS_OF_USER: Final = 4
_MAX_HEAD: Final = 64 * 1024
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = ip_network("64:ff9b::/96")


class CallFailed(Exception):
    """The webhook has not responded."""


class CallsInProgress:
    """The number of calls in progress of each user, which is limited."""

    def __init__(self) -> None:
        self._numbers: Counter[bytes] = Counter()

    def begin(self, user: bytes) -> bool:
        """Count a call, unless the user has as many as are allowed."""
        if self._numbers[user] >= _MAX_CALLS_OF_USER:
            return False
        self._numbers[user] += 1
        return True

    def end(self, user: bytes) -> None:
        self._numbers[user] -= 1
        if not self._numbers[user]:
            del self._numbers[user]


def find_problem(url: str, allowed_hosts: Sequence[str]) -> str | None:
    """Return why a URL can't be a webhook, as the rest of a sentence: "must be …". Return None if it can be one."""
    try:
        parts = _split(url)
    except ValueError:
        return f"must be an http or https URL of at most {MAX_URL} characters, without user and fragment"
    if parts.hostname not in allowed_hosts:
        return "must have a host that the server may call; its operator lists them in TICKOVER_WEBHOOK_HOSTS"
    return None


def _split(url: str) -> SplitResult:
    parts = urlsplit(url)
    refused = (parts.username is not None, "#" in url, parts.port == 0, len(url) > MAX_URL)
    is_plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or any(refused) or not is_plain:
        raise ValueError
    return parts


async def post(url: str, body: bytes, headers: Mapping[str, str], allowed_hosts: Sequence[str]) -> int:
    """Send a request, and return the status of the response. Raise CallFailed without one. Follow no redirects."""
    if find_problem(url, allowed_hosts):
        raise CallFailed
    parts = _split(url)
    host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme]
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [
        f"POST {target} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *[f"{name}: {value}" for name, value in headers.items()],
    ]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    try:
        async with asyncio.timeout(CALL_SECONDS):
            reader, writer = await _connect(host, port, is_https=parts.scheme == "https")
            try:
                writer.write(request)
                return await _read_status(reader)
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError, ValueError, EOFError, asyncio.LimitOverrunError) as error:
        raise CallFailed from error


async def _read_status(reader: asyncio.StreamReader) -> int:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        version, status, *_ = head.split(b"\r\n", 1)[0].split(b" ")
        if not version.startswith(b"HTTP/1.") or len(status) != 3:
            raise ValueError
        # Informational responses come before the final one.
        if int(status) >= 200:
            return int(status)


async def _connect(host: str, port: int, *, is_https: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address of the host that responds, of those that may be called."""
    if is_address(host):
        found = [host]
    else:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        found = [str(address[0]) for *_, address in resolved]
    failure: Exception = CallFailed()
    for address in dict.fromkeys(found):
        if not may_call(host, ip_address(address)):
            continue
        try:
            # The checked address, so that the name isn't resolved again.
            return await asyncio.open_connection(
                address, port, limit=_MAX_HEAD, ssl=is_https or None, server_hostname=host if is_https else None
            )
        except OSError as error:
            failure = error
    raise failure


def may_call(host: str, address: IPv4Address | IPv6Address) -> bool:
    """Return whether a name may lead to this address. Only names of this machine may lead to this machine."""
    if address.version == 6:
        embedded = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            embedded = IPv4Address(int(address) & 0xFFFF_FFFF)
        if embedded and not address.is_loopback:
            return may_call(host, embedded)
    if is_loopback(host):
        return address.is_loopback
    refused = (address.is_loopback, address.is_link_local, address.is_multicast, address.is_unspecified)
    return not any(refused) and str(address) not in _METADATA and not _is_this_network(address)


def _is_this_network(address: IPv4Address | IPv6Address) -> bool:
    return address.version == 4 and (int(address) >> 24 in (0, 255) or int(address) == 0xFFFF_FFFF)


_METADATA: Final = frozenset({"fd00:ec2::254"})
"""Addresses of cloud providers that give credentials to every program on a machine."""
