"""Server URLs, connection errors, TLS, proxies, threads and event loops."""

import asyncio
import socket
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme

from tests.support.program import Program, wait_until
from tests.system.client import servers
from tests.system.client.conftest import Connect
from tests.system.client.servers import Step, respond_normally, respond_with, scripted_server, tls_server
from tickover.client import AsyncTickover, InvalidResponse, Tickover, Unreachable
from tickover.client.async_client import AsyncClient
from tickover.client.calls import discover, latest_email
from tickover.client.http_pool import MAX_RESPONSE_BYTES
from tickover.client.rpc_messages import Deadline, Response

TOKEN = "tko_secret_token"
DISCOVER = discover().request


async def fail(connect: Connect, url: str, seconds: float = 60.0) -> tuple[str, bool]:
    """Send a request that gets no response. Return the error, and whether the request may have arrived."""
    async with connect(url) as transport:
        with pytest.raises(Unreachable) as caught:
            await transport.send(DISCOVER, Deadline(seconds))
    return str(caught.value), caught.value.may_have_arrived


async def respond(connect: Connect, url: str) -> Response:
    async with connect(url) as transport:
        response: Response = await transport.send(DISCOVER, Deadline(60))
    return response


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://127.0.0.1",
        "http://:8000",
        "http://ho st",
        "http://127.0.0..1",
        "http://[::1",
        "http://127.0.0.1\n",
        "http://127.0.0.1:65536",
        "http://127.0.0.1/?a=1",
    ],
)
def test_an_invalid_url_is_rejected(url: str) -> None:
    with pytest.raises(ValueError, match=r"^invalid server URL .*; use a URL such as http://127\.0\.0\.1:8000$") as no:
        Tickover(url)
    assert repr(url) in str(no.value)


@pytest.mark.parametrize("url", ["http://me@127.0.0.1", "http://me:my-password@127.0.0.1"])
def test_a_url_with_a_password_is_rejected_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"^a server URL can't contain a user name or a password$"):
        Tickover(url)


@pytest.mark.parametrize("path", ["", "/behind/a/proxy/"])
async def test_a_server_url_may_have_a_path(connect: Connect, path: str) -> None:
    with scripted_server(respond_normally) as server:
        async with connect(server.url + path) as transport:
            await transport.send(DISCOVER, Deadline(60))
            transport.token = TOKEN
            await transport.send(latest_email("a+b@example.test").request, Deadline(60))
        first, second = server.requests
    assert (first.path, first.headers.get("authorization")) == (f"{path.rstrip('/')}/rpc", None)
    assert second.path == f"{path.rstrip('/')}/mailbox/latest?to=a%2Bb%40example.test"
    assert second.headers["authorization"] == f"Bearer {TOKEN}"


# No response


