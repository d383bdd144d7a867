"""The HTTP server with TLS: its limits and deadlines hold for handshakes and encrypted bytes too."""

import asyncio
import ssl
from contextlib import suppress
from typing import Final

import trustme

from tests.support.raw import HELLO, SHORT_DEADLINE_SECONDS, Client, echo_call, run_echo_server, wait_for
from tickover.api.limits import MAX_BODY

_AUTHORITY: Final = trustme.CA()
_SERVER: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
_AUTHORITY.issue_cert("localhost").configure_cert(_SERVER)
_CLIENT: Final = ssl.create_default_context()
_AUTHORITY.configure_trust(_CLIENT)


async def test_requests_of_a_connection_get_responses() -> None:
    async with run_echo_server(tls=_SERVER) as server, Client.connect(server.port, _CLIENT) as client:
        large = bytes(MAX_BODY)
        for _ in range(2):
            assert (await client.request(HELLO)).body == b"Hello"
            assert (await client.request(echo_call(large))).body == b"echo: " + large
        await client.send(HELLO, HELLO)
        assert [(await client.response()).status for _ in range(2)] == [200, 200]
        assert (await client.request(b"nonsense\r\n\r\n")).status == 400
        assert await client.read_to_end() == b"", "a connection without a goodbye raises an error"


async def test_handshake_has_a_deadline() -> None:
    async with (
        run_echo_server(tls=_SERVER, deadline_seconds=SHORT_DEADLINE_SECONDS) as server,
        Client.connect(server.port) as silent,
        Client.connect(server.port) as slow,
    ):
        await slow.send(b"\x16\x03\x01\x02\x00")
        assert await silent.read_to_end() == b""
        assert await slow.read_to_end() == b""


async def test_client_without_tls_is_disconnected() -> None:
    async with run_echo_server(tls=_SERVER) as server, Client.connect(server.port) as client:
        await client.send(HELLO)
        assert b"HTTP" not in await client.read_to_end()
        async with Client.connect(server.port, _CLIENT) as other:
            assert (await other.request(HELLO)).status == 200


async def test_encrypted_bytes_that_are_not_read_count() -> None:
    async with (
        run_echo_server(tls=_SERVER, deadline_seconds=SHORT_DEADLINE_SECONDS) as server,
        Client.connect(server.port, _CLIENT) as client,
    ):
        assert (await client.request(echo_call(b"x"))).status == 200
        [connection] = server.pool.connections
        await client.send(echo_call(b"huge"))
        await wait_for(lambda: server.pool.unread)
        await wait_for(lambda: connection not in server.pool.connections)
        with suppress(ConnectionError, ssl.SSLError):
            assert len(await client.read_to_end()) < server.HUGE, "the whole response was waiting for it"


async def test_client_that_leaves_during_a_call_is_noticed() -> None:
    async with run_echo_server(tls=_SERVER) as server, Client.connect(server.port, _CLIENT) as client:
        await client.send(echo_call(b"busy"))
        await asyncio.wait_for(server.is_busy.wait(), 60)
        client.reset()
        await wait_for(lambda: server.busy_request.has_left)
