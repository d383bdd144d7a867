"""The HTTP handler: `POST /rpc`, the bank, the pages and the health checks.

Only this module of the server reads the wall clock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import count
from secrets import token_hex
from typing import Final

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BODY
from tickover.api.timestamps import Instant
from tickover.server.bank.bank_service import BankRequest
from tickover.server.bank.routes import BankRoutes
from tickover.server.gate import Gate, too_many_calls
from tickover.server.http1.http_messages import (
    SAFE_HEADERS,
    Header,
    Request,
    RequestError,
    Response,
    text_response,
)
from tickover.server.logs import Log
from tickover.server.networks import ClientNetworks
from tickover.server.rpc.dispatch import CallResponse, Context, Dispatcher, error_response
from tickover.server.rpc.reasons import REASONS
from tickover.server.settings import Settings
from tickover.server.sign_in import tokens
from tickover.server.web.host_check import HostCheck
from tickover.server.web.pages import Site

HEALTH_CHECKS: Final = frozenset({"/healthz", "/readyz"})
_JSON: Final = (b"content-type", b"application/json")
_VARY: Final = (b"vary", b"Origin")
_EXPOSED: Final = (b"access-control-expose-headers", b"X-Request-Id, Retry-After")
_PREFLIGHT: Final = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key"),
    (b"access-control-max-age", b"600"),
)


def wall_clock() -> Instant:
    return datetime.now(UTC)


class Handler:
    """Handles the requests of an HTTP server."""

    def __init__(  # noqa: PLR0913 - one argument for each part
        self,
        settings: Settings,
        gate: Gate,
        rpc: Dispatcher,
        bank: BankRoutes,
        site: Site,
        ping: Callable[[], Awaitable[None]],
        *,
        log: Log,
        now: Callable[[], Instant] = wall_clock,
    ) -> None:
        self._gate = gate
        self._rpc = rpc
        self._bank = bank
        self._site = site
        self._ping = ping
        self._access_log = log if settings.access_log else None
        self._now = now
        self._host_check = HostCheck(settings)
        self._cors_origins = frozenset(origin.encode() for origin in settings.cors_origins)
        self._networks = ClientNetworks(settings.trusted_proxies)
        self.is_draining = False
        """True if the server is about to stop. `/readyz` returns 503 then; other requests are still served."""
        self._date: Header = (b"date", b"")
        self._date_until = 0.0
        # Unique across restarts and processes, and cheap.
        prefix = f"req_{token_hex(6)}"
        self._request_ids = (f"{prefix}{number:x}" for number in count())

    def handle(self, request: Request) -> Response | Awaitable[Response]:
        if self._access_log is not None:
            request.began = asyncio.get_running_loop().time()
        request_id = next(self._request_ids)
        if request.path == "/rpc":
            token, network = _digest_token(request.fields), self._network(request)
            place = self._gate.enter(self._rpc.find_user(token, network), request_id, lambda: request.has_left)
            if place is None:
                return self._finish(_TOO_MANY_CALLS, request, request_id)
            return self._gate.run(place, self._handle_call(request, Context(self._now, token, network), request_id))
        if request.path == "/healthz":
            return self._finish(_health(request, 200, b"alive\n"), request, request_id)
        if self._bank.has(request.path):
            return self._enter_bank(request, request_id, self._host_check)
        return self._handle_page(request, request_id)

    def handle_bank(self, request: Request) -> Response | Awaitable[Response]:
        """Handle a request to one of the bank's own names. Nothing but the bank answers."""
        if self._access_log is not None:
            request.began = asyncio.get_running_loop().time()
        request_id = next(self._request_ids)
        if not self._bank.has(request.path):
            return self._finish(_NOT_AT_THE_BANK, request, request_id)
        return self._enter_bank(request, request_id, None)

    def route(self, path: str) -> str:
        """Return the path for logs, or "unknown" if nothing is there: then it is text of the client."""
        if self._bank.has(path):
            return self._bank.route(path) or "unknown"
        is_known = path == "/rpc" or path in HEALTH_CHECKS or self._site.has(path)
        return path if is_known else "unknown"

    def reject(self, error: RequestError) -> Response:
        request_id, is_overloaded = next(self._request_ids), error.status == 503
        rejection = unavailable(error.message) if is_overloaded else Rejection(Reason.INVALID_REQUEST, error.message)
        if is_overloaded:
            self._gate.count_refusal()
        if self._bank.has(error.path):
            call = self._bank_request(_NO_REQUEST, error.path, request_id)
            return self._finish(self._bank.reject(call, rejection), _NO_REQUEST, request_id)
        _, headers, body = _to_http(error_response(rejection))
        return self._finish((error.status, headers, body), _NO_REQUEST, request_id)

    def reject_bank(self, error: RequestError) -> Response:
        """Like `reject`, for one of the bank's own names. Which one is unknown."""
        return self._finish(text_response(error.status, error.message.encode()), _NO_REQUEST, next(self._request_ids))

    async def _handle_call(self, request: Request, context: Context, request_id: str) -> Response:
        try:
            self._host_check.check(request.fields.get(b"host"))
            if request.method == "OPTIONS":
                response = self._preflight(request.fields.get(b"origin"))
            else:
                response = _to_http(await self._rpc.dispatch(_read_call(request, context), context))
        except Rejection as rejection:
            response = _to_http(error_response(rejection))
        return self._finish(response, request, request_id)

    def _enter_bank(
        self, request: Request, request_id: str, host_check: HostCheck | None
    ) -> Response | Awaitable[Response]:
        """Handle a request of a program that speaks the protocol of a bank. It counts as a call."""
        call = self._bank_request(request, request.path, request_id)
        place = self._gate.enter(call.network, request_id, lambda: request.has_left)
        if place is None:
            return self._finish(self._bank.reject(call, too_many_calls()), request, request_id)
        return self._gate.run(place, self._handle_bank(call, host_check))

    async def _handle_bank(self, call: BankRequest, host_check: HostCheck | None) -> Response:
        try:
            if host_check is not None:
                host_check.check(call.http.fields.get(b"host"))
            response = await self._bank.handle(call)
        except Rejection as rejection:
            response = self._bank.reject(call, rejection)
        return self._finish(response, call.http, call.request_id)

    def _bank_request(self, request: Request, path: str, request_id: str) -> BankRequest:
        prefix, _, rest = path[1:].partition("/")
        return BankRequest(request, prefix, f"/{rest}", self._now(), self._network(request), request_id)

    def _network(self, request: Request) -> str:
        return self._networks.find(request.client, request.fields.get(b"x-forwarded-for", b""))

    async def _handle_page(self, request: Request, request_id: str) -> Response:
        try:
            response = await self._page(request)
        except Rejection as rejection:
            response = _to_http(error_response(rejection))
        except Exception:
            response = _to_http(error_response(self._gate.report_bug(request_id)))
        return self._finish(response, request, request_id)

    def _finish(self, response: Response, request: Request, request_id: str) -> Response:
        """Add the headers that all responses have."""
        status, headers, body = response
        all_headers = [self._date_header(), *headers, (b"x-request-id", request_id.encode())]
        if self._cors_origins:
            all_headers += self._cors_headers(request.fields.get(b"origin"))
        if self._access_log is not None:
            self._log_response(self._access_log, request, status, len(body), request_id)
        return status, all_headers, body

    def _log_response(self, log: Log, request: Request, status: int, size: int, request_id: str) -> None:
        """Log a response in one line, without any text of the client."""
        fields: dict[str, object] = {}
        # A request that was not read to its end has no method, path or time.
        if request is not _NO_REQUEST:
            milliseconds = round((asyncio.get_running_loop().time() - request.began) * 1000, 1)
            fields = {"method": request.method, "path": self.route(request.path), "milliseconds": milliseconds}
        log.info("request", **fields, status=status, bytes=size, request_id=request_id)

    def _cors_headers(self, origin: bytes | None) -> list[Header]:
        if origin is None or origin not in self._cors_origins:
            return [_VARY]
        return [_VARY, _EXPOSED, (b"access-control-allow-origin", origin)]

    def _date_header(self) -> Header:
        # The header has a resolution of one second.
        now = asyncio.get_running_loop().time()
        if now >= self._date_until:
            self._date = (b"date", format_datetime(self._now(), usegmt=True).encode())
            self._date_until = now + 1
        return self._date

    def _preflight(self, origin: bytes | None) -> Response:
        if origin in self._cors_origins:
            return 204, [*SAFE_HEADERS, *_PREFLIGHT], b""
        if origin is None:
            raise _use_post("OPTIONS")
        message = "Pages of this origin may not call the server. Add the origin to TICKOVER_CORS_ORIGINS."
        raise Rejection(Reason.METHOD_NOT_ALLOWED, message)

    async def _page(self, request: Request) -> Response:
        path = request.path
        if path == "/readyz":
            # No Host check: health checks may use the server's IP address.
            return _health(request, *await self._readiness())
        self._host_check.check(request.fields.get(b"host"))
        if not self._site.has(path):
            return text_response(404, b"Not found. The API is at POST /rpc.\n")
        if request.method not in ("GET", "HEAD"):
            return _USE_GET
        accepted = request.fields.get(b"accept-encoding", b"")
        return await asyncio.to_thread(self._site.get, path, request.query, accepted, self._now())

    async def _readiness(self) -> tuple[int, bytes]:
        if self.is_draining:
            return 503, b"The server is stopping.\n"
        if self._gate.is_refusing():
            return 503, b"The server has too many calls in progress.\n"
        try:
            await self._ping()
        except Rejection:
            return 503, b"The database is unavailable.\n"
        return 200, b"ready\n"


