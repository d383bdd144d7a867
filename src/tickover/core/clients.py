"""Machines by name and number: a client's network, proxies whose word for it is taken, the name in a Host header."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Network = IPv4Network | IPv6Network

_UNKNOWN = "unknown"


def read_networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks, separated by commas; ValueError when one of them is neither."""
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


_HOST: Final = re.compile(rb"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]*)?")


def host_name(host: bytes) -> str:
    """The name in a Host header, without its port and brackets; empty when it is none."""
    match = _HOST.fullmatch(host)
    return (match["address"] or match["name"]).decode().lower() if match else ""


def network_of(trusted: Sequence[Network], peer: tuple[str, int] | None, forwarded_for: bytes) -> str:
    """The network that limits are counted by: an IPv4 address, or the /64 of an IPv6 address.

    `forwarded_for` is read from its end, and only as far as each hop was written by a proxy that is trusted.
    """
    address = _read(peer[0]) if peer else None
    hops = forwarded_for.decode("latin-1").split(",")
    while hops and address is not None and any(address in network for network in trusted):
        nearer = _read(hops.pop().strip())
        if nearer is None:
            break
        address = nearer
    if address is None:
        return _UNKNOWN
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _read(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    return address.ipv4_mapped or address if address.version == 6 else address
