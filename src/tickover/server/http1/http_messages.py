"""Requests, responses and errors of the HTTP layer."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from msgspec import Struct

Header = tuple[bytes, bytes]
Response = tuple[int, Sequence[Header], bytes]
"""Status, headers and body. `encode` adds the headers Content-Length and Connection."""
SAFE_HEADERS: Final[tuple[Header, ...]] = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)
"""No content sniffing and no caching."""

_STATUS_LINES: Final = {int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
CONTINUE: Final = _STATUS_LINES[100] + b"\r\n"


class Request(Struct, eq=False):
    """A complete request."""

    method: str
    path: str
    query: bytes = b""
    fields: Mapping[bytes, bytes] = {}
    """The headers by lower-case name, merged by `merge`."""
    client: str | None = None
    """The IP address of the client or proxy that connected."""
    body: bytes | None = b""
    """None if the body was larger than the limit."""
    keep_alive: bool = True
    needs_keep_alive_header: bool = False
    """True if the response needs `Connection: keep-alive`, for HTTP/1.0 clients."""
    has_left: bool = False
    """True once the client has closed its side of the connection while a coroutine handles the request. A few clients
    still read the response."""
    began: float = 0.0
    """When the handling began, if the handler measures it."""


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


Handle = Callable[[Request], Response | Awaitable[Response]]
"""Returns the response, or a coroutine that returns it."""
Reject = Callable[[RequestError], Response]
"""Returns the response to an error."""


def text_response(status: int, text: bytes, *headers: Header) -> Response:
    return status, [(b"content-type", b"text/plain; charset=utf-8"), *SAFE_HEADERS, *headers], text


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
    if status != 204:
        parts.append(b"content-length: %d\r\n" % len(body))
    if connection:
        parts += (b"connection: ", connection, b"\r\n")
    parts += (b"\r\n", b"" if is_head else body)
    return b"".join(parts)
