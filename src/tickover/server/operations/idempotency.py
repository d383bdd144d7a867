"""Idempotency keys: a call that repeats an earlier one returns the clock of that call, as it is now."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.errors import Fault, Reason, Rejection
from tickover.api.fields import Params
from tickover.api.limits import MAX_IDEMPOTENCY_KEY
from tickover.server.operations.access import Caller
from tickover.server.operations.operation import Operation
from tickover.server.operations.services import Services
from tickover.server.operations.stored_clocks import KeyReused
from tickover.server.storage.store import IdempotencyRecord

Decode = Callable[[Callable[[Params], Sequence[Fault]]], Params]
"""Decodes the parameters of a call. Raises a Rejection with their faults and with those that the function returns."""


async def run_once(
    operation: Operation, encoded: bytes, decode: Decode, header: bytes, caller: Caller, services: Services
) -> bytes | Struct:
    """Run the handler of a call with an Idempotency-Key header, unless an earlier call with the key succeeded."""
    header_faults = _header_faults(header)
    try:
        params = decode(lambda params: [] if operation.ignores_key(params) else header_faults)
    except Rejection as rejection:
        # Instants in the parameters may have been in range when an earlier call created the clock.
        if all(fault.rule == "range" for fault in rejection.faults):
            with suppress(KeyReused):
                existing = await services.clocks.find_existing(_with_record(operation, encoded, header, caller))
                if existing is not None:
                    return existing
        raise
    if operation.ignores_key(params):
        return await operation.handler(params, caller, services)
    caller = _with_record(operation, encoded, header, caller)
    try:
        return await operation.handler(params, caller, services)
    except Rejection as rejection:
        # A clock is looked up before its key is.
        is_decided = operation.decides_with_key and rejection.reason is not Reason.CLOCK_NOT_FOUND
        if rejection.reason is Reason.UNAVAILABLE or isinstance(rejection, KeyReused) or is_decided:
            raise
        # An earlier call with the same key may have succeeded, and may be the reason for the rejection.
        existing = await services.clocks.find_existing(caller)
        if existing is not None:
            return existing
    # The key is unknown now. It may have been known at the rejection, if the clock was deleted since. So decide again.
    return await operation.handler(params, caller, services)


def _header_faults(header: bytes) -> list[Fault]:
    """Return the faults of the header. The HTTP parser passes an empty header if there were several."""
    if 1 <= len(header) <= MAX_IDEMPOTENCY_KEY:
        return []
    return [Fault("Idempotency-Key", "length", f"must be one header of 1 to {MAX_IDEMPOTENCY_KEY} characters")]


def _with_record(operation: Operation, encoded: bytes, header: bytes, caller: Caller) -> Caller:
    key_digest = hashlib.sha256(caller.token.user + header.decode("latin-1").encode()).digest()
    params_digest = hashlib.sha256(operation.name.encode() + digest_params(encoded)).digest()
    return replace(caller, idempotency_record=IdempotencyRecord(key_digest, params_digest))


def digest_params(encoded: bytes) -> bytes:
    """Return a digest that is equal for equal JSON values, regardless of whitespace and order. They must be valid."""
    parsed = json.loads(encoded, parse_int=_parse_number, parse_float=_parse_number)
    return hashlib.sha256(json.dumps(parsed, sort_keys=True).encode()).digest()


def _parse_number(digits: str) -> int | float:
    """Parse a number as a double, so that 1 and 1.0 are equal. A member that occurs twice can have any number."""
    number = float(digits)
    return int(number) if number.is_integer() else number
