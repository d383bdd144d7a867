"""The JSON-RPC 2.0 dispatcher: request bytes to response bytes. Turns every exception of a call into a response."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from msgspec import Raw, Struct

from tickover.api import timestamps
from tickover.api.errors import Reason, Rejection, invalid_params, unauthenticated, unavailable
from tickover.api.limits import MAX_BATCH
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.gate import Gate, Line, User
from tickover.server.operations import OPERATIONS
from tickover.server.operations.access import Caller
from tickover.server.operations.idempotency import run_once
from tickover.server.operations.operation import Operation
from tickover.server.operations.services import Services
from tickover.server.rpc import envelope
from tickover.server.rpc.batch_response import BatchResponse
from tickover.server.rpc.decode import decode_params
from tickover.server.rpc.envelope import InvalidRequest

_MAX_UNKNOWN_BODY: Final = 64 * 1024
"""Bytes of a body that is decoded before its token is checked. Calls that need no token are smaller."""
_LARGE_BATCHES: Final = 8
_WAITING_LARGE_BATCHES: Final = 8
"""Batches that hold a large response while they wait."""


class Context(Struct, eq=False):
    """What the calls of a request share."""

    now: Callable[[], Instant]
    """Called once for each call: a batch runs its calls one by one, and the first can take long."""
    token: bytes | None
    """The digest of the bearer token. None if it is missing, or is known to be invalid."""
    network: str
    idempotency_key: bytes | None = None
    is_confirmed: bool = False
    """Whether the token was looked up again because a call was rejected."""
    refusal: Rejection | None = None
    """Why the rest of a batch is not run: the server has no room for its response."""


class CallResponse(Struct, frozen=True):
    """A response body. The HTTP handler derives the status and headers from the rejection."""

    body: bytes
    rejection: Rejection | None = None


class Dispatcher:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._access = services.access
        self._gate = gate
        self._large_batches = Line(_LARGE_BATCHES, _WAITING_LARGE_BATCHES)

    async def dispatch(self, body: bytes, context: Context) -> CallResponse:
        """Run a call or a batch. The response body is empty if all calls are notifications."""
        try:
            if len(body) > _MAX_UNKNOWN_BODY:
                await self._check_token(context)
            call = envelope.decode(body)
            if isinstance(call, list):
                return await self._run_batch(call, context)
        except InvalidRequest as rejection:
            return error_response(rejection, rejection.id)
        except Rejection as rejection:
            return error_response(rejection)
        return await self._run(call, context)

    async def _check_token(self, context: Context) -> None:
        """Raise UNAUTHENTICATED if the token is missing or invalid."""
        try:
            await self._access.authenticate(context.token, Caller(context.now(), context.network))
        except Rejection as rejection:
            self._gate.end_call("unknown", gate.current(), rejection)
            raise

    async def _run_batch(self, calls: list[Raw], context: Context) -> CallResponse:
        if not 1 <= len(calls) <= MAX_BATCH:
            raise InvalidRequest(f"a batch must have 1 to {MAX_BATCH} calls, not {len(calls)}")
        if context.idempotency_key is not None:
            raise InvalidRequest("a batch can't have an Idempotency-Key; send the call alone")
        response, is_held = BatchResponse(sum(map(len, calls))), False
        async with AsyncExitStack() as held:
            # One by one, so that two advances of the same clock run in the caller's order.
            for encoded in calls:
                response.add((await self._run_batch_call(encoded, context, response)).body)
                if response.is_large and not is_held:
                    is_held = True
                    try:
                        await held.enter_async_context(gate.turn_in(self._large_batches))
                    except Rejection as refusal:
                        context.refusal = refusal
                # Some calls fail without awaiting anything.
                await gate.pause()
            return CallResponse(response.join())

    async def _run_batch_call(self, encoded: Raw, context: Context, response: BatchResponse) -> CallResponse:
        try:
            call = envelope.decode_call(encoded)
        except InvalidRequest as rejection:
            return error_response(rejection, rejection.id)
        # Notifications have no response.
        return await self._run(call, context, response if call.id else None)

    async def _run(self, call: envelope.Call, context: Context, batch: BatchResponse | None = None) -> CallResponse:
        operation = OPERATIONS.get(call.operation)
        name = operation.name if operation else "unknown"
        writes = operation is not None and operation.writes
        found: bytes | Rejection
        found = await self._gate.call(name, partial(self._execute, operation, call, context, batch), writes=writes)
        if not call.id:
            return CallResponse(b"")
        return error_response(found, call.id) if isinstance(found, Rejection) else CallResponse(found)

    def find_user(self, token: bytes | None, network: str) -> User:
        """Return the user of a token that was valid before, or the network."""
        return self._access.recall(token) or network

    async def _execute(
        self, operation: Operation | None, call: envelope.Call, context: Context, batch: BatchResponse | None
    ) -> bytes:
        """Return the response with the result of a call. The checks come in the order of the reference."""
        caller = Caller(context.now(), context.network)
        _check_server(context, caller.now)
        if operation is None:
            available = ", ".join(OPERATIONS)
            raise Rejection(Reason.METHOD_NOT_FOUND, f"Method not found. Available methods: {available}.")
        if operation.limited_per_client:
            self._access.check_client_limit(caller)
        if operation.needs is not None:
            caller = self._access.recognize(context.token, caller) or await self._authenticate(context, caller)
        try:
            if operation.needs is not None:
                self._access.check_permission(caller, operation.needs)
            return await self._respond(operation, call, context, caller, batch)
        except Rejection as rejection:
            await self._confirm_token(context, caller, rejection)
            if rejection.reason is Reason.INVALID_PARAMS:
                rejection = invalid_params(rejection.faults, operation.name)
                if batch is not None:
                    # It can be longer than the result: parameters can have thousands of faults.
                    batch.check_fits(len(envelope.encode_error(call.id, rejection)))
            raise rejection from None

    async def _respond(
        self,
        operation: Operation,
        call: envelope.Call,
        context: Context,
        caller: Caller,
        batch: BatchResponse | None,
    ) -> bytes:
        if batch is not None and operation.writes:
            await batch.check_room(operation, call.params, caller, self._services)
        decode, key = partial(decode_params, operation.params, call.params, caller.now), context.idempotency_key
        if key is not None and operation.takes_idempotency_key:
            result = await run_once(operation, call.params, decode, key, caller, self._services)
        else:
            result = await operation.handler(decode(), caller, self._services)
        response = envelope.encode_result(call.id, result)
        gate.charge_bytes(len(response))
        if batch is not None and not operation.writes:
            batch.check_fits(len(response))
        return response

    async def _authenticate(self, context: Context, caller: Caller) -> Caller:
        """Look up the caller's token. An invalid one is looked up once for all calls of a batch."""
        # A token that is looked up now needn't be confirmed.
        context.is_confirmed = True
        try:
            return await self._access.authenticate(context.token, caller)
        except Rejection as rejection:
            if rejection.reason is Reason.UNAUTHENTICATED:
                context.token = None
            raise

    async def _confirm_token(self, context: Context, caller: Caller, rejection: Rejection) -> None:
        """Raise UNAUTHENTICATED instead of another rejection if the token was revoked."""
        if caller.given_token is None or rejection.reason is Reason.UNAVAILABLE:
            return
        if not context.is_confirmed or self._access.recall(context.token) is None:
            await self._authenticate_again(context, caller)
            context.is_confirmed = True

    async def _authenticate_again(self, context: Context, caller: Caller) -> None:
        if context.token is None:
            raise unauthenticated()
        await self._access.confirm_token(caller)


def _check_server(context: Context, now: Instant) -> None:
    """Raise UNAVAILABLE if the server can't run a call."""
    if context.refusal is not None:
        raise context.refusal
    if not timestamps.EARLIEST_NOW <= now < timestamps.LATEST_NOW:
        raise unavailable(f"The server's clock is wrong: it says {timestamps.write(now)}.")


def error_response(rejection: Rejection, id: bytes = envelope.NULL) -> CallResponse:
    # Without the traceback, which refers to the frame that holds the response. Such a cycle would keep the whole
    # request alive until the garbage collector runs.
    return CallResponse(envelope.encode_error(id, rejection), rejection.with_traceback(None))
