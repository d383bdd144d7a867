"""Errors of calls as errors of the command line."""

from collections.abc import Mapping
from typing import Final

from tickover.api.errors import Reason, Rejection
from tickover.cli.errors import CliError, Exit
from tickover.cli.fault_names import name_faults
from tickover.client import ClientError, InvalidResponse, NothingLeft

EXIT_CODES: Final[Mapping[Reason, Exit]] = {
    # The first five mean that the client and the server disagree about the protocol.
    Reason.PARSE_ERROR: Exit.UNEXPECTED,
    Reason.INVALID_REQUEST: Exit.UNEXPECTED,
    Reason.METHOD_NOT_FOUND: Exit.UNEXPECTED,
    Reason.METHOD_NOT_ALLOWED: Exit.UNEXPECTED,
    Reason.UNSUPPORTED_MEDIA_TYPE: Exit.UNEXPECTED,
    Reason.INVALID_PARAMS: Exit.REFUSED,
    Reason.BODY_TOO_LARGE: Exit.REFUSED,
    Reason.UNAUTHENTICATED: Exit.NOT_SIGNED_IN,
    Reason.FORBIDDEN: Exit.REFUSED,
    Reason.LOGIN_REFUSED: Exit.NOT_SIGNED_IN,
    Reason.CLOCK_NOT_FOUND: Exit.NOT_FOUND,
    Reason.CLOCK_EXPIRED: Exit.NOT_FOUND,
    Reason.TIME_BEFORE_CURRENT: Exit.REFUSED,
    Reason.TIME_AFTER_MAX: Exit.REFUSED,
    Reason.ITEM_NOT_PENDING: Exit.REFUSED,
    Reason.RESEND_TOO_SOON: Exit.LATER,
    Reason.RATE_LIMITED: Exit.LATER,
    Reason.MAIL_NOT_SENT: Exit.LATER,
    Reason.UNAVAILABLE: Exit.UNAVAILABLE,
    Reason.INTERNAL: Exit.UNAVAILABLE,
}
_MESSAGES: Final[Mapping[Reason, str]] = {
    Reason.METHOD_NOT_FOUND: "The server doesn't support this operation. It may be older than this program.",
    Reason.UNAUTHENTICATED: "Your token is invalid or has expired.",
}
"""Messages for people who use commands. For other reasons, the server's message is clear."""
_HINTS: Final[Mapping[Reason, str]] = {
    Reason.UNAUTHENTICATED: "Sign in again: {login} {email}",
    Reason.FORBIDDEN: "For an operation on tokens, sign in: {login} {email}",
    Reason.LOGIN_REFUSED: "Request a new one: {login} {email}",
    Reason.CLOCK_NOT_FOUND: "List your clocks: tickover clock list",
    Reason.CLOCK_EXPIRED: "Create a new one: tickover clock create",
    Reason.TIME_BEFORE_CURRENT: (
        "To go back, copy the clock as it was at an earlier time: tickover clock fork --at TIME"
    ),
    Reason.ITEM_NOT_PENDING: "See what is pending: tickover clock show --all",
    Reason.RESEND_TOO_SOON: "If you haven't used its code yet: {login} {email} --code CODE",
}


def from_rejection(rejection: Rejection, email: str = "", login: str = "tickover login") -> CliError:
    """Convert an error of the server. Hints contain the email address and the command `login`."""
    reason = rejection.reason
    hint = _HINTS.get(reason, "").format(login=login, email=email or "EMAIL")
    message = _MESSAGES.get(reason, rejection.message)
    return CliError(EXIT_CODES[reason], message, hint, reason=str(reason), faults=name_faults(rejection.faults))


def from_client_error(error: ClientError, url: str) -> CliError:
    """Convert an error that the client raised without an error of the server."""
    if isinstance(error, NothingLeft):
        message = "Nothing is left to happen on this clock."
        hint = "Start over with a copy: tickover clock fork"
        return CliError(Exit.NOTHING_LEFT, message, hint)
    reason = "INVALID_RESPONSE" if isinstance(error, InvalidResponse) else "UNREACHABLE"
    hint = f"If your server isn't at {url}, pass its address with --url."
    return CliError(Exit.UNAVAILABLE, str(error), hint, reason=reason)
