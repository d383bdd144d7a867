"""Reads the values of settings. Each function raises ValueError with the rest of a sentence: "must be …"."""

import re
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from tickover.server.networks import Network, host_name

SQLITE_PREFIX: Final = "sqlite:///"
_MIN_PREFIX: Final = {4: 8, 6: 16}
"""Bits of the prefix of a network of proxies, by IP version."""
_ALLOWED_EMAIL: Final = re.compile(r"[a-z0-9!#$%&'+/=?^_`{|}~.-]*@(?:[a-z0-9-]+\.)*[a-z0-9-]+")
_TEST_CODE: Final = re.compile(
    r"((?:[a-z0-9-]+\.)+(?:test|example|invalid)|example\.(?:com|net|org))=([0-9]{6})", re.ASCII
)
POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")


def text(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line of text")
    return value


def folder(value: str) -> Path:
    return Path(text(value))


def database_url(value: str) -> str:
    """Read the URL of a database. It can be unusable for other reasons, which only its driver knows."""
    # With ":memory:", every connection would have a separate database.
    is_file = value.startswith(SQLITE_PREFIX) and value.removeprefix(SQLITE_PREFIX) not in ("", ":memory:")
    if not is_file and not value.startswith(POSTGRES_PREFIXES):
        raise ValueError("must be sqlite:///path/to/file.db or postgresql://user:password@host/database")
    return text(value)


def between(minimum: int, maximum: int, message: str = "") -> Callable[[str], int]:
    def read(value: str) -> int:
        # Check the length first, because parsing thousands of digits is slow.
        if not (value.isascii() and value.isdigit() and len(value) <= 15 and minimum <= int(value) <= maximum):
            raise ValueError(message or f"must be a whole number from {minimum} to {maximum}")
        return int(value)

    return read


port: Final = between(0, 65_535)
count: Final = between(0, 10**12, "must be a whole number; 0 means no limit")


class HostAndPort(NamedTuple):
    host: str
    """Empty means the host that the server listens on."""
    port: int


def host_and_port(value: str) -> HostAndPort:
    host, _, number = text(value).rpartition(":")
    name = host_name(host.encode())
    read_port = between(1, 65_535, "must be a port, or an address and a port such as 127.0.0.1:443")
    return HostAndPort(name, read_port(number if bool(host) == bool(name) else ""))


def rate(value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1_000_000:
        raise ValueError("must be a number from 0 to 1000000; 0 means no limit")
    return rate


def names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text(value).split(",") if name.strip())


def hosts(value: str) -> tuple[str, ...]:
    hosts = tuple(host_name(name.encode()) for name in names(value))
    if not all(hosts):
        raise ValueError("must be host names such as clocks.example.com, separated by commas")
    return hosts


def proxies(value: str) -> tuple[Network, ...]:
    try:
        networks = tuple(ip_network(name, strict=False) for name in names(value))
    except ValueError:
        raise ValueError("must be IP addresses or networks such as 10.0.0.0/8, separated by commas") from None
    if any(network.prefixlen < _MIN_PREFIX[network.version] for network in networks):
        raise ValueError("must have only your proxies, because everyone else in these networks can forge addresses")
    return networks


def http_url(value: str) -> SplitResult:
    """Parse an HTTP URL without user, query and fragment. Raise ValueError for any other URL."""
    parts = urlsplit(text(value))
    refused = (parts.username, parts.password, parts.query, parts.fragment, parts.port == 0, " " in value)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(refused):
        raise ValueError
    return parts


def origins(value: str) -> tuple[str, ...]:
    origins = names(value)
    try:
        if all(http_url(origin).path == "" for origin in origins):
            return origins
    except ValueError:
        pass
    raise ValueError(
        "must be origins such as https://app.example.com, without a path or a slash at the end, separated by commas"
    )


def public_url(value: str) -> str:
    try:
        return http_url(value).geturl().rstrip("/") if value else ""
    except ValueError:
        raise ValueError("must be a URL such as https://clocks.example.com, without user, query and fragment") from None


def secret_key(value: str) -> str:
    if value and len(text(value)) < 16:
        raise ValueError("must have at least 16 characters; create one with `openssl rand -hex 32`")
    return value


def allowed_emails(value: str) -> tuple[str, ...]:
    allowed = tuple(name.lower() for name in names(value))
    if not all(map(_ALLOWED_EMAIL.fullmatch, allowed)):
        raise ValueError(
            "must be email addresses such as ana@example.com and domains such as @example.com, separated by commas"
        )
    return allowed


def test_codes(value: str) -> dict[str, str]:
    """Read the fixed codes of domains that nobody can own."""
    pairs = [_TEST_CODE.fullmatch(name.lower()) for name in names(value)]
    codes = {pair[1]: pair[2] for pair in pairs if pair}
    if len(codes) < len(pairs):
        raise ValueError(
            "must be different domains with codes such as app.test=123456, separated by commas; a domain must end in "
            ".test, .example or .invalid, or be example.com, example.net or example.org"
        )
    return codes


def switch(value: str) -> bool:
    if value.lower() not in ("on", "off"):
        raise ValueError("must be on or off")
    return value.lower() == "on"


def one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value.lower()

    return read
