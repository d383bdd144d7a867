"""Sends a call, and decides whether it is sent again and how long to wait first."""

from typing import Final, Protocol, TypeVar

from tickover.api.errors import Reason, Rejection
from tickover.client.calls import Call
from tickover.client.errors import ClientError, Unreachable
from tickover.client.messages import NoResponse, Request, Response

T = TypeVar("T")

_FIRST_DELAY: Final = 0.1
_MAX_DELAY: Final = 3.0


class Transport(Protocol):
    """Sends requests to one server, and waits between them."""

    async def send(self, request: Request, token: str | None) -> Response | NoResponse: ...
    async def sleep(self, seconds: float) -> None: ...


async def send_with_retries(call: Call[T], token: str | None, transport: Transport, max_retries: int) -> T:
    """Return the result of the call. Raise the error of the last attempt."""
    retries = 0
    may_be_done = False
    """Whether the server may have completed an earlier attempt."""
    while True:
        outcome = await transport.send(call.request, token)
        error: ClientError | Rejection
        if isinstance(outcome, NoResponse):
            may_have_arrived = outcome.may_have_arrived
            unknown = may_have_arrived and not call.idempotent
            suffix = " The server may or may not have processed the call." if unknown else ""
            error = Unreachable(outcome.message + suffix)
        else:
            try:
                return call.decode(outcome)
            except Rejection as rejection:
                if may_be_done and rejection.reason in call.already_done:
                    return call.already_done[rejection.reason]
                if rejection.reason is not Reason.UNAVAILABLE:
                    raise
                may_have_arrived = True
                error = rejection
        if retries == max_retries or (may_have_arrived and not call.idempotent):
            raise error
        await transport.sleep(min(_requested_delay(error) or _FIRST_DELAY * 2**retries, _MAX_DELAY))
        retries += 1
        may_be_done = may_be_done or may_have_arrived


def _requested_delay(error: ClientError | Rejection) -> float:
    """Return the delay that the server asks for, or 0."""
    seconds = error.details.get("retryAfterSeconds") if isinstance(error, Rejection) else None
    return max(seconds, 0) if isinstance(seconds, int | float) else 0
