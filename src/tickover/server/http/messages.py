"""The values that pass between the socket and the application: requests, responses and refusals."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Protocol

Header = tuple[bytes, bytes]
Response = tuple[int, Sequence[Header], bytes]
"""Status, headers and body. `encode` adds nothing but the Connection header."""

_STATUS_LINES: Final = {int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
CONTINUE: Final = _STATUS_LINES[100] + b"\r\n"


class Request:
    """One request, whole."""

    __slots__ = ("body", "client", "fields", "keep_alive", "method", "path", "query", "says_keep_alive")

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
        """The headers by their names in lower case, as `merge` gives them."""
        self.client = client
        """The address of the other end of the connection."""
        self.body = body
        """None for a body over MAX_BODY, which was not kept."""
        self.keep_alive = True
        self.says_keep_alive = False
        """Whether the response names `Connection: keep-alive`, which HTTP/1.0 clients need to be told."""


class RequestError(NamedTuple):
    """The response to what is no request, or to one that there is no room for. The connection closes after it."""

    status: int
    message: str


BAD_REQUEST: Final = RequestError(400, "The request is not valid HTTP.")
HEAD_TOO_LARGE: Final = RequestError(431, "The head of the request is too large.")
REQUEST_TIMEOUT: Final = RequestError(408, "The request took too long to arrive.")
UNSUPPORTED_CODING: Final = RequestError(501, "The only supported transfer coding is chunked.")
OVERLOADED: Final = RequestError(503, "The server is overloaded. Try again.")


class RequestHandler(Protocol):
    """The application, as a connection sees it."""

    def handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        """Return the response, at once where nothing has to be waited for."""
        ...

    def reject(self, error: RequestError) -> Response:
        """Return the response that says so."""
        ...

    def is_health_check(self, request: Request) -> bool:
        """Return whether the request is answered even when the server is full."""
        ...


def merge(headers: Iterable[Header]) -> dict[bytes, bytes]:
    """Return headers by name. A repeated one becomes empty, since other programs may read the other value."""
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
    """Return the bytes of a response; without its body if the request was HEAD."""
    status, headers, body = response
    parts = [_STATUS_LINES[status]]
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    if connection:
        parts += (b"connection: ", connection, b"\r\n")
    parts += (b"\r\n", b"" if is_head else body)
    return b"".join(parts)
