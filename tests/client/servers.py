"""Small real servers that answer badly, slowly or not at all, and remember what they were asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

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
RESULTS: dict[str, Any] = {
    "advanceTestClock": {"clock": CLOCK},
    "createTestClock": {"clock": CLOCK},
    "deleteTestClock": {"message": "ok"},
    "forkTestClock": {"clock": CLOCK},
    "getTestClock": {"clock": CLOCK},
    "listTestClocks": {"clocks": []},
    "loginByEmailLink": {"token": "tko_new", "userId": "user_1"},
    "loginByEmailVerification": {"token": "tko_new", "userId": "user_1"},
    "logout": {"message": "ok"},
    "rpc.discover": {"openrpc": "1.3.2"},
    "sendLoginCodeEmail": {"message": "ok"},
}
LETTER = {"id": "1", "to": "ana@example.test", "subject": "Hi", "sentAt": "2027-01-01T00:00:00Z", "text": "Hello"}


class Asked(NamedTuple):
    """One request, as it arrived."""

    verb: str
    path: str
    headers: dict[str, str]
    """By names in small letters."""
    call: Any
    """The JSON-RPC call, or None when it is none."""


class Handler(BaseHTTPRequestHandler):
    """Reads a whole request, then does the next thing on the server's list; the last one again and again."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Scripted"

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked(json.loads(content))

    def do_GET(self) -> None:
        self.asked(None)

    def asked(self, call: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.take(Asked(self.command, self.path, headers, call))(self, call)

    def say(self, status: int, content: bytes | str, kind: str = "application/json", **headers: str) -> None:
        written = content if isinstance(content, bytes) else content.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(written)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests are silent."""


Step = Callable[[Handler, Any], None]


class Scripted(ThreadingHTTPServer):
    """A server with a list of things to do, one for each request."""

    daemon_threads = True

    def __init__(self, steps: tuple[Step, ...], listens: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), Handler, bind_and_activate=listens)
        if not listens:
            self.server_bind()
        self.asked: list[Asked] = []
        self.connections = 0
        self.closing = threading.Event()
        self._steps = steps
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def listen(self) -> None:
        """Begin to listen, and serve until the end."""
        self.server_activate()
        self.serve_forever(poll_interval=0.01)

    def take(self, asked: Asked) -> Step:
        with self._lock:
            self.asked.append(asked)
            return self._steps[min(len(self.asked), len(self._steps)) - 1]

    def verify_request(self, *_: object) -> bool:
        self.connections += 1
        return True

    def handle_error(self, *_: object) -> None:
        """That a client has gone is what some tests are about."""


@contextmanager
def scripted(*steps: Step) -> Iterator[Scripted]:
    with Scripted(steps) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()


# What a server may do


def well(handler: Handler, call: Any) -> None:
    """Answer as Tickover does."""
    if call is None:
        handler.say(200, json.dumps(LETTER))
    else:
        handler.say(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": RESULTS[call["method"]]}))


def result(value: Any) -> Step:
    return lambda handler, call: handler.say(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": value}))


def refusal(reason: str, status: int = 200, **details: Any) -> Step:
    error = {"code": -32000, "message": f"It is {reason}.", "data": {"reason": reason, **details}}

    def step(handler: Handler, call: Any) -> None:
        id = None if call is None else call["id"]
        handler.say(status, json.dumps({"jsonrpc": "2.0", "error": error, "id": id}))

    return step


def says(content: bytes | str, status: int = 200, kind: str = "application/json", **headers: str) -> Step:
    return lambda handler, call: handler.say(status, content, kind, **headers)


def hangs_up(handler: Handler, call: Any) -> None:
    """Read the request, and close the connection without a word."""
    handler.close_connection = True


def is_silent(handler: Handler, call: Any) -> None:
    """Read the request, and say nothing for as long as the server lives."""
    handler.close_connection = True
    handler.server.closing.wait(10)


def breaks_off(handler: Handler, call: Any) -> None:
    """Promise more than is sent."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


def trickles(handler: Handler, call: Any) -> None:
    """Send a byte now and then, each soon enough to be no silence."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        handler.wfile.write(b" ")
        if handler.server.closing.wait(0.02):
            return


def floods(handler: Handler, call: Any) -> None:
    """Send without end."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not handler.server.closing.is_set():
        handler.wfile.write(b" " * 1_000_000)


def speaks_no_http(handler: Handler, call: Any) -> None:
    handler.close_connection = True
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
