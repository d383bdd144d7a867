"""URLs of PostgreSQL: redaction, several hosts, TLS and error messages."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
import trustme

from tests.support.postgres import PostgresServer
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.postgres.database import Database
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.urls import redact_url

_SECRET = "s3cret"
_NO_SERVER = "127.0.0.1:1"
"""An address without a server."""


@pytest.fixture(autouse=True)
def _long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a busy machine more time to connect. The hosts of a URL share this time."""
    for name in ("_CONNECT_SECONDS", "_POOL_WAIT_SECONDS"):
        monkeypatch.setattr(f"tickover.server.storage.postgres.database.{name}", 100.0)


async def _error_of(url: str) -> str:
    """Return the error for an unusable URL. It is one line without secrets."""
    with pytest.raises(SettingError) as error:
        await open_store(url)
    message = str(error.value)
    assert _SECRET not in message
    assert "\n" not in message
    assert message.endswith(".")
    assert error.value.__suppress_context__, "the driver's traceback is hidden"
    return message


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    store = await open_store(url)
    assert isinstance(store, PostgresStore)
    yield store._database
    await store.close()


# Redaction


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://user:s3cret@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user:%73s3cret%40%2F@host/db", "postgresql://user:***@host/db"),
        ("postgres://user:s3cret@one:5432,[::1]:5433/db", "postgres://user:***@one:5432,[::1]:5433/db"),
        ("postgresql://user@host/db?password=s3cret", "postgresql://user@host/db"),
        ("postgresql://user:s3cret@host/db?sslpassword=s3cret", "postgresql://user:***@host/db"),
    ],
)
def test_password_is_redacted(url: str, redacted: str) -> None:
    assert redact_url(url) == redacted


_UNUSUAL = "@:/?#[]%&=+\\ ;"


@pytest.mark.parametrize("password", [f"{odd}{_SECRET}{odd}x" for odd in _UNUSUAL])
async def test_unescaped_password_is_redacted_too(postgres: PostgresServer, password: str) -> None:
    """With passwords that are escaped, and passwords that should be."""
    url = f"postgresql://tickover:{password}@127.0.0.1:{postgres.port}/postgres"
    await _error_of(url)
    try:
        redacted = redact_url(url)
    except SettingError as error:
        redacted = str(error)
    assert _SECRET not in redacted


async def test_escaped_password_may_contain_any_character(postgres: PostgresServer) -> None:
    postgres.execute(f"create role odd login password '{_SECRET}{_UNUSUAL}'; create database odd owner odd")
    try:
        url = f"postgresql://odd:{quote(_SECRET + _UNUSUAL, safe='')}@127.0.0.1:{postgres.port}/odd"
        assert redact_url(url) == f"postgresql://odd:***@127.0.0.1:{postgres.port}/odd"
        async with _opened(url) as connections:
            assert await connections.fetch_value("select current_user") == "odd"
    finally:
        postgres.execute("drop database odd with (force)")
        postgres.execute("drop role odd")


# Unusable URLs


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        pytest.param("postgresql://tickover:s3cret@{host}/postgres", "password authentication failed", id="password"),
        pytest.param("{server}/nothing", 'database "nothing" does not exist', id="database"),
        pytest.param("postgresql://tickover:s3cret@127.0.0.1:1/db", "Connect call failed", id="no server"),
        pytest.param("postgresql://tickover:s3cret@nowhere.invalid/db", "not known|resolution", id="no such host"),
        pytest.param("{server}/postgres?colour=blue", 'parameter "colour"', id="unknown parameter"),
        pytest.param("{server}/postgres?sslmode=require", "rejected SSL", id="no TLS"),
        pytest.param("{server}/postgres?sslmode=verify-full", "root certificate", id="no certificate"),
        pytest.param("{server}/postgres?search_path=nowhere", "no schema", id="no such schema"),
        pytest.param("{server}/postgres?default_transaction_read_only=on", "read-only", id="read-only"),
    ],
)
async def test_unusable_url_is_reported_on_one_line(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, reason: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    host = f"127.0.0.1:{postgres.port}"
    message = await _error_of(url.format(host=host, server=f"postgresql://tickover:{postgres.password}@{host}"))
    assert any(each in message for each in reason.split("|"))
    assert postgres.password not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql://[",
        "postgresql://tickover:s3cret@127.0.0.1:port/db",
        "postgresql://tickover:s3cret@127.0.0.1:1/db?x",
        "postgresql://tickover:s3cret@127.0.0.1:1/db?target_session_attrs=x",
        "postgresql://tickover:s3cret@127.0.0.1:1,/db",
        "postgresql://%00/db",
        "postgresql://☺ /db",
    ],
)
async def test_invalid_url_is_reported_on_one_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without a host, the driver might find a local server.
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", "1")
    await _error_of(url)


