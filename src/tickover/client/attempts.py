"""When a call is tried again, after how long a pause, and what it comes to in the end. Knows nothing of waiting."""

from typing import Final, Generic, TypeVar

from tickover.client.calls import Call
from tickover.client.errors import ClientError, Unreachable
from tickover.client.exchanges import Lost, Reply
from tickover.core.errors import Reason, Rejection

T = TypeVar("T")

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 3.0


class Attempts(Generic[T]):
    """The attempts at one call. Make one, hand in what came of it, and unless that settled it wait for `pause`."""

    result: T

    def __init__(self, call: Call[T], retries: int) -> None:
        self.pause = 0.0
        self._call = call
        self._retries = retries
        self._retried = 0
        self._may_be_done = False
        """Whether an attempt may have been carried out although its answer did not say so."""

    def settled(self, outcome: Reply | Lost) -> bool:
        """Whether that is the end, with a `result`; raises what became of the call when it is a bad end."""
        if isinstance(outcome, Lost):
            unsure = outcome.may_have_arrived and not self._call.safe
            remark = " Whether the call was carried out is not known." if unsure else ""
            self._try_again(Unreachable(outcome.why + remark), outcome.may_have_arrived)
            return False
        try:
            self.result = self._call.read(outcome)
        except Rejection as rejection:
            if self._may_be_done and rejection.reason in self._call.already:
                self.result = self._call.already[rejection.reason]
                return True
            if rejection.reason is not Reason.UNAVAILABLE:
                raise
            self._try_again(rejection, may_be_done=True)
            return False
        return True

    def _try_again(self, trouble: ClientError | Rejection, may_be_done: bool) -> None:
        if self._retried == self._retries or (may_be_done and not self._call.safe):
            raise trouble
        self.pause = min(_asked_for(trouble) or _FIRST_PAUSE * 2**self._retried, _LONGEST_PAUSE)
        self._retried += 1
        self._may_be_done = self._may_be_done or may_be_done


def _asked_for(trouble: ClientError | Rejection) -> float:
    """The pause that the server asks for, or 0."""
    seconds = trouble.details.get("retryAfterSeconds") if isinstance(trouble, Rejection) else None
    return max(seconds, 0) if isinstance(seconds, int | float) else 0
