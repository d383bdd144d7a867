"""HTTP connections to one server. Only this module uses httpx2.

A client imports it when it is created, because httpx2 takes longer to import than the rest of the package.
"""

import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx2

from tickover import __version__
from tickover.api.limits import MAX_BATCH_BYTES
from tickover.client.messages import NoResponse, Request, Response

_HOST: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?|[0-9a-f:.]*:[0-9a-f:.]*", re.IGNORECASE)
_NO_PROXY: Final = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
"""Requests to this machine ignore the proxy that environment variables configure."""
_HEADERS: Final = {"User-Agent": f"tickover-client/{__version__}", "Accept-Encoding": "identity"}
_ERRNO: Final = re.compile(r"^\[Errno -?[0-9]+\] ")
_MAX_IDLE_CONNECTIONS: Final = 20
_IDLE_SECONDS: Final = 4.0
"""Shorter than the keep-alive timeouts of servers and proxies, so that no call uses a connection that they close."""
MAX_RESPONSE_BYTES: Final = 2 * MAX_BATCH_BYTES
"""More than a server ever sends."""
_HTTP_ERRORS: Final = (httpx2.HTTPError, httpx2.InvalidURL)
"""All errors of a request. A redirect to an invalid URL raises InvalidURL."""
_NEVER_ARRIVED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)


class _BaseConnections:
    """URL, headers, limits and error messages that the sync and the async connections share."""

    def __init__(self, url: str, timeout: float) -> None:
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds greater than 0")
        self._tls = _tls_context(_parse_url(url))
        self._url = url.rstrip("/")
        self._timeout = timeout

    def _arguments(self, request: Request, token: str | None, trace: Callable[..., Any]) -> dict[str, Any]:
        return {
            "method": request.method,
            "url": self._url + request.path,
            "params": request.query or None,
            "headers": {**request.headers, **({"Authorization": f"Bearer {token}"} if token else {})},
            "content": request.content,
            "extensions": {"trace": trace},
        }

    def _no_response(self, error: Exception) -> NoResponse:
        if isinstance(error, httpx2.ConnectError):
            message = f"Can't connect to {self._url} ({_ERRNO.sub('', str(error))}). {_connection_hint(error)}"
        elif isinstance(error, httpx2.TimeoutException):
            message = (
                f"{self._url} didn't respond within {self._timeout:g} seconds."
                " Use a longer timeout, or try again later."
            )
        else:
            message = (
                f"{self._url} closed the connection or doesn't speak HTTP."
                " Check that the URL is the address of a Tickover server."
            )
        return NoResponse(message, not isinstance(error, _NEVER_ARRIVED))


