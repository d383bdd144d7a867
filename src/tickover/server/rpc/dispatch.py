"""The JSON-RPC 2.0 dispatcher: request bytes to response bytes. Turns every exception of a call into a response."""

import asyncio
from collections.abc import Callable
from functools import partial
from math import inf

from msgspec import Raw, Struct

from tickover.api import ids, timestamps
from tickover.api.errors import Reason, Rejection, invalid_params, unavailable
from tickover.api.limits import CALL_COST, MAX_BATCH
from tickover.api.timestamps import Instant
from tickover.server.logs import FailureLog, Log
from tickover.server.operations import OPERATIONS
from tickover.server.operations.access import Caller
from tickover.server.operations.idempotency import run_once
from tickover.server.operations.operation import Operation
from tickover.server.operations.services import Services
from tickover.server.rpc import envelope
from tickover.server.rpc.admission import Admission
from tickover.server.rpc.batch_limits import BatchLimits, BatchResponse
from tickover.server.rpc.decode import decode_params
from tickover.server.rpc.envelope import Call, InvalidRequest
from tickover.server.storage.store import DatabaseUnavailable


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


Observe = Callable[[str, Rejection | None, float], object]
"""Receives the operation of a call that has ended, its rejection if it failed, and its duration in seconds."""


class Dispatcher:
    def __init__(
        self,
        services: Services,
        log: Log,
        count_rejection: Callable[[Reason], object] = lambda _: None,
        observe: Observe = lambda *_: None,
    ) -> None:
        self._services = services
        self._log = log
        self._count_rejection = count_rejection
        self._observe = observe
        self._failures = FailureLog(log)
        self._last_call_at = inf
        self._batch_limits = BatchLimits()
        self.admission = Admission()

    def stop(self, seconds: float) -> None:
        """Reject calls that start more than `seconds` from now with UNAVAILABLE, also those of a running batch."""
        self._last_call_at = asyncio.get_running_loop().time() + seconds

    async def dispatch(self, body: bytes, context: Context) -> CallResponse:
        """Run a call or a batch. The response body is empty if all calls are notifications."""
        try:
            call = envelope.decode(body)
            if isinstance(call, list):
                return await self._run_batch(call, context)
        except InvalidRequest as rejection:
            return error_response(rejection, rejection.id)
        except Rejection as rejection:
            return error_response(rejection)
        return await self._run(call, context)

    async def _run_batch(self, calls: list[Raw], context: Context) -> CallResponse:
        if not 1 <= len(calls) <= MAX_BATCH:
            raise InvalidRequest(f"a batch must have 1 to {MAX_BATCH} calls, not {len(calls)}")
        if context.idempotency_key is not None:
            raise InvalidRequest("a batch can't have an Idempotency-Key; send the call alone")
        with BatchResponse(self._batch_limits, sum(map(len, calls))) as response:
            # One by one, so that two advances of the same clock run in the caller's order.
            for call in calls:
                response.add((await self._run_batch_call(call, context, response)).body)
                # Some calls fail without awaiting anything. Let other requests run anyway.
                await asyncio.sleep(0)
            return CallResponse(response.join())

    async def _run_batch_call(self, encoded: Raw, context: Context, response: BatchResponse) -> CallResponse:
        """Run a call of a batch, unless its response might not fit."""
        try:
            call = envelope.decode_call(encoded)
        except InvalidRequest as rejection:
            return error_response(rejection, rejection.id)
        # Notifications have no response.
        result = await self._run(call, context, response if call.id else None)
        if result.rejection is None or result.rejection.reason is not Reason.INVALID_PARAMS:
            return result
        try:
            # It can be longer than the result: parameters can have thousands of faults.
            response.check_fits(len(result.body))
        except Rejection as rejection:
            self._count_rejection(rejection.reason)
            return error_response(rejection, call.id)
        return result

    async def _run(self, call: Call, context: Context, batch: BatchResponse | None = None) -> CallResponse:
        now, access = context.now(), self._services.access
        caller = Caller(now, context.network)
        began = asyncio.get_running_loop().time()
        try:
            self.check_running()
            if not timestamps.EARLIEST_NOW <= now < timestamps.LATEST_NOW:
                raise unavailable(f"The server's clock is wrong: it says {timestamps.write(now)}.")
            operation = _find_operation(call.operation)
            if operation.limited_per_client:
                access.check_client_limit(caller)
            if operation.needs is not None:
                caller = await access.authenticate(context.token, caller)
                access.check_permission(caller, operation.needs)
            response = await self._run_in_turn(operation, call, context, caller, batch)
        except Rejection as first:
            rejection = await access.check_again(caller, first)
            if rejection.reason is Reason.INVALID_PARAMS:
                rejection = invalid_params(rejection.faults, call.operation)
            self.note_rejection(call.operation, rejection, began, context.request_id)
            response = error_response(rejection, call.id)
        except Exception:
            response = self.report_bug(context.request_id, call.id)
        self._observe(call.operation, response.rejection, asyncio.get_running_loop().time() - began)
        if self._log.is_debug:
            self._log_call(call.operation, caller.token.user, response, context.request_id)
        return response if call.id else CallResponse(b"")

    async def _run_in_turn(
        self, operation: Operation, call: Call, context: Context, caller: Caller, batch: BatchResponse | None
    ) -> CallResponse:
        """Run a call when its cost fits beside the running calls of its user and of the process."""
        user = caller.token.user or caller.network
        cost = CALL_COST + len(call.params) + operation.cost(self._services, call.params)
        if not self.admission.try_enter(user, cost):
            await self.admission.wait(user, cost)
        try:
            self.check_running()
            if batch is not None:
                batch.check_fits(operation.max_result)
            decode = partial(decode_params, operation.params, call.params, caller.now)
            key = context.idempotency_key
            if key is not None and operation.takes_idempotency_key:
                result = await run_once(operation, call.params, decode, key, caller, self._services)
            else:
                result = await operation.handler(decode(), caller, self._services)
            return CallResponse(envelope.encode_result(call.id, result))
        finally:
            self.admission.leave(user, cost)

    def note_rejection(self, name: str, rejection: Rejection, began: float, request_id: str) -> None:
        """Count a rejected call, and log the failure that caused it, if any."""
        self._count_rejection(rejection.reason)
        if isinstance(rejection, DatabaseUnavailable):
            now = asyncio.get_running_loop().time()
            self._failures.note(name, rejection.describe(), now - began, now, request_id)

    def report_bug(self, request_id: str, id: bytes = envelope.NULL) -> CallResponse:
        """Log the exception that is being handled, and return an INTERNAL error."""
        self._log.exception("internal error", request_id=request_id)
        message = "The server failed because of a bug. Report the request ID to its operator."
        return error_response(Rejection(Reason.INTERNAL, message, {"requestId": request_id}), id)

    def check_running(self) -> None:
        """Raise UNAVAILABLE if the server is stopping."""
        if self._last_call_at < inf and asyncio.get_running_loop().time() >= self._last_call_at:
            raise unavailable("The server is shutting down.")

    def _log_call(self, operation: str, user: bytes, response: CallResponse, request_id: str) -> None:
        """Log one line for the call. It contains no text of the caller, and identifies people only by user id."""
        self._log.debug(
            "call",
            method=operation if operation in OPERATIONS else "unknown",
            user=ids.write("user", user) if user else None,
            outcome=response.rejection.reason if response.rejection else "ok",
            request_id=request_id,
        )


def _find_operation(name: str) -> Operation:
    if name not in OPERATIONS:
        available = ", ".join(OPERATIONS)
        raise Rejection(Reason.METHOD_NOT_FOUND, f"Method not found. Available methods: {available}.")
    return OPERATIONS[name]


def error_response(rejection: Rejection, id: bytes = envelope.NULL) -> CallResponse:
    # Without the traceback, which refers to the frame that holds the response. Such a cycle would keep the whole
    # request alive until the garbage collector runs.
    return CallResponse(envelope.encode_error(id, rejection), rejection.with_traceback(None))
