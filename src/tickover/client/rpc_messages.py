"""HTTP requests and responses, and how responses become results, Rejections or InvalidResponses."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from msgspec import UNSET, Raw, Struct, UnsetType, convert, json

from tickover.api.errors import Fault, Reason, Rejection
from tickover.client.client_errors import InvalidResponse

T = TypeVar("T")


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
    location: str = ""
    """Where a redirect points to."""


class Deadline:
    """The end of a call with all its attempts. It counts from the first attempt that has a connection."""

    def __init__(self, seconds: float) -> None:
        self.seconds: Final = seconds
        self._end: float | None = None

    def start(self) -> None:
        if self._end is None:
            self._end = time.monotonic() + self.seconds

    @property
    def seconds_left(self) -> float:
        return self.seconds if self._end is None else self._end - time.monotonic()


class Transport(Protocol):
    """Sends requests to one server, and waits between them."""

    is_blocking: bool
    """Whether its coroutines never suspend."""
    token: str | None
    """The bearer token of all requests."""

    async def send(self, request: Request, deadline: Deadline) -> Response: ...
    async def sleep(self, seconds: float) -> None: ...
    async def close(self) -> None: ...


class _Error(Struct, frozen=True):
    message: str
    data: dict[str, Any]


class _Envelope(Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: int | float | str | None = None
    result: Raw | UnsetType = UNSET
    error: _Error | UnsetType = UNSET


_DECODE_ERRORS: Final = (ValueError, RecursionError)
_HOST: Final = re.compile(r"(?:[a-z0-9_:\x80-\U0010ffff-]\.?)+")
_SECRETS: Final = re.compile(r"(?<=//)[^/?#]*@|[?#].*", re.DOTALL)
"""Where URLs may contain a secret: the user name and password, the query and the fragment."""


def split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL, or None if it isn't a valid one of HTTP."""
    try:
        parts = urlsplit(url)
        is_valid = (
            url.isprintable()
            and parts.scheme in ("http", "https")
            and _HOST.fullmatch(parts.hostname or "")
            and parts.port != 0
        )
    except ValueError:
        return None
    return parts if is_valid else None


def decode_result(response: Response, id: int, kind: type[T]) -> T:
    """Return the result of the call with this id. Raise Rejection or InvalidResponse if there is none."""
    envelope = _decode_envelope(response)
    # The id is null if the server couldn't parse the request.
    if envelope.id != id and (envelope.error is UNSET or envelope.id is not None):
        raise InvalidResponse(
            f"{response.url} returned the response to another call. Check for a faulty proxy in front of the server."
        )
    if envelope.error is not UNSET:
        raise _rejection(response, envelope.error)
    if envelope.result is UNSET:
        raise _not_tickover(response)
    return _decode(response, bytes(envelope.result), kind)


def decode_document(response: Response, kind: type[T]) -> T | None:
    """Return the JSON document, or None if the server has none (404) or rejects the email address (400)."""
    if response.status == 200:
        return _decode(response, response.content, kind)
    if response.status in (400, 404) and response.content_type.startswith("text/plain"):
        return None
    error = _decode_envelope(response).error
    raise _not_tickover(response) if error is UNSET else _rejection(response, error)


def _decode_envelope(response: Response) -> _Envelope:
    if response.location and 300 <= response.status < 400:
        target = _SECRETS.sub("", response.location)
        raise InvalidResponse(
            f"{response.url} redirects to {target}. The client doesn't follow redirects. Use the URL that it redirects"
            " to, without /rpc."
        )
    try:
        return json.decode(response.content, type=_Envelope)
    except _DECODE_ERRORS:
        raise _not_tickover(response) from None


def _decode(response: Response, content: bytes, kind: type[T]) -> T:
    try:
        return json.decode(content, type=kind)
    except _DECODE_ERRORS as error:
        # Only the path of the decoder's message: the rest may quote the response.
        _, _, path = str(error).partition(" - at ")
        where = f" (at {path})" if path else ""
        raise InvalidResponse(f"{response.url} sent a response that this client can't decode{where}.") from None


def _rejection(response: Response, error: _Error) -> Rejection:
    details = dict(error.data)
    name = details.pop("reason", None)
    try:
        reason = Reason(name)
        if "errors" in details:
            details["errors"] = convert(details["errors"], list[Fault])
    except ValueError:
        raise InvalidResponse(f"{response.url} returned an error that this client doesn't know.") from None
    return Rejection(reason, error.message, details)


def _not_tickover(response: Response) -> InvalidResponse:
    return InvalidResponse(
        f"{response.url} returned HTTP status {response.status} and no JSON-RPC response."
        " Check that the URL is the address of a Tickover server, without /rpc."
    )
