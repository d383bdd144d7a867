"""Client networks, trusted proxies, loopback addresses, and names in Host headers."""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Network = IPv4Network | IPv6Network

MAX_FORWARDED_FOR: Final = 500
"""Bytes at the end of X-Forwarded-For. The rest is ignored."""
# IPv6 with a port has brackets. Without brackets, the last group of digits belongs to the address.
_WITH_PORT: Final = re.compile(r"\[(?P<ipv6>[^\]]*)\](?::[0-9]{1,5})?|(?P<ipv4>[0-9.]+):[0-9]{1,5}")
_HOST: Final = re.compile(rb"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]*)?")


def host_name(host: bytes) -> str:
    """Return the name in a Host header without port and brackets, or an empty string if it is invalid."""
    match = _HOST.fullmatch(host)
    return (match["address"] or match["name"]).decode().lower() if match else ""


def is_loopback(host: str) -> bool:
    """Return whether a name or an IP address leads to this machine."""
    return ip_address(host).is_loopback if is_address(host) else host == "localhost"


def is_address(host: str) -> bool:
    """Return whether the host is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class ClientNetworks:
    """Finds a client's network, which rate limits count by: an IPv4 address, or the /64 of an IPv6 address."""

    def __init__(self, trusted: Sequence[Network] = ()) -> None:
        self._trusted = tuple(trusted)
        # Every call needs it, and most clients make several calls.
        self._find = lru_cache(maxsize=4096)(self._find_network)

    def find(self, peer: str | None, forwarded_for: bytes) -> str:
        """Return the peer's network, or the client's network if trusted proxies report it in X-Forwarded-For."""
        if not self._trusted:
            return self._find(peer, b"")
        # The client can write the start of the header. The nearest proxy writes the end.
        cut = forwarded_for[-MAX_FORWARDED_FOR:]
        # Ignore a truncated entry, which could look like another address.
        return self._find(peer, cut if len(cut) == len(forwarded_for) else cut.partition(b",")[2])

    def _find_network(self, peer: str | None, forwarded_for: bytes) -> str:
        """Read the header from its end, as long as a trusted proxy wrote the entry."""
        address = _read_address(peer or "")
        hops = forwarded_for.decode("latin-1").split(",")
        while hops and address is not None and any(address in network for network in self._trusted):
            nearer = _read_address(hops.pop().strip())
            if nearer is None:
                break
            address = nearer
        if address is None:
            return "unknown"
        return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _read_address(text: str) -> IPv4Address | IPv6Address | None:
    # Some proxies add the client's port to X-Forwarded-For.
    with_port = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address((with_port["ipv6"] or with_port["ipv4"]) if with_port else text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if address.version == 6 else address