class Connections(_BaseConnections):
    """Blocking connections. They are thread-safe."""

    def __init__(self, url: str, timeout: float) -> None:
        super().__init__(url, timeout)
        self._attempt = threading.local()
        """The deadline of this thread's attempt. None until the attempt has a connection."""
        self._http = httpx2.Client(
            verify=self._tls,
            headers=_HEADERS,
            # No limit on the wait for a free connection: each call that uses one has its own timeout.
            timeout=httpx2.Timeout(timeout, pool=None),
            mounts=_NO_PROXY,
            limits=_limits(_MAX_IDLE_CONNECTIONS),
        )

    def send(self, request: Request, token: str | None) -> Response | NoResponse:
        self._attempt.deadline = None
        try:
            with self._http.stream(**self._arguments(request, token, self._trace)) as response:
                content = bytearray()
                for chunk in response.iter_raw():
                    content += chunk
                    if len(content) > MAX_RESPONSE_BYTES:
                        break
                return _build_response(response, content)
        except _HTTP_ERRORS as error:
            return self._no_response(error)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Start the time limit of an attempt, and apply it to the reads and writes of a new connection.

        The timeouts of httpx2 are for one read: a server that sends a little now and then would outlast them.
        """
        if self._attempt.deadline is None:
            self._attempt.deadline = time.monotonic() + self._timeout
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            stream = info["return_value"]
            stream.read, stream.write = self._limit(stream.read), self._limit(stream.write)

    def _limit(self, read_or_write: Callable[..., Any]) -> Callable[..., Any]:
        def limited(*arguments: Any, **options: Any) -> Any:
            seconds = self._attempt.deadline - time.monotonic()
            if seconds <= 0:
                raise httpx2.ReadTimeout("the whole attempt took too long")
            return read_or_write(*arguments, **options | {"timeout": seconds})

        return limited

    def close(self) -> None:
        self._http.close()


class AsyncConnections(_BaseConnections):
    """Asyncio connections. Until `reuse` is called, each connection is closed after its call."""

    is_blocking = False

    def __init__(self, url: str, timeout: float) -> None:
        super().__init__(url, timeout)
        self._http = self._open(max_idle=0)

    def reuse(self) -> None:
        self._http = self._open(max_idle=_MAX_IDLE_CONNECTIONS)

    def _open(self, max_idle: int) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            verify=self._tls,
            headers=_HEADERS,
            timeout=None,
            mounts=_NO_PROXY,
            limits=_limits(max_idle),
        )

    async def send(self, request: Request, token: str | None) -> Response | NoResponse:
        # Imported here because it takes long, and the sync client doesn't need it.
        from asyncio import get_running_loop, timeout  # noqa: PLC0415

        is_sent = False

        async def trace(event: str, _: object) -> None:
            nonlocal is_sent
            is_sent = is_sent or event.endswith(".send_request_headers.started")
            if limit.when() is None:
                limit.reschedule(get_running_loop().time() + self._timeout)

        try:
            async with (
                timeout(None) as limit,
                self._http.stream(**self._arguments(request, token, trace)) as response,
            ):
                content = bytearray()
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > MAX_RESPONSE_BYTES:
                        break
                return _build_response(response, content)
        except TimeoutError:
            return self._no_response(httpx2.ReadTimeout("") if is_sent else httpx2.ConnectTimeout(""))
        except _HTTP_ERRORS as error:
            return self._no_response(error)

    async def sleep(self, seconds: float) -> None:
        from asyncio import sleep  # noqa: PLC0415 - see above

        await sleep(seconds)

    async def close(self) -> None:
        await self._http.aclose()


def _build_response(response: httpx2.Response, content: bytearray) -> Response:
    return Response(
        url=str(response.url),
        status=response.status_code,
        content=bytes(content),
        content_type=response.headers.get("content-type", ""),
        redirect_base=_redirect_base(response),
    )


def _limits(max_idle: int) -> httpx2.Limits:
    return httpx2.Limits(max_connections=100, max_keepalive_connections=max_idle, keepalive_expiry=_IDLE_SECONDS)


def _parse_url(url: str) -> httpx2.URL:
    """Parse a server's URL. Raise ValueError if it is invalid."""
    if "@" in url:
        raise ValueError("a server URL can't contain a user name or a password")
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL()
    is_valid = (
        parsed.scheme in ("http", "https")
        and _HOST.fullmatch(parsed.raw_host.decode("ascii"))
        and (parsed.port is None or 0 < parsed.port < 65536)
        and not (parsed.query or parsed.fragment)
    )
    if not is_valid:
        raise ValueError(f"invalid server URL {url!r}; use a URL such as http://127.0.0.1:8000")
    return parsed


def _tls_context(url: httpx2.URL) -> ssl.SSLContext:
    # Loading the system's certificates is slow, so plain HTTP gets a context without any.
    return httpx2.create_ssl_context() if url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _connection_hint(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return "If the server doesn't use TLS, use a URL that begins with http://."
        if isinstance(cause, ssl.SSLError):
            return "This machine doesn't trust the server's certificate. Set SSL_CERT_FILE to trust another one."
        cause = cause.__cause__ or cause.__context__
    return "Check that the server is running. `tickover serve` starts one."


def _redirect_base(response: httpx2.Response) -> str:
    if response.next_request is None:
        return ""
    url = response.next_request.url
    path = url.raw_path.decode("ascii").partition("?")[0]
    base_path = path.removesuffix("/rpc") if path.endswith("/rpc") else ""
    return f"{url.scheme}://{url.netloc.decode('ascii')}{base_path}"
