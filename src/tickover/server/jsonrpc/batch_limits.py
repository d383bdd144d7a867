"""Memory limits of batches: the bytes of one response, and the bytes that all unfinished ones of a process hold."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tickover.api.errors import Reason, Rejection, unavailable
from tickover.api.limits import MAX_BATCH_BYTES, MAX_UNFINISHED_BYTES
from tickover.server.domain.response_sizes import MAX_REFUSAL


class BatchResponse:
    """Collects the responses to the calls of one batch."""

    def __init__(self, limits: "BatchLimits", call_sizes: Iterable[int]) -> None:
        self._limits = limits
        # Each call can be refused at any time: a refusal has a bounded size beside the id, which is a part of the call.
        # The two bytes are for brackets and commas.
        self._left = MAX_BATCH_BYTES - sum(MAX_REFUSAL + size + 2 for size in call_sizes)
        self._members: list[bytes] = []
        self.size = 0

    def check_fits(self, call_size: int, response_size: int) -> None:
        """Raise a Rejection unless a response of this size fits, in this batch and in the process."""
        more = max(0, response_size - MAX_REFUSAL - call_size)
        if more > self._left:
            message = f"The response to this batch could become larger than {MAX_BATCH_BYTES >> 20} MiB."
            raise Rejection(Reason.INVALID_REQUEST, f"{message} Send this call alone.")
        if more:
            self._limits.check_fits(more)

    def add(self, call_size: int, body: bytes) -> None:
        """Add the response to a call of this size. A notification has none."""
        if body:
            self._members.append(body)
            self._left -= max(0, len(body) - MAX_REFUSAL - call_size)
            self.size += len(body)
            self._limits.unfinished += len(body)

    def join(self) -> bytes:
        """Return the whole response; empty when all calls were notifications."""
        return b"[%b]" % b",".join(self._members) if self._members else b""


class BatchLimits:
    """Counts the bytes of all unfinished batch responses of this process."""

    def __init__(self, max_unfinished: int = MAX_UNFINISHED_BYTES) -> None:
        self._max_unfinished = max_unfinished
        self.unfinished = 0

    @contextmanager
    def open_response(self, call_sizes: Iterable[int]) -> Iterator[BatchResponse]:
        """A response that counts until this context ends."""
        response = BatchResponse(self, call_sizes)
        try:
            yield response
        finally:
            self.unfinished -= response.size

    def check_fits(self, size: int) -> None:
        """Raise UNAVAILABLE when so many bytes more are over the limit."""
        if self.unfinished + size > self._max_unfinished:
            raise unavailable("The server holds too many responses to batches. Try again, or send this call alone.")
