"""The door: an ASGI callable for `POST /rpc` and the health checks. The only reader of the wall clock."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from datetime import UTC, datetime
from itertools import count
from secrets import token_hex
from typing import Any, Final

from msgspec import Struct

from tickover import tokens
from tickover.core.errors import Reason, Rejection
from tickover.core.limits import MAX_BODY
from tickover.core.moments import Moment
from tickover.ports import Store
from tickover.rpc import Answer, Context, Rpc, refuse
from tickover.wire import CODES

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_JSON: Final = (b"content-type", b"application/json")
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_MOST_DISCARDED: Final = 16 * MAX_BODY
"""How much of a body that is too large is read and thrown away, so that its sender lives to read the answer."""


def wall_clock() -> Moment:
    return datetime.now(UTC)


class Disconnected(Exception):
    """The client went away before it had said what it wants."""


class _Headers(Struct):
    """What the door looks at."""

    content_type: bytes = b""
    content_length: bytes = b""
    authorizations: list[bytes] = []

    @classmethod
    def read(cls, scope: Scope) -> "_Headers":
        headers = cls()
        for name, value in scope["headers"]:
            if name == b"authorization":
                headers.authorizations.append(value)
            elif name == b"content-type":
                headers.content_type = value
            elif name == b"content-length":
                headers.content_length = value
        return headers


class Web:
    """The whole program as one ASGI application."""

    def __init__(self, rpc: Rpc, store: Store, now: Callable[[], Moment] = wall_clock) -> None:
        self._rpc = rpc
        self._store = store
        self._now = now
        # Unique over restarts and processes, and cheap.
        prefix = f"req_{token_hex(6)}"
        self._request_ids = (f"{prefix}{number:x}" for number in count())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the server is told to speak nothing else"
        request_id = next(self._request_ids)
        try:
            status, headers, body = await self._respond(scope, receive, request_id)
        except Disconnected:
            return
        every = [*headers, (b"x-request-id", request_id.encode())]
        if status != 204:
            every.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": every})
        await send({"type": "http.response.body", "body": body})

    async def _respond(self, scope: Scope, receive: Receive, request_id: str) -> "_Response":
        path = scope["path"]
        if path == "/rpc":
            return await self._call(scope, receive, request_id)
        if path not in ("/healthz", "/readyz"):
            return 404, [_TEXT], b"There is nothing here. The service is POST /rpc.\n"
        if scope["method"] not in ("GET", "HEAD"):
            return 405, [_TEXT, (b"allow", b"GET, HEAD")], b"Use GET here.\n"
        return (200, [_TEXT], b"alive\n") if path == "/healthz" else await self._readiness()

    async def _call(self, scope: Scope, receive: Receive, request_id: str) -> "_Response":
        try:
            headers = _Headers.read(scope)
            _check_kind(scope["method"], headers.content_type)
            body = await _read_body(receive, headers.content_length)
        except Rejection as rejection:
            return _response_of(refuse(rejection))
        token = tokens.read_bearer_token(headers.authorizations)
        return _response_of(await self._rpc.answer(body, Context(self._now(), token, request_id)))

    async def _readiness(self) -> "_Response":
        try:
            await self._store.ping()
        except Rejection as rejection:
            return 503, [_TEXT, *_retry_after(rejection)], b"The database does not answer.\n"
        return 200, [_TEXT], b"ready\n"


_Header = tuple[bytes, bytes]
_Response = tuple[int, Iterable[_Header], bytes]


def _check_kind(method: str, content_type: bytes) -> None:
    if method != "POST":
        raise Rejection(Reason.METHOD_NOT_ALLOWED, f"Use POST here, not {method}.")
    kind, _, parameters = content_type.lower().partition(b";")
    charset = parameters.replace(b'"', b"").strip()
    if kind.strip() != b"application/json" or charset not in (b"", b"charset=utf-8"):
        message = "Send the header Content-Type: application/json, and the body in UTF-8."
        raise Rejection(Reason.UNSUPPORTED_MEDIA_TYPE, message)


async def _read_body(receive: Receive, content_length: bytes) -> bytes:
    """The whole body, never more than MAX_BODY of it in memory."""
    chunks: list[bytes] = []
    received = 0
    # The server has checked that the header, where there is one, is a number.
    too_large = int(content_length or b"0") > MAX_BODY
    more = not (too_large and int(content_length) > _MOST_DISCARDED)
    while more and received <= _MOST_DISCARDED:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        more = message.get("more_body", False)
        received += len(message.get("body", b""))
        too_large = too_large or received > MAX_BODY
        if too_large:
            chunks.clear()
        else:
            chunks.append(message.get("body", b""))
    if too_large:
        raise Rejection(Reason.BODY_TOO_LARGE, f"The body must have at most {MAX_BODY} bytes.")
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _response_of(answer: Answer) -> _Response:
    if answer.rejection is None:
        return (200, [_JSON], answer.body) if answer.body else (204, [], b"")
    _, status = CODES[answer.rejection.reason]
    headers = [_JSON, *_retry_after(answer.rejection), *_HEADERS_OF.get(answer.rejection.reason, ())]
    return status, headers, answer.body


_HEADERS_OF: Final[dict[Reason, list[_Header]]] = {
    Reason.UNAUTHENTICATED: [(b"www-authenticate", b"Bearer")],
    Reason.METHOD_NOT_ALLOWED: [(b"allow", b"POST")],
    # What is left of the body is not read.
    Reason.BODY_TOO_LARGE: [(b"connection", b"close")],
}


def _retry_after(rejection: Rejection) -> list[_Header]:
    seconds = rejection.details.get("retryAfterSeconds")
    return [] if seconds is None else [(b"retry-after", b"%d" % seconds)]
