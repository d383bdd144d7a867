"""Memory limits of batches: the size of one response, and the total size of all unfinished responses."""

from dataclasses import dataclass
from typing import Final, Self

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BATCH, MAX_BATCH_BYTES, MAX_UNFINISHED_BYTES

_MAX_ERROR: Final = 1024
"""Bytes of a response without its result and its ID, such as any error response except INVALID_PARAMS."""


@dataclass
class BatchLimits:
    """Counts the bytes of all unfinished batch responses of this process."""

    max_unfinished: int = MAX_UNFINISHED_BYTES
    unfinished: int = 0


class BatchResponse:
    """Collects the responses to the calls of one batch. It counts towards the limits until its `with` block ends."""

    def __init__(self, limits: BatchLimits, request_size: int) -> None:
        self._limits = limits
        # An error response to each call always fits, with the ID of the call.
        self._left = MAX_BATCH_BYTES - request_size - MAX_BATCH * _MAX_ERROR
        self._members: list[bytes] = []
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._limits.unfinished -= self.size

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
