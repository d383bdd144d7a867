"""Memory limits of batches: the size of one response, and the total size of all unfinished responses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BATCH, MAX_BATCH_BYTES, MAX_UNFINISHED_BYTES

_MAX_ERROR: Final = 1024
"""Bytes of a response without its result and its ID, such as any error response except INVALID_PARAMS."""


class BatchResponse:
    """Collects the responses to the calls of one batch."""

    def __init__(self, limits: "BatchLimits", request_size: int) -> None:
        self._limits = limits
        # An error response to each call always fits, with the ID of the call.
        self._left = MAX_BATCH_BYTES - request_size - MAX_BATCH * _MAX_ERROR
        self._members: list[bytes] = []
        self.size = 0

    def check_fits(self, size: int) -> None:
        """Raise a Rejection unless a result of this size fits into this batch and into the process."""
        if size > self._left - self.size:
            message = f"The response to this batch could exceed {MAX_BATCH_BYTES >> 20} MiB."
            raise Rejection(Reason.INVALID_REQUEST, f"{message} Send this call alone.")
        if self._limits.unfinished + size > self._limits.max_unfinished:
            raise unavailable("The server has too many unfinished batches. Try again, or send this call alone.")

    def add(self, body: bytes) -> None:
        """Add the response to a call. It is empty for a notification."""
        if body:
            self._members.append(body)
            self.size += len(body)
            self._limits.unfinished += len(body)

    def join(self) -> bytes:
        """Return the response of the batch. It is empty if all calls are notifications."""
        return b"[%b]" % b",".join(self._members) if self._members else b""


class BatchLimits:
    """Counts the bytes of all unfinished batch responses of this process."""

    def __init__(self, max_unfinished: int = MAX_UNFINISHED_BYTES) -> None:
        self.max_unfinished = max_unfinished
        self.unfinished = 0

    @contextmanager
    def open_response(self, request_size: int) -> Iterator[BatchResponse]:
        """Return a response that counts towards the limit until the context ends."""
        response = BatchResponse(self, request_size)
        try:
            yield response
        finally:
            self.unfinished -= response.size