def _read_call(request: Request, context: Context) -> bytes:
    """Return the body of a call. Add its idempotency key to the context."""
    if request.method != "POST":
        raise _use_post(request.method)
    _check_content_type(request.fields.get(b"content-type", b""))
    if request.body is None:
        raise Rejection(Reason.BODY_TOO_LARGE, f"The body must have at most {MAX_BODY} bytes.")
    key = request.fields.get(b"idempotency-key")
    # The parser keeps blanks at the end of a header.
    context.idempotency_key = None if key is None else key.strip(b" \t")
    return request.body


def _digest_token(fields: Mapping[bytes, bytes]) -> bytes | None:
    token = tokens.read_bearer_token(fields.get(b"authorization", b""))
    return None if token is None else tokens.digest(token)


def _health(request: Request, status: int, body: bytes) -> Response:
    if request.method not in ("GET", "HEAD"):
        return _USE_GET
    return text_response(status, body, *([(b"retry-after", b"1")] if status == 503 else []))


def _use_post(method: str) -> Rejection:
    return Rejection(Reason.METHOD_NOT_ALLOWED, f"Use POST, not {method}.")


def _check_content_type(content_type: bytes) -> None:
    if content_type == b"application/json":
        return
    kind, *parameters = (part.strip() for part in content_type.lower().replace(b'"', b"").split(b";"))
    charsets = {parameter for parameter in parameters if parameter.startswith(b"charset")}
    if kind != b"application/json" or charsets - {b"charset=utf-8"}:
        message = "Send Content-Type: application/json and a body in UTF-8."
        raise Rejection(Reason.UNSUPPORTED_MEDIA_TYPE, message)


def _to_http(response: CallResponse) -> Response:
    if response.rejection is None:
        return (200, _CALL_HEADERS, response.body) if response.body else (204, SAFE_HEADERS, b"")
    reason, details = response.rejection.reason, response.rejection.details
    headers = [*_CALL_HEADERS, *_REASON_HEADERS.get(reason, ())]
    if "retryAfterSeconds" in details:
        headers.append((b"retry-after", b"%d" % details["retryAfterSeconds"]))
    return REASONS[reason].http_status, headers, response.body


_REASON_HEADERS: Final[dict[Reason, list[Header]]] = {
    Reason.UNAUTHENTICATED: [(b"www-authenticate", b"Bearer")],
    Reason.METHOD_NOT_ALLOWED: [(b"allow", b"POST")],
}


_CALL_HEADERS: Final = (_JSON, *SAFE_HEADERS)
_USE_GET: Final = text_response(405, b"Use GET.\n", (b"allow", b"GET, HEAD"))
_NOT_AT_THE_BANK: Final = text_response(404, b"Not found. Only a bank answers here, under the names of real banks.\n")
_TOO_MANY_CALLS: Final = _to_http(error_response(too_many_calls()))
_NO_REQUEST: Final = Request("GET", "*")
