"""Errors of calls as errors of the command line."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import parse
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.fault_names import name_faults
from tickover.client import ClientError, InvalidResponse, NothingLeft

_MAX_WAIT: Final = 10**10
"""A larger number of seconds can't be formatted as a duration. No Tickover server sends one."""


class _Template(NamedTuple):
    """The exit code and the texts for one reason."""

    exit: Exit
    message: str = "{message}"
    hint: str = ""


_TEMPLATES: Final[Mapping[Reason, _Template]] = {
    # The first five mean that the client and the server disagree about the protocol.
    Reason.PARSE_ERROR: _Template(Exit.UNEXPECTED),
    Reason.INVALID_REQUEST: _Template(Exit.UNEXPECTED),
    Reason.METHOD_NOT_FOUND: _Template(
        Exit.UNEXPECTED, "The server doesn't support this operation. It may be older than this program."
    ),
    Reason.METHOD_NOT_ALLOWED: _Template(Exit.UNEXPECTED),
    Reason.UNSUPPORTED_MEDIA_TYPE: _Template(Exit.UNEXPECTED),
    Reason.INVALID_PARAMS: _Template(Exit.REFUSED),
    Reason.BODY_TOO_LARGE: _Template(Exit.REFUSED),
    Reason.UNAUTHENTICATED: _Template(
        Exit.NOT_SIGNED_IN, "Your token is invalid or has expired.", "Sign in again: {login} {email}"
    ),
    Reason.FORBIDDEN: _Template(Exit.REFUSED, hint="For an operation on tokens, sign in: {login} {email}"),
    Reason.LOGIN_REFUSED: _Template(
        Exit.NOT_SIGNED_IN,
        "The code or link is wrong, used or expired.",
        "Request a new one: {login} {email}",
    ),
    Reason.CLOCK_NOT_FOUND: _Template(
        Exit.NOT_FOUND, "You have no clock with this ID on this server.", "List your clocks: tickover clock list"
    ),
    Reason.CLOCK_EXPIRED: _Template(
        Exit.NOT_FOUND, "This clock has expired. Clocks live for seven days.", "Create a new one: tickover clock create"
    ),
    Reason.TIME_BEFORE_CURRENT: _Template(
        Exit.REFUSED,
        "The clock is already at {currentFrozenTime}, and time only moves forward.",
        "To go back, copy the clock as it was at an earlier time: tickover clock fork --at TIME",
    ),
    Reason.TIME_AFTER_MAX: _Template(Exit.REFUSED, "The clock can't advance past {maxTime}."),
    Reason.ITEM_NOT_PENDING: _Template(Exit.REFUSED, hint="See what is pending: tickover clock show --all"),
    Reason.RESEND_TOO_SOON: _Template(
        Exit.LATER,
        hint="If you haven't used its code yet: {login} {email} --code CODE",
    ),
    Reason.RATE_LIMITED: _Template(Exit.LATER, hint="Try again in {seconds}."),
    Reason.MAIL_NOT_SENT: _Template(Exit.LATER, hint="Try again in a moment."),
    Reason.UNAVAILABLE: _Template(Exit.UNAVAILABLE, hint="Try again in {seconds}."),
    Reason.INTERNAL: _Template(Exit.UNAVAILABLE),
}

EXIT_CODES: Final[Mapping[Reason, Exit]] = {reason: template.exit for reason, template in _TEMPLATES.items()}


def from_rejection(rejection: Rejection, email: str = "", login: str = "tickover login") -> CliError:
    """Convert an error of the server. Hints contain the email address and the command `login`."""
    exit, message, hint = _TEMPLATES[rejection.reason]
    values = {
        "message": _count_faults(rejection) or rejection.message,
        "email": email or "EMAIL",
        "login": login,
        "seconds": _format_wait(rejection.details.get("retryAfterSeconds", 60)),
        "currentFrozenTime": _format_time(rejection.details.get("currentFrozenTime")),
        "maxTime": _format_time(rejection.details.get("maxTime")),
    }
    texts = message.format_map(values), hint.format_map(values)
    return CliError(exit, *texts, reason=str(rejection.reason), faults=name_faults(rejection.faults))


def from_client_error(error: ClientError, url: str) -> CliError:
    """Convert an error that the client raised without an error of the server."""
    if isinstance(error, NothingLeft):
        message = "Nothing is left to happen on this clock."
        hint = "Start over with a copy: tickover clock fork"
        return CliError(Exit.NOTHING_LEFT, message, hint)
    reason = "INVALID_RESPONSE" if isinstance(error, InvalidResponse) else "UNREACHABLE"
    hint = f"If your server isn't at {url}, pass its address with --url."
    return CliError(Exit.UNAVAILABLE, str(error), hint, reason=reason)


def _count_faults(rejection: Rejection) -> str:
    number = len(rejection.faults)
    return f"{formatting.count(number, 'value')} {'is' if number == 1 else 'are'} invalid." if number else ""


def _format_wait(seconds: Any) -> str:
    if isinstance(seconds, int) and 120 <= seconds < _MAX_WAIT:
        return formatting.duration(timedelta(seconds=seconds))
    return formatting.count(seconds, "second")


def _format_time(text: object) -> str:
    try:
        return formatting.timestamp(parse(text))
    except ValueError:
        return "another time"
