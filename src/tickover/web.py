"""The door: `POST /rpc`, by ASGI or by the short way, the pages, the health checks. It alone reads the wall clock."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from itertools import count
from secrets import token_hex
from typing import Any, Final

from tickover import tokens
from tickover.core.clients import ClientNetworks, Network
from tickover.core.errors import Reason, Rejection
from tickover.core.limits import MAX_BODY
from tickover.core.moments import Moment
from tickover.guards import Guard
from tickover.pages import Header, Response, Site
from tickover.rpc import Answer, Context, Rpc, refuse
from tickover.wire import CODES

Fields = Mapping[bytes, bytes]
Client = tuple[str, int] | None
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


def _fields_of(headers: Iterable[Header]) -> dict[bytes, bytes]:
    """The headers by name. One that stands there twice counts as empty, since others may have taken the other."""
    fields: dict[bytes, bytes] = {}
    for name, value in headers:
        if name not in fields:
            fields[name] = value
        elif name == b"x-forwarded-for":
            fields[name] += b"," + value
        else:
            fields[name] = b""
    return fields


class Web:
    """The whole program as one ASGI application."""

    def __init__(
        self,
        rpc: Rpc,
        ping: Callable[[], Awaitable[None]],
        guard: Guard,
        site: Site,
        trusted_proxies: Sequence[Network] = (),
        now: Callable[[], Moment] = wall_clock,
    ) -> None:
        self._rpc = rpc
        self._ping = ping
        self._guard = guard
        self._networks = ClientNetworks(trusted_proxies)
        self._now = now
        self._site = site
        # Unique over restarts and processes, and cheap.
        prefix = f"req_{token_hex(6)}"
        self._request_ids = (f"{prefix}{number:x}" for number in count())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the server is told to speak nothing else"
        fields = _fields_of(scope["headers"])
        request_id = next(self._request_ids)
        try:
            response = await self._respond(scope, fields, receive, request_id)
        except Disconnected:
            return
        except Rejection as rejection:
            response = _response_of(refuse(rejection))
        status, headers, body = self._finish(response, fields, request_id)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def answer(self, fields: Fields, client: Client, body: bytes) -> Response:
        """The answer to a `POST /rpc` whose body is there, without ASGI's detours."""
        request_id = next(self._request_ids)
        try:
            self._guard.check_host(fields.get(b"host"))
            _check_kind("POST", fields.get(b"content-type", b""))
            response = await self._call(fields, client, body, request_id)
        except Rejection as rejection:
            response = _response_of(refuse(rejection))
        return self._finish(response, fields, request_id)

    def _finish(self, response: Response, fields: Fields, request_id: str) -> Response:
        """The response with the headers that every one has."""
        status, headers, body = response
        every = [*headers, *self._guard.headers_for(fields.get(b"origin")), (b"x-request-id", request_id.encode())]
        if status != 204:
            every.append((b"content-length", b"%d" % len(body)))
        return status, every, body

    async def _respond(self, scope: Scope, fields: Fields, receive: Receive, request_id: str) -> Response:
        self._guard.check_host(fields.get(b"host"))
        method, path = scope["method"], scope["path"]
        if path != "/rpc":
            return await self._page(method, path, scope.get("query_string", b""), fields.get(b"accept-encoding", b""))
        if method == "OPTIONS" and (preflight := self._guard.preflight_for(fields.get(b"origin"))):
            return 204, preflight, b""
        _check_kind(method, fields.get(b"content-type", b""))
        body = await _read_body(receive, fields.get(b"content-length", b""))
        return await self._call(fields, scope.get("client"), body, request_id)

    async def _call(self, fields: Fields, client: Client, body: bytes, request_id: str) -> Response:
        network = self._networks.find(client[0] if client else None, fields.get(b"x-forwarded-for", b""))
        token = tokens.read_bearer_token(fields.get(b"authorization", b""))
        key = fields.get(b"idempotency-key")
        # The parser leaves blanks at the end of a header, which are no part of it.
        context = Context(self._now, token, network, request_id, None if key is None else key.strip(b" \t"))
        return _response_of(await self._rpc.answer(body, context))

    async def _page(self, method: str, path: str, query: bytes, accept_encoding: bytes) -> Response:
        if path not in ("/healthz", "/readyz") and not self._site.has(path):
            return 404, [_TEXT], b"There is nothing here. The service is POST /rpc.\n"
        if method not in ("GET", "HEAD"):
            return 405, [_TEXT, (b"allow", b"GET, HEAD")], b"Use GET here.\n"
        match path:
            case "/healthz":
                return 200, [_TEXT], b"alive\n"
            case "/readyz":
                return await self._readiness()
        return await self._site.get(path, query, accept_encoding, self._now())

    async def _readiness(self) -> Response:
        try:
            await self._ping()
        except Rejection as rejection:
            return 503, [_TEXT, *_retry_after(rejection)], b"The database does not answer.\n"
        return 200, [_TEXT], b"ready\n"


def _check_kind(method: str, content_type: bytes) -> None:
    if method != "POST":
        raise Rejection(Reason.METHOD_NOT_ALLOWED, f"Use POST here, not {method}.")
    if content_type == b"application/json":
        return
    kind, *parameters = (part.strip() for part in content_type.lower().replace(b'"', b"").split(b";"))
    charsets = {parameter for parameter in parameters if parameter.startswith(b"charset")}
    if kind != b"application/json" or charsets - {b"charset=utf-8"}:
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


def _response_of(answer: Answer) -> Response:
    if answer.rejection is None:
        return (200, [_JSON], answer.body) if answer.body else (204, [], b"")
    _, status = CODES[answer.rejection.reason]
    headers = [_JSON, *_retry_after(answer.rejection), *_HEADERS_OF.get(answer.rejection.reason, ())]
    return status, headers, answer.body


_HEADERS_OF: Final[dict[Reason, list[Header]]] = {
    Reason.UNAUTHENTICATED: [(b"www-authenticate", b"Bearer")],
    Reason.METHOD_NOT_ALLOWED: [(b"allow", b"POST")],
    # What is left of the body is not read.
    Reason.BODY_TOO_LARGE: [(b"connection", b"close")],
}


def _retry_after(rejection: Rejection) -> list[Header]:
    seconds = rejection.details.get("retryAfterSeconds")
    return [] if seconds is None else [(b"retry-after", b"%d" % seconds)]
