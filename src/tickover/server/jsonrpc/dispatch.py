"""The JSON-RPC 2.0 dispatcher: request bytes to response bytes. Turns every exception of a call into a response."""

import asyncio
import logging
from collections.abc import Callable
from math import inf

from msgspec import Raw, Struct
from msgspec.structs import replace
from structlog.stdlib import BoundLogger

from tickover.api import ids, timestamps
from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import CALL_COST, MAX_BATCH
from tickover.api.timestamps import Instant
from tickover.server.domain import response_sizes
from tickover.server.failure_log import FailureLog
from tickover.server.jsonrpc import envelope
from tickover.server.jsonrpc.admission import Admission
from tickover.server.jsonrpc.batch_limits import BatchLimits, BatchResponse
from tickover.server.jsonrpc.envelope import InvalidRequest, Request
from tickover.server.operations import OPERATIONS, Caller, IdempotencyKey, Operation, Operations


class Context(Struct, frozen=True):
    """The HTTP request, except for its body."""

    now: Callable[[], Instant]
    """Called once for each call: a batch runs its calls one by one, and the first can take long."""
    token: str | None
    network: str
    request_id: str
    idempotency_key: bytes | None = None


class CallResponse(Struct, frozen=True):
    """A response body. The HTTP handler derives the status and headers from the rejection."""

    body: bytes
    rejection: Rejection | None = None


NO_RESPONSE = CallResponse(b"")

Observe = Callable[[str, Rejection | None, float], object]
"""Receives the method of a call that has ended, its rejection if it failed, and its duration in seconds."""


