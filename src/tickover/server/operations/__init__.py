"""The operations: what each takes, answers and may refuse, and who does it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.api.results import ClockPage, Done, OneClock, Sent, SignedIn
from tickover.server.domain import response_sizes
from tickover.server.domain.clocks import (
    AdvanceTestClockParams,
    CreateTestClockParams,
    DeleteTestClockParams,
    ForkTestClockParams,
    GetTestClockParams,
    ListTestClocksParams,
)
from tickover.server.domain.logins import (
    LoginByEmailLinkParams,
    LoginByEmailVerificationParams,
    LogoutParams,
    SendLoginCodeEmailParams,
)
from tickover.server.domain.params import Params
from tickover.server.domain.tokens import Mint
from tickover.server.mail.mailer import Mailer
from tickover.server.operations.callers import Caller, IdempotencyKey, Policy
from tickover.server.operations.clocks import ClockOperations
from tickover.server.operations.logins import LoginOperations
from tickover.server.storage.store import Store

__all__ = ["OPERATIONS", "Caller", "IdempotencyKey", "Operation", "Operations", "Policy"]


class DiscoverParams(Params, frozen=True):
    """rpc.discover takes no parameters."""


class Operations(ClockOperations, LoginOperations):
    def __init__(self, store: Store, mailer: Mailer, mint: Mint, policy: Policy, description: bytes = b"{}") -> None:
        ClockOperations.__init__(self, store, mint, policy)
        LoginOperations.__init__(self, store, mailer, mint, policy)
        self._description = description

    async def discover(self, params: DiscoverParams, caller: Caller) -> bytes:
        return self._description


class Operation(Struct, frozen=True, kw_only=True):
    """How a method is called, what it answers, and for which reasons of its own it may refuse."""

    summary: str
    params: type[Params]
    result: type[Struct] | None
    """None for the OpenRPC document, whose type is not ours."""
    run: Callable[[Operations, Any, Caller], Awaitable[bytes | Struct]]
    needs_token: bool = False
    is_extension: bool = False
    takes_idempotency_key: bool = False
    limited_per_client: bool = False
    """Whether a call takes one from the client's bucket, before its parameters are read."""
    max_result: int = response_sizes.MAX_SMALL_RESULT
    """Upper bound of the result in JSON, in bytes."""
    reasons: Sequence[Reason] = ()
    """Beside those that every call may meet."""


_NO_CLOCK: Final = (Reason.CLOCK_EXPIRED, Reason.CLOCK_NOT_FOUND)
_NO_TIME: Final = (Reason.TIME_BEFORE_CURRENT, Reason.TIME_AFTER_MAX)

OPERATIONS: Final = {
    "createTestClock": Operation(
        summary="Create a clock with its schedule",
        params=CreateTestClockParams,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        run=Operations.create_test_clock,
        needs_token=True,
        takes_idempotency_key=True,
        reasons=(Reason.RATE_LIMITED,),
    ),
    "advanceTestClock": Operation(
        summary="Move a clock forward",
        params=AdvanceTestClockParams,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        run=Operations.advance_test_clock,
        needs_token=True,
        reasons=(*_NO_CLOCK, *_NO_TIME),
    ),
    "sendLoginCodeEmail": Operation(
        summary="Send a six-digit code or a login link to an address",
        params=SendLoginCodeEmailParams,
        result=Sent,
        run=Operations.send_login_code_email,
        limited_per_client=True,
        reasons=(Reason.RESEND_TOO_SOON, Reason.RATE_LIMITED, Reason.MAIL_NOT_SENT),
    ),
    "loginByEmailVerification": Operation(
        summary="Exchange a code for a bearer token",
        params=LoginByEmailVerificationParams,
        result=SignedIn,
        run=Operations.login_by_email_verification,
        limited_per_client=True,
        reasons=(Reason.LOGIN_REFUSED, Reason.RATE_LIMITED),
    ),
    "loginByEmailLink": Operation(
        summary="Exchange a link's secret for a bearer token",
        params=LoginByEmailLinkParams,
        result=SignedIn,
        run=Operations.login_by_email_link,
        limited_per_client=True,
        is_extension=True,
        reasons=(Reason.LOGIN_REFUSED, Reason.RATE_LIMITED),
    ),
    "logout": Operation(
        summary="Revoke the token in use",
        params=LogoutParams,
        result=Done,
        run=Operations.logout,
        needs_token=True,
        is_extension=True,
    ),
    "getTestClock": Operation(
        summary="Show a clock as it is, or as it would be at a later instant",
        params=GetTestClockParams,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        run=Operations.get_test_clock,
        needs_token=True,
        is_extension=True,
        reasons=(*_NO_CLOCK, *_NO_TIME),
    ),
    "listTestClocks": Operation(
        summary="List your live clocks, newest first",
        params=ListTestClocksParams,
        result=ClockPage,
        max_result=response_sizes.MAX_PAGE_RESULT,
        run=Operations.list_test_clocks,
        needs_token=True,
        is_extension=True,
    ),
    "deleteTestClock": Operation(
        summary="Delete a clock",
        params=DeleteTestClockParams,
        result=Done,
        run=Operations.delete_test_clock,
        needs_token=True,
        is_extension=True,
        reasons=_NO_CLOCK,
    ),
    "forkTestClock": Operation(
        summary="Make a new clock with the same schedule, standing at any instant of it",
        params=ForkTestClockParams,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        run=Operations.fork_test_clock,
        needs_token=True,
        is_extension=True,
        reasons=(*_NO_CLOCK, Reason.RATE_LIMITED),
    ),
    "rpc.discover": Operation(
        summary="Describe all operations, as an OpenRPC document",
        params=DiscoverParams,
        result=None,
        run=Operations.discover,
        max_result=response_sizes.MAX_DOCUMENT,
        is_extension=True,
    ),
}
