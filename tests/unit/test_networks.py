"""The network of a client, X-Forwarded-For, and names in Host headers."""

from ipaddress import ip_network

import pytest

from tickover.server.networks import MAX_FORWARDED_FOR, ClientNetworks, Network, parse_networks

PROXY = "10.0.0.1"
CLIENT = "198.51.100.9"
TRUSTED = parse_networks("10.0.0.0/8, 2001:db8:aaaa::/48")


def network(peer: str | None, forwarded_for: bytes = b"", trusted: tuple[Network, ...] = TRUSTED) -> str:
    return ClientNetworks(trusted).find(peer, forwarded_for)


# Without a proxy


@pytest.mark.parametrize(
    ("peer", "counted_as"),
    [
        pytest.param("203.0.113.7", "203.0.113.7", id="IPv4 by address"),
        pytest.param("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", id="IPv6 by its 64"),
        pytest.param("2001:0DB8:0001:0002::", "2001:db8:1:2::/64", id="IPv6 with leading zeros"),
        pytest.param("::ffff:203.0.113.7", "203.0.113.7", id="IPv4 on an IPv6 socket"),
        pytest.param("::1", "::/64", id="IPv6 loopback"),
        pytest.param("fe80::1%eth0", "fe80::/64", id="IPv6 with its interface"),
        pytest.param(None, "unknown", id="no peer"),
        pytest.param("", "unknown", id="an empty peer"),
        pytest.param("/run/tickover.sock", "unknown", id="a peer without an address"),
    ],
)
def test_client_counts_by_network(peer: str | None, counted_as: str) -> None:
    assert network(peer) == counted_as


# X-Forwarded-For


@pytest.mark.parametrize(
    "peer",
    [
        pytest.param("203.0.113.7", id="a stranger"),
        pytest.param("9.255.255.255", id="just below the proxies' network"),
        pytest.param("11.0.0.0", id="just above the proxies' network"),
        pytest.param("2001:db8:aaab::1", id="another IPv6 network"),
    ],
)
def test_forwarded_for_of_untrusted_peer_is_ignored(peer: str) -> None:
    assert network(peer, CLIENT.encode()) == network(peer)


def test_forwarded_for_is_ignored_by_default() -> None:
    assert network("127.0.0.1", CLIENT.encode(), ()) == "127.0.0.1"