@contextmanager
def closed_port() -> Iterator[str]:
    """The URL of a reserved port that no server listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_stopped_server_is_explained(connect: Connect) -> None:
    with closed_port() as url:
        message, may_have_arrived = await fail(connect, url)
    assert message.startswith(f"Can't connect to {url} (")
    assert message.endswith("). Check that the server is running. `tickover serve` starts one.")
    assert "[Errno" not in message
    assert not may_have_arrived


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


async def test_a_call_that_never_connected_did_not_arrive(connect: Connect) -> None:
    with busy_port() as url:
        message = f"{url} didn't respond within 0.2 seconds. Use a longer timeout, or try again later."
        assert await fail(connect, url, seconds=0.2) == (message, False)


@pytest.mark.parametrize(
    "step", [servers.close_connection_early, servers.truncate_response, servers.respond_without_http]
)
async def test_a_broken_connection_is_explained(connect: Connect, step: Step) -> None:
    with scripted_server(step) as server:
        message = (
            f"{server.url} closed the connection or doesn't speak HTTP."
            " Check that the URL is the address of a Tickover server."
        )
        assert await fail(connect, server.url) == (message, True)


@pytest.mark.parametrize(
    "step",
    [
        servers.never_respond,
        servers.respond_slowly,
        servers.respond_with_slow_head,
    ],
)
async def test_the_timeout_is_for_a_whole_response(connect: Connect, step: Step) -> None:
    """Each byte arrives within the timeout."""
    with scripted_server(respond_normally, step, respond_normally) as server:
        async with connect(server.url) as transport:
            await transport.send(DISCOVER, Deadline(60))
            message = f"{server.url} didn't respond within 0.4 seconds. Use a longer timeout, or try again later."
            with pytest.raises(Unreachable, match=message) as caught:
                await transport.send(DISCOVER, Deadline(0.4))
            await transport.send(DISCOVER, Deadline(60))
    assert caught.value.may_have_arrived


async def test_all_attempts_of_a_call_have_one_timeout(connect: Connect) -> None:
    """Without it, a server that responds slowly would hold a call once more with each retry."""
    with scripted_server(servers.respond_slowly) as server:
        async with connect(server.url) as transport:
            client = AsyncClient(server.url, None, transport, timeout=0.4, retries=2)
            with pytest.raises(Unreachable, match=r"didn't respond within 0\.4 seconds"):
                await client.discover()
        assert len(server.requests) == 1


# TLS


async def test_an_untrusted_certificate_is_rejected(connect: Connect) -> None:
    with tls_server(trustme.CA()) as url:
        message, may_have_arrived = await fail(connect, url)
    assert not may_have_arrived
    assert message.startswith(f"Can't connect to {url} (")
    assert "CERTIFICATE_VERIFY_FAILED" in message
    assert message.endswith("Set SSL_CERT_FILE to trust another one.")


async def test_ssl_cert_file_adds_a_trusted_certificate(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "trusted.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    with tls_server(authority) as url:
        await respond(connect, url)


# Redirects, proxies and large responses


@pytest.mark.parametrize("status", [302, 308])
async def test_a_redirect_is_not_followed(connect: Connect, status: int) -> None:
    with (
        scripted_server(respond_normally) as other,
        scripted_server(respond_with("", status, Location=f"{other.url}/rpc?secret=1")) as server,
    ):
        response = await respond(connect, server.url)
        assert other.requests == []
    with pytest.raises(InvalidResponse, match=f"redirects to {other.url}/rpc. The client doesn't follow redirects."):
        discover().decode(response)


async def test_local_servers_bypass_the_proxy(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(respond_normally) as proxy, scripted_server(respond_normally) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        await respond(connect, server.url)
        await respond(connect, server.url.replace("127.0.0.1", "localhost"))
        assert (len(server.requests), proxy.requests) == (2, [])
        await respond(connect, "http://elsewhere.example")
        assert [request.path for request in proxy.requests] == ["http://elsewhere.example/rpc"]


async def test_an_endless_response_is_cut_off(connect: Connect) -> None:
    with scripted_server(servers.respond_endlessly) as server:
        assert len((await respond(connect, server.url)).content) < 2 * MAX_RESPONSE_BYTES


# Clients


async def test_the_token_appears_in_no_traceback(connect: Connect) -> None:
    """Neither among the local variables, which pytest shows."""
    with (
        scripted_server(respond_with("no")) as server,
        scripted_server(servers.never_respond) as slow,
        closed_port() as closed,
    ):
        for url in (server.url, slow.url, closed):
            async with connect(url) as transport:
                with pytest.raises((InvalidResponse, Unreachable)) as caught:
                    await AsyncClient(url, TOKEN, transport, timeout=0.2, retries=0).list_page()
            shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            assert TOKEN not in "".join(shown.format())


def test_threads_can_share_a_client(program: Program, email: str) -> None:
    with Tickover(program.url, program.sign_in(email)) as client, ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda _: client.create_clock().id, range(40)))
        assert len(set(ids)) == 40
        assert {clock.id for clock in client.list_clocks()} == set(ids)


async def test_tasks_can_share_a_client_and_wait_for_a_free_connection(program: Program, email: str) -> None:
    async with AsyncTickover(program.url, program.sign_in(email), retries=0) as client:
        clocks = await asyncio.gather(*(client.create_clock() for _ in range(20)))
        # More than there are connections.
        pages = await asyncio.gather(*(client.list_page() for _ in range(120)))
    assert len({clock.id for clock in clocks}) == 20
    assert len(pages) == 120


async def test_an_open_client_reuses_its_connection(connect: Connect) -> None:
    with scripted_server(respond_normally) as server:
        async with connect(server.url) as transport:
            for _ in range(3):
                await transport.send(DISCOVER, Deadline(60))
        assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize(("idle_seconds", "connections"), [(3, 1), (5, 2)])
async def test_an_idle_connection_is_reused_for_four_seconds(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, idle_seconds: int, connections: int
) -> None:
    with scripted_server(respond_normally) as server:
        async with connect(server.url) as transport:
            await transport.send(DISCOVER, Deadline(60))
            later = SimpleNamespace(monotonic=lambda: time.monotonic() + idle_seconds)
            for module in ("httpcore2._async.http11", "tickover.client.http_pool"):
                monkeypatch.setattr(f"{module}.time", later)
            await transport.send(DISCOVER, Deadline(60))
        assert server.connections == connections


async def test_a_connection_that_the_server_closed_is_not_used(connect: Connect) -> None:
    with scripted_server(servers.respond_and_close, respond_normally) as server:
        async with connect(server.url) as transport:
            await transport.send(DISCOVER, Deadline(60))
            wait_until(lambda: server.closed_connections)
            await transport.send(DISCOVER, Deadline(60))
        assert server.connections == 2


async def test_a_closed_client_raises(program: Program) -> None:
    with Tickover(program.url) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.discover()
    async with AsyncTickover(program.url) as asynchronous:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        await asynchronous.discover()
