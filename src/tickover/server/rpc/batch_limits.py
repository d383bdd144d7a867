"""Memory limits of batches: the size of one response, and the total size of all unfinished responses."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BATCH_BYTES, MAX_UNFINISHED_BYTES

MAX_ENVELOPE: Final = 64
"""Bytes of the members of a response other than the result and the id."""
MAX_ERROR: Final = 1024
"""Bytes of any error response except INVALID_PARAMS, without the id."""


class BatchResponse:
    """Collects the responses to the calls of one batch."""

    def __init__(self, limits: "BatchLimits", call_sizes: Iterable[int]) -> None:
        self._limits = limits
        # Reserve space for an error response to each call. Its size is limited, except for the id, which is part of the
        # call. The two bytes are for brackets and commas.
        self._left = MAX_BATCH_BYTES - sum(MAX_ERROR + size + 2 for size in call_sizes)
        self._members: list[bytes] = []
        self.size = 0

    def check_fits(self, call_size: int, response_size: int) -> None:
        """Raise a Rejection unless a response of this size fits into this batch and into the process."""
        more = max(0, response_size - MAX_ERROR - call_size)
        if more > self._left:
            message = f"The response to this batch could exceed {MAX_BATCH_BYTES >> 20} MiB."
            raise Rejection(Reason.INVALID_REQUEST, f"{message} Send this call alone.")
        if more:
            self._limits.check_fits(more)

    def add(self, call_size: int, body: bytes) -> None:
        """Add the response to a call of this size. The body is empty for a notification."""
        if body:
            self._members.append(body)
            self._left -= max(0, len(body) - MAX_ERROR - call_size)
            self.size += len(body)
            self._limits.unfinished += len(body)

    def join(self) -> bytes:
        """Return the response of the batch. It is empty if all calls are notifications."""
        return b"[%b]" % b",".join(self._members) if self._members else b""


class BatchLimits:
    """Counts the bytes of all unfinished batch responses of this process."""

    def __init__(self, max_unfinished: int = MAX_UNFINISHED_BYTES) -> None:
        self._max_unfinished = max_unfinished
        self.unfinished = 0

    @contextmanager
    def open_response(self, call_sizes: Iterable[int]) -> Iterator[BatchResponse]:
        """Return a response that counts towards the limit until the context ends."""
        response = BatchResponse(self, call_sizes)
        try:
            yield response
        finally:
            self.unfinished -= response.size

    def check_fits(self, size: int) -> None:
        """Raise UNAVAILABLE if `size` more bytes would exceed the limit."""
        if self.unfinished + size > self._max_unfinished:
            raise unavailable("The server has too many unfinished batches. Try again, or send this call alone.")
