"""HTTP requests and their outcomes as plain values."""

from collections.abc import Mapping

from msgspec import Struct


class Request(Struct, frozen=True):
    """An HTTP request without its token. The connection adds the token, so that nothing else stores it."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    content: bytes = b""


class Response(Struct, frozen=True):
    """An HTTP response. It may come from a server that isn't Tickover."""

    url: str
    status: int
    content: bytes
    content_type: str = ""
    redirect_base: str = ""
    """The base URL that a redirect points to."""


class NoResponse(Struct, frozen=True):
    """The request got no response."""

    message: str
    may_have_arrived: bool
    """Whether the server may have processed the request."""
