"""Blocking HTTP connections to one server, and what the asyncio ones share with them.

They use http.client, because an HTTP library takes longer to import than the rest of the command line.
"""

import http.client
import os
import re
import select
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BufferedReader, RawIOBase
from typing import Any, Final
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from tickover import __version__
from tickover.api.limits import MAX_BATCH_BYTES
from tickover.client.client_errors import Unreachable
from tickover.client.rpc_messages import Deadline, Request, Response, split_url

_PATH_CHARACTERS: Final = "/?%:@!$&'()*+,;=~"
_WITHOUT_PROXY: Final = ("127.0.0.1", "localhost", "::1")
"""Requests to this machine ignore the proxy that environment variables configure."""
_HEADERS: Final = {"User-Agent": f"tickover-client/{__version__}", "Accept-Encoding": "identity"}
_ERRNO: Final = re.compile(r"^\[Errno -?[0-9]+\] ")
MAX_IDLE_CONNECTIONS: Final = 20
IDLE_SECONDS: Final = 4.0
"""Shorter than the keep-alive timeouts of servers and proxies, so that no call uses a connection that they close."""
MAX_RESPONSE_BYTES: Final = 2 * MAX_BATCH_BYTES
"""More than a server ever sends."""


class BaseHttpPool:
    """URL, proxy, headers and error messages that the sync and the async connections share."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._server = _parse_url(url)
        self._proxy = _find_proxy(self._server)
        self.token: str | None = None
        """Not an argument of `send`, because pytest shows the arguments of the function that raised an error."""

    def _target(self, request: Request) -> str:
        """Return the path and the query of a request."""
        path = quote(self._server.path.rstrip("/") + request.path, safe=_PATH_CHARACTERS)
        return f"{path}?{urlencode(request.query)}" if request.query else path

    def _full_url(self, request: Request) -> str:
        return f"{self._server.scheme}://{self._server.netloc}{self._target(request)}"

    def _headers(self, request: Request) -> dict[str, str]:
        return {**_HEADERS, **request.headers, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}

    def _build_response(self, request: Request, status: int, content: bytes, header: Callable[[str], Any]) -> Response:
        """Return a response. `header` returns a header of this name, or None."""
        return Response(
            self._full_url(request), status, content, header("content-type") or "", header("location") or ""
        )

    def _never_connected(self, error: Exception) -> Unreachable:
        # In Python 3.11.2, its frames keep the socket to a proxy that gave no tunnel open.
        error.__traceback__ = None
        if self._proxy:
            hint = f"Check the proxy {self._proxy.hostname}, which environment variables or the system configure."
        else:
            hint = _connection_hint(error)
        message = f"Can't connect to {self._url} ({_ERRNO.sub('', str(error))}). {hint}"
        return Unreachable(message, may_have_arrived=False)

    def _timed_out(self, deadline: Deadline, *, may_have_arrived: bool) -> Unreachable:
        message = (
            f"{self._url} didn't respond within {deadline.seconds:g} seconds. Use a longer timeout, or try again later."
        )
        return Unreachable(message, may_have_arrived=may_have_arrived)

    def _broke(self) -> Unreachable:
        message = (
            f"{self._url} closed the connection or doesn't speak HTTP."
            " Check that the URL is the address of a Tickover server."
        )
        return Unreachable(message)


class HttpPool(BaseHttpPool):
    """Blocking connections, whose coroutines never suspend. They are thread-safe."""

    is_blocking = True

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._tls = _tls_context() if self._server.scheme == "https" else None
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._is_closed = False

    async def send(self, request: Request, deadline: Deadline) -> Response:
        if self._is_closed:
            raise RuntimeError("The client is closed.")
        deadline.start()
        try:
            connection = self._take_idle() or self._connect(deadline)
        except TimeoutError:
            raise self._timed_out(deadline, may_have_arrived=False) from None
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            raise self._never_connected(error) from None
        try:
            return self._exchange(connection, deadline, request)
        except TimeoutError:
            raise self._timed_out(deadline, may_have_arrived=True) from None
        except (OSError, http.client.HTTPException):
            raise self._broke() from None
        finally:
            self._release(connection)

    def _exchange(self, connection: "_Connection", deadline: Deadline, request: Request) -> Response:
        target, headers = self._target(request), self._headers(request)
        if self._proxy and self._tls is None:
            target, headers = self._full_url(request), headers | _proxy_headers(self._proxy)
        with connection.request(deadline, request.method, target, request.content or None, headers) as response:
            content = response.read(MAX_RESPONSE_BYTES)
            if response.length and len(content) < MAX_RESPONSE_BYTES:
                raise http.client.IncompleteRead(content)
            connection.is_reusable = response.isclosed() and not response.will_close
        return self._build_response(request, response.status, content, response.getheader)

    def _connect(self, deadline: Deadline) -> "_Connection":
        seconds = deadline.seconds_left
        if seconds <= 0:
            raise TimeoutError
        host, port = self._server.hostname or "", self._server.port
        at, at_port = (self._proxy.hostname or "", self._proxy.port or 80) if self._proxy else (host, port)
        if self._tls is None:
            return _Connection(http.client.HTTPConnection(at, at_port, timeout=seconds))
        connection = http.client.HTTPSConnection(at, at_port, timeout=seconds, context=self._tls)
        if self._proxy:
            netloc = self._server.netloc if port else f"{self._server.netloc}:443"
            connection.set_tunnel(host, port or 443, {"Host": netloc, **_proxy_headers(self._proxy)})
        return _Connection(connection)

    def _take_idle(self) -> "_Connection | None":
        """Return the connection that was used last, unless it is too old or the server has closed it."""
        with self._lock:
            oldest = time.monotonic() - IDLE_SECONDS
            while self._idle:
                connection = self._idle.pop()
                if connection.used_at > oldest and not connection.is_readable():
                    return connection
                connection.close()
            return None

    def _release(self, connection: "_Connection") -> None:
        with self._lock:
            if connection.is_reusable and not self._is_closed and len(self._idle) < MAX_IDLE_CONNECTIONS:
                connection.used_at = time.monotonic()
                self._idle.append(connection)
            else:
                connection.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - it must not suspend

    async def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for each in self._idle:
                each.close()
            self._idle.clear()


class _Connection:
    """An open connection whose reads and writes end at the deadline of the current request."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        self._http = connection
        self._socket: socket.socket = connection.sock
        self._deadline = Deadline(0)
        self.is_reusable = False
        self.used_at = 0.0
        # http.client uses these methods of a socket.
        connection.sock = self

    def request(
        self, deadline: Deadline, method: str, target: str, content: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send a request, and return the response, whose body is still to be read before the deadline."""
        self._deadline, self.is_reusable = deadline, False
        # A server may respond and close the connection before it has read all of a large request.
        with suppress(ConnectionError):
            self._http.request(method, target, content, headers)
        return self._http.getresponse()

    def is_readable(self) -> bool:
        """Return whether there is something to read, which is the end if no response is expected."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def limit(self) -> None:
        """Limit the next read or write to the time that is left."""
        seconds = self._deadline.seconds_left
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self.limit()
            rest = rest[self._socket.send(rest) :]

    def makefile(self, mode: str) -> BufferedReader:
        return BufferedReader(_LimitedReader(self._socket.makefile("rb", buffering=0), self.limit))

    def close(self) -> None:
        self._socket.close()


class _LimitedReader(RawIOBase):
    """The reading side of a socket. It calls `limit` before each read, because servers may send a byte at a time."""

    def __init__(self, raw: RawIOBase, limit: Callable[[], None]) -> None:
        self._raw = raw
        self._limit = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._limit()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _parse_url(url: str) -> SplitResult:
    """Parse a server's URL. Raise ValueError if it is invalid."""
    if "@" in url:
        raise ValueError("a server URL can't contain a user name or a password")
    parts = split_url(url)
    if parts is None or parts.query or parts.fragment:
        raise ValueError(f"invalid server URL {url!r}; use a URL such as http://127.0.0.1:8000")
    return parts


def _find_proxy(server: SplitResult) -> SplitResult | None:
    """Return the proxy for a server, as environment variables or the system's settings configure it."""
    if server.hostname in _WITHOUT_PROXY:
        return None
    # Imported here because it takes long, and servers on this machine don't need it.
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415

    proxies = getproxies()
    url = proxies.get(server.scheme) or proxies.get("all")
    if not url or proxy_bypass(server.netloc):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http":
        raise ValueError(f"a proxy must have a URL that begins with http://, not {proxy.scheme}://")
    return proxy


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(credentials.encode()).decode()}"}


def _tls_context() -> ssl.SSLContext:
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    from truststore import SSLContext  # noqa: PLC0415 - servers without TLS don't need it

    return SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _connection_hint(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return "If the server doesn't use TLS, use a URL that begins with http://."
        if isinstance(cause, ssl.SSLError):
            return "This machine doesn't trust the server's certificate. Set SSL_CERT_FILE to trust another one."
        cause = cause.__cause__ or cause.__context__
    return "Check that the server is running. `tickover serve` starts one."
