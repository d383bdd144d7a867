"""URLs of databases, and errors that name them. URLs of PostgreSQL may name several hosts."""

import re
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from tickover.server.setting_values import POSTGRES_PREFIXES, SQLITE_PREFIX
from tickover.server.settings import SettingError


def is_postgres(url: str) -> bool:
    return url.startswith(POSTGRES_PREFIXES)


def sqlite_path(url: str) -> Path:
    return Path(url.removeprefix(SQLITE_PREFIX))


def redact_url(url: str) -> str:
    """Return the URL without its password and query."""
    if url.startswith(SQLITE_PREFIX):
        return url
    address = _split(url)
    if not address.password:
        return url.partition("?")[0]
    hosts = address.netloc.rpartition("@")[2]
    return f"{address.scheme}://{address.username}:***@{hosts}{address.path}"


def split_hosts(url: str) -> list[str]:
    """Return one URL for each host.

    The driver accepts several hosts too, but it stops at the first host that responds with an error.
    """
    address = _split(url)
    user, separator, netloc_hosts = address.netloc.rpartition("@")
    hosts = netloc_hosts.split(",")
    query = dict(parse_qsl(address.query))
    # The driver would send these to the server as settings.
    query.pop("connect_timeout", None)
    query.pop("pool_mode", None)
    if len(hosts) > 1:
        query.setdefault("target_session_attrs", "read-write")
    address = address._replace(query=urlencode(query))
    return [address._replace(netloc=f"{user}{separator}{host}").geturl() for host in hosts]


def _split(url: str) -> SplitResult:
    """Split the URL. The error for an ambiguous URL contains no part of it, because any part may be the password."""
    try:
        # Python 3.14 rejects IPv6 addresses among several hosts, so each host is parsed alone.
        scheme, separator, rest = url.partition("://")
        netloc = re.split("[/?#]", rest, maxsplit=1)[0]
        address = urlsplit(f"{scheme}{separator}{rest.removeprefix(netloc)}")._replace(netloc=netloc)
        user, _, hosts = netloc.rpartition("@")
        if "[" in user or "]" in user:
            raise ValueError
        for host in hosts.split(","):
            _ = urlsplit(f"//{host}").port  # raises ValueError for an invalid port
        if "@" in f"{user}{address.path}{address.query}" or "#" in url:
            raise ValueError
    except ValueError:
        raise SettingError(
            "TICKOVER_DATABASE_URL must look like postgresql://user:password@host:5432/database. Percent-encode "
            "characters such as @, :, /, ?, # and [ in user and password."
        ) from None
    return address


def describe_error(error: Exception) -> str:
    """Return the first line of the error without a full stop. Network errors without a message get a description."""
    first_line = str(error).strip().partition("\n")[0]
    default = "it is not responding" if isinstance(error, TimeoutError) else type(error).__name__
    return first_line.rstrip(".") or default
