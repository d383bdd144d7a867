"""A transport that returns prepared outcomes, and records requests and delays."""

import json
from collections.abc import Callable
from typing import Any

from tests.system.client.servers import EMAIL, RESULTS
from tickover.client.async_client import AsyncClient
from tickover.client.client_errors import Unreachable
from tickover.client.rpc_messages import Deadline, Request, Response

Outcome = Callable[[Request], Response]


class ScriptedTransport:
    """Uses one outcome for each request. The last one repeats."""

    is_blocking = False

    def __init__(self, *outcomes: Outcome) -> None:
        self.requests: list[Request] = []
        self.token: str | None = None
        self.tokens: list[str | None] = []
        self.delays: list[float] = []
        self._outcomes = outcomes

    async def send(self, request: Request, deadline: Deadline) -> Response:
        self.requests.append(request)
        self.tokens.append(self.token)
        return self._outcomes[min(len(self.requests), len(self._outcomes)) - 1](request)

    async def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)

    async def close(self) -> None:
        raise AssertionError

    def client(self, retries: int = 2) -> AsyncClient:
        return AsyncClient("http://x.test", "tko_1", self, timeout=15, retries=retries)


def respond_normally(request: Request) -> Response:
    if request.method == "GET":
        return response(request, EMAIL)
    call = json.loads(request.content)
    return response(request, {"jsonrpc": "2.0", "id": call["id"], "result": RESULTS[call["method"]]})


def reject(reason: Any, **details: Any) -> Outcome:
    error = {"code": -32000, "message": f"It is {reason}.", "data": {"reason": reason, **details}}
    return lambda request: response(request, {"jsonrpc": "2.0", "id": None, "error": error}, 503)


def lose_response(request: Request) -> Response:
    raise Unreachable("Gone.", may_have_arrived=True)


def refuse_connection(request: Request) -> Response:
    raise Unreachable("No connection.", may_have_arrived=False)


def response(request: Request, document: Any, status: int = 200) -> Response:
    return Response("http://x.test" + request.path, status, json.dumps(document).encode())
