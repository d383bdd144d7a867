"""The HTTP handler: `POST /rpc`, the pages, the health checks. It alone reads the wall clock."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import count
from secrets import token_hex
from typing import Any, Final

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BODY
from tickover.api.timestamps import Instant
from tickover.server.domain import tokens
from tickover.server.domain.networks import ClientNetworks, Network
from tickover.server.http.host_check import Guard
from tickover.server.http.messages import Header, Refusal, Request, Response
from tickover.server.http.pages import Site
from tickover.server.jsonrpc.dispatch import CallResponse, Context, Dispatcher, error_response
from tickover.server.jsonrpc.envelope import CODES

HEALTH_CHECKS: Final = frozenset({"/healthz", "/readyz"})
_JSON: Final = (b"content-type", b"application/json")
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_SAFE: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
"""On every response that does not say otherwise: nothing is guessed about it, and nothing keeps it."""


def wall_clock() -> Instant:
    return datetime.now(UTC)


class Web:
    """Answers requests, as `tickover.server.http.messages.Handler` describes."""

    def __init__(  # noqa: PLR0913 - it joins that many parts
        self,
        rpc: Dispatcher,
        ping: Callable[[], Awaitable[None]],
        guard: Guard,
        site: Site,
        *,
        trusted_proxies: Sequence[Network] = (),
        now: Callable[[], Instant] = wall_clock,
        max_in_flight: int = 512,
        count_refusal: Callable[[Reason], object] = lambda _: None,
    ) -> None:
        self._rpc = rpc
        self._ping = ping
        self._guard = guard
        self._networks = ClientNetworks(trusted_proxies)
        self._now = now
        self._site = site
        self._max_in_flight = max_in_flight
        self._count_refusal = count_refusal
        self._in_flight = 0
        self.is_draining = False
        """Whether the server is about to stop; `/readyz` says so, and all else goes on."""
        self._date: Header = (b"date", b"")
        self._date_until = 0.0
        # Unique over restarts and processes, and cheap.
        prefix = f"req_{token_hex(6)}"
        self._request_ids = (f"{prefix}{number:x}" for number in count())

    def answer(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        if request.path == "/rpc":
            if self._in_flight >= self._max_in_flight:
                self._count_refusal(Reason.UNAVAILABLE)
                return self._finish(_response_of(_TOO_MANY), request, next(self._request_ids))
            self._in_flight += 1
            return self._answer_call(request, next(self._request_ids))
        if request.path == "/healthz":
            return self._finish(_health(request, 200, b"alive\n"), request, next(self._request_ids))
        return self._answer_page(request, next(self._request_ids))

    def is_health_check(self, request: Request) -> bool:
        return request.path in HEALTH_CHECKS

    def refuse(self, refusal: Refusal) -> Response:
        if refusal.status == 503:
            self._count_refusal(Reason.UNAVAILABLE)
            status, headers, body = _response_of(error_response(unavailable(refusal.message)))
        else:
            _, headers, body = _response_of(error_response(Rejection(Reason.INVALID_REQUEST, refusal.message)))
            status = refusal.status
        return self._finish((status, headers, body), _NO_REQUEST, next(self._request_ids))

    async def _answer_call(self, request: Request, request_id: str) -> Response:
        try:
            response = await self._call(request, request_id)
        except Rejection as rejection:
            response = _response_of(error_response(rejection))
        finally:
            self._in_flight -= 1
        return self._finish(response, request, request_id)

    async def _answer_page(self, request: Request, request_id: str) -> Response:
        try:
            status, headers, body = await self._page(request)
        except Rejection as rejection:
            status, headers, body = _response_of(error_response(rejection))
        except Exception:
            status, headers, body = _response_of(self._rpc.report_bug(request_id))
        names = {name for name, _ in headers}
        safe = [header for header in _SAFE if header[0] not in names]
        return self._finish((status, [*headers, *safe], body), request, request_id)

    def _finish(self, response: Response, request: Request, request_id: str) -> Response:
        """Return the response with the headers that every one has."""
        status, headers, body = response
        origins = self._guard.headers_for(request.fields.get(b"origin"))
        every = [self._date_header(), *headers, *origins, (b"x-request-id", request_id.encode())]
        if status != 204:
            every.append((b"content-length", b"%d" % len(body)))
        return status, every, body

    def _date_header(self) -> Header:
        # It tells seconds, so it is written once a second.
        now = asyncio.get_running_loop().time()
        if now >= self._date_until:
            self._date = (b"date", format_datetime(self._now(), usegmt=True).encode())
            self._date_until = now + 1
        return self._date

    async def _call(self, request: Request, request_id: str) -> Response:
        fields = request.fields
        self._guard.check_host(fields.get(b"host"))
        if request.method == "OPTIONS" and (preflight := self._guard.preflight_for(fields.get(b"origin"))):
            return 204, [*_SAFE, *preflight], b""
        _check_kind(request.method, fields.get(b"content-type", b""))
        if request.body is None:
            raise Rejection(Reason.BODY_TOO_LARGE, f"The body must have at most {MAX_BODY} bytes.")
        network = self._networks.find(request.client, fields.get(b"x-forwarded-for", b""))
        token = tokens.read_bearer_token(fields.get(b"authorization", b""))
        key = fields.get(b"idempotency-key")
        # The parser leaves blanks at the end of a header, which are no part of it.
        context = Context(self._now, token, network, request_id, None if key is None else key.strip(b" \t"))
        return _response_of(await self._rpc.answer(request.body, context))

    async def _page(self, request: Request) -> Response:
        path = request.path
        if path == "/readyz":
            # Whoever checks the health of a server may know it by its address alone.
            return _health(request, *await self._readiness())
        self._guard.check_host(request.fields.get(b"host"))
        if not self._site.has(path):
            return 404, [_TEXT], b"There is nothing here. The service is POST /rpc.\n"
        if request.method not in ("GET", "HEAD"):
            return _USE_GET
        return await self._site.get(path, request.query, request.fields.get(b"accept-encoding", b""), self._now())

    async def _readiness(self) -> tuple[int, bytes]:
        if self.is_draining:
            return 503, b"The server is stopping.\n"
        try:
            await self._ping()
        except Rejection:
            return 503, b"The database does not answer.\n"
        return 200, b"ready\n"


def _health(request: Request, status: int, body: bytes) -> Response:
    if request.method not in ("GET", "HEAD"):
        return _USE_GET
    retry_after = [(b"retry-after", b"1")] if status == 503 else []
    return status, [_TEXT, *_SAFE, *retry_after], body


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


def _response_of(answer: CallResponse) -> Response:
    if answer.rejection is None:
        return (200, _CALL_HEADERS, answer.body) if answer.body else (204, _SAFE, b"")
    _, status = CODES[answer.rejection.reason]
    headers = [*_CALL_HEADERS, *_retry_after(answer.rejection), *_HEADERS_OF.get(answer.rejection.reason, ())]
    return status, headers, answer.body


_HEADERS_OF: Final[dict[Reason, list[Header]]] = {
    Reason.UNAUTHENTICATED: [(b"www-authenticate", b"Bearer")],
    Reason.METHOD_NOT_ALLOWED: [(b"allow", b"POST")],
}


def _retry_after(rejection: Rejection) -> list[Header]:
    seconds = rejection.details.get("retryAfterSeconds")
    return [] if seconds is None else [(b"retry-after", b"%d" % seconds)]


_CALL_HEADERS: Final = (_JSON, *_SAFE)
_USE_GET: Final[Response] = (405, [_TEXT, *_SAFE, (b"allow", b"GET, HEAD")], b"Use GET here.\n")
_TOO_MANY: Final = error_response(unavailable("The server has too many calls under way. Send this one again."))
_NO_REQUEST: Final = Request("GET", "*")
