"""Decides whether a call is retried and how long to wait first. The clients do the waiting."""

from typing import Final, Generic, TypeVar

from tickover.api.errors import Reason, Rejection
from tickover.client.calls import Call
from tickover.client.errors import ClientError, Unreachable
from tickover.client.messages import NoResponse, Response

T = TypeVar("T")

_FIRST_DELAY: Final = 0.1
_MAX_DELAY: Final = 3.0


class RetryState(Generic[T]):
    """The attempts at one call.

    Pass the outcome of each attempt to `is_finished`. If it returns False, wait `delay` seconds and send again.
    """

    result: T

    def __init__(self, call: Call[T], max_retries: int) -> None:
        self.delay = 0.0
        self._call = call
        self._max_retries = max_retries
        self._retries = 0
        self._may_be_done = False
        """Whether the server may have completed an earlier attempt."""

    def is_finished(self, outcome: Response | NoResponse) -> bool:
        """Return True and set `result` if the call succeeded, or False to retry. Raise the final error otherwise."""
        if isinstance(outcome, NoResponse):
            unknown = outcome.may_have_arrived and not self._call.idempotent
            suffix = " The server may or may not have processed the call." if unknown else ""
            self._schedule_retry(Unreachable(outcome.message + suffix), outcome.may_have_arrived)
            return False
        try:
            self.result = self._call.decode(outcome)
        except Rejection as rejection:
            if self._may_be_done and rejection.reason in self._call.already_done:
                self.result = self._call.already_done[rejection.reason]
                return True
            if rejection.reason is not Reason.UNAVAILABLE:
                raise
            self._schedule_retry(rejection, may_be_done=True)
            return False
        return True

    def _schedule_retry(self, error: ClientError | Rejection, may_be_done: bool) -> None:
        if self._retries == self._max_retries or (may_be_done and not self._call.idempotent):
            raise error
        self.delay = min(_requested_delay(error) or _FIRST_DELAY * 2**self._retries, _MAX_DELAY)
        self._retries += 1
        self._may_be_done = self._may_be_done or may_be_done


def _requested_delay(error: ClientError | Rejection) -> float:
    """Return the delay that the server asks for, or 0."""
    seconds = error.details.get("retryAfterSeconds") if isinstance(error, Rejection) else None
    return max(seconds, 0) if isinstance(seconds, int | float) else 0
