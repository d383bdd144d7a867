"""The network of a client, and X-Forwarded-For."""

from ipaddress import ip_network

import pytest

from tickover.server.networks import MAX_FORWARDED_FOR, ClientNetworks, Network

PROXY = "10.0.0.1"
CLIENT = "198.51.100.9"
TRUSTED = (ip_network("10.0.0.0/8"), ip_network("2001:db8:aaaa::/48"))


def network(peer: str | None, forwarded_for: bytes = b"", trusted: tuple[Network, ...] = TRUSTED) -> str:
    return ClientNetworks(trusted).find(peer, forwarded_for)


@pytest.mark.parametrize(
    ("peer", "counted_as"),
    [
        pytest.param("203.0.113.7", "203.0.113.7", id="IPv4 by address"),
        pytest.param("2001:0DB8:0001:0002:3:4:5:6", "2001:db8:1:2::/64", id="IPv6 by its 64"),
        pytest.param("::ffff:203.0.113.7", "203.0.113.7", id="IPv4 on an IPv6 socket"),
        pytest.param(None, "unknown", id="no peer"),
        pytest.param("/run/tickover.sock", "unknown", id="a peer without an address"),
        pytest.param("9.255.255.255", "9.255.255.255", id="just below the proxies' network"),
    ],
)
def test_client_counts_by_network_and_not_by_its_own_header(peer: str | None, counted_as: str) -> None:
    assert network(peer) == network(peer, CLIENT.encode()) == counted_as
    assert network("127.0.0.1", CLIENT.encode(), ()) == "127.0.0.1", "no proxy is trusted by default"


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "counted_as"),
    [
        pytest.param("10.255.255.255", b"198.51.100.9", CLIENT, id="the last address of the proxies"),
        pytest.param("::ffff:10.0.0.1", b"198.51.100.9", CLIENT, id="a proxy on an IPv6 socket"),
        pytest.param(PROXY, b"::ffff:198.51.100.9", CLIENT, id="IPv4 written as IPv6"),
        pytest.param(PROXY, b"10.0.0.3,10.0.0.2", "10.0.0.3", id="proxies all the way"),
        pytest.param(PROXY, b"1.2.3.4, 10.0.0.9, 198.51.100.9, 10.0.0.2", CLIENT, id="a spoofed chain at the left"),
        pytest.param(PROXY, b"198.51.100.9, garbage", PROXY, id="garbage from the nearest hop"),
        pytest.param(PROXY, b"198.51.100.9, garbage, 10.0.0.2", "10.0.0.2", id="garbage further off"),
        pytest.param(PROXY, b"", PROXY, id="no header"),
        pytest.param(PROXY, b"\xff\xfe\x00", PROXY, id="invalid text"),
        pytest.param(PROXY, b"198.51.100.9:50123, 10.0.0.2:443", CLIENT, id="a chain with ports"),
        pytest.param(PROXY, b"[2001:db8:1:2::5]:50123", "2001:db8:1:2::/64", id="IPv6 with a port"),
    ],
)
def test_forwarded_for_of_trusted_proxy_is_used(peer: str, forwarded_for: bytes, counted_as: str) -> None:
    assert network(peer, forwarded_for) == counted_as


@pytest.mark.parametrize("length", [MAX_FORWARDED_FOR + 1, 30_000])
def test_long_header_is_read_from_its_end(length: int) -> None:
    entries = b"198.51.100.9, 10.0.0.2"
    header = b"1.2.3.4," + b"x" * (length - len(entries) - 9) + b"," + entries
    assert len(header) == length
    assert network(PROXY, header) == CLIENT


def test_truncated_entry_is_ignored() -> None:
    proxies = b"," + b",".join([b"10.0.0.2"] * 54)
    client = b"198.51.100.9"
    whole = client + b" " * (MAX_FORWARDED_FOR - len(client + proxies)) + proxies
    assert network(PROXY, whole) == CLIENT
    assert network(PROXY, b"1" + whole) == "10.0.0.2", "the rest of 1198.51.100.9 is not the client"