class Dispatcher:
    def __init__(
        self,
        operations: Operations,
        log: BoundLogger,
        count_rejection: Callable[[Reason], object] = lambda _: None,
        observe: Observe = lambda *_: None,
    ) -> None:
        self._operations = operations
        self._handlers = {name: operation.handler(operations) for name, operation in OPERATIONS.items()}
        self._costs = {name: operation.cost(operations) for name, operation in OPERATIONS.items()}
        self._log = log
        self._count_rejection = count_rejection
        self._observe = observe
        self._failures = FailureLog(log)
        self._last_call_at = inf
        self._batch_limits = BatchLimits()
        self._admission = Admission()

    def stop(self, seconds: float) -> None:
        """Reject calls that start more than `seconds` from now with UNAVAILABLE, also those of a running batch."""
        self._last_call_at = asyncio.get_running_loop().time() + seconds

    async def dispatch(self, body: bytes, context: Context) -> CallResponse:
        """Run a call or a batch. The response body is empty if all calls are notifications."""
        try:
            envelope.check_nesting(body)
            request = envelope.try_fast_decode(body)
            if request is not None:
                return await self._run(request, context)
            text = envelope.decode_text(body)
            if text.lstrip(" \t\r\n").startswith("["):
                return await self._run_batch(text, context)
        except Rejection as rejection:
            return error_response(rejection)
        return await self._run_call(text, context)

    async def _run_batch(self, text: str, context: Context) -> CallResponse:
        calls = envelope.decode_batch(text)
        if not 1 <= len(calls) <= MAX_BATCH:
            raise InvalidRequest(f"a batch must have 1 to {MAX_BATCH} calls, not {len(calls)}")
        if context.idempotency_key is not None:
            raise InvalidRequest("a batch can't have an Idempotency-Key; send the call alone")
        with self._batch_limits.open_response(map(len, calls)) as response:
            # One by one, so that two advances of the same clock run in the caller's order.
            for call in calls:
                response.add(len(call), (await self._run_batch_call(call, context, response)).body)
                # Some calls fail without awaiting anything. Let other requests run anyway.
                await asyncio.sleep(0)
            return CallResponse(response.join())

    async def _run_batch_call(self, call: Raw, context: Context, response: BatchResponse) -> CallResponse:
        """Run a call of a batch, unless its response might not fit."""
        request = _decode_request(call)
        if isinstance(request, CallResponse):
            return request
        operation = OPERATIONS.get(request.method)
        max_result = operation.max_result if operation else 0
        # Notifications have no response.
        max_response = response_sizes.MAX_ENVELOPE + len(request.id) + max_result if request.id else 0
        result = await self._run(request, context, lambda: response.check_fits(len(call), max_response))
        if result.rejection is None:
            return result
        try:
            # An error can be longer than the result: parameters can have thousands of faults.
            response.check_fits(len(call), len(result.body))
        except Rejection as rejection:
            self._count_rejection(rejection.reason)
            return error_response(rejection, request.id)
        return result

    async def _run_call(self, text: str, context: Context) -> CallResponse:
        request = _decode_request(text)
        return request if isinstance(request, CallResponse) else await self._run(request, context)

    async def _run(
        self, request: Request, context: Context, check_fits: Callable[[], None] | None = None
    ) -> CallResponse:
        now = context.now()
        caller = Caller(now, context.network)
        began = asyncio.get_running_loop().time()
        try:
            self._check_running()
            if not timestamps.EARLIEST_NOW <= now < timestamps.LATEST_NOW:
                raise unavailable(f"The server's clock is wrong: it says {timestamps.write(now)}.")
            operation = _find_operation(request.method)
            if operation.limited_per_client:
                self._operations.logins.check_client_limit(caller)
            if operation.needs_token:
                caller = await self._operations.tokens.authenticate(context.token, caller)
                self._operations.tokens.check_permission(caller, operation.permission)
            response = await self._run_in_turn(operation, request, context, caller, check_fits)
        except Rejection as first:
            rejection = await self._operations.tokens.check_again(caller, first)
            self._count_rejection(rejection.reason)
            if rejection.__cause__ is not None:
                ended = asyncio.get_running_loop().time()
                self._failures.note(request.method, rejection, began, ended, context.request_id)
            response = error_response(rejection, request.id)
        except Exception:
            response = self.report_bug(context.request_id, request.id)
        self._observe(request.method, response.rejection, asyncio.get_running_loop().time() - began)
        if self._log.isEnabledFor(logging.DEBUG):
            self._log_call(request.method, caller.token.user, response, context.request_id)
        return response if request.id else NO_RESPONSE

    async def _run_in_turn(
        self,
        operation: Operation,
        request: Request,
        context: Context,
        caller: Caller,
        check_fits: Callable[[], None] | None,
    ) -> CallResponse:
        """Run a call when its cost fits beside the running calls of its user and of the process."""
        user = caller.token.user or caller.network
        cost = CALL_COST + len(request.params) + self._costs[request.method](request.params)
        if not self._admission.try_enter(user, cost):
            await self._admission.wait(user, cost)
        try:
            self._check_running()
            if check_fits is not None:
                check_fits()
            if context.idempotency_key is not None and operation.takes_idempotency_key:
                result = await self._run_once(operation, request, context.idempotency_key, caller)
            else:
                params = envelope.decode_params(operation.params, request.method, request.params, caller.now)
                result = await self._handlers[request.method](params, caller)
            return CallResponse(envelope.encode_result(request.id, result))
        finally:
            self._admission.leave(user, cost)

    def report_bug(self, request_id: str, id: bytes = envelope.NULL) -> CallResponse:
        """Log the exception that is being handled, and return an INTERNAL error."""
        self._log.exception("internal error", request_id=request_id)
        message = "The server failed because of a bug. Report the request ID to its operator."
        return error_response(Rejection(Reason.INTERNAL, message, {"requestId": request_id}), id)

    def _check_running(self) -> None:
        """Raise UNAVAILABLE if the server is stopping."""
        if self._last_call_at < inf and asyncio.get_running_loop().time() >= self._last_call_at:
            raise unavailable("The server is shutting down.")

    async def _run_once(self, operation: Operation, request: Request, header: bytes, caller: Caller) -> bytes | Struct:
        """Run a call with an Idempotency-Key header."""
        faults = envelope.idempotency_key_faults(header)
        try:
            params = envelope.decode_params(operation.params, request.method, request.params, caller.now, faults)
        except Rejection as rejection:
            # Instants in the parameters may have been in range when an earlier call created the clock.
            if any(fault.rule != "range" for fault in rejection.faults):
                raise
            caller = replace(caller, idempotency_key=_idempotency_key(header, request))
            existing = await self._operations.clocks.find_repeated(caller)
            if existing is None:
                raise
            return existing
        caller = replace(caller, idempotency_key=_idempotency_key(header, request))
        try:
            return await self._handlers[request.method](params, caller)
        except Rejection as rejection:
            # A concurrent call with the same key may have succeeded, and may be the reason for the rejection.
            existing = None
            if rejection.reason is not Reason.UNAVAILABLE:
                existing = await self._operations.clocks.find_existing(request.method, caller)
            if existing is None:
                raise
            return existing

    def _log_call(self, method: str, user: bytes, response: CallResponse, request_id: str) -> None:
        """Log one line for the call. It contains no text of the caller, and identifies people only by user id."""
        self._log.debug(
            "call",
            method=method if method in OPERATIONS else "unknown",
            user=ids.write("user", user) if user else None,
            outcome=response.rejection.reason if response.rejection else "ok",
            request_id=request_id,
        )


def _decode_request(text: str | Raw) -> Request | CallResponse:
    """Return the request, or an error response if it is invalid."""
    try:
        return envelope.decode_request(text)
    except InvalidRequest as rejection:
        return error_response(rejection, rejection.id)


def _idempotency_key(header: bytes, request: Request) -> IdempotencyKey:
    return IdempotencyKey(header.decode("latin-1"), envelope.digest_call(request))


def _find_operation(method: str) -> Operation:
    if method not in OPERATIONS:
        available = ", ".join(OPERATIONS)
        raise Rejection(Reason.METHOD_NOT_FOUND, f"Method not found. Available methods: {available}.")
    return OPERATIONS[method]


def error_response(rejection: Rejection, id: bytes = envelope.NULL) -> CallResponse:
    # Without the traceback, which refers to the frame that holds the response. Such a cycle would keep the whole
    # request alive until the garbage collector runs.
    return CallResponse(envelope.encode_error(id, rejection), rejection.with_traceback(None))
