"""The response to a batch, and its size limit."""

from typing import Final

from msgspec import DecodeError, Struct, json

from tickover.api.clocks import AdvancedClock, NewClock, OneClock
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import MAX_BATCH, MAX_BATCH_BYTES
from tickover.server.operations.access import Caller
from tickover.server.operations.operation import Operation
from tickover.server.operations.services import Services
from tickover.server.operations.stored_clocks import ClockParams, clock_result

_MAX_ERROR: Final = 1024
"""Bytes of a response without its result and its ID, such as any error response except INVALID_PARAMS."""
_MAX_CLOCK: Final = 5_500_000
"""The largest clock in JSON, if each character takes six bytes, such as `\\u0001`."""
_MAX_HAPPENED: Final = 1_500_000
"""The largest events of an advance."""
_MAX_OTHER_RESULT: Final = 16 * 1024
"""The result of an operation that writes something else than a clock."""
_MAX_GROWTH: Final = 12
"""Bytes in the result for a byte of the parameters. A goal without contributions becomes nine times as long."""
_MAX_NUMBERS: Final = 200
"""Bytes by which the sums of a goal or an account can be longer at another instant."""
_SMALL: Final = 256 * 1024
"""Bytes that any batch can hold in memory. Only a few batches hold more at a time."""


class _ClockCall(Struct):
    id: str = ""
    events: bool = False


_decode_call: Final = json.Decoder(_ClockCall).decode


class BatchResponse:
    """Collects the responses to the calls of one batch."""

    def __init__(self, request_size: int) -> None:
        # An error response to each call always fits, with the ID of the call.
        self._limit = MAX_BATCH_BYTES - request_size - MAX_BATCH * _MAX_ERROR
        self._members: list[bytes] = []
        self._size = 0

    @property
    def is_large(self) -> bool:
        return self._size > _SMALL

    def check_fits(self, size: int) -> None:
        """Raise a Rejection unless a response of this size fits."""
        if self._size + size > self._limit:
            message = f"The response to this batch could exceed {MAX_BATCH_BYTES >> 20} MiB."
            raise Rejection(Reason.INVALID_REQUEST, f"{message} Send this call alone.")

    async def check_room(self, operation: Operation, params: bytes, caller: Caller, services: Services) -> None:
        """Raise a Rejection if the result of an operation that writes might not fit. It must not run then."""
        if operation.result not in {OneClock, AdvancedClock}:
            self.check_fits(_MAX_OTHER_RESULT)
        elif self._size + _MAX_CLOCK + _MAX_HAPPENED > self._limit:
            self.check_fits(await _max_clock(operation, params, caller, services))

    def add(self, body: bytes) -> None:
        """Add the response to a call. It is empty for a notification."""
        if body:
            self._members.append(body)
            self._size += len(body)

    def join(self) -> bytes:
        """Return the response of the batch. It is empty if all calls are notifications."""
        return b"[%b]" % b",".join(self._members) if self._members else b""


async def _max_clock(operation: Operation, params: bytes, caller: Caller, services: Services) -> int:
    """Return a bound on the clock that the call returns: what is stored, and what the parameters can become."""
    added = _MAX_GROWTH * len(params) + _MAX_OTHER_RESULT
    if operation.params is NewClock:
        return added
    if not issubclass(operation.params, ClockParams):
        return _MAX_CLOCK
    try:
        call = _decode_call(params)
        clock, schedule = await services.clocks.find(call.id, caller)
    except (DecodeError, Rejection):
        # The call is rejected too.
        return 0
    stored = len(clock_result(clock, schedule, details=True))
    happened = _MAX_HAPPENED if call.events else 0
    return stored + happened + _MAX_NUMBERS * (len(schedule.goals) + len(schedule.accounts)) + added
