"""Server URLs, connection errors, TLS, proxies, threads and event loops."""

import asyncio
import socket
import ssl
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme

from tests.support.cases import each_case
from tests.support.program import Program
from tests.system.client.clients import OpenClient, catch, collect, resolve
from tests.system.client.servers import (
    ScriptedServer,
    respond_normally,
    respond_with,
    respond_without_http,
    scripted_server,
)
from tickover.client import AsyncTickover, ClientError, InvalidResponse, Tickover, Unreachable

TOKEN = "tko_secret_token"


# URLs


@each_case(
    "url",
    [
        "",
        "localhost:8000",
        "127.0.0.1",
        "//127.0.0.1:8000",
        "http:/127.0.0.1",
        "ftp://127.0.0.1",
        "http://",
        "http://:8000",
        "http://.",
        "http://a..b",
        f"http://{'a' * 64}",
        "http://[",
        "http://[::1",
        "http://two words",
        " http://127.0.0.1",
        "http://127.0.0.1\n",
        "http://127.0.0.999",
        "http://127.0.0.1:http",
        "http://127.0.0.1:0",
        "http://127.0.0.1:65536",
        "http://127.0.0.1/?a=1",
        "http://127.0.0.1/#there",
    ],
)
def test_an_invalid_url_is_rejected(client_class: type, url: str) -> None:
    with pytest.raises(
        ValueError, match=r"^invalid server URL .*; use a URL such as http://127\.0\.0\.1:8000$"
    ) as caught:
        client_class(url)
    assert repr(url) in str(caught.value)


@each_case("url", ["http://me@127.0.0.1", "http://me:my-password@127.0.0.1"])
def test_a_url_with_a_password_is_rejected_without_repeating_it(client_class: type, url: str) -> None:
    with pytest.raises(ValueError, match="can't contain a user name or a password") as caught:
        client_class(url)
    assert "me" not in str(caught.value).replace("name", "")


@each_case(
    "url",
    [
        "http://localhost",
        "HTTP://LOCALHOST:8000",
        "https://tickover.example.test",
        f"http://{'a' * 63}.test.",
        "http://my_service:1",
        "http://[::1]:65535",
        "http://bücher.example",
    ],
)
def test_a_valid_url_is_accepted(client_class: type, url: str) -> None:
    assert client_class(url).url == url


def test_the_default_url_is_a_local_server(client_class: type) -> None:
    assert client_class().url == "http://127.0.0.1:8000"


@each_case("path", ["", "/", "/behind/a/proxy", "/behind/a/proxy/"])
async def test_a_server_url_may_have_a_path(open_client: OpenClient, path: str) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(server.url + path) as client:
            await resolve(client.discover())
            await resolve(client.latest_email("a+b@example.test"))
        paths = [request.path for request in server.requests]
    assert client.url == (server.url + path).rstrip("/")
    assert paths == [f"{path.rstrip('/')}/rpc", f"{path.rstrip('/')}/mailbox/latest?to=a%2Bb%40example.test"]


async def test_a_url_that_ends_in_rpc_is_explained(open_client: OpenClient, program: Program) -> None:
    async with open_client(f"{program.url}/rpc") as client:
        error = await catch(InvalidResponse, client.discover)
    assert str(error).endswith("Check that the URL is the address of a Tickover server, without /rpc.")


