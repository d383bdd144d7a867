"""The operations: their parameters, results, errors and handlers."""

from collections.abc import Callable
from typing import Final

from tickover.api.clocks import Balances, ClockPage, EventPage, ExportedClock, NewClock, OneClock
from tickover.api.errors import Reason
from tickover.api.expectations import CheckResult, ExpectationEntry
from tickover.api.fields import Bound, TotalBound
from tickover.api.plans import ExpandedScenario
from tickover.api.tokens import AccessTokens, CreatedAccessToken, CurrentUser, Done, Sent, SignedIn
from tickover.server.domain import response_sizes
from tickover.server.domain.access_tokens import (
    CreateAccessTokenEntry,
    ListAccessTokensEntry,
    RevokeAccessTokenEntry,
)
from tickover.server.domain.clock_params import (
    AdvanceEntry,
    AmendEntry,
    DeleteEntry,
    ForkEntry,
    GetEntry,
    ListEntry,
    UpdateEntry,
)
from tickover.server.domain.exports import ExportEntry
from tickover.server.domain.ledger_params import BalancesEntry, CheckEntry, EventsEntry
from tickover.server.domain.logins import (
    CurrentUserEntry,
    LinkEntry,
    LogoutEntry,
    SendEntry,
    VerificationEntry,
)
from tickover.server.domain.scenarios import ExpandEntry
from tickover.server.domain.tokens import Permission
from tickover.server.operations.callers import Caller, IdempotencyKey, Policy
from tickover.server.operations.operation import CallCost, DiscoverParams, Operation, OperationHandler, Operations

__all__ = ["OPERATIONS", "Caller", "IdempotencyKey", "Operation", "OperationHandler", "Operations", "Policy"]

_CLOCK_REASONS: Final = (Reason.CLOCK_EXPIRED, Reason.CLOCK_NOT_FOUND)
_TIME_REASONS: Final = (Reason.TIME_BEFORE_CURRENT, Reason.TIME_AFTER_MAX)


def _per_byte_of_clock(times: int) -> Callable[[Operations], CallCost]:
    """Return the cost of an operation that handles each byte of a clock's schedule this many times."""
    return lambda operations: lambda params: times * operations.clocks.size_of(params)


_VIEW: Final = _per_byte_of_clock(1)
_COPY: Final = _per_byte_of_clock(4)
"""A copy is read, computed, written to the database and returned."""
_LEDGER: Final = _per_byte_of_clock(10)
"""Computing a ledger takes at least ten times as long as joining a view."""

