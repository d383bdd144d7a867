"""Clients that offer another protocol with an ordinary request: the offer is passed over, and nothing comes of it."""

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.program import Program

_CALL = b'{"jsonrpc":"2.0","id":1,"method":"nothing"}'


def _head(offer: str, length: int) -> bytes:
    return (
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {offer}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


class _Line:
    """A connection on which bytes go out as they are told, and answers are read one by one."""

    def __init__(self, program: Program) -> None:
        address = urlsplit(program.url)
        assert address.hostname
        assert address.port
        self._socket = socket.create_connection((address.hostname, address.port), timeout=10)
        self._file = self._socket.makefile("rb")

    def say(self, *packets: bytes) -> None:
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            self._socket.sendall(packet)

    def answer(self) -> tuple[int, bytes]:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return status, self._file.read(length)

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@pytest.mark.parametrize("offer", ["h2c", "websocket"])
@pytest.mark.parametrize("apart", [False, True], ids=["in one packet", "in two"])
def test_the_request_is_answered_as_if_nothing_had_been_offered(tmp_path: Path, offer: str, apart: bool) -> None:
    with Program(tmp_path) as program:
        line = _Line(program)
        packets = [_head(offer, len(_CALL)), _CALL]
        for _ in range(2):  # and the connection can be used again
            line.say(*(packets if apart else [b"".join(packets)]))
            status, body = line.answer()
            assert (status, json.loads(body)["error"]["data"]["reason"]) == (200, "METHOD_NOT_FOUND")
        line.close()


def test_a_body_is_never_taken_for_a_request(tmp_path: Path) -> None:
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with Program(tmp_path) as program:
        line = _Line(program)
        line.say(_head("h2c", len(smuggled)), smuggled, _head("h2c", len(_CALL)), _CALL)
        assert json.loads(line.answer()[1])["error"]["data"]["reason"] == "PARSE_ERROR"
        assert json.loads(line.answer()[1])["error"]["data"]["reason"] == "METHOD_NOT_FOUND"
        line.close()


def test_a_client_that_takes_us_for_a_proxy_is_refused(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        line = _Line(program)
        line.say(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
        assert line.answer()[0] == 400
        line.close()
        assert program.request("GET", "/healthz").status == 200