@each_case(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds greater than 0"),
        ({"timeout": -1.0}, "timeout must be a number of seconds greater than 0"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds greater than 0"),
        ({"retries": -1}, "retries must be 0 or more"),
        *(
            ({"token": token}, "a token must consist of printable ASCII characters")
            for token in ["", "tko_a b", "tko_a\n", "tko_ä", " tko"]
        ),
    ],
)
def test_invalid_options_are_rejected(client_class: type, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        client_class(**options)
    assert "tko" not in str(caught.value)


# Connection errors


@contextmanager
def closed_port() -> Iterator[str]:
    """The URL of a reserved port that no server listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_stopped_server_raises_unreachable(open_client: OpenClient) -> None:
    with closed_port() as url:
        async with open_client(url, TOKEN, retries=0) as client:
            error = await catch(Unreachable, client.list_page)
    assert isinstance(error, ClientError)
    assert str(error).startswith(f"Can't connect to {url} (")
    assert str(error).endswith("). Check that the server is running. `tickover serve` starts one.")
    assert "[Errno" not in str(error)


async def test_an_unknown_host_raises_unreachable(open_client: OpenClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    async with open_client("http://nobody.invalid", retries=0) as client:
        error = await catch(Unreachable, client.discover)
    # Without a name server this may be a timeout, so the message varies.
    assert "http://nobody.invalid" in str(error)


async def test_a_refused_connection_is_retried_even_if_not_idempotent(open_client: OpenClient) -> None:
    """The server reserves its port, and starts to listen between two attempts."""
    with ScriptedServer((respond_normally,), listens=False) as server:
        thread = threading.Timer(0.15, server.listen)
        thread.start()
        async with open_client(server.url, retries=6) as client:
            await resolve(client.send_code("ana@example.test"))
        server.shutdown()
        thread.join()
        assert len(server.requests) == 1


@contextmanager
def busy_port() -> Iterator[str]:
    """The URL of a server that accepts no connection, and whose queue of new connections is full."""
    with socket.socket() as server, ExitStack() as waiting:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


async def test_a_call_that_never_connected_was_not_processed(open_client: OpenClient) -> None:
    with busy_port() as url:
        async with open_client(url, TOKEN, timeout=0.2, retries=0) as client:
            error = await catch(Unreachable, client.log_out)
    assert str(error) == f"{url} didn't respond within 0.2 seconds. Use a longer timeout, or try again later."


async def test_a_server_without_http_raises_unreachable(open_client: OpenClient) -> None:
    with scripted_server(respond_without_http) as server:
        async with open_client(server.url, retries=0) as client:
            error = await catch(Unreachable, client.discover)
    assert str(error).startswith(f"{server.url} closed the connection or doesn't speak HTTP.")


# TLS


@contextmanager
def tls_server(authority: trustme.CA) -> Iterator[ScriptedServer]:
    with scripted_server(respond_normally) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server


def https_url(server: ScriptedServer) -> str:
    return server.url.replace("http:", "https:")


async def test_an_untrusted_certificate_is_rejected(open_client: OpenClient) -> None:
    with tls_server(trustme.CA()) as server:
        async with open_client(https_url(server), TOKEN, retries=0) as client:
            error = await catch(Unreachable, client.list_page)
        assert server.requests == []
    assert str(error).startswith(f"Can't connect to {https_url(server)} (")
    assert "CERTIFICATE_VERIFY_FAILED" in str(error)
    assert str(error).endswith("Set SSL_CERT_FILE to trust another one.")


async def test_https_to_a_plain_http_server_is_explained(open_client: OpenClient) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(https_url(server), retries=0) as client:
            error = await catch(Unreachable, client.discover)
    assert str(error).startswith(f"Can't connect to {https_url(server)} (")
    assert str(error).endswith("If the server doesn't use TLS, use a URL that begins with http://.")


async def test_ssl_cert_file_adds_a_trusted_certificate(
    open_client: OpenClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "trusted.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    with tls_server(authority) as server:
        async with open_client(https_url(server), TOKEN) as client:
            await resolve(client.list_page())
        assert len(server.requests) == 1


# Tokens and proxies


async def test_only_calls_that_need_the_token_send_it(open_client: OpenClient) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(server.url, TOKEN) as client:
            await resolve(client.list_page())
            await resolve(client.discover())
            await resolve(client.send_code("ana@example.test"))
            await resolve(client.latest_email("ana@example.test"))
            await resolve(client.log_in("ana@example.test", "123456"))
            await resolve(client.get_clock("clock_1"))
            await resolve(client.log_out())
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == [f"Bearer {TOKEN}", None, None, None, None, "Bearer tko_new", "Bearer tko_new"]


async def test_local_servers_bypass_the_proxy(open_client: OpenClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(respond_normally) as proxy, scripted_server(respond_normally) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            async with open_client(url) as client:
                await resolve(client.discover())
        assert (len(server.requests), proxy.requests) == (2, [])
        async with open_client("http://elsewhere.example") as client:
            await resolve(client.discover())
        assert [request.path for request in proxy.requests] == ["http://elsewhere.example/rpc"]


async def test_the_token_appears_in_no_repr_or_traceback(open_client: OpenClient) -> None:
    with (
        scripted_server(respond_normally) as server,
        scripted_server(respond_with("no")) as other,
        closed_port() as url,
    ):
        async with open_client(server.url, TOKEN) as client:
            texts = [repr(client), str(client), repr(await resolve(client.get_clock("clock_1")))]
        for bad_url in (other.url, url):
            async with open_client(bad_url, TOKEN, retries=0) as client:
                error = await catch((InvalidResponse, Unreachable), client.list_page)
                texts.append("".join(traceback.format_exception(error)))
        async with open_client(server.url) as client:
            texts.append(repr(client))
    assert not [text for text in texts if TOKEN in text]
    assert texts[0].endswith(f"Tickover({server.url!r}, signed in)")
    assert texts[-1].endswith(f"Tickover({server.url!r}, not signed in)")
    assert texts[2].endswith("Clock('clock_1', frozen_time='2027-01-01T00:00:00+00:00')")


# Threads and event loops


def test_threads_can_share_a_client(program: Program, email: str) -> None:
    with Tickover(program.url, program.sign_in(email)) as client, ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda _: client.create_clock().id, range(40)))
        assert len(set(ids)) == 40
        assert {clock.id for clock in client.list_clocks()} == set(ids)


def test_event_loops_can_share_a_client_in_turn(program: Program, email: str) -> None:
    client = AsyncTickover(program.url, program.sign_in(email))
    ids = [asyncio.run(client.create_clock()).id for _ in range(3)]

    async def list_ids() -> list[str]:
        return [clock.id for clock in await collect(client.list_clocks())]

    assert asyncio.run(list_ids()) == ids[::-1]


async def test_tasks_can_share_a_client(program: Program, email: str) -> None:
    async with AsyncTickover(program.url, program.sign_in(email)) as client:
        clocks = await asyncio.gather(*(client.create_clock() for _ in range(40)))
    assert len({clock.id for clock in clocks}) == 40


async def test_tasks_wait_for_a_free_connection(program: Program, email: str) -> None:
    async with AsyncTickover(program.url, program.sign_in(email), retries=0) as client:
        pages = await asyncio.gather(*(client.list_page() for _ in range(250)))
    assert len(pages) == 250


async def test_an_open_client_reuses_its_connection(open_client: OpenClient) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(server.url) as client:
            for _ in range(3):
                await resolve(client.discover())
        assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize(("idle_seconds", "connections"), [(3, 1), (5, 2)])
async def test_an_idle_connection_is_reused_for_four_seconds(
    open_client: OpenClient, monkeypatch: pytest.MonkeyPatch, idle_seconds: int, connections: int
) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(server.url) as client:
            await resolve(client.discover())
            later = SimpleNamespace(monotonic=lambda: time.monotonic() + idle_seconds)
            for module in ("_sync", "_async"):
                monkeypatch.setattr(f"httpcore2.{module}.http11.time", later)
            await resolve(client.discover())
        assert server.connections == connections


async def test_a_closed_client_raises(open_client: OpenClient, program: Program) -> None:
    async with open_client(program.url) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        await resolve(client.discover())
