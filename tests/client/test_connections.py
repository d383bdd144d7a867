"""Where the client connects to, what it tells when it cannot, and what it never tells."""

import asyncio
import socket
import ssl
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from tests.client.driving import Opener, done, every, raised
from tests.client.servers import Scripted, says, scripted, speaks_no_http, well
from tests.program import Program
from tickover.client import AsyncTickover, BadAnswer, ClientError, Tickover, Unreachable

TOKEN = "tko_this_is_nobody_s_business"


# Urls


@pytest.mark.parametrize(
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
def test_what_is_no_url_is_refused_at_once(kind: type, url: str) -> None:
    with pytest.raises(ValueError, match=r"no url of a server; it has to be like http://127\.0\.0\.1:8000$") as caught:
        kind(url)
    assert str(caught.value).startswith(repr(url))


@pytest.mark.parametrize("url", ["http://me@127.0.0.1", "http://me:my-password@127.0.0.1"])
def test_a_password_is_refused_and_not_repeated(kind: type, url: str) -> None:
    with pytest.raises(ValueError, match="no user name and no password") as caught:
        kind(url)
    assert "me" not in str(caught.value).replace("name", "")


@pytest.mark.parametrize(
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
def test_what_is_a_url_is_taken(kind: type, url: str) -> None:
    assert kind(url).url == url


def test_the_url_is_that_of_a_server_on_this_machine_unless_told_otherwise(kind: type) -> None:
    assert kind().url == "http://127.0.0.1:8000"


@pytest.mark.parametrize("path", ["", "/", "/behind/a/proxy", "/behind/a/proxy/"])
async def test_a_server_may_be_below_a_path(opened: Opener, path: str) -> None:
    with scripted(well) as server:
        async with opened(server.url + path) as client:
            await done(client.discover())
            await done(client.latest_letter("a+b@example.test"))
        paths = [asked.path for asked in server.asked]
    assert client.url == (server.url + path).rstrip("/")
    assert paths == [f"{path.rstrip('/')}/rpc", f"{path.rstrip('/')}/mailbox/latest?to=a%2Bb%40example.test"]


async def test_the_path_of_the_endpoint_is_no_part_of_the_url(opened: Opener, program: Program) -> None:
    async with opened(f"{program.url}/rpc") as client:
        error = await raised(BadAnswer, client.discover)
    assert str(error).endswith("is this the address of a Tickover server, without /rpc?")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "the timeout must be a number of seconds greater than 0"),
        ({"timeout": -1.0}, "the timeout must be a number of seconds greater than 0"),
        ({"timeout": float("nan")}, "the timeout must be a number of seconds greater than 0"),
        ({"retries": -1}, "the number of retries must be 0 or more"),
        *(({"token": token}, "a token is one word of ASCII") for token in ["", "tko_a b", "tko_a\n", "tko_ä", " tko"]),
    ],
)
def test_options_that_make_no_sense_are_refused(kind: type, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        kind(**options)
    assert "tko" not in str(caught.value)


# No connection


@contextmanager
def nobody() -> Iterator[str]:
    """A port that is taken, and at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_server_that_does_not_run_is_told_so(opened: Opener) -> None:
    with nobody() as url:
        async with opened(url, TOKEN, retries=0) as client:
            error = await raised(Unreachable, client.list_page)
    assert isinstance(error, ClientError)
    assert str(error).startswith(f"There is no connection to {url} (")
    assert str(error).endswith("). Is it running? `tickover serve` starts one.")
    assert "[Errno" not in str(error)


async def test_a_name_that_nobody_has_is_told_so(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    async with opened("http://nobody.invalid", retries=0) as client:
        error = await raised(Unreachable, client.discover)
    # Where no name server answers, it takes the timeout to find out.
    assert "http://nobody.invalid" in str(error)


async def test_a_call_that_never_arrived_is_made_again_even_if_it_is_not_safe(opened: Opener) -> None:
    """The server has its port, but begins to listen only between two attempts."""
    with Scripted((well,), listens=False) as server:
        thread = threading.Timer(0.15, server.listen)
        thread.start()
        async with opened(server.url, retries=6) as client:
            await done(client.send_code("ana@example.test"))
        server.shutdown()
        thread.join()
        assert len(server.asked) == 1


async def test_what_speaks_no_http_is_told_so(opened: Opener) -> None:
    with scripted(speaks_no_http) as server:
        async with opened(server.url, retries=0) as client:
            error = await raised(Unreachable, client.discover)
    assert str(error).startswith(f"{server.url} broke the connection off, or does not speak HTTP;")


# TLS


@contextmanager
def with_tls(authority: trustme.CA) -> Iterator[Scripted]:
    with scripted(well) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server


def secure(server: Scripted) -> str:
    return server.url.replace("http:", "https:")


async def test_a_certificate_that_nobody_trusts_is_told_so(opened: Opener) -> None:
    with with_tls(trustme.CA()) as server:
        async with opened(secure(server), TOKEN, retries=0) as client:
            error = await raised(Unreachable, client.list_page)
        assert server.asked == []
    assert str(error).startswith(f"There is no connection to {secure(server)} (")
    assert "CERTIFICATE_VERIFY_FAILED" in str(error)
    assert str(error).endswith("SSL_CERT_FILE names others that are.")


async def test_a_server_without_tls_is_told_so(opened: Opener) -> None:
    with scripted(well) as server:
        async with opened(secure(server), retries=0) as client:
            error = await raised(Unreachable, client.discover)
    assert str(error).startswith(f"There is no connection to {secure(server)} (")
    assert str(error).endswith("Does it speak TLS at all? If not, its address begins with http://.")


async def test_a_certificate_that_the_environment_trusts_is_taken(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "trusted.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    with with_tls(authority) as server:
        async with opened(secure(server), TOKEN) as client:
            await done(client.list_page())
        assert len(server.asked) == 1


# What is sent to whom


async def test_the_token_goes_with_the_calls_that_need_it(opened: Opener) -> None:
    with scripted(well) as server:
        async with opened(server.url, TOKEN) as client:
            await done(client.list_page())
            await done(client.discover())
            await done(client.send_code("ana@example.test"))
            await done(client.latest_letter("ana@example.test"))
            await done(client.log_in("ana@example.test", "123456"))
            await done(client.get_clock("clock_1"))
            await done(client.log_out())
        sent = [asked.headers.get("authorization") for asked in server.asked]
    assert sent == [f"Bearer {TOKEN}", None, None, None, None, "Bearer tko_new", "Bearer tko_new"]


async def test_no_proxy_is_asked_for_what_is_on_this_machine(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(well) as proxy, scripted(well) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            async with opened(url) as client:
                await done(client.discover())
        assert (len(server.asked), proxy.asked) == (2, [])
        async with opened("http://elsewhere.example") as client:
            await done(client.discover())
        assert [asked.path for asked in proxy.asked] == ["http://elsewhere.example/rpc"]


async def test_the_token_is_shown_nowhere(opened: Opener) -> None:
    with scripted(well) as server, scripted(says("no")) as other, nobody() as url:
        async with opened(server.url, TOKEN) as client:
            shown = [repr(client), str(client), repr(await done(client.get_clock("clock_1")))]
        for place in (other.url, url):
            async with opened(place, TOKEN, retries=0) as client:
                error = await raised((BadAnswer, Unreachable), client.list_page)
                shown.append("".join(traceback.format_exception(error)))
        async with opened(server.url) as client:
            shown.append(repr(client))
    assert not [text for text in shown if TOKEN in text]
    assert shown[0].endswith(f"Tickover({server.url!r}, signed in)")
    assert shown[-1].endswith(f"Tickover({server.url!r}, not signed in)")
    assert shown[2].endswith("Clock('clock_1', frozen_time='2027-01-01T00:00:00+00:00')")


# Threads and event loops


def test_threads_share_a_client(program: Program, email: str) -> None:
    with Tickover(program.url, program.sign_in(email)) as client, ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda _: client.create_clock().id, range(40)))
        assert len(set(ids)) == 40
        assert {clock.id for clock in client.list_clocks()} == set(ids)


def test_event_loops_share_a_client_one_after_the_other(program: Program, email: str) -> None:
    client = AsyncTickover(program.url, program.sign_in(email))
    made = [asyncio.run(client.create_clock()).id for _ in range(3)]

    async def listed() -> list[str]:
        return [clock.id for clock in await every(client.list_clocks())]

    assert asyncio.run(listed()) == made[::-1]


async def test_tasks_share_a_client(program: Program, email: str) -> None:
    async with AsyncTickover(program.url, program.sign_in(email)) as client:
        clocks = await asyncio.gather(*(client.create_clock() for _ in range(40)))
    assert len({clock.id for clock in clocks}) == 40


async def test_more_tasks_than_connections_wait_for_each_other(program: Program, email: str) -> None:
    async with AsyncTickover(program.url, program.sign_in(email), retries=0) as client:
        pages = await asyncio.gather(*(client.list_page() for _ in range(250)))
    assert len(pages) == 250


async def test_connections_are_kept_while_the_client_is_open(opened: Opener) -> None:
    with scripted(well) as server:
        async with opened(server.url) as client:
            for _ in range(3):
                await done(client.discover())
        assert (len(server.asked), server.connections) == (3, 1)


async def test_a_client_that_was_closed_makes_no_calls(opened: Opener, program: Program) -> None:
    async with opened(program.url) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        await done(client.discover())
