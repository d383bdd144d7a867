"""JSON-RPC 2.0: bytes in, bytes out. The only place where an exception becomes an answer."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext
from math import inf

from msgspec import Raw, Struct
from msgspec.structs import replace
from structlog.stdlib import BoundLogger

from tickover.api import ids, timestamps
from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BATCH, MAX_LARGE_CALLS
from tickover.api.timestamps import Instant
from tickover.server.domain import response_sizes
from tickover.server.failure_log import FailureLog
from tickover.server.jsonrpc import envelope
from tickover.server.jsonrpc.batch_limits import BatchLimits, BatchResponse
from tickover.server.jsonrpc.envelope import NotARequest, Request
from tickover.server.operations import OPERATIONS, Caller, IdempotencyKey, Operation, Operations


class Context(Struct, frozen=True):
    """What the door knows of a request beside its body."""

    now: Callable[[], Instant]
    """Asked once for each call: the calls of a batch run one after the other, and the first may take its time."""
    token: str | None
    network: str
    request_id: str
    idempotency_key: bytes | None = None


class CallResponse(Struct, frozen=True):
    """What the door sends back. The rejection, if there was one, is there for the status and its headers."""

    body: bytes
    rejection: Rejection | None = None


NO_RESPONSE = CallResponse(b"")


class Dispatcher:
    def __init__(
        self, operations: Operations, log: BoundLogger, count_rejection: Callable[[Reason], object] = lambda _: None
    ) -> None:
        self._operations = operations
        self._log = log
        self._count_refusal = count_rejection
        self._failures = FailureLog(log)
        self._last_call_at = inf
        self._batch_limits = BatchLimits()
        self._large_calls = asyncio.Semaphore(MAX_LARGE_CALLS)

    def stop(self, seconds: float) -> None:
        """Begin no call later than so many seconds from now; the rest of a batch is answered UNAVAILABLE then."""
        self._last_call_at = asyncio.get_running_loop().time() + seconds

    async def answer(self, body: bytes, context: Context) -> CallResponse:
        """Answer a call, or a batch of them; an empty body when nothing asks for an answer."""
        try:
            envelope.check_nesting(body)
            request = envelope.try_fast_decode(body)
            if request is not None:
                return await self._run(request, context)
            text = envelope.read_text_of(body)
            if text.lstrip(" \t\r\n").startswith("["):
                return await self._answer_batch(text, context)
        except Rejection as rejection:
            return error_response(rejection)
        return await self._answer_call(text, context)

    async def _answer_batch(self, text: str, context: Context) -> CallResponse:
        calls = envelope.read_batch(text)
        if not 1 <= len(calls) <= MAX_BATCH:
            raise NotARequest(f"a batch has 1 to {MAX_BATCH} calls, and this has {len(calls)}")
        if context.idempotency_key is not None:
            raise NotARequest("an Idempotency-Key goes with a single call, and this is a batch")
        with self._batch_limits.open_response(map(len, calls)) as response:
            # One after the other, so that two advances of one clock happen in the order given.
            for call in calls:
                response.add(len(call), (await self._answer_member(call, context, response)).body)
                # A call may be refused without waiting for anything; others get their turn all the same.
                await asyncio.sleep(0)
            return CallResponse(response.join())

    async def _answer_member(self, call: Raw, context: Context, response: BatchResponse) -> CallResponse:
        """Answer a call of a batch, unless its response might not fit."""
        request = _read_request(call)
        if isinstance(request, CallResponse):
            return request
        operation = OPERATIONS.get(request.method)
        bound = operation.max_result if operation else 0
        async with self._large_calls if bound > response_sizes.MAX_SMALL_RESULT else nullcontext():
            try:
                # The response to a notification is not kept.
                response.check_fits(
                    len(call), response_sizes.MAX_ENVELOPE + len(request.id) + bound if request.id else 0
                )
                answer = await self._run(request, context)
                if answer.rejection is not None:
                    # It may be longer than any result: parameters can have thousands of faults.
                    response.check_fits(len(call), len(answer.body))
            except Rejection as rejection:
                self._count_refusal(rejection.reason)
                return error_response(rejection, request.id) if request.id else NO_RESPONSE
        return answer

    async def _answer_call(self, written: str, context: Context) -> CallResponse:
        request = _read_request(written)
        return request if isinstance(request, CallResponse) else await self._run(request, context)

    async def _run(self, request: Request, context: Context) -> CallResponse:
        now = context.now()
        caller = Caller(now, context.network)
        began = asyncio.get_running_loop().time()
        try:
            self._check_able(now, began)
            operation = _operation(request.method)
            if operation.limited_per_client:
                self._operations.take_from_bucket(caller)
            if operation.needs_token:
                caller = await self._operations.authenticate(context.token, caller)
            if context.idempotency_key is not None and operation.takes_idempotency_key:
                result = await self._run_once(operation, request, context.idempotency_key, caller)
            else:
                params = envelope.read_params(operation.params, request.method, request.params, now)
                result = await operation.run(self._operations, params, caller)
            answer = CallResponse(envelope.write_result(request.id, result))
        except Rejection as rejection:
            self._count_refusal(rejection.reason)
            if rejection.__cause__ is not None:
                ended = asyncio.get_running_loop().time()
                self._failures.note(request.method, rejection, began, ended, context.request_id)
            answer = error_response(rejection, request.id)
        except Exception:
            answer = self.report_bug(context.request_id, request.id)
        if self._log.isEnabledFor(logging.DEBUG):
            self._log_call(request.method, caller.user, answer, context.request_id)
        return answer if request.id else NO_RESPONSE

    def report_bug(self, request_id: str, id: bytes = envelope.NULL) -> CallResponse:
        """Log the exception that is being handled, and return the answer to whoever met it."""
        self._log.exception("internal error", request_id=request_id)
        message = "Something went wrong on our side. Tell us the request id."
        return error_response(Rejection(Reason.INTERNAL, message, {"requestId": request_id}), id)

    def _check_able(self, now: Instant, began: float) -> None:
        """Raise UNAVAILABLE when no call can be run now."""
        if began >= self._last_call_at:
            raise unavailable("The server is shutting down.")
        if not timestamps.EARLIEST_NOW <= now < timestamps.LATEST_NOW:
            raise unavailable(f"The server's clock is wrong: it says {timestamps.write(now)}.")

    async def _run_once(self, operation: Operation, request: Request, key: bytes, caller: Caller) -> bytes | Struct:
        faults = envelope.faults_of_key(key)
        try:
            params = envelope.read_params(operation.params, request.method, request.params, caller.now, faults)
        except Rejection as rejection:
            # Instants that were in their range when the clock was created may lie outside of it by now.
            if any(fault.rule != "range" for fault in rejection.faults):
                raise
            created = await self._operations.find_created(_idempotency_key(key, request), caller)
            if created is None:
                raise
            return created
        return await operation.run(
            self._operations, params, replace(caller, idempotency_key=_idempotency_key(key, request))
        )

    def _log_call(self, method: str, user: bytes, answer: CallResponse, request_id: str) -> None:
        """One line for each call. What a caller chose is not in it, and people are named by their user id alone."""
        self._log.debug(
            "call",
            method=method if method in OPERATIONS else "unknown",
            user=ids.write("user", user) if user else None,
            outcome=answer.rejection.reason if answer.rejection else "ok",
            request_id=request_id,
        )


def _read_request(written: str | Raw) -> Request | CallResponse:
    """Read a call, or answer what is none."""
    try:
        return envelope.read_request(written)
    except NotARequest as rejection:
        return error_response(rejection, rejection.id)


def _idempotency_key(key: bytes, request: Request) -> IdempotencyKey:
    return IdempotencyKey(key.decode("latin-1"), envelope.digest_of_params(request.params))


def _operation(method: str) -> Operation:
    if method not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise Rejection(Reason.METHOD_NOT_FOUND, f"There is no method of this name. Known are {known}.")
    return OPERATIONS[method]


def error_response(rejection: Rejection, id: bytes = envelope.NULL) -> CallResponse:
    # Without its traceback, which leads to the frame that will hold the answer: nobody but the collector would find
    # such a ring, and the whole request with it.
    return CallResponse(envelope.write_error(id, rejection), rejection.with_traceback(None))
