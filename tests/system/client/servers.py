"""Small real servers that respond badly, slowly or not at all, and record the requests."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import trustme

from tests.support.repository import ROOT

CLOCK: dict[str, Any] = {
    "id": "clock_1",
    "status": "READY",
    "frozenTime": "2027-01-01T00:00:00Z",
    "maxTime": "2037-01-01T00:00:00Z",
    "expiresAt": "2027-01-08T00:00:00Z",
    "transactions": [],
    "pendingTransactions": [],
    "goals": [],
}
_RECORDED = json.loads((ROOT / "src" / "tickover" / "server" / "rpc" / "openrpc" / "recorded.json").read_bytes())
RESULTS: dict[str, Any] = {
    **{method: next(iter(results.values())) for method, results in _RECORDED["results"].items()},
    "rpc.discover": {"openrpc": "1.2.6"},
    "getTestClock": {"clock": CLOCK},
}
"""A result of each operation."""
EMAIL = {"id": "1", "to": "ana@example.test", "subject": "Hi", "sentAt": "2027-01-01T00:00:00Z", "text": "Hello"}


class ReceivedRequest(NamedTuple):
    """One request as the server received it."""

    method: str
    path: str
    headers: dict[str, str]
    """Names are in lower case."""
    call: Any
    """The JSON-RPC call, or None for a GET request."""


class Handler(BaseHTTPRequestHandler):
    """Reads a request, then runs the server's next step. The last step repeats."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "ScriptedServer"

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.handle_call(json.loads(content))

    def do_GET(self) -> None:
        self.handle_call(None)

    def handle_call(self, call: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.next_step(ReceivedRequest(self.command, self.path, headers, call))(self, call)

    def respond(
        self, status: int, content: bytes | str, content_type: str = "application/json", **headers: str
    ) -> None:
        written = content if isinstance(content, bytes) else content.encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(written)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


Step = Callable[[Handler, Any], None]


class ScriptedServer(ThreadingHTTPServer):
    """A server that runs one step for each request."""

    daemon_threads = True

    def __init__(self, steps: tuple[Step, ...], address: str) -> None:
        super().__init__((address, 0), Handler)
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.closed_connections = 0
        self.closing = threading.Event()
        self._steps = steps
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"

    def next_step(self, request: ReceivedRequest) -> Step:
        with self._lock:
            self.requests.append(request)
            return self._steps[min(len(self.requests), len(self._steps)) - 1]

    def verify_request(self, *_: object) -> bool:
        self.connections += 1
        return True

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed_connections += 1

    def handle_error(self, *_: object) -> None:
        """Ignore errors: some tests disconnect on purpose."""


@contextmanager
def scripted_server(*steps: Step, address: str = "127.0.0.1") -> Iterator[ScriptedServer]:
    with ScriptedServer(steps, address) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()


@contextmanager
def tls_server(authority: trustme.CA, address: str = "127.0.0.1") -> Iterator[str]:
    """Respond normally with TLS. Yield the URL."""
    with scripted_server(respond_normally, address=address) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(address).configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server.url.replace("http:", "https:")


# Steps


def respond_normally(handler: Handler, call: Any) -> None:
    """Respond as Tickover does."""
    if call is None:
        handler.respond(200, json.dumps(EMAIL))
    else:
        handler.respond(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": RESULTS[call["method"]]}))


def result(value: Any) -> Step:
    return lambda handler, call: handler.respond(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": value}))


def reject(reason: str, status: int = 200, **details: Any) -> Step:
    error = {"code": -32000, "message": f"It is {reason}.", "data": {"reason": reason, **details}}

    def step(handler: Handler, call: Any) -> None:
        id = None if call is None else call["id"]
        handler.respond(status, json.dumps({"jsonrpc": "2.0", "error": error, "id": id}))

    return step


def respond_with(
    content: bytes | str, status: int = 200, content_type: str = "application/json", **headers: str
) -> Step:
    return lambda handler, call: handler.respond(status, content, content_type, **headers)


def close_connection_early(handler: Handler, call: Any) -> None:
    """Read the request, and close the connection without a response."""
    handler.close_connection = True


def forward_to(url: str) -> Step:
    """Respond with the response of a Tickover server to the same call."""
    return lambda handler, call: handler.respond(*_forward(url, handler, call))


def lose_response_of(url: str) -> Step:
    """Let a Tickover server process the call, and close the connection without its response."""

    def step(handler: Handler, call: Any) -> None:
        _forward(url, handler, call)
        handler.close_connection = True

    return step


def _forward(url: str, handler: Handler, call: Any) -> tuple[int, bytes]:
    address = urlsplit(url)
    headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("host", "content-length")}
    with closing(HTTPConnection(address.hostname or "", address.port)) as connection:
        connection.request(handler.command, handler.path, json.dumps(call), headers)
        response = connection.getresponse()
        return response.status, response.read()


def respond_and_close(handler: Handler, call: Any) -> None:
    """Respond as Tickover does, and close the connection without notice."""
    respond_normally(handler, call)
    handler.close_connection = True


def never_respond(handler: Handler, call: Any) -> None:
    """Read the request, and send nothing."""
    handler.close_connection = True
    handler.server.closing.wait(120)


def truncate_response(handler: Handler, call: Any) -> None:
    """Send less than Content-Length says."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


def respond_slowly(handler: Handler, call: Any) -> None:
    """Send one byte at a time, each within the read timeout."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        handler.wfile.write(b" ")
        if handler.server.closing.wait(0.02):
            return


def respond_with_slow_head(handler: Handler, call: Any) -> None:
    """Send one byte of a head at a time, each within the read timeout, and then respond normally."""
    handler.wfile.write(b"HTTP/1.1 100 Continue\r\nX-Slow: ")
    for _ in range(200):
        handler.wfile.write(b"x")
        if handler.server.closing.wait(0.02):
            return
    handler.wfile.write(b"\r\n\r\n")
    respond_normally(handler, call)


def respond_endlessly(handler: Handler, call: Any) -> None:
    """Send a body that never ends."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not handler.server.closing.is_set():
        handler.wfile.write(b" " * 1_000_000)


def respond_without_http(handler: Handler, call: Any) -> None:
    handler.close_connection = True
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
