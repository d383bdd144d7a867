"""The way to PostgreSQL: what a URL may say, several hosts and TLS, and what is said when it leads nowhere."""

import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
import trustme

from tests.support.postgres import PostgresServer
from tickover.server.settings import SettingError
from tickover.server.storage import open_store, redact_url
from tickover.server.storage.postgres.connections import Connections
from tickover.server.storage.postgres.store import PostgresStore

_SECRET = "s3cret"
_NOBODY = "127.0.0.1:1"
"""Where no server is."""


async def _refusal(url: str) -> str:
    """What is said of a URL that cannot be used: one sentence, in which no secret is."""
    with pytest.raises(SettingError) as refused:
        await open_store(url)
    said = str(refused.value)
    assert _SECRET not in said
    assert "\n" not in said
    assert said.endswith(".")
    assert refused.value.__suppress_context__, "whoever reads it need not see what the driver did"
    return said


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Connections]:
    store = await open_store(url)
    assert isinstance(store, PostgresStore)
    yield store._connections
    await store.close()


# What is shown


@pytest.mark.parametrize(
    ("url", "as_shown"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://user@host:5433/db", "postgresql://user@host:5433/db"),
        ("postgresql://user:s3cret@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user:%73s3cret%40%2F@host/db", "postgresql://user:***@host/db"),
        ("postgres://user:s3cret@one:5432,[::1]:5433/db", "postgres://user:***@one:5432,[::1]:5433/db"),
        ("postgresql://user@host/db?password=s3cret", "postgresql://user@host/db"),
        ("postgresql://user:s3cret@host/db?sslpassword=s3cret", "postgresql://user:***@host/db"),
        ("postgresql://:s3cret@host/db", "postgresql://:***@host/db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, as_shown: str) -> None:
    assert redact_url(url) == as_shown


_ODD = "@:/?#[]%&=+\\ ;"


@pytest.mark.parametrize("password", [f"{odd}{_SECRET}" for odd in _ODD] + [f"{_SECRET}{odd}x" for odd in _ODD])
async def test_no_password_is_shown_even_if_it_was_not_escaped(postgres: PostgresServer, password: str) -> None:
    """As it should have been, and as those who write the URL forget."""
    url = f"postgresql://tickover:{password}@127.0.0.1:{postgres.port}/postgres"
    await _refusal(url)
    try:
        as_shown = redact_url(url)
    except SettingError as refused:
        as_shown = str(refused)
    assert _SECRET not in as_shown


async def test_a_password_may_have_any_character_if_it_is_escaped(postgres: PostgresServer) -> None:
    postgres.execute(f"create role odd login password '{_SECRET}{_ODD}'; create database odd owner odd")
    try:
        url = f"postgresql://odd:{quote(_SECRET + _ODD, safe='')}@127.0.0.1:{postgres.port}/odd"
        assert redact_url(url) == f"postgresql://odd:***@127.0.0.1:{postgres.port}/odd"
        async with _opened(url) as connections:
            assert (await connections.fetch_row("select current_user"))[0] == "odd"
    finally:
        postgres.execute("drop database odd with (force)")
        postgres.execute("drop role odd")


# What leads nowhere


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        pytest.param("postgresql://tickover:s3cret@{host}/postgres", "password authentication failed", id="password"),
        pytest.param("postgresql://nobody:s3cret@{host}/postgres", 'failed for user "nobody"', id="user"),
        pytest.param("{server}/nothing", 'database "nothing" does not exist', id="database"),
        pytest.param("postgresql://tickover:s3cret@127.0.0.1:1/db", "Connect call failed", id="nobody is there"),
        pytest.param("postgresql://tickover:s3cret@nowhere.invalid/db", "not known|resolution", id="no such host"),
        pytest.param("{server}/postgres?colour=blue", 'parameter "colour"', id="unknown parameter"),
        pytest.param("{server}/postgres?statement_timeout=soon", '"statement_timeout": "soon"', id="wrong value"),
        pytest.param("{server}/postgres?sslmode=maybe", "sslmode", id="unknown sslmode"),
        pytest.param("{server}/postgres?sslmode=require", "rejected SSL", id="no TLS there"),
        pytest.param("{server}/postgres?sslmode=verify-full", "root certificate", id="no certificate"),
        pytest.param("{server}/postgres?sslmode=verify-full&sslrootcert=none.pem", "No such file", id="no such file"),
        pytest.param("{server}/postgres?search_path=nowhere", "no schema", id="no such schema"),
        pytest.param("{server}/postgres?default_transaction_read_only=on", "read-only", id="no writing"),
    ],
)
async def test_what_leads_nowhere_is_told_in_one_sentence(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, reason: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    host = f"127.0.0.1:{postgres.port}"
    said = await _refusal(url.format(host=host, server=f"postgresql://tickover:{postgres.password}@{host}"))
    assert re.search(reason, said)
    assert postgres.password not in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql:///",
        "postgresql://@/",
        "postgresql://[",
        "postgresql://[::1/db",
        "postgresql://tickover:s3cret@[::1/db",
        "postgresql://tickover:s3cret@127.0.0.1:port/db",
        "postgresql://tickover:s3cret@127.0.0.1:99999/db",
        "postgresql://tickover:s3cret@127.0.0.1:-1/db",
        "postgresql://tickover:s3cret@127.0.0.1:1/db?x",
        "postgresql://tickover:s3cret@127.0.0.1:1/db?target_session_attrs=x",
        "postgresql://tickover:s3cret@,,/db",
        "postgresql://tickover:s3cret@127.0.0.1:1,/db",
        "postgresql://%00/db",
        "postgresql://☺ /db",
    ],
)
async def test_a_url_that_makes_no_sense_is_told_in_one_sentence(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where a URL names no server, there might be one.
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", "1")
    await _refusal(url)


# Several hosts, and TLS


class _OtherServer(NamedTuple):
    """Has the same roles with the same passwords, and a certificate that `authority` has signed."""

    server: PostgresServer
    authority: trustme.CA


@pytest.fixture(scope="module")
def other(postgres: PostgresServer) -> Iterator[_OtherServer]:
    authority = trustme.CA()
    server = PostgresServer(password=postgres.password)
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


async def _port_of(connections: Connections) -> int:
    """Where the server listens that answers."""
    return int((await connections.fetch_row("select current_setting('port')"))[0])


@pytest.mark.parametrize("hosts", ["{none},{here}", "{here},{none}", "{none},{none},{here},{none}"])
async def test_of_several_hosts_one_that_answers_is_enough(
    postgres: PostgresServer, postgres_url: str, hosts: str
) -> None:
    here = f"127.0.0.1:{postgres.port}"
    url = postgres_url.replace(here, hosts.format(none=_NOBODY, here=here))
    async with _opened(url) as connections:
        assert await _port_of(connections) == postgres.port


async def test_if_none_of_several_hosts_answers_it_is_told_in_one_sentence() -> None:
    said = await _refusal(f"postgresql://tickover:s3cret@{_NOBODY},127.0.0.1:2/db")
    assert f"postgresql://tickover:***@{_NOBODY},127.0.0.1:2/db" in said


@pytest.mark.parametrize("hosts", ["{none},{here}", "{here},{none}"])
async def test_of_several_hosts_what_one_has_said_is_told(postgres: PostgresServer, hosts: str) -> None:
    """It says more than that another does not answer."""
    several = hosts.format(none=_NOBODY, here=f"127.0.0.1:{postgres.port}")
    assert "password authentication failed" in await _refusal(f"postgresql://tickover:s3cret@{several}/postgres")


async def test_of_several_hosts_the_one_that_takes_writes_is_used(
    postgres: PostgresServer, postgres_url: str, other: _OtherServer
) -> None:
    name = postgres_url.rpartition("/")[2]
    other.server.create_database(name)
    other.server.execute(f"alter database {name} set default_transaction_read_only = on")
    here, there = f"127.0.0.1:{postgres.port}", f"127.0.0.1:{other.server.port}"
    for hosts in (f"{there},{here}", f"{here},{there}"):
        async with _opened(postgres_url.replace(here, hosts)) as connections:
            assert await _port_of(connections) == postgres.port
    # Unless the URL says that any will do.
    said = await _refusal(postgres_url.replace(here, f"{there},{here}") + "?target_session_attrs=any")
    assert "read-only" in said


async def _is_encrypted(connections: Connections) -> bool:
    found: bool = (await connections.fetch_row("select ssl from pg_stat_ssl where pid = pg_backend_pid()"))[0]
    return found


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
async def test_a_server_with_the_right_certificate_is_trusted(other: _OtherServer, tmp_path: Path, mode: str) -> None:
    other.authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    url = f"{other.server.create_database()}?sslmode={mode}&sslrootcert={tmp_path / 'authority.pem'}"
    async with _opened(url) as connections:
        assert await _is_encrypted(connections)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
async def test_a_server_with_a_certificate_of_others_is_not_trusted(
    other: _OtherServer, tmp_path: Path, mode: str
) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "others.pem")
    said = await _refusal(f"{other.server.url()}?sslmode={mode}&sslrootcert={tmp_path / 'others.pem'}")
    assert "certificate verify failed" in said
    assert other.server.password not in said


async def test_a_server_with_a_certificate_for_another_name_is_not_trusted(other: _OtherServer, tmp_path: Path) -> None:
    other.authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    url = other.server.url(sslmode="verify-full", sslrootcert=str(tmp_path / "authority.pem"))
    said = await _refusal(url.replace("127.0.0.1", "localhost"))
    assert "certificate verify failed" in said


@pytest.mark.parametrize(("query", "encrypted"), [("", True), ("?sslmode=prefer", True), ("?sslmode=disable", False)])
async def test_tls_is_used_where_it_is_to_be_had_unless_it_is_disabled(
    other: _OtherServer, query: str, encrypted: bool
) -> None:
    async with _opened(other.server.create_database() + query) as connections:
        assert await _is_encrypted(connections) == encrypted
