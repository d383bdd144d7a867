"""Errors of calls as errors of the command line, in the words of the user who typed the command."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import click
from msgspec.structs import replace

from tickover.api.errors import Fault, Reason, Rejection
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.client import ClientError, InvalidResponse, NothingLeft

_EXIT_CODES: Final[Mapping[Reason, Exit]] = {
    # The client and the server disagree about the protocol.
    Reason.PARSE_ERROR: Exit.UNEXPECTED,
    Reason.INVALID_REQUEST: Exit.UNEXPECTED,
    Reason.METHOD_NOT_FOUND: Exit.UNEXPECTED,
    Reason.METHOD_NOT_ALLOWED: Exit.UNEXPECTED,
    Reason.UNSUPPORTED_MEDIA_TYPE: Exit.UNEXPECTED,
    Reason.UNAUTHENTICATED: Exit.NOT_SIGNED_IN,
    Reason.LOGIN_REFUSED: Exit.NOT_SIGNED_IN,
    Reason.CLOCK_NOT_FOUND: Exit.NOT_FOUND,
    Reason.CLOCK_EXPIRED: Exit.NOT_FOUND,
    Reason.RESEND_TOO_SOON: Exit.LATER,
    Reason.RATE_LIMITED: Exit.LATER,
    Reason.MAIL_NOT_SENT: Exit.LATER,
    Reason.UNAVAILABLE: Exit.UNAVAILABLE,
    Reason.INTERNAL: Exit.UNAVAILABLE,
}
"""All other reasons are refusals."""
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
_PARAMETERS: Final = {"frozenTime": "start", "openingBalances": "opening_balances"}
"""Parameters of the API that have another name in the commands."""


@contextmanager
def translate_errors(run: CliRun) -> Iterator[None]:
    """Raise a `CliError` for every error of a call."""
    try:
        yield
    except (ClientError, Rejection) as error:
        raise to_cli_error(error, run) from None


def to_cli_error(error: Rejection | ClientError, run: CliRun) -> CliError:
    """Convert an error of the server or of the client."""
    if isinstance(error, Rejection):
        return _from_rejection(error, run)
    if isinstance(error, NothingLeft):
        message = "Nothing is left to happen on this clock."
        return CliError(Exit.NOTHING_LEFT, message, "Start over with a copy: tickover clock fork")
    reason = "INVALID_RESPONSE" if isinstance(error, InvalidResponse) else "UNREACHABLE"
    hint = f"If your server isn't at {run.url}, pass its address with --url."
    return CliError(Exit.UNAVAILABLE, str(error), hint, reason=reason)


def _from_rejection(rejection: Rejection, run: CliRun) -> CliError:
    reason = rejection.reason
    message = _MESSAGES.get(reason, rejection.message)
    email = run.email or run.profile.email or "EMAIL"
    hint = _HINTS.get(reason, "").format(login=run.login_command, email=email)
    if reason in (Reason.UNAUTHENTICATED, Reason.FORBIDDEN) and run.environment_token:
        hint = "The token comes from TICKOVER_TOKEN. Unset the variable or change it."
    if reason in (Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED) and run.uses_last_clock:
        message = "The clock that you used last has been deleted or has expired."
        hint = "List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent"
    faults = [_name_fault(fault, run.inputs) for fault in rejection.faults]
    return CliError(_EXIT_CODES.get(reason, Exit.REFUSED), message, hint, reason=str(reason), faults=faults)


def _name_fault(fault: Fault, inputs: Mapping[str, str]) -> Fault:
    """Return the fault with what the user typed. The longest beginning of its path that has a name counts."""
    for end in reversed([match.start() for match in re.finditer(r"[.\[]|$", fault.path)]):
        start = fault.path[:end]
        if name := inputs.get(start) or _option(_PARAMETERS.get(start, start)):
            # The words of a camelCase field.
            field = re.sub("(?<=[a-z])[A-Z]", lambda match: f" {match[0].lower()}", fault.path[end:].rpartition(".")[2])
            return replace(fault, path=f"{name}: {field}" if field else name)
    return fault


def _option(parameter: str) -> str:
    """Return the option or argument of the current command with this name, if it has a value."""
    context = click.get_current_context(silent=True)
    for each in context.command.params if context and context.params.get(parameter) else ():
        if each.name == parameter:
            return each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
    return ""
