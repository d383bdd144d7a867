"""A client that is older or newer than the server says so."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.client.transport import ScriptedTransport
from tickover import __version__
from tickover.client import InvalidResponse, Rejection
from tickover.client.rpc_messages import Request, Response

Outcome = Callable[[Request], Response]


def respond(**members: Any) -> Outcome:
    def outcome(request: Request) -> Response:
        content = {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], **members}
        return Response("http://x.test/rpc", 200, json.dumps(content).encode())

    return outcome


def publish(document: bytes) -> Outcome:
    return lambda request: Response(f"http://x.test{request.path}", 200, document)


NOT_DECODED = respond(result={})
NOT_FOUND = respond(error={"code": -32601, "message": "No.", "data": {"reason": "METHOD_NOT_FOUND"}})


@pytest.mark.parametrize("outcome", [NOT_DECODED, NOT_FOUND])
async def test_another_version_of_the_server_is_named(outcome: Outcome) -> None:
    transport = ScriptedTransport(outcome, publish(b'{"openrpc": "1.2.6", "info": {"version": "99.1"}}'))
    with pytest.raises(InvalidResponse) as raised:
        await transport.client().current_user()
    message = f"This client is Tickover {__version__}, and http://x.test is Tickover 99.1. Use one version."
    assert str(raised.value) == message
    assert [request.path for request in transport.requests] == ["/rpc", "/openrpc.json"]


@pytest.mark.parametrize("document", [b'{"info": {"version": "%b"}}' % __version__.encode(), b"<html>", b"[" * 10**6])
async def test_error_stays_if_the_version_is_the_same_or_unknown(document: bytes) -> None:
    with pytest.raises(Rejection):
        await ScriptedTransport(NOT_FOUND, publish(document)).client().current_user()
    with pytest.raises(InvalidResponse, match="can't decode"):
        await ScriptedTransport(NOT_DECODED, publish(document)).client().current_user()