# Several hosts and TLS


class _OtherServer(NamedTuple):
    """Has the same roles and passwords, and a certificate signed by `authority`."""

    server: PostgresServer
    authority: trustme.CA


@pytest.fixture(scope="module")
def other(postgres: PostgresServer) -> Iterator[_OtherServer]:
    authority = trustme.CA()
    server = postgres.sibling()
    certificate, key = server.folder / "server.pem", server.folder / "server.key"
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    key.chmod(0o600)
    owner = server.folder.stat()
    os.chown(key, owner.st_uid, owner.st_gid)
    os.chown(certificate, owner.st_uid, owner.st_gid)
    server.settings |= {"ssl": "on", "ssl_cert_file": str(certificate), "ssl_key_file": str(key)}
    with server:
        yield _OtherServer(server, authority)


async def _port_of(connections: Database) -> int:
    """Return the port of the server that responds."""
    return int(await connections.fetch_value("select current_setting('port')"))


async def test_host_that_accepts_writes_is_used(
    postgres: PostgresServer, postgres_url: str, other: _OtherServer
) -> None:
    name = postgres_url.rpartition("/")[2]
    other.server.create_database(name)
    other.server.execute(f"alter database {name} set default_transaction_read_only = on")
    here, there = f"127.0.0.1:{postgres.port}", f"127.0.0.1:{other.server.port}"
    for hosts in (f"{there},{here}", f"{here},{there}"):
        async with _opened(postgres_url.replace(here, hosts)) as connections:
            assert await _port_of(connections) == postgres.port
    # Unless the URL allows any server.
    message = await _error_of(postgres_url.replace(here, f"{there},{here}") + "?target_session_attrs=any")
    assert "read-only" in message


async def _is_encrypted(connections: Database) -> bool:
    return bool(await connections.fetch_value("select ssl from pg_stat_ssl where pid = pg_backend_pid()"))


@pytest.mark.parametrize("mode", ["require", "verify-full"])
async def test_server_with_a_valid_certificate_is_trusted(other: _OtherServer, tmp_path: Path, mode: str) -> None:
    other.authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    url = f"{other.server.create_database()}?sslmode={mode}&sslrootcert={tmp_path / 'authority.pem'}"
    async with _opened(url) as connections:
        assert await _is_encrypted(connections)


async def test_server_with_a_certificate_of_another_authority_is_not_trusted(
    other: _OtherServer, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "others.pem")
    message = await _error_of(f"{other.server.url()}?sslmode=verify-full&sslrootcert={tmp_path / 'others.pem'}")
    assert "certificate verify failed" in message
    assert other.server.password not in message


@pytest.mark.parametrize("hosts", ["{none},{here}", "{here},{none}"])
async def test_error_of_a_server_is_preferred_to_a_timeout(postgres: PostgresServer, hosts: str) -> None:
    """It says more than the timeout of another host."""
    several = hosts.format(none=_NO_SERVER, here=f"127.0.0.1:{postgres.port}")
    assert "password authentication failed" in await _error_of(f"postgresql://tickover:s3cret@{several}/postgres")
