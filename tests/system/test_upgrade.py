"""Requests with an Upgrade header: the server ignores the header."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.support.program import Program

_CALL = b'{"jsonrpc":"2.0","id":1,"method":"nothing"}'


def _head(offer: str, length: int) -> bytes:
    return (
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {offer}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


class _Connection:
    """A connection that sends raw bytes and reads responses."""

    def __init__(self, program: Program) -> None:
        address = urlsplit(program.url)
        assert address.hostname
        assert address.port
        self._socket = socket.create_connection((address.hostname, address.port), timeout=120)
        self._file = self._socket.makefile("rb")

    def say(self, *packets: bytes) -> None:
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            self._socket.sendall(packet)

    def read_response(self) -> tuple[int, bytes]:
        status = int(self._file.readline().split()[1])
        length = 0
        self.says_close = False
        while (line := self._file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            self.says_close |= line.lower() == b"connection: close\r\n"
        return status, self._file.read(length)

    def is_closed(self) -> bool:
        """Wait until the server closes the connection."""
        return self._file.read(1) == b""

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@pytest.mark.parametrize("offer", ["h2c", "websocket"])
@pytest.mark.parametrize("apart", [False, True], ids=["in one packet", "in two"])
def test_upgrade_header_is_ignored(program: Program, offer: str, apart: bool) -> None:
    line = _Connection(program)
    packets = [_head(offer, len(_CALL)), _CALL]
    for _ in range(2):  # The connection is reusable.
        line.say(*(packets if apart else [b"".join(packets)]))
        status, body = line.read_response()
        assert (status, json.loads(body)["error"]["data"]["reason"]) == (200, "METHOD_NOT_FOUND")
    line.close()


def test_body_is_never_parsed_as_a_request(program: Program) -> None:
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    line = _Connection(program)
    line.say(_head("h2c", len(smuggled)), smuggled, _head("h2c", len(_CALL)), _CALL)
    assert json.loads(line.read_response()[1])["error"]["data"]["reason"] == "PARSE_ERROR"
    assert json.loads(line.read_response()[1])["error"]["data"]["reason"] == "METHOD_NOT_FOUND"
    line.close()


def test_connect_is_rejected(program: Program) -> None:
    line = _Connection(program)
    line.say(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
    assert line.read_response()[0] == 400
    line.close()
    assert program.request("GET", "/healthz").status == 200


_OFFER = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"


def _post(version: bytes, headers: bytes) -> bytes:
    head = b"POST /rpc HTTP/%b\r\nHost: localhost\r\nContent-Type: application/json\r\n%b" % (version, headers)
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(_CALL), _CALL)


def test_pipelined_upgrade_requests_get_responses(program: Program) -> None:
    line = _Connection(program)
    line.say(_post(b"1.1", _OFFER) * 600)
    assert [line.read_response()[0] for _ in range(600)] == [200] * 600
    line.say(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%b\r\n" % _OFFER * 600)
    assert [line.read_response() for _ in range(600)] == [(200, b"alive\n")] * 600
    line.close()
    assert "Traceback" not in program.output


def test_chunked_body_with_upgrade_is_read(program: Program) -> None:
    chunked = b"%x\r\n%b\r\n0\r\nX: y\r\n\r\n" % (len(_CALL), _CALL)
    written = _post(b"1.1", _OFFER).partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n" + chunked
    line = _Connection(program)
    line.say(written, written[:90], written[90:])
    for _ in range(2):
        assert json.loads(line.read_response()[1])["error"]["data"]["reason"] == "METHOD_NOT_FOUND"
    line.close()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(_post(b"1.1", _OFFER.replace(b": Up", b": close, Up", 1)), id="Connection: close"),
        pytest.param(_post(b"1.0", _OFFER), id="HTTP/1.0"),
    ],
)
def test_upgrade_does_not_keep_a_connection_open(program: Program, written: bytes) -> None:
    line = _Connection(program)
    line.say(written)
    assert line.read_response()[0] == 200
    assert line.says_close
    assert line.is_closed()
    line.close()