def test_forwarded_for_without_peer_is_ignored() -> None:
    assert network(None, CLIENT.encode()) == "unknown"


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "counted_as"),
    [
        pytest.param(PROXY, b"198.51.100.9", CLIENT, id="one hop"),
        pytest.param("10.255.255.255", b"198.51.100.9", CLIENT, id="the last address of the proxies"),
        pytest.param("::ffff:10.0.0.1", b"198.51.100.9", CLIENT, id="a proxy on an IPv6 socket"),
        pytest.param("2001:db8:aaaa::1", b"198.51.100.9", CLIENT, id="a proxy with IPv6"),
        pytest.param(PROXY, b"  198.51.100.9\t", CLIENT, id="blanks around"),
        pytest.param(PROXY, b"2001:db8:1:2::5", "2001:db8:1:2::/64", id="IPv6"),
        pytest.param(PROXY, b"[2001:db8:1:2::5]", "2001:db8:1:2::/64", id="IPv6 in brackets"),
        pytest.param(PROXY, b"::ffff:198.51.100.9", CLIENT, id="IPv4 written as IPv6"),
        pytest.param(PROXY, b"198.51.100.9, 10.0.0.2", CLIENT, id="a chain of proxies"),
        pytest.param(PROXY, b"10.0.0.3,10.0.0.2", "10.0.0.3", id="proxies all the way"),
        pytest.param(PROXY, b"1.2.3.4, 198.51.100.9", CLIENT, id="a spoofed entry at the left"),
        pytest.param(PROXY, b"1.2.3.4, 10.0.0.9, 198.51.100.9, 10.0.0.2", CLIENT, id="a spoofed chain at the left"),
        pytest.param(PROXY, b"198.51.100.9, garbage", PROXY, id="garbage from the nearest hop"),
        pytest.param(PROXY, b"198.51.100.9, garbage, 10.0.0.2", "10.0.0.2", id="garbage further off"),
        pytest.param(PROXY, b"", PROXY, id="no header"),
        pytest.param(PROXY, b",", PROXY, id="nothing but a comma"),
        pytest.param(PROXY, b"198.51.100.9,", PROXY, id="an empty last entry"),
        pytest.param(PROXY, b"\xff\xfe\x00", PROXY, id="invalid text"),
        pytest.param(PROXY, b"198.51.100.256", PROXY, id="no address"),
        pytest.param(PROXY, b"198.51.100.9:50123", CLIENT, id="IPv4 with a port"),
        pytest.param(PROXY, b"[2001:db8:1:2::5]:50123", "2001:db8:1:2::/64", id="IPv6 with a port"),
        pytest.param(PROXY, b"198.51.100.9:50123, 10.0.0.2:443", CLIENT, id="a chain with ports"),
        pytest.param(PROXY, b"2001:db8:1:2::5:443", "2001:db8:1:2::/64", id="IPv6 without brackets has no port"),
        pytest.param(PROXY, b"198.51.100.9:", PROXY, id="an empty port"),
        pytest.param(PROXY, b"198.51.100.9:123456", PROXY, id="a port that is too long"),
        pytest.param(PROXY, b"[]:443", PROXY, id="a port alone"),
        pytest.param(PROXY, b"[2001:db8::1", PROXY, id="an open bracket"),
        pytest.param(PROXY, b"[::ffff:198.51.100.9]:80", CLIENT, id="mapped IPv4 with a port"),
        pytest.param(PROXY, b"198.51.100.9, ,10.0.0.2", "10.0.0.2", id="empty entry between proxies"),
        pytest.param(PROXY, b'"198.51.100.9"', PROXY, id="quoted IPv4"),
        pytest.param(PROXY, b'"[2001:db8:1:2::5]:80"', PROXY, id="quoted IPv6"),
        pytest.param(PROXY, b"198.51. 100.9", PROXY, id="space inside an address"),
        pytest.param(PROXY, b"198.51.100.9 :80", PROXY, id="space before the port"),
        pytest.param(PROXY, b"for=198.51.100.9", PROXY, id="syntax of the Forwarded header"),
        pytest.param(PROXY, b"198.051.100.009", PROXY, id="leading zeros"),
        pytest.param(PROXY, b"198.51.100.9/32", PROXY, id="network instead of an address"),
    ],
)
def test_forwarded_for_of_trusted_proxy_is_used(peer: str, forwarded_for: bytes, counted_as: str) -> None:
    assert network(peer, forwarded_for) == counted_as


def padded(entries: bytes, length: int) -> bytes:
    """Prepend an entry of the client to the header, up to this length."""
    return b"1.2.3.4," + b"x" * (length - len(entries) - 9) + b"," + entries


@pytest.mark.parametrize("length", [MAX_FORWARDED_FOR, MAX_FORWARDED_FOR + 1, 5_000, 30_000])
def test_long_header_is_read_from_its_end(length: int) -> None:
    header = padded(b"198.51.100.9, 10.0.0.2", length)
    assert len(header) == length
    assert network(PROXY, header) == CLIENT


def test_truncated_entry_is_ignored() -> None:
    proxies = b"," + b",".join([b"10.0.0.2"] * 54)
    client = b"198.51.100.9"
    whole = client + b" " * (MAX_FORWARDED_FOR - len(client + proxies)) + proxies
    assert network(PROXY, whole) == CLIENT
    assert network(PROXY, b"1" + whole) == "10.0.0.2", "the rest of 1198.51.100.9 is not the client"


# Lists of networks


@pytest.mark.parametrize(
    ("text", "networks"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param(" , ", (), id="only commas"),
        pytest.param("10.0.0.1", ("10.0.0.1/32",), id="an address"),
        pytest.param("10.0.0.0/8", ("10.0.0.0/8",), id="a network"),
        pytest.param("10.1.2.3/8", ("10.0.0.0/8",), id="an address with its mask"),
        pytest.param("::1", ("::1/128",), id="an IPv6 address"),
        pytest.param(" 127.0.0.1 ,2001:db8::/32,", ("127.0.0.1/32", "2001:db8::/32"), id="several"),
    ],
)
def test_proxies_are_addresses_or_networks(text: str, networks: tuple[str, ...]) -> None:
    assert parse_networks(text) == tuple(ip_network(written) for written in networks)


@pytest.mark.parametrize("text", ["proxy.example.com", "10.0.0.0/33", "10.0.0.1 10.0.0.2", "10.0.0.1;10.0.0.2", "*"])
def test_invalid_networks_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_networks(text)


# Host headers