OPERATIONS: Final = {
    "createTestClock": Operation(
        summary="Create a clock with its schedule",
        params=NewClock,
        result=OneClock,
        max_result=response_sizes.MAX_NEW_CLOCK_RESULT,
        handler=lambda operations: operations.clocks.create_test_clock,
        needs_token=True,
        takes_idempotency_key=True,
        reasons=(Reason.RATE_LIMITED,),
    ),
    "advanceTestClock": Operation(
        summary="Move a clock forward",
        params=AdvanceEntry,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        handler=lambda operations: operations.clocks.advance_test_clock,
        cost=_VIEW,
        needs_token=True,
        is_idempotent=True,
        reasons=(*_CLOCK_REASONS, *_TIME_REASONS),
    ),
    "sendLoginCodeEmail": Operation(
        summary="Email a six-digit code or a login link",
        params=SendEntry,
        result=Sent,
        handler=lambda operations: operations.logins.send_login_code_email,
        limited_per_client=True,
        reasons=(Reason.RESEND_TOO_SOON, Reason.RATE_LIMITED, Reason.MAIL_NOT_SENT),
    ),
    "loginByEmailVerification": Operation(
        summary="Exchange a code for a bearer token",
        params=VerificationEntry,
        result=SignedIn,
        handler=lambda operations: operations.logins.login_by_email_verification,
        limited_per_client=True,
        reasons=(Reason.LOGIN_REFUSED, Reason.RATE_LIMITED),
    ),
    "loginByEmailLink": Operation(
        summary="Exchange the secret of a login link for a bearer token",
        params=LinkEntry,
        result=SignedIn,
        handler=lambda operations: operations.logins.login_by_email_link,
        limited_per_client=True,
        is_extension=True,
        reasons=(Reason.LOGIN_REFUSED, Reason.RATE_LIMITED),
    ),
    "logout": Operation(
        summary="Revoke the token in use",
        params=LogoutEntry,
        result=Done,
        handler=lambda operations: operations.tokens.logout,
        needs_token=True,
        permission=Permission.SESSION,
        is_extension=True,
    ),
    "getTestClock": Operation(
        summary="Return a clock, now or at a later instant",
        params=GetEntry,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        handler=lambda operations: operations.clocks.get_test_clock,
        cost=_VIEW,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=(*_CLOCK_REASONS, *_TIME_REASONS),
    ),
    "listTestClocks": Operation(
        summary="List your live clocks, newest first",
        params=ListEntry,
        result=ClockPage,
        max_result=response_sizes.MAX_PAGE_RESULT,
        handler=lambda operations: operations.clocks.list_test_clocks,
        cost=lambda _: lambda _: response_sizes.MAX_PAGE_RESULT,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
    ),
    "updateTestClock": Operation(
        summary="Change the name and the labels of a clock",
        params=UpdateEntry,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        handler=lambda operations: operations.clocks.update_test_clock,
        cost=_VIEW,
        needs_token=True,
        is_extension=True,
        is_idempotent=True,
        reasons=_CLOCK_REASONS,
    ),
    "deleteTestClock": Operation(
        summary="Delete a clock",
        params=DeleteEntry,
        result=Done,
        handler=lambda operations: operations.clocks.delete_test_clock,
        needs_token=True,
        is_extension=True,
        is_idempotent=True,
        reasons=_CLOCK_REASONS,
    ),
    "forkTestClock": Operation(
        summary="Create a clock with the same schedule, at any instant of it",
        params=ForkEntry,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        handler=lambda operations: operations.clocks.fork_test_clock,
        cost=_COPY,
        needs_token=True,
        takes_idempotency_key=True,
        is_extension=True,
        reasons=(*_CLOCK_REASONS, Reason.RATE_LIMITED),
    ),
    "amendTestClock": Operation(
        summary="Add items to a clock, and cancel items that haven't happened yet",
        params=AmendEntry,
        result=OneClock,
        max_result=response_sizes.MAX_CLOCK_RESULT,
        handler=lambda operations: operations.amendments.amend_test_clock,
        cost=_COPY,
        needs_token=True,
        takes_idempotency_key=True,
        is_extension=True,
        reasons=(*_CLOCK_REASONS, Reason.ITEM_NOT_PENDING, Reason.RATE_LIMITED),
    ),
    "listTestClockEvents": Operation(
        summary="List what happened to a clock, and what will happen",
        params=EventsEntry,
        result=EventPage,
        max_result=response_sizes.MAX_EVENTS_RESULT,
        handler=lambda operations: operations.ledger.list_test_clock_events,
        cost=_LEDGER,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=_CLOCK_REASONS,
    ),
    "getTestClockBalances": Operation(
        summary="Return the balance of each currency at an instant, with its lowest and highest point",
        params=BalancesEntry,
        result=Balances,
        max_result=response_sizes.MAX_BALANCES_RESULT,
        handler=lambda operations: operations.ledger.get_test_clock_balances,
        cost=_LEDGER,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=_CLOCK_REASONS,
    ),
    "checkTestClock": Operation(
        summary="Check expectations about balances, goals, totals and transactions",
        params=CheckEntry,
        result=CheckResult,
        max_result=response_sizes.MAX_CHECK_RESULT,
        handler=lambda operations: operations.ledger.check_test_clock,
        cost=_LEDGER,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=_CLOCK_REASONS,
    ),
    "expandScenario": Operation(
        summary="Turn a scenario into the parameters of a clock",
        params=ExpandEntry,
        result=ExpandedScenario[NewClock, ExpectationEntry[Bound, TotalBound]],
        max_result=response_sizes.MAX_EXPANDED_RESULT,
        handler=lambda operations: operations.scenarios.expand_scenario,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=(Reason.RATE_LIMITED,),
    ),
    "exportTestClock": Operation(
        summary="Export a clock as account statements for other programs",
        params=ExportEntry,
        result=ExportedClock,
        max_result=response_sizes.MAX_EXPORT_RESULT,
        handler=lambda operations: operations.exports.export_test_clock,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
        reasons=(*_CLOCK_REASONS, Reason.RATE_LIMITED),
    ),
    "getCurrentUser": Operation(
        summary="Return your user and the token in use",
        params=CurrentUserEntry,
        result=CurrentUser,
        handler=lambda operations: operations.tokens.get_current_user,
        needs_token=True,
        permission=Permission.READ,
        is_extension=True,
        is_idempotent=True,
    ),
    "createAccessToken": Operation(
        summary="Create a token for a program, such as a CI job",
        params=CreateAccessTokenEntry,
        result=CreatedAccessToken,
        handler=lambda operations: operations.access_tokens.create_access_token,
        needs_token=True,
        permission=Permission.SESSION,
        is_extension=True,
        reasons=(Reason.RATE_LIMITED,),
    ),
    "listAccessTokens": Operation(
        summary="List your live access tokens, newest first",
        params=ListAccessTokensEntry,
        result=AccessTokens,
        max_result=response_sizes.MAX_TOKENS_RESULT,
        handler=lambda operations: operations.access_tokens.list_access_tokens,
        needs_token=True,
        permission=Permission.SESSION,
        is_extension=True,
        is_idempotent=True,
    ),
    "revokeAccessToken": Operation(
        summary="Revoke an access token",
        params=RevokeAccessTokenEntry,
        result=Done,
        handler=lambda operations: operations.access_tokens.revoke_access_token,
        needs_token=True,
        permission=Permission.SESSION,
        is_extension=True,
    ),
    "rpc.discover": Operation(
        summary="Describe all operations in an OpenRPC document",
        params=DiscoverParams,
        result=None,
        handler=lambda operations: operations.discover,
        cost=lambda _: lambda _: response_sizes.MAX_DOCUMENT,
        max_result=response_sizes.MAX_DOCUMENT,
        is_extension=True,
        is_idempotent=True,
    ),
}
