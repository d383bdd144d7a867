"""Requests, responses and errors of the HTTP layer."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Protocol

Header = tuple[bytes, bytes]
Response = tuple[int, Sequence[Header], bytes]
"""Status, headers and body. `encode` adds only the Connection header."""

_STATUS_LINES: Final = {int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
CONTINUE: Final = _STATUS_LINES[100] + b"\r\n"


class Request:
    """A complete request."""

    __slots__ = ("body", "client", "fields", "keep_alive", "method", "needs_keep_alive_header", "path", "query")

    def __init__(
        self,
        method: str,
        path: str,
        query: bytes = b"",
        fields: Mapping[bytes, bytes] | None = None,
        client: str | None = None,
        body: bytes | None = b"",
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields or {}
        """The headers by lower-case name, merged by `merge`."""
        self.client = client
        """The IP address of the client or proxy that connected."""
        self.body = body
        """None if the body was larger than the limit."""
        self.keep_alive = True
        self.needs_keep_alive_header = False
        """True if the response needs `Connection: keep-alive`, for HTTP/1.0 clients."""


class RequestError(NamedTuple):
    """An error before a request is handled. The connection closes after the response."""

    status: int
    message: str
    path: str = ""
    """Of the request, if its head has arrived."""


BAD_REQUEST: Final = RequestError(400, "The request is not valid HTTP.")
HEAD_TOO_LARGE: Final = RequestError(431, "The head of the request is too large.")
REQUEST_TIMEOUT: Final = RequestError(408, "The request took too long to arrive.")
UNSUPPORTED_CODING: Final = RequestError(501, "The only supported transfer coding is chunked.")
OVERLOADED: Final = RequestError(503, "The server is overloaded. Try again.")


class RequestHandler(Protocol):
    """Handles the requests of connections."""

    def handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        """Return the response, or a coroutine that returns it."""
        ...

    def reject(self, error: RequestError) -> Response:
        """Return the response to an error."""
        ...

    def is_health_check(self, request: Request) -> bool:
        """Return whether the request is handled even if the server is over its connection limit."""
        ...


def merge(headers: Iterable[Header]) -> dict[bytes, bytes]:
    """Return headers by name. A repeated header becomes empty, because proxies may use the other value."""
    fields: dict[bytes, bytes] = {}
    for name, value in headers:
        if name not in fields:
            fields[name] = value
        elif name == b"x-forwarded-for":
            fields[name] += b"," + value
        else:
            fields[name] = b""
    return fields


def encode(response: Response, connection: bytes = b"", *, is_head: bool = False) -> bytes:
    """Return the bytes of a response, without the body if the request was HEAD."""
    status, headers, body = response
    parts = [_STATUS_LINES[status]]
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    if connection:
        parts += (b"connection: ", connection, b"\r\n")
    parts += (b"\r\n", b"" if is_head else body)
    return b"".join(parts)
